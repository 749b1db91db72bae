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
    p: Annotated[float | None, "Of equal accuracy."]
    accuracy_without: float
    accuracy_with: float | None
    reason: Annotated[str | None, "Why there is no p."]


Lacking: TypeAlias = Annotated[Missing | None, "Null where no row lacks a confidence."]


class EffectOfCorrections(TypedDict):
    """What corrections do to the numbers of one method."""

    method: Id
    right_to_wrong: Annotated[int, "Answers that were right and are now wrong."]
    wrong_to_right: int
    n_used_before: Annotated[int, "Rows with a confidence and an outcome, before."]
    n_used: int
    accuracy_before: float | None
    accuracy: float | None
    ece_before: Annotated[float | None, "With 10 bins of equal width."]
    ece: float | None


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
    id: str | None
    subject: str | None
    change: Literal["left out", "right answer", "outcome"]
    before: str | None
    after: str | None
    reason: Annotated[str | None, "As the table says."]


class RunCorrections(CorrectionCounts):
    """What a table of corrections changed in a run, question by question."""

    effects: Annotated[list[EffectOfCorrections], "By method."]
    changes: list[Change]


class _Judged(_Computed):
    judged: Annotated[str, "Which answer the outcome belongs to."]
    remarks: Annotated[list[str], "What a reader has to know about these rows."]


class _Score(_Judged):
    metric: Id
    bins: Annotated[int | None, "M; null for a metric without bins."]
    remark: Annotated[str | None, "On this value."]
    p: Annotated[
        float | None, "Share of draws of a calibrated model in which the number is at least as large."
    ]
    null_median: Annotated[float | None, "Median over these draws."]
    draws: int | None
    interval: IntervalEnds
    interval_method: str | None
    missing: Lacking
    corrections: Annotated[ScoreCorrections | None, "Null without --corrections."]
    n_effective: Annotated[float | None, "Effective number of the rows used; null where all count alike."]


class ScoreElement(_Score):
    """One metric of one method on one run."""

    value: Annotated[float | None, "Null where the metric is not defined for these rows."]


class BoundsElement(_Score):
    """A metric of which only bounds are known."""

    low: float
    high: float


class VerdictElement(_Judged):
    """The verdict on one run and method."""

    metric: Literal["verdict"]
    value: VerdictKind
    words: Annotated[str, "The verdict in words."]
    p: Annotated[float | None, "Of calibration; null without a test."]
    p_level: Annotated[float | None, "Of the level alone."]
    p_slope: Annotated[float | None, "Of the slope alone; null if all confidences are equal."]
    p_curve: Annotated[float | None, "Of what groups show beyond level and slope; null if they show no more."]
    q: Annotated[float | None, "p, corrected for all verdicts printed (Benjamini–Hochberg)."]
    level: Annotated[float | None, "Mean confidence minus accuracy."]
    slope: Annotated[float | None, "Below 1 if confidences are too extreme; null if it cannot be fitted."]
    deviation: Annotated[float | None, "Estimated mean of |c − P(right)|."]
    deviation_bound: Annotated[float | None, "95 % upper bound of that mean."]
    tolerance: Annotated[float, "The deviation up to which miscalibration is tolerable."]
    reason: Annotated[str, "Why this is the verdict."]
    score_note: Annotated[str | None, "Whether it is on a score or on the model; null where on the model."]
    held_out_gap: Annotated[float | None, "Level of the held-out share of samples; null except for F_CS."]
    held_out_low: Annotated[float | None, "Its 95 % interval."]
    held_out_high: float | None
    reading: Annotated[str, "The verdict as a sentence."]
    missing: Lacking


class Bin(TypedDict):
    """One bin that is not empty."""

    bin: Annotated[int, "Its number, from 1."]
    low: float
    high: float
    count: int
    confidence: Annotated[float, "Mean."]
    accuracy: float
    accuracy_low: Annotated[float | None, "Null where pairs are not independent, as is the upper end."]
    accuracy_high: float | None
    gap: Annotated[float, "Confidence minus accuracy."]


class BinsElement(_Judged):
    """The bins of one reliability diagram."""

    metric: Id
    value: Annotated[float | None, "The metric; null where only bounds are known."]
    binning: Binning
    reading: Annotated[str, "The diagram in a sentence."]
    bins: list[Bin]


class Bounds(TypedDict):
    """The bounds of a value that is not known exactly."""

    low: float
    high: float


ByBins: TypeAlias = Annotated[dict[str, float] | None, "By M, as text."]


