"""The elements that each verb prints with `--json`, as types: `make schemas` writes `docs/schema/` from them.

Scripts depend on the keys: add new ones, never rename or remove one. The command line needs this module for
its types alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType, UnionType
from typing import Annotated, Final, Literal, TypeAlias, TypedDict

from calib_core.edges import Binning
from calib_core.inference.verdict import VerdictKind
from calib_core.metrics.conventions import Closed, Norm
from calib_core.results.files import FileStatus
from calib_core.results.gate import RuleKind

Id: TypeAlias = Annotated[str, "The id that the option takes."]
IntervalEnds: TypeAlias = Annotated[list[float] | None, "Lower and upper end, 95 %."]
Output: TypeAlias = Annotated[str, "The file that was written."]


class _OfFile(TypedDict):
    file: Annotated[str, "Name of the file."]


class _OfRun(_OfFile):
    run: Annotated[str, "The run's label."]
    n_total: Annotated[int, "Rows or positions in the file."]


class _Computed(_OfRun):
    method: Id
    n_used: Annotated[int, "Rows or positions with a confidence and an outcome."]
    recipe: Annotated[str, "How the numbers were made."]


class Missing(TypedDict):
    """Accuracy of rows that have an outcome and no confidence, beside that of rows with both."""

    n: Annotated[int, "Rows with an outcome and no confidence."]
    n_right: Annotated[int, "How many of them are right."]
    p: Annotated[float | None, "p for equal accuracy of the two."]
    accuracy_without: Annotated[float, "Accuracy of rows without a confidence."]
    accuracy_with: Annotated[float | None, "Accuracy of rows with a confidence."]
    reason: Annotated[str | None, "Why there is no p."]


Lacking: TypeAlias = Annotated[Missing | None, "Null where no row lacks a confidence."]


class EffectOfCorrections(TypedDict):
    """What corrections do to the numbers of one method."""

    method: Id
    right_to_wrong: Annotated[int, "Answers that were right and are now wrong."]
    wrong_to_right: Annotated[int, "Answers that were wrong and are now right."]
    n_used_before: Annotated[int, "Rows with a confidence and an outcome, before."]
    n_used: Annotated[int, "Rows with a confidence and an outcome, after."]
    accuracy_before: Annotated[float | None, "Accuracy of the rows with both, before."]
    accuracy: Annotated[float | None, "Accuracy of the rows with both, after."]
    ece_before: Annotated[float | None, "ECE with 10 bins of equal width, before."]
    ece: Annotated[float | None, "The same, after."]


class CorrectionCounts(TypedDict):
    """What a table of corrections changed in a run."""

    file: Annotated[str, "Name of the table."]
    left_out: Annotated[int, "Questions that are left out."]
    corrected: Annotated[int, "Questions with another right answer or outcome than in the file."]


class ScoreCorrections(CorrectionCounts, EffectOfCorrections):
    """What a table of corrections changed in a run, as seen by one method."""


class Change(TypedDict):
    """One question that is left out or corrected."""

    row: Annotated[int, "Its row in the file, from 1."]
    id: Annotated[str | None, "Its id; null where the file has none."]
    subject: Annotated[str | None, "Its subject; null where the file has none."]
    change: Annotated[Literal["left out", "right answer", "outcome"], "What was done to it."]
    before: Annotated[str | None, "The right answer or outcome in the file."]
    after: Annotated[str | None, "The one in the table; null where the question is left out."]
    reason: Annotated[str | None, "Why, as the table says."]


class RunCorrections(CorrectionCounts):
    """What a table of corrections changed in a run, question by question."""

    effects: Annotated[list[EffectOfCorrections], "What they do to the numbers, by method."]
    changes: Annotated[list[Change], "By question, in the order of the file."]


class _Judged(_Computed):
    judged: Annotated[str, "Which answer the outcome belongs to."]
    remarks: Annotated[list[str], "What a reader has to know about these rows."]


class _Score(_Judged):
    metric: Id
    bins: Annotated[int | None, "M; null for a metric without bins."]
    remark: Annotated[str | None, "A remark on this value."]
    p: Annotated[
        float | None,
        "(1 + draws of a calibrated model in which the number is at least as large) / (1 + draws).",
    ]
    null_median: Annotated[float | None, "Median over these draws."]
    draws: Annotated[int | None, "How many draws; null without a p."]
    interval: IntervalEnds
    interval_method: Annotated[str | None, "How the interval was computed; null without one."]
    missing: Lacking
    corrections: Annotated[ScoreCorrections | None, "Null without --corrections."]
    n_effective: Annotated[float | None, "Effective number of the rows used; null where all count alike."]


class ScoreElement(_Score):
    """One metric of one method on one run."""

    value: Annotated[float | None, "Null where the metric is not defined for these rows."]


class BoundsElement(_Score):
    """A metric of which only bounds are known."""

    low: Annotated[float, "What the metric is at least."]
    high: Annotated[float, "What the metric is at most."]


class VerdictElement(_Judged):
    """The verdict on one run and method."""

    metric: Annotated[Literal["verdict"], "Tells a verdict from a score."]
    value: Annotated[VerdictKind, "The verdict as one word, not a number."]
    words: Annotated[str, "The verdict in words."]
    p: Annotated[float | None, "p of calibration; null without a test."]
    p_level: Annotated[float | None, "p of the level alone."]
    p_slope: Annotated[float | None, "p of the slope alone; null if all confidences are equal."]
    p_curve: Annotated[
        float | None, "p of what groups show beyond level and slope; null if they show no more."
    ]
    q: Annotated[float | None, "p, corrected for all verdicts printed (Benjamini–Hochberg)."]
    level: Annotated[float | None, "Mean confidence minus accuracy."]
    slope: Annotated[float | None, "Below 1 if confidences are too extreme; null if it cannot be fitted."]
    deviation: Annotated[float | None, "Estimated mean of |c − P(right)|."]
    deviation_bound: Annotated[float | None, "95 % upper bound of that mean."]
    tolerance: Annotated[float, "The deviation up to which miscalibration is tolerable."]
    reason: Annotated[str, "Why this is the verdict."]
    score_note: Annotated[str | None, "Whether it is on a score or on the model; null where on the model."]
    held_out_gap: Annotated[float | None, "Level of the held-out share of samples; null except for F_CS."]
    held_out_low: Annotated[float | None, "Lower end of its 95 % interval."]
    held_out_high: Annotated[float | None, "Upper end of that interval."]
    reading: Annotated[str, "The verdict as a sentence."]
    missing: Lacking


class Bin(TypedDict):
    """One bin that is not empty."""

    bin: Annotated[int, "Its number, from 1."]
    low: Annotated[float, "Lower edge, as a confidence."]
    high: Annotated[float, "Upper edge, as a confidence."]
    count: Annotated[int, "Number of pairs in it."]
    effective: Annotated[
        float | None, "Number of equally weighted rows that those are worth; null where all count alike."
    ]
    confidence: Annotated[float, "Mean confidence of its pairs."]
    accuracy: Annotated[float, "Share of its pairs whose outcome is right."]
    accuracy_low: Annotated[
        float | None,
        "Lower end of its 95 % interval; null where pairs are not independent, as is the upper end.",
    ]
    accuracy_high: Annotated[float | None, "Upper end of that interval."]
    gap: Annotated[float, "Mean confidence minus accuracy."]


class BinsElement(_Judged):
    """The bins of one reliability diagram."""

    metric: Id
    value: Annotated[float | None, "The metric; null where only bounds are known."]
    binning: Annotated[Binning, "How the edges were chosen."]
    reading: Annotated[str, "The diagram in a sentence."]
    bins: Annotated[list[Bin], "Its bins, in ascending order."]


class Bounds(TypedDict):
    """The bounds of a value that is not known exactly."""

    low: Annotated[float, "What it is at least."]
    high: Annotated[float, "What it is at most."]


ByBins: TypeAlias = dict[str, float] | None


class SweepElement(_Computed):
    """One metric over M."""

    metric: Id
    values: Annotated[dict[str, float | Bounds | None], "By M, as text; null where refused."]
    rsd: Annotated[float | None, "Relative standard deviation of the values."]
    ddof: Annotated[int, "0: standard deviation of a population, 1: of a sample, in the RSD."]
    p: Annotated[dict[str, float | None] | None, "By M, as text: p of a value at least as large by chance."]
    null_median: Annotated[ByBins, "Median over draws of a calibrated model, by M as text."]
    null_low: Annotated[ByBins, "5th percentile over these draws, by M as text."]
    null_high: Annotated[ByBins, "95th percentile over these draws, by M as text."]
    fitted_median: Annotated[ByBins, "Median over draws of a model that fits the run, by M as text."]
    fitted_low: Annotated[ByBins, "5th percentile over these draws, by M as text."]
    fitted_high: Annotated[ByBins, "95th percentile over these draws, by M as text."]
    rise_by_noise: Annotated[float | None, "Rise from the first M to the last in a model that fits the run."]
    rise_p: Annotated[float | None, "p of a rise at least as large by noise alone."]
    rsd_p: Annotated[float | None, "p of an RSD at least as large from a calibrated model."]
    rsd_null_median: Annotated[float | None, "Median RSD of a calibrated model."]
    rsd_null_low: Annotated[float | None, "5th percentile of that RSD."]
    rsd_null_high: Annotated[float | None, "95th percentile of that RSD."]
    draws: Annotated[int | None, "How many draws these are taken over; null without any."]
    seed: Annotated[int | None, "Seed of the draws."]
    ceiling: Annotated[float | None, "Largest value that the metric can take on these rows."]
    refused: Annotated[dict[str, str], "M, as text → why there is no value."]
    remarks: Annotated[list[str], "What a reader has to know about this curve."]
    reading: Annotated[str, "How the values vary over M, as a sentence."]
    chance: Annotated[str, "How much of that chance alone would give."]


class AuditElement(_Computed):
    """The calibration error under one convention; what a convention does not have is null."""

    metric: Id
    convention: Annotated[str, "The id of the convention."]
    title: Annotated[str, "The name of the convention."]
    tool: Annotated[str | None, "The program whose convention it is."]
    version: Annotated[str | None, "The version of it that was checked."]
    bins: Annotated[int | None, "M, the number of bins."]
    binning: Annotated[Binning | None, "How the edges are chosen."]
    closed: Annotated[Closed | None, "The side on which a bin holds its edge."]
    norm: Annotated[Norm, "How the gaps of the bins become one number."]
    value: Annotated[float, "The calibration error, from 0 to 1."]
    default: Annotated[bool, "Whether the other verbs use it."]
    verified: Annotated[str, "What the value was checked against."]
    source: Annotated[str, "Where the convention is defined."]


class Difference(TypedDict):
    """After minus before; below 0 where the map helps, null without an interval."""

    ece: Annotated[float | None, "Difference in ECE."]
    brier: Annotated[float | None, "Difference in Brier score."]
    nll: Annotated[float | None, "Difference in negative log-likelihood."]
    interval: Annotated[
        dict[str, list[float] | None], "95 % interval of the difference out of fold, by metric."
    ]
    p: Annotated[dict[str, float | None], "Two-sided p of no difference, by metric."]


class RecalibrationElement(_Computed):
    """A run before and after recalibration, each row by a map that was fitted to other questions."""

    by: Annotated[str, "The kind of map."]
    before: Annotated[dict[str, float], "Each metric before, by its id."]
    after: Annotated[dict[str, float], "Each metric after, by its id."]
    difference: Difference
    gain: Annotated[bool, "Whether the Brier score is lower beyond chance."]
    folds: Annotated[int, "How many folds the questions were split into."]
    seed: Annotated[int, "Seed of the folds."]
    target: Annotated[str, "What the map changes: confidence or choices."]
    parameters: Annotated[dict[str, float | list[float]], "Parameters of the map fitted to all rows."]
    reading: Annotated[str, "The result as a sentence."]


class AppliedElement(_OfRun):
    """A run whose confidences a map has changed (--apply)."""

    method: Id
    by: Annotated[str, "The kind of map."]
    rows: Annotated[int, "Rows written with a new confidence."]
    n_judged: Annotated[int, "Those of them with an outcome."]
    output: Output
    column: Annotated[str, "The output column that holds it."]
    question: Annotated[str | None, "Why the map may not hold for these rows."]


class Estimate(TypedDict):
    """A metric, with its interval where it has one."""

    value: Annotated[float, "Value of the metric."]
    low: Annotated[float | None, "Lower end of its 95 % interval."]
    high: Annotated[float | None, "Upper end of that interval."]


class CompareElement(_Computed):
    """One run and method, by its top label."""

    accuracy: Annotated[float, "Accuracy of the rows with a confidence."]
    accuracy_low: Annotated[float | None, "Lower end of its 95 % interval."]
    accuracy_high: Annotated[float | None, "Upper end of that interval."]
    accuracy_of_all: Annotated[float, "Accuracy of all rows with an outcome, by which runs are ranked."]
    accuracy_of_all_low: Annotated[float | None, "Lower end of its 95 % interval."]
    accuracy_of_all_high: Annotated[float | None, "Upper end of that interval."]
    brier: Annotated[float, "Brier score of the rows with a confidence."]
    brier_low: Annotated[float | None, "Lower end of its 95 % interval."]
    brier_high: Annotated[float | None, "Upper end of that interval."]
    skill: Annotated[float | None, "1 − Brier/(a(1−a)), a being the accuracy; null where that is 0 or 1."]
    best: Annotated[bool, "Whether it cannot be told apart from the best by skill."]
    best_by: Annotated[list[str], "The metrics by which it cannot be told apart from the best."]
    judged: Annotated[str, "Which answer the outcome belongs to."]
    metrics: Annotated[dict[str, Estimate], "The metrics that --metric names, by id."]
    missing: Lacking


class Side(_OfFile):
    """One side of a pair."""

    run: Annotated[str, "The run's label."]
    method: Id


class PairElement(TypedDict):
    """One difference, a − b, on common questions (--pairs)."""

    metric: Id
    a: Annotated[Side, "The one that is subtracted from."]
    b: Annotated[Side, "The one that is subtracted."]
    difference: Annotated[float, "The metric of a minus that of b."]
    interval: Annotated[list[float], "Lower and upper end, 95 %."]
    p: Annotated[float, "p of no difference, two-sided."]
    p_holm: Annotated[float, "p, corrected for all pairs (Holm)."]
    n_common: Annotated[int, "Questions that both have."]
    clusters: Annotated[
        int, "Groups of common questions that may depend on each other; a question by itself is one."
    ]


class SizeMean(TypedDict):
    """The metric at one N'; null where refused."""

    mean: Annotated[float | None, "Mean over the draws."]
    std: Annotated[float | None, "Standard deviation over the draws."]
    draws: Annotated[int, "Number of draws."]