class SweepElement(_Computed):
    """One metric over M."""

    metric: Id
    values: Annotated[dict[str, float | Bounds | None], "By M, as text; null where refused."]
    rsd: Annotated[float | None, "Relative standard deviation of the values."]
    ddof: int
    p: Annotated[dict[str, float | None] | None, "By M, as text: of a value as large by chance."]
    null_median: ByBins
    null_low: ByBins
    null_high: ByBins
    fitted_median: ByBins
    fitted_low: ByBins
    fitted_high: ByBins
    rise_by_noise: Annotated[float | None, "From the first M to the last, of a model that fits the run."]
    rise_p: float | None
    rsd_p: float | None
    rsd_null_median: float | None
    rsd_null_low: float | None
    rsd_null_high: float | None
    draws: int | None
    seed: int | None
    ceiling: Annotated[float | None, "Largest value that the metric can take on these rows."]
    refused: Annotated[dict[str, str], "M, as text → why there is no value."]
    remarks: list[str]
    reading: Annotated[str, "How the values vary over M, as a sentence."]
    chance: Annotated[str, "How much of that chance alone would give."]


class AuditElement(_Computed):
    """The calibration error under one convention; what a convention does not have is null."""

    metric: Id
    convention: Annotated[str, "Its id."]
    title: str
    tool: str | None
    version: str | None
    bins: int | None
    binning: Binning | None
    closed: Closed | None
    norm: Norm
    value: float
    default: Annotated[bool, "Whether the other verbs use it."]
    verified: Annotated[str, "What the value was checked against."]
    source: str


class Difference(TypedDict):
    """After minus before; below 0 where the map helps, null without an interval."""

    ece: float | None
    brier: float | None
    nll: float | None
    interval: Annotated[dict[str, list[float] | None], "By metric, 95 %."]
    p: Annotated[dict[str, float | None], "By metric, two-sided."]


class RecalibrationElement(_Computed):
    """A run before and after recalibration, each row by a map that was fitted to other questions."""

    by: Annotated[str, "The map."]
    before: Annotated[dict[str, float], "By metric."]
    after: Annotated[dict[str, float], "By metric."]
    difference: Difference
    gain: Annotated[bool, "Whether the Brier score is lower beyond chance."]
    folds: int
    seed: int
    target: Annotated[str, "What the map changes: confidence or choices."]
    parameters: dict[str, float | list[float]]
    reading: Annotated[str, "The result as a sentence."]


class AppliedElement(_OfRun):
    """A run whose confidences a map has changed (--apply)."""

    method: Id
    by: Annotated[str, "The map."]
    rows: Annotated[int, "Rows written with a new confidence."]
    n_judged: Annotated[int, "Those of them with an outcome."]
    output: Output
    column: Annotated[str, "The column of the output that holds it."]
    question: Annotated[str | None, "Why the map may not hold for these rows."]


class Estimate(TypedDict):
    """A metric, with its interval where it has one."""

    value: float
    low: float | None
    high: float | None


class CompareElement(_Computed):
    """One run and method, by its top label."""

    accuracy: Annotated[float, "Of the rows with a confidence."]
    accuracy_low: float | None
    accuracy_high: float | None
    accuracy_of_all: Annotated[float, "Of all rows with an outcome; what runs are ranked by."]
    accuracy_of_all_low: float | None
    accuracy_of_all_high: float | None
    brier: float
    brier_low: float | None
    brier_high: float | None
    skill: Annotated[float | None, "1 − Brier/(a(1−a)), a being the accuracy; null where that is 0 or 1."]
    best: Annotated[bool, "Whether it cannot be told from the best by skill."]
    best_by: Annotated[list[str], "The metrics by which it cannot be told from the best."]
    judged: Annotated[str, "Which answer the outcome belongs to."]
    metrics: Annotated[dict[str, Estimate], "Those named with --metric."]
    missing: Lacking


class Side(_OfFile):
    """One side of a pair."""

    run: str
    method: Id


class PairElement(TypedDict):
    """One difference, a − b, on common questions (--pairs)."""

    metric: Id
    a: Side
    b: Side
    difference: float
    interval: Annotated[list[float], "Lower and upper end, 95 %."]
    p: float
    p_holm: Annotated[float, "p, corrected for all pairs (Holm)."]
    n_common: Annotated[int, "Questions that both have."]
    clusters: int


class SizeMean(TypedDict):
    """The metric at one N'; null where refused."""

    mean: float | None
    std: Annotated[float | None, "Over the draws."]
    draws: int