class SampleRange(TypedDict):
    """Samples that the questions have."""

    fewest: Annotated[int, "The fewest that a question has."]
    most: Annotated[int, "The most that a question has."]


class SizeDifference(TypedDict):
    """Brier score at this N' minus that at the largest which is not greyed, with its 95 % interval."""

    value: Annotated[float, "The difference."]
    low: Annotated[float, "Lower end of its interval."]
    high: Annotated[float, "Upper end of its interval."]


class EnoughSamples(TypedDict):
    """The smallest N' that does as well as the largest."""

    size: Annotated[int | None, "This N'; null where none does."]
    against: Annotated[int, "The largest N' that is not greyed."]
    within: Annotated[float, "How far apart two Brier scores may be to count as equal."]
    differences: Annotated[dict[str, SizeDifference], "Difference at each N', by N' as text."]


class BaselineValue(TypedDict):
    """The metric of a method that needs no samples."""

    value: Annotated[float, "Value of the metric."]
    judged: Annotated[str, "Which answer the outcome belongs to."]
    n: Annotated[int, "Questions that have this confidence."]
    recipe: Annotated[str, "How the number was made."]


class SamplesElement(_Computed):
    """One metric of one method over N', the number of samples."""

    metric: Id
    sizes: Annotated[dict[str, SizeMean], "The metric at each N', by N' as text."]
    repeats: Annotated[int, "Draws that were asked for at each size."]
    seed: Annotated[int, "Seed of the draws."]
    samples: SampleRange
    absent: Annotated[dict[str, int], "N', as text → draws without a confidence."]
    greyed: Annotated[dict[str, str], "N', as text → why the spread over its draws is too small."]
    refused: Annotated[dict[str, str], "N', as text → why it was not drawn."]
    enough: Annotated[EnoughSamples | None, "Null for a method without such a result."]
    baselines: Annotated[dict[str, BaselineValue], "The same metric of methods without samples, by method."]
    judged: Annotated[str, "Which answer the outcome belongs to."]
    reading: Annotated[str, "The result as a sentence."]
    measure: Annotated[str, "What counts as enough."]


class Threshold(TypedDict):
    """A confidence from which on the model answers; numbers are null where there is none."""

    threshold: Annotated[float | None, "The smallest confidence that is answered."]
    answered: Annotated[float | None, "Share of all rows with an outcome, with a confidence or without."]
    accuracy: Annotated[float | None, "Accuracy of the answered rows."]
    accuracy_low: Annotated[float | None, "Lower bound of the accuracy."]
    n_answered: Annotated[int | None, "Number of answered rows."]


class ThresholdCosts(TypedDict):
    """What thresholds cost per question, and what it costs to believe the confidence."""

    wrong: Annotated[float, "Cost of a wrong answer, as given."]
    handed_on: Annotated[float, "Cost of a question that is handed on, as given."]
    believed_threshold: Annotated[float, "1 − handed_on / wrong, if the confidence is calibrated."]
    believed_answered: Annotated[float, "Share of all rows with an outcome."]
    believed_cost: Annotated[float, "Cost per question at that threshold, on these rows."]
    cheapest_threshold: Annotated[float | None, "On these rows; null to hand every question on."]
    cheapest_answered: Annotated[float, "Share of all rows with an outcome."]
    cheapest_cost: Annotated[float, "Chosen on the rows it is judged on, so too low."]
    price: Annotated[float | None, "believed_cost − cheapest_cost; null with too few questions."]
    interval: IntervalEnds
    recipe: Annotated[str, "How the numbers were made."]