class SampleRange(TypedDict):
    """Samples that the questions have."""

    fewest: int
    most: int


class SizeDifference(TypedDict):
    """Brier score at this N' minus that at the largest which is not greyed, with its 95 % interval."""

    value: float
    low: float
    high: float


class EnoughSamples(TypedDict):
    """The smallest N' that does as well as the largest."""

    size: Annotated[int | None, "Null where none does."]
    against: Annotated[int, "The largest N' that is not greyed."]
    within: Annotated[float, "The tolerance."]
    differences: Annotated[dict[str, SizeDifference], "By N', as text."]


class BaselineValue(TypedDict):
    """The metric of a method that needs no samples."""

    value: float
    judged: str
    n: Annotated[int, "Questions that have this confidence."]
    recipe: str


class SamplesElement(_Computed):
    """One metric of one method over N', the number of samples."""

    metric: Id
    sizes: Annotated[dict[str, SizeMean], "By N', as text."]
    repeats: int
    seed: int
    samples: SampleRange
    absent: Annotated[dict[str, int], "N', as text → draws without a confidence."]
    greyed: Annotated[dict[str, str], "N', as text → why the spread over its draws is too small."]
    refused: Annotated[dict[str, str], "N', as text → why it was not drawn."]
    enough: EnoughSamples | None
    baselines: Annotated[dict[str, BaselineValue], "By method."]
    judged: Annotated[str, "Which answer the outcome belongs to."]
    reading: Annotated[str, "The result as a sentence."]
    measure: Annotated[str, "What counts as enough."]


class Threshold(TypedDict):
    """A confidence from which on the model answers; numbers are null where there is none."""

    threshold: float | None
    answered: Annotated[float | None, "Share of all rows with an outcome, with a confidence or without."]
    accuracy: Annotated[float | None, "Of the answered rows."]
    accuracy_low: Annotated[float | None, "Lower bound of the accuracy."]
    n_answered: int | None


class ThresholdCosts(TypedDict):
    """What thresholds cost per question, and what it costs to believe the confidence."""

    wrong: float
    handed_on: float
    believed_threshold: Annotated[float, "1 − handed_on / wrong, if the confidence is calibrated."]
    believed_answered: Annotated[float, "Share of all rows with an outcome."]
    believed_cost: float
    cheapest_threshold: Annotated[float | None, "On these rows; null to hand every question on."]
    cheapest_answered: float
    cheapest_cost: Annotated[float, "Chosen on the rows it is judged on, so too low."]
    price: Annotated[float | None, "believed_cost − cheapest_cost; null with too few questions."]
    interval: IntervalEnds
    recipe: str


class ThresholdElement(_Judged, Threshold):
    """The guaranteed threshold of one run and method, and the empirical one."""

    guaranteed: bool
    reason: Annotated[str | None, "Why there is no guaranteed threshold."]
    empirical: Threshold | None
    target_accuracy: float
    confidence: Annotated[float, "How sure the guarantee is."]
    missing: Lacking
    costs: Annotated[ThresholdCosts | None, "With --cost-wrong and --cost-handed-on."]


class JudgeElement(_OfRun):
    """One measure of a judge against people; the pass rate has one element a method."""

    by: Annotated[str | None, "The column, with --by."]
    group: Annotated[str | None, "The group; null for all rows."]
    metric: Id
    method: Annotated[str, "Of κ and α: weights or level; of pass_rate: how it was estimated."]
    title: str
    value: Annotated[float | None, "Null where the method says nothing about these rows."]
    interval: IntervalEnds
    n: Annotated[int, "Rows that the judge labelled."]
    n_labelled: Annotated[int, "Rows that people labelled, too, and that the value is about."]
    chosen: Annotated[bool | None, "Of pass_rate: whether this interval is the shortest that holds."]
    reason: Annotated[str | None, "Why there is no value or no interval."]
    recipe: Annotated[str, "How the number was made."]


class GateElement(_OfRun):
    """One rule for one run and method."""

    rule: Annotated[str, "As it is typed."]
    method: Annotated[str | None, "Null for a rule about the whole run."]
    value: Annotated[float | None, "Null where it is not defined."]
    limit: float | None
    interval: IntervalEnds
    held: Annotated[
        bool | None, "Null for what could not be checked or decided, which does not count as passing."
    ]
    kind: RuleKind
    metric: str | None
    reason: Annotated[str, "What broke the rule, how the value was compared, or why it is not decided."]
    n_used: int