class ThresholdElement(_Judged, Threshold):
    """The guaranteed threshold of one run and method, and the empirical one."""

    guaranteed: Annotated[bool, "Whether there is a guaranteed threshold."]
    reason: Annotated[str | None, "Why there is no guaranteed threshold."]
    empirical: Annotated[
        Threshold | None,
        "The one that reaches the target on these very rows, without a guarantee; null where none does.",
    ]
    target_accuracy: Annotated[float, "The accuracy that was asked for."]
    confidence: Annotated[float, "How sure the guarantee is."]
    missing: Lacking
    costs: Annotated[ThresholdCosts | None, "Null without --cost-wrong and --cost-handed-on."]


class JudgeElement(_OfRun):
    """One measure of a judge against people; the pass rate has one element per method."""

    by: Annotated[str | None, "The column that --by names; null without it."]
    group: Annotated[str | None, "The group; null for all rows."]
    metric: Id
    method: Annotated[str, "For κ and α: weights or level; for pass_rate: how it was estimated."]
    title: Annotated[str, "The measure in words."]
    value: Annotated[float | None, "The value; null where the method gives none for these rows."]
    interval: IntervalEnds
    n: Annotated[int, "Rows that the judge labelled."]
    n_labelled: Annotated[int, "Rows that people also labelled, and that the value is about."]
    chosen: Annotated[bool | None, "For pass_rate: whether this interval is the shortest that holds."]
    reason: Annotated[str | None, "Why there is no value or no interval."]
    recipe: Annotated[str, "How the number was made."]