class Cell(TypedDict):
    """One bad value."""

    row: Annotated[int, "From 1."]
    line: Annotated[int | None, "From 1; null if the format has no lines."]
    column: str
    expected: str
    found: str
    fix: str


class ProblemOfCells(TypedDict):
    """All bad values of one kind."""

    kind: str
    count: int
    first: Annotated[list[Cell], "The first of them."]


class Warned(TypedDict):
    """What suggests that the file means something else."""

    kind: str
    message: str
    example: Annotated[str, "A row that shows it."]


class WithoutRun(_OfFile):
    """Of a file in which no run was found."""

    format: str | None
    run: None
    kind: None
    rows: int | None
    usable: dict[str, int]
    warnings: list[Warned]


class Status(TypedDict):
    """Whether the file loads."""

    status: FileStatus
    message: str
    problems: list[ProblemOfCells]


class RefusedElement(WithoutRun, Status):
    """A file that could not be read."""


class QuestionReading(TypedDict):
    """What the columns may mean, and what that comes to."""

    map: dict[str, str]
    wide: dict[str, str]
    rows: str
    missing: list[str]
    accuracy: float | None
    mean_confidence: float | None
    auroc: float | None
    bad_rows: int


class Question(TypedDict):
    """What a person has to decide."""

    text: str
    readings: list[QuestionReading]


class ColumnNotUsed(TypedDict):
    """A column that could be of use."""

    column: str
    could_be: str
    why: str
    map: Annotated[list[dict[str, str]], "The ways in which it could be read: column → name."]


class FileDetails(Status):
    """What every file that was read has."""

    bad_rows: int
    columns: list[str]
    unused: list[str]
    groups: list[str]
    proposals: Annotated[dict[str, str], "Column → the role that it seems to have."]
    proposed: Annotated[dict[str, str] | None, "The --map that is proposed."]
    proposed_rows: Annotated[str | None, "The --rows that go with it."]
    proposed_wide: Annotated[dict[str, str] | None, "The --wide that go with it."]
    proposed_missing: Annotated[list[str] | None, "The --missing that go with it."]
    question: Question | None
    columns_not_used: list[ColumnNotUsed]


class FileElement(WithoutRun, FileDetails):
    """A file in which no run was found."""


class Spike(TypedDict):
    """A confidence that many rows share."""

    value: float
    count: int


class Reported(TypedDict):
    """A metric that the tool reports, beside Calib's."""

    name: str
    subject: str | None
    theirs: float
    rows: int | None
    ours: float | None
    n: Annotated[int | None, "Rows behind Calib's."]
    ours_is: str
    agrees: bool | None
    why: Annotated[str, "Why the two differ, or why Calib has no value."]


class RunDetails(TypedDict):
    """What every run has."""

    usable: Annotated[dict[str, int], "Method → its rows."]
    not_usable: Annotated[dict[str, str], "Method → why not."]
    missing: Annotated[dict[str, dict[str, int]], "Method → what is missing → rows."]
    judged: Annotated[dict[str, str], "Method → which answer the outcome belongs to."]
    remarks: Annotated[dict[str, list[str]], "By method."]
    accuracy: float | None
    left_out: Annotated[int, "Bad rows, by --skip-bad-rows."]
    clipped: Annotated[dict[str, int], "Column → values just outside [0, 1], which were clipped."]
    off_sum: Annotated[int, "Distributions whose sum is not quite 1."]
    spikes: Annotated[dict[str, list[Spike]], "By method."]
    notes: list[str]
    reported: list[Reported]
    corrections: Annotated[RunCorrections | None, "Null without --corrections."]


class RunElement(_OfFile, RunDetails, FileDetails):
    """One run of a file; bad rows are those of the whole file."""

    format: str
    run: str
    kind: Literal["answers", "tokens"]
    rows: int
    warnings: list[Warned]


class ConvertElement(_OfRun):
    """One run that was written."""

    format: str
    rows: Annotated[int, "Rows written."]
    output: Output


class ReduceElement(_OfRun):
    """One token-level run that was written; `file` is its first part."""

    files: Annotated[list[str], "All its parts."]
    rows: Annotated[int, "Positions."]
    classes: int
    output: Output


class ReportElement(_OfRun):
    """One run of the report."""

    format: str
    title: str
    methods: list[str]
    report: Output
    pages: list[str]
    left_out: Annotated[dict[str, str], "Page → why."]


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