class GateElement(_OfRun):
    """One rule for one run and method."""

    rule: Annotated[str, "The rule, as it is typed."]
    method: Annotated[str | None, "Null for a rule about the whole run."]
    value: Annotated[float | None, "Null where it is not defined."]
    limit: Annotated[float | None, "What the value is compared with; null for a rule without a number."]
    interval: IntervalEnds
    held: Annotated[
        bool | None, "Null for what could not be checked or decided, which does not count as passing."
    ]
    kind: Annotated[RuleKind, "What the rule is about."]
    metric: Annotated[str | None, "The id of its metric; null for a rule about rows or runs."]
    reason: Annotated[str, "What broke the rule, how the value was compared, or why it is not decided."]
    n_used: Annotated[int, "Rows or positions that the value is computed from."]


class Cell(TypedDict):
    """One bad value."""

    row: Annotated[int, "Number of the row, from 1."]
    line: Annotated[int | None, "Number of the line, from 1; null if the format has no lines."]
    column: Annotated[str, 'Its column; "" where the whole row is bad.']
    expected: Annotated[str, "What a right value looks like."]
    found: Annotated[str, "The value that is there, shortened."]
    fix: Annotated[str, "What to do about it."]


class ProblemOfCells(TypedDict):
    """All bad values of one kind."""

    kind: Annotated[str, "What is wrong with them."]
    count: Annotated[int, "Number of rows that have one."]
    first: Annotated[list[Cell], "The first of these values."]


class Warned(TypedDict):
    """A sign that the file means something else."""

    kind: Annotated[str, "The id of the check that found it."]
    message: Annotated[str, "What is found, what would explain it, and what to do."]
    example: Annotated[str, "A row that shows it."]


class WithoutRun(_OfFile):
    """What a file without a run has."""

    format: Annotated[str | None, "The id of its format; null if it was not recognised."]
    run: Annotated[None, "Always null."]
    kind: Annotated[None, "Always null."]
    rows: Annotated[int | None, "Rows of the file; null if they could not be counted."]
    usable: Annotated[dict[str, int], "Always empty."]
    warnings: Annotated[list[Warned], "Signs that the file means something other than it was taken for."]


class Status(TypedDict):
    """Whether the file loads."""

    status: Annotated[FileStatus, '"loads"; "asks" where bad rows wait for a decision; or "refused".']
    message: Annotated[str, "What the file holds or what is wrong with it, as a text."]
    problems: Annotated[list[ProblemOfCells], "Bad values, by kind."]


class RefusedElement(WithoutRun, Status):
    """A file that could not be read."""


class QuestionReading(TypedDict):
    """What the columns may mean, and what that comes to."""

    map: Annotated[dict[str, str], "The --map of this reading."]
    wide: Annotated[dict[str, str], "Its --wide, empty without one."]
    rows: Annotated[str, 'Its --rows; "" without one.']
    missing: Annotated[list[str], "Its --missing, empty without one."]
    accuracy: Annotated[float | None, "Accuracy of the first run; null where no outcome is known."]
    mean_confidence: Annotated[float | None, "Mean confidence of the first run; null where there is none."]
    auroc: Annotated[float | None, "AUROC of the first run; null where it is not defined."]
    bad_rows: Annotated[int, "Rows that are bad in this reading."]


class Question(TypedDict):
    """What a person has to decide."""

    text: Annotated[str, "The question."]
    readings: Annotated[list[QuestionReading], "The readings to choose from, the likeliest first."]


class ColumnNotUsed(TypedDict):
    """A column that could be of use."""

    column: Annotated[str, "Name of the column."]
    could_be: Annotated[str, "Calib's name for what it could hold."]
    why: Annotated[str, "Why it is not used."]
    map: Annotated[list[dict[str, str]], "The ways in which it could be read: column → name."]


class FileDetails(Status):
    """What every file that was read has."""

    bad_rows: Annotated[int, "Rows with a bad value."]
    columns: Annotated[list[str], "All columns of the file."]
    unused: Annotated[list[str], "Columns that nothing is read from."]
    groups: Annotated[list[str], "Columns that sort the rows into groups."]
    proposals: Annotated[dict[str, str], "Column → the role that it seems to have."]
    proposed: Annotated[dict[str, str] | None, "The --map that is proposed."]
    proposed_rows: Annotated[str | None, "The --rows that go with it."]
    proposed_wide: Annotated[dict[str, str] | None, "The --wide that go with it."]
    proposed_missing: Annotated[list[str] | None, "The --missing that go with it."]
    question: Annotated[Question | None, "Null where nothing is open."]
    columns_not_used: Annotated[
        list[ColumnNotUsed], "Columns that could hold a confidence, an answer or an outcome."
    ]


class FileElement(WithoutRun, FileDetails):
    """A file in which no run was found."""


class Spike(TypedDict):
    """A confidence that many rows share."""

    value: Annotated[float, "This confidence."]
    count: Annotated[int, "Number of rows that have it."]


class Reported(TypedDict):
    """A metric that the tool reports, beside Calib's."""

    name: Annotated[str, "The tool's name for it."]
    subject: Annotated[str | None, "The subject that it is about; null for the whole run."]
    theirs: Annotated[float, "The value that the file states."]
    rows: Annotated[int | None, "Rows that the tool computed it from; null if the file does not say."]
    ours: Annotated[float | None, "Calib's value; null if it has none."]
    n: Annotated[int | None, "Rows that Calib's value is computed from; null if it has none."]
    ours_is: Annotated[str, "What Calib's value is, in words."]
    agrees: Annotated[
        bool | None, "Whether the two are equal up to rounding; null where there is nothing to compare."
    ]
    why: Annotated[str, "Why the two differ, or why Calib has no value."]


class RunDetails(TypedDict):
    """What every run has."""

    usable: Annotated[dict[str, int], "Rows that each method can use, by method."]
    not_usable: Annotated[dict[str, str], "Why a method cannot be used, by method."]
    missing: Annotated[
        dict[str, dict[str, int]], "Rows that lack something, by method and by what is missing."
    ]
    judged: Annotated[dict[str, str], "Which answer the outcome belongs to, by method."]
    remarks: Annotated[dict[str, list[str]], "What a reader has to know about the rows, by method."]
    accuracy: Annotated[
        float | None,
        "Accuracy of the greedy answer, or else of the answer that the method judges; null without outcomes.",
    ]
    left_out: Annotated[int, "Bad rows that --skip-bad-rows left out."]
    clipped: Annotated[dict[str, int], "Column → values just outside [0, 1], which were clipped."]
    off_sum: Annotated[int, "Distributions whose sum is not quite 1."]
    spikes: Annotated[dict[str, list[Spike]], "Confidences that many rows share, by method."]
    notes: Annotated[list[str], "What else was noted while it was read."]
    reported: Annotated[list[Reported], "Metrics that the tool stored in the file."]
    corrections: Annotated[RunCorrections | None, "Null without --corrections."]


class RunElement(_OfFile, RunDetails, FileDetails):
    """One run of a file; bad rows are those of the whole file."""

    format: Annotated[str, "The id of its format."]
    run: Annotated[str, "The run's label."]
    kind: Annotated[
        Literal["answers", "tokens"], "Answers, one row per question; or tokens, one row per position."
    ]
    rows: Annotated[int, "Rows or positions of the run."]
    warnings: Annotated[list[Warned], "Signs that the file means something other than it was taken for."]


class ConvertElement(_OfRun):
    """One run that was written."""

    format: Annotated[str, "The id of the format that was read."]
    rows: Annotated[int, "Number of rows written."]
    output: Output


class ReduceElement(_OfRun):
    """One token-level run that was written; `file` is its first part."""

    files: Annotated[list[str], "Names of all its parts."]
    rows: Annotated[int, "Positions that are summed up."]
    classes: Annotated[int, "Size of the vocabulary, or number of classes."]
    output: Output


class ReportElement(_OfRun):
    """One run of the report."""

    format: Annotated[str, "The id of its format."]
    title: Annotated[str, "The run's name in the report."]
    methods: Annotated[list[str], "The ids of the methods that the report shows of it."]
    report: Output
    pages: Annotated[list[str], "The ids of the pages that the report has."]
    left_out: Annotated[dict[str, str], "Why a page is left out, by page."]


ELEMENTS: Final[Mapping[str, type | UnionType]] = MappingProxyType(
    {
        "check": RunElement | FileElement | RefusedElement,
        "score": ScoreElement | BoundsElement | VerdictElement,
        "bins": BinsElement,
        "sweep": SweepElement,
        "audit": AuditElement,
        "recalibrate": RecalibrationElement | AppliedElement,
        "compare": CompareElement | PairElement,
        "samples": SamplesElement,
        "threshold": ThresholdElement,
        "judge": JudgeElement,
        "gate": GateElement,
        "reduce": ReduceElement,
        "convert": ConvertElement,
        "report": ReportElement,
    }
)
"""Verb → type of its elements."""
