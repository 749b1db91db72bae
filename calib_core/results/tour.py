"""What is calibration, told in six steps with the numbers of the data at hand?

Of which run: tour_subject.py. What a step is: tour_step.py. What each says: the other modules of the tour.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import polars as pl

from calib_core.edges import DEFAULT_SCHEME
from calib_core.errors import Unavailable, single_line
from calib_core.inference.intervals import wilson_interval
from calib_core.inference.null import NullDistribution
from calib_core.inference.verdict import MIN_ROWS, VERDICT_WORDS, Verdict, VerdictKind, judge_calibration
from calib_core.methods import METHODS
from calib_core.methods.answers.normalise import choice_texts
from calib_core.methods.answers.subsample import sample_matrix
from calib_core.methods.columns import column
from calib_core.methods.method import MethodOptions
from calib_core.results.comparison import (
    Comparison,
    ComparisonPoint,
    MetricEstimate,
    MetricEstimator,
    compare_runs,
    estimate_metric,
)
from calib_core.results.concentration import Concentration, measure_concentration
from calib_core.results.evidence import AnswerEvidence, Evidence
from calib_core.results.question_clusters import QuestionClusters, question_clusters
from calib_core.results.questions import questions_in_bin
from calib_core.results.recipe import recipe_text
from calib_core.results.reliability import Reliability, bin_name, reliability_diagram, stated_and_observed
from calib_core.results.robustness import PAPER_BINS, Sweep, SweepCurve, sweep_bins
from calib_core.results.run_names import name_with_model
from calib_core.runs import AnswerRun
from calib_core.wording import (
    ROUNDING_TOLERANCE,
    both_or_all,
    format_percent,
    format_short,
    plural,
    too_few_phrase,
)

# MERGED tour_subject: Of which run does the tour tell, and why of that one?

AGREEMENT_METHOD: Final = "cluster_size"
"""The method of the tour's fifth picture: the share of samples that agree."""


@dataclass(frozen=True, slots=True, eq=False)
class TourCandidate:
    """One run at hand. title: what it is called; usable: method id → evidence, at least one."""

    title: str
    usable: Mapping[str, Evidence]

    @property
    def first_evidence(self) -> Evidence:
        """By its first method: what does not depend on the method may be asked of this."""
        return next(iter(self.usable.values()))

    @property
    def name(self) -> str:
        """What it is called in a sentence: its model, where the file names it."""
        return self.first_evidence.run.info.model or self.title

    @property
    def has_answers(self) -> bool:
        """Whether it answers questions, and is no text."""
        return isinstance(self.first_evidence, AnswerEvidence)

    @property
    def has_readable_questions(self) -> bool:
        """Whether its questions can be read."""
        run = self.first_evidence.run
        return isinstance(run, AnswerRun) and run.has_columns("question")

    @property
    def has_samples(self) -> bool:
        """Whether its questions were answered several times."""
        return AGREEMENT_METHOD in self.usable


@dataclass(frozen=True, slots=True, eq=False)
class TourSubject:
    """What the tour tells of.

    run: key of the shown one among `runs`; method: its id, usable there; runs: all at hand, by key.
    """

    run: str
    method: str
    runs: Mapping[str, TourCandidate]

    @property
    def candidate(self) -> TourCandidate:
        """The run."""
        return self.runs[self.run]

    @property
    def evidence(self) -> Evidence:
        """The run by the method, each row by its top label."""
        return self.candidate.usable[self.method].top_label

    @property
    def name(self) -> str:
        """What the run is called in a sentence."""
        return self.candidate.name

    @property
    def unit_plural(self) -> str:
        """What there are many of: "answers", or "positions" of a text."""
        return "answers" if self.candidate.has_answers else "positions"


def default_tour_run(runs: Mapping[str, TourCandidate]) -> str:
    """The run that the tour shows where nobody has chosen one: see `why`. runs: one or more."""
    return max(runs, key=lambda key: _tour_rank(runs[key]))


def _tour_rank(candidate: TourCandidate) -> tuple[bool, bool, bool, int]:
    return (
        candidate.has_answers,
        candidate.has_readable_questions,
        candidate.has_samples,
        candidate.first_evidence.n_used,
    )


def choice_reason(runs: Mapping[str, TourCandidate], chosen_key: str) -> str:
    """Why `most_telling` took this one, as a sentence."""
    if len(runs) == 1:
        return "It is the one run here."
    one = runs[chosen_key]
    unit = "rows" if one.has_answers else "positions"
    has = [
        *(["answers to questions"] if one.has_answers and not one.has_readable_questions else []),
        *(["questions that can be read"] if one.has_readable_questions else []),
        *(["several answers to each"] if one.has_samples else []),
    ]
    alike = [other for other in runs.values() if _tour_rank(other)[:3] == _tour_rank(one)[:3]]
    if len(alike) == 1:
        return f"It is the one run here that has {' and '.join(has)}." if has else f"It has the most {unit}."
    ties = sum(_tour_rank(other) == _tour_rank(one) for other in alike)
    of = f" with {' and '.join(has)}" if has else ""
    most = "has the most" if ties == 1 else "is the first with the most"
    return f"Of the {len(alike)} runs{of}, it {most} {unit}."


# MERGED tour_step: What is one step of the tour?  A heading, two sentences with this data's numbers, and its picture.

StepKind = Literal["answer", "bin", "whole", "bins", "samples", "models"]


STEP_TITLES: Final[Mapping[StepKind, str]] = MappingProxyType(
    {
        "answer": "What a confidence is",
        "bin": "What calibrated means",
        "whole": "Over-confident or not, and where",
        "bins": "Why one number is not enough",
        "samples": "Several answers instead of one",
        "models": "Which model to trust",
    }
)
"""Step → what it is about; its heading, but of the whole, where the data decides that."""


@dataclass(frozen=True, slots=True)
class AnswerOption:
    """One thing that may be the answer. chosen: whether it is judged; right: None where not known."""

    text: str
    confidence: float
    chosen: bool
    right: bool | None


@dataclass(frozen=True, slots=True)
class SingleAnswer:
    """The answer to one question. question: None where the file has no texts; options: as they were given."""

    question: str | None
    options: tuple[AnswerOption, ...]
    confidence: float
    right: bool

    def to_frame(self) -> pl.DataFrame:
        """One row an option: answer, confidence, chosen, right."""
        return pl.DataFrame(
            [(one.text, one.confidence, one.chosen, one.right) for one in self.options],
            schema={"answer": pl.String, "confidence": pl.Float64, "chosen": pl.Boolean, "right": pl.Boolean},
            orient="row",
        )


@dataclass(frozen=True, slots=True)
class ConfidenceAccuracy:
    """What some answers say and how many are right: shares; low, high: 95 % Wilson of `right`."""

    name: str
    mean_confidence: float
    accuracy: float
    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class ConfidenceAccuracyPairs:
    """Several such pairs. unit: what is counted."""

    pairs: tuple[ConfidenceAccuracy, ...]
    unit: str

    def to_frame(self) -> pl.DataFrame:
        """One row a pair: name, said, right, right_low, right_high, count."""
        return pl.DataFrame(
            [
                (one.name, one.mean_confidence, one.accuracy, one.low, one.high, one.count)
                for one in self.pairs
            ],
            schema={
                "name": pl.String,
                "said": pl.Float64,
                "right": pl.Float64,
                "right_low": pl.Float64,
                "right_high": pl.Float64,
                "count": pl.Int64,
            },
            orient="row",
        )


TourPicture: TypeAlias = (
    SingleAnswer
    | ConfidenceAccuracyPairs
    | Reliability
    | Sweep
    | QuestionClusters
    | Comparison
    | Concentration
)


@dataclass(frozen=True, slots=True, eq=False)
class TourStep:
    """One step.

    heading: what it is about, and what there is to see where the data decides that; sentences: two, with
    numbers of this data; chosen: what of the data is shown and by which rule; recipe: how the numbers are
    made.
    """

    kind: StepKind
    heading: str
    sentences: tuple[str, str]
    picture: TourPicture
    selection_note: str
    recipe: str

    def to_frame(self) -> pl.DataFrame:
        """The numbers of the picture, with the recipe beside every row."""
        return self.picture.to_frame().with_columns(recipe=pl.lit(self.recipe))


# MERGED tour_answer: What is a confidence, and what would it be to be calibrated?  The first two steps of the tour.

_MAX_QUESTION_LETTERS: Final = 200
_MAX_ANSWER_LETTERS: Final = 60
"""Letters of a question and of an answer in a sentence."""
_WRONG_OPTION: Final = "it is wrong"
"""The other thing that a single confidence speaks of."""


def answer_step(subject: TourSubject) -> TourStep:
    """One question, its answer and its confidence; of a text, whose positions are not kept, all of them."""
    evidence = subject.evidence
    if not isinstance(evidence, AnswerEvidence):
        return _token_answer_step(subject, evidence)
    pairs = evidence.confidences.pairs
    at = int(np.argmin(np.abs(pairs.confidence.astype(np.float64) - (evidence.mean_confidence or 0.0))))
    row = questions_in_bin(evidence).frame.row(at, named=True)
    confidence, right = float(pairs.confidence[at]), bool(pairs.correct[at])
    text, answer = row.get("question"), row["answer"]
    return TourStep(
        kind="answer",
        heading=STEP_TITLES["answer"],
        sentences=(
            (
                f"{_asked_clause(text, row)} {subject.name} {_answered_clause(answer)} and is {format_percent(confidence)} sure: "
                "that number is its confidence."
            ),
            (
                f"{_outcome_clause(right, row['gold'], answer)}, {_single_answer_clause(confidence, right)}: "
                f"{_together_clause(evidence.n_used)}."
            ),
        ),
        picture=SingleAnswer(text, _answer_options(evidence, at, answer), confidence, right),
        selection_note="The question is the first whose confidence is nearest to the average.",
        recipe=recipe_text(evidence, None, None),
    )


def _asked_clause(text: str | None, row: dict[str, object]) -> str:
    if text:
        return f"Asked “{single_line(text, _MAX_QUESTION_LETTERS)}”,"
    return (
        f"On question {single_line(str(row['id']), _MAX_ANSWER_LETTERS)},"
        if row.get("id")
        else f"On row {row['row']},"
    )


def _answered_clause(answer: str | None) -> str:
    return f"answers “{single_line(answer, _MAX_ANSWER_LETTERS)}”" if answer else "gives an answer"


def _outcome_clause(right: bool, gold: str | None, answer: str | None) -> str:  # noqa: FBT001 (what it speaks of)
    if right:
        return "This time it is right"
    told = f" (right is “{single_line(gold, _MAX_ANSWER_LETTERS)}”)" if gold and gold != answer else ""
    return f"This time it is wrong{told}"


def _single_answer_clause(confidence: float, right: bool) -> str:  # noqa: FBT001 (what it speaks of)
    """What one answer says of its confidence: nothing, unless that left no room for what happened."""
    if confidence == (0.0 if right else 1.0):
        off = "little" if right else "much"
        return (
            f"so {format_percent(confidence)} was too {off}, but by how much nobody can tell from one answer"
        )
    return (
        f"and from one answer nobody can tell whether {format_percent(confidence)} is too much or too little"
    )


def _together_clause(n: int) -> str:
    return f"that takes {both_or_all(n)} answers together" if n > 1 else "that would take more than this one"


def _answer_options(
    evidence: AnswerEvidence, pair_index: int, answer: str | None
) -> tuple[AnswerOption, ...]:
    """What the confidence is spread over: the choices of the question, or the answer and its being wrong."""
    pairs, whole = evidence.confidences.pairs, evidence.confidences.distribution
    if whole is None:
        confidence, right = float(pairs.confidence[pair_index]), bool(pairs.correct[pair_index])
        return (
            AnswerOption(answer or "its answer", confidence, chosen=True, right=right),
            AnswerOption(_WRONG_OPTION, 1 - confidence, chosen=False, right=None),
        )
    begin, size = int(whole.row_starts[pair_index]), int(whole.sizes[pair_index])
    texts = choice_texts(evidence.run.rows[[int(whole.rows[pair_index])] * size], np.arange(size))
    top = int(whole.top_index[pair_index])
    return tuple(
        AnswerOption(
            texts[place],
            float(whole.probs[begin + place]),
            chosen=place == top,
            right=place == int(whole.target[pair_index]),
        )
        for place in range(size)
    )


def _token_answer_step(subject: TourSubject, evidence: Evidence) -> TourStep:
    seen = measure_concentration(evidence, DEFAULT_SCHEME)
    fullest = seen.table.row(int(seen.table["count"].arg_max() or 0), named=True)
    return TourStep(
        kind="answer",
        heading=STEP_TITLES["answer"],
        sentences=(
            (
                f"At each of {evidence.n_used:,} positions of a text, {subject.name} names the next token it "
                "holds most probable, and how probable: that number is its confidence, "
                f"{_mean_clause(evidence.mean_confidence)}."
            ),
            (
                "Of a text only sums are kept, so the picture shows all positions and not one: "
                f"{format_percent(fullest['share'])} of them have a confidence between {fullest['low']:.3g} and "
                f"{fullest['high']:.3g}, and of all, {format_percent(evidence.accuracy or 0.0)} are right."
            ),
        ),
        picture=seen,
        selection_note="All positions are shown.",
        recipe=seen.recipe,
    )


def _mean_clause(mean: float | None) -> str:
    return f"{format_percent(mean or 0.0)} on average"


def bin_step(subject: TourSubject) -> TourStep:
    """What the answers of the fullest bin say, and how many of them are right."""
    evidence, noun = subject.evidence, subject.unit_plural
    binned = evidence.top_label_sums.binned(DEFAULT_SCHEME)
    at = int(np.argmax(binned.count))
    found = judge_calibration(binned, design_effect=evidence.design_effect)
    n, right = int(binned.count[at]), int(binned.correct[at])
    said, share, there = float(binned.confidence[at]) / n, right / n, plural(n, noun[:-1])
    low, high = (
        float(end[at]) for end in wilson_interval(binned.correct, binned.count, evidence.design_effect)
    )
    spread = f", give or take {100 * float(found.chance_limit[at]) / n:.1f} points of chance"
    where = bin_name(binned, at)
    return TourStep(
        kind="bin",
        heading=STEP_TITLES["bin"],
        sentences=(
            (
                f"Put the {noun} of {subject.name} into ten bins by confidence: in the fullest, {where}, it "
                f"says {format_percent(said)} on average, and calibrated means that {format_percent(said)} of the "
                f"{there} there should be right{spread if n >= MIN_ROWS else ''}."
            ),
            (
                f"{right:,} of {n:,} {'is' if right == 1 else 'are'} right, which is {format_percent(share)}: "
                f"{_bin_verdict_clause(found, at, n, noun)}."
            ),
        ),
        picture=ConfidenceAccuracyPairs(
            (ConfidenceAccuracy(f"{where}, {there}", said, share, low, high, n),), noun
        ),
        selection_note=f"The bin is the one of ten with the most {noun}.",
        recipe=recipe_text(evidence, None, DEFAULT_SCHEME),
    )


def _bin_verdict_clause(judgement: Verdict, bin_index: int, n: int, unit_plural: str) -> str:
    """Judged with all other bins, as the next step does."""
    if n < MIN_ROWS:
        return too_few_phrase(n, unit_plural[:-1])
    if not judgement.significant[bin_index]:
        return f"as often as it says, as far as {n:,} {unit_plural} can tell"
    return f"{'less' if judgement.over_gap[bin_index] else 'more'} often than it says, by more than chance"


# MERGED tour_whole: Is it over-confident, and where; and what does the number depend on?  Steps three and four of the tour.

GAP_NAMES: Final[dict[VerdictKind, str]] = {
    "over": "the over-confidence",
    "under": "the under-confidence",
    "mixed": "what is more than chance",
}
"""What is spoken of where the largest gap of all is on the other side, or within chance."""


def overall_step(subject: TourSubject) -> TourStep:
    """The reliability diagram, and what it comes to."""
    evidence = subject.evidence
    result = reliability_diagram(evidence, "ece", DEFAULT_SCHEME)
    binned = evidence.top_label_sums.binned(DEFAULT_SCHEME)
    found = judge_calibration(binned, design_effect=evidence.design_effect)
    # Of few rows the second sentence says that they are.
    few = found.kind == "few"
    told = f"{stated_and_observed(binned)}." if few else result.headline[0].lower() + result.headline[1:]
    return TourStep(
        kind="whole",
        heading=f"{VERDICT_WORDS[found.kind].capitalize()}{', and where' if found.kind in {'over', 'under'} else ''}",
        sentences=(f"{subject.name} {told}", _largest_gap_sentence(result, found, subject.unit_plural)),
        picture=result,
        selection_note=f"All its {subject.unit_plural} are shown, in ten bins.",
        recipe=result.score.recipe,
    )


def _largest_gap_sentence(result: Reliability, verdict: Verdict, unit_plural: str) -> str:
    """The bin with the largest part of the claimed gap, which is all of it or one side; else the fullest."""
    kind, table = verdict.kind, result.table.with_columns(clear=pl.Series(verdict.significant))
    if kind == "few":
        return f"{_bin_clause(_fullest_bin(table), unit_plural)}; below {MIN_ROWS} {unit_plural} no more is said of them."
    if kind == "neither":
        return f"No bin is farther off than chance allows: {_bin_clause(_fullest_bin(table), unit_plural)}, in the fullest."
    side = {"over": pl.col("gap") > 0, "under": pl.col("gap") < 0}.get(kind, pl.col("clear"))
    worst = table.filter(side).sort("share", descending=True).row(0, named=True)
    claimed = "the gap" if worst["share"] == table["share"].max() else GAP_NAMES[kind]
    return f"The largest part of {claimed} is in {worst['interval']}: {_bin_clause(worst, unit_plural)}."


def _fullest_bin(table: pl.DataFrame) -> dict[str, Any]:
    return table.sort("count", descending=True, maintain_order=True).row(0, named=True)


def _bin_clause(row: dict[str, Any], unit_plural: str) -> str:
    """ "412 answers say 97.5 % on average, and 80.1 % of them are right"."""
    if row["count"] == 1:
        judged = "right" if row["accuracy"] else "wrong"
        return f"1 {unit_plural[:-1]} says {format_percent(row['confidence'])} and is {judged}"
    return (
        f"{row['count']:,} {unit_plural} say {format_percent(row['confidence'])} on average, and "
        f"{format_percent(row['accuracy'])} of them are right"
    )


def bins_step(subject: TourSubject) -> TourStep:
    """The ECE over M, and what chance alone would give. Raises Unavailable where it has no curve."""
    evidence = subject.evidence
    result = sweep_bins(evidence, ("ece",), PAPER_BINS)
    if not result.curves:
        raise Unavailable(result.unavailable["ece"])
    curve = result.curves[0]
    few, many = curve.bins[0], curve.bins[-1]
    ends = (curve.values[0], curve.values[-1])
    low, high = ("not known" if value is None else format_short(value) for value in ends)
    number = f"{low} with {few} bins" + (f" and {high} with {many}" if low != high else f" as with {many}")
    return TourStep(
        kind="bins",
        heading=STEP_TITLES["bins"],
        sentences=(
            (
                "The usual number, ECE, is the average gap of M bins, of which fuller ones count more, and M "
                f"is a choice: for {subject.name} it is {number}."
            ),
            _null_sentence(curve, plural(evidence.n_used, subject.unit_plural[:-1])),
        ),
        picture=result,
        selection_note=f"ECE at the {len(curve.bins)} M of the Full-ECE paper.",
        recipe=curve.recipe,
    )


def _null_sentence(curve: SweepCurve, rows_text: str) -> str:
    advice = "an ECE has to be read with its M and its rows"
    if curve.null is None:
        return f"How much of it {rows_text} would give by chance is not known here: {advice}."
    few, many = curve.bins[0], curve.bins[-1]
    return (
        f"Confidences that are exactly right would give about {_null_median_text(curve, curve.null, 0)} with {few} bins "
        f"and {_null_median_text(curve, curve.null, -1)} with {many} on {rows_text}, by chance alone: {advice}."
    )


def _null_median_text(curve: SweepCurve, null: NullDistribution, bins_index: int) -> str:
    """ "0.0198 (13 % of it)": the null's median, and its share of what was found where it is the smaller."""
    median, value = null.median[bins_index], curve.values[bins_index]
    share = f" ({100 * median / value:.0f} % of it)" if value is not None and median < value else ""
    return f"{format_short(median)}{share}"


# MERGED tour_samples: What do several answers say that one does not?  The fifth step of the tour.

_MAX_SAMPLED_QUESTION_LETTERS: Final = 160
_MAX_SAMPLED_ANSWER_LETTERS: Final = 40
"""Letters of a question and of an answer in a sentence."""


def samples_step(subject: TourSubject) -> TourStep:
    """One question asked several times; where no run has that, the run's confidences beside one another."""
    sampled = {key: one for key, one in subject.runs.items() if one.has_samples}
    if not sampled:
        return _step_without_samples(subject)
    own = subject.run in sampled
    run = subject.run if own else max(sampled, key=lambda key: sampled[key].usable[AGREEMENT_METHOD].n_used)
    one = sampled[run]
    evidence = one.usable[AGREEMENT_METHOD]
    if not isinstance(evidence, AnswerEvidence):
        raise TypeError(type(evidence))
    elsewhere = (
        ""
        if own
        else (
            f"{subject.candidate.title} has none, so this is {one.title}, of the runs with several answers to a "
            "question the first with the most rows. "
        )
    )
    opening, picture, which = _question_or_all(one, evidence)
    return TourStep(
        kind="samples",
        heading=STEP_TITLES["samples"],
        sentences=(opening, _over_all_sentence(one, evidence, subject.method if own else None)),
        picture=picture,
        selection_note=f"{elsewhere}{which}",
        recipe=recipe_text(evidence, None, None),
    )


def _question_or_all(
    candidate: TourCandidate, evidence: AnswerEvidence
) -> tuple[str, QuestionClusters | ConfidenceAccuracyPairs, str]:
    """What the samples of a question say, its picture, and which it is; of all where none can be judged."""
    try:
        question, picture = _typical_question_clusters(evidence)
    except Unavailable:
        told = (
            f"{candidate.name} was asked each question several times: the share of samples that give the same "
            f"answer, its agreement, is {format_percent(evidence.mean_confidence or 0.0)} on average, and can "
            "serve as its confidence."
        )
        return told, _confidence_accuracy_by_method(candidate), "Shown is each confidence that the run gives."
    which = "The question is the first whose agreement is nearest to the average."
    return _agreement_sentence(candidate, question, picture), picture, which


def _typical_question_clusters(evidence: AnswerEvidence) -> tuple[str, QuestionClusters]:
    """The question whose agreement is nearest to the average, in words and as clusters."""
    pairs = evidence.confidences.pairs
    near = np.abs(pairs.confidence.astype(np.float64) - (evidence.mean_confidence or 0.0))
    place = int(pairs.rows[int(np.argmin(near))])
    found = question_clusters(evidence.run, sample_matrix(evidence.run, MethodOptions()), place)
    text: str | None = column(evidence.run, "question")[place]
    told = (
        f"“{single_line(text, _MAX_SAMPLED_QUESTION_LETTERS)}”"
        if text
        else f"question {found.row} of its file"
    )
    return told, found


def _agreement_sentence(candidate: TourCandidate, question: str, clusters: QuestionClusters) -> str:
    chosen = clusters.clusters[0]
    agree = f"{chosen.size} agree{'s' if chosen.size == 1 else ''}"
    return (
        f"Asked {clusters.n_samples} times {question}, {candidate.name} gives {_answer_count_text(clusters.n_clusters)}: "
        f"{agree} on “{single_line(chosen.answer, _MAX_SAMPLED_ANSWER_LETTERS)}”, so its agreement, "
        f"{format_percent(chosen.size / clusters.n_samples)}, can serve as its confidence."
    )


def _answer_count_text(n_answers: int) -> str:
    return f"{n_answers} different answers" if n_answers > 1 else "1 answer only"


def _over_all_sentence(candidate: TourCandidate, evidence: Evidence, method: str | None) -> str:
    """What agreement says over all questions, and beside it the method that the tour is of."""
    beside = ""
    if method not in (None, AGREEMENT_METHOD):
        other = candidate.usable[method]
        on = "" if other.n_used == evidence.n_used else f" on {plural(other.n_used, 'question')}"
        beside = (
            f", against {other.brier or 0.0:.4f} of “{other.method.title}”{on}, which says "
            f"{format_percent(other.mean_confidence or 0.0)} and is right {format_percent(other.accuracy or 0.0)} of the "
            "time"
        )
    of = f"Over all {evidence.n_used:,} questions" if evidence.n_used > 1 else "On its 1 question"
    return (
        f"{of} agreement is {format_percent(evidence.mean_confidence or 0.0)} on "
        f"average, and the answer most often given is right {format_percent(evidence.accuracy or 0.0)} of the time: "
        f"a Brier score (lower is better) of {evidence.brier or 0.0:.4f}{beside}."
    )


def _step_without_samples(subject: TourSubject) -> TourStep:
    usable = {id_: own.top_label for id_, own in subject.candidate.usable.items()}
    return TourStep(
        kind="samples",
        heading=STEP_TITLES["samples"],
        sentences=(
            (
                f"{_no_samples_clause(subject)}, so agreement between answers cannot be shown on this data: it would be "
                "one more confidence, the share of samples that give the same answer."
            ),
            _other_methods_sentence(subject, usable),
        ),
        picture=_confidence_accuracy_by_method(subject.candidate),
        selection_note="Shown instead: each confidence that the run gives.",
        recipe=recipe_text(subject.evidence, None, None),
    )


def _no_samples_clause(subject: TourSubject) -> str:
    """That nothing was asked several times."""
    if len(subject.runs) > 1:
        return f"Not one of the {len(subject.runs)} runs here has a question with several sampled answers"
    n = subject.evidence.n_used
    told = plural(n, subject.unit_plural[:-1])
    if subject.candidate.has_answers:
        return f"{subject.name} gave its {told} once{' each' if n > 1 else ''}"
    return f"{subject.name} has {told} of a text and no sampled answers"


def _other_methods_sentence(subject: TourSubject, usable: Mapping[str, Evidence]) -> str:
    if len(usable) == 1:
        own = subject.evidence
        return (
            f"The run gives 1 confidence, “{own.method.title}”, which says "
            f"{format_percent(own.mean_confidence or 0.0)} on average and is right {format_percent(own.accuracy or 0.0)} "
            "of the time."
        )
    low, high = (end(usable.values(), key=lambda own: own.brier or 0.0) for end in (min, max))
    score = "the Brier score (lower is better)"
    opening = f"{subject.name} gives {len(usable)} confidences: {score}"
    if f"{low.brier or 0.0:.4f}" == f"{high.brier or 0.0:.4f}":
        return f"{opening} is {low.brier or 0.0:.4f} by each of them."
    return (
        f"{opening} goes from {low.brier or 0.0:.4f} by “{low.method.title}” to {high.brier or 0.0:.4f} by "
        f"“{high.method.title}”."
    )


def _confidence_accuracy_by_method(candidate: TourCandidate) -> ConfidenceAccuracyPairs:
    unit = "answers" if candidate.has_answers else "positions"
    return ConfidenceAccuracyPairs(
        tuple(_confidence_accuracy(own.top_label) for own in candidate.usable.values()), unit
    )


def _confidence_accuracy(evidence: Evidence) -> ConfidenceAccuracy:
    count = evidence.top_label_sums.n_pairs
    low, high = wilson_interval(
        np.array([evidence.top_label_sums.n_correct]), np.array([count]), evidence.design_effect
    )
    return ConfidenceAccuracy(
        METHODS[evidence.method.id].title,
        evidence.mean_confidence or 0.0,
        evidence.accuracy or 0.0,
        float(low[0]),
        float(high[0]),
        count,
    )


# MERGED tour_models: Which model is to be trusted?  The last step of the tour.


def models_step(subject: TourSubject, estimator: MetricEstimator) -> TourStep:
    """Accuracy and Brier score of the runs of one data set, by the same method.

    measure: makes each number with its interval. Raises Unavailable where no run has both numbers.
    """
    seen = _comparable_evidences(subject)
    result = compare_runs(
        seen,
        titles={key: subject.runs[key].title for key in seen},
        estimator=estimator,
    )
    if not result.points:
        raise Unavailable(result.headline)
    method = METHODS[subject.method].title
    points = [replace(one, name=name_with_model(one.name, seen[one.key].run.info)) for one in result.points]
    return TourStep(
        kind="models",
        heading=STEP_TITLES["models"],
        sentences=(_lowest_brier_sentence(points, method), _trust_sentence(points)),
        picture=result,
        selection_note=_selection_note(subject, len(result.points), method),
        recipe=result.recipe,
    )


def _comparable_evidences(subject: TourSubject) -> dict[str, Evidence]:
    """The runs of the shown one's data set that give the same confidence, that one among them."""
    dataset = subject.evidence.run.info.dataset
    return {
        key: one.usable[subject.method].top_label
        for key, one in subject.runs.items()
        if subject.method in one.usable
        and one.first_evidence.run.info.dataset == dataset
        and one.has_answers is subject.candidate.has_answers
    }


def _selection_note(subject: TourSubject, n_runs: int, method: str) -> str:
    dataset = subject.evidence.run.info.dataset
    unnamed = "whose file names no data set" if n_runs == 1 else "whose files name no data set"
    of = f"of the data set {dataset}" if dataset else unnamed
    if n_runs == 1:
        return f"It is the only run {of} that gives “{method}”."
    return f"{both_or_all(n_runs).capitalize()} runs {of} that give “{method}”."


def _best_and_most_accurate(points: Sequence[ComparisonPoint]) -> tuple[ComparisonPoint, ComparisonPoint]:
    """The lowest Brier score and the highest accuracy; of equal ones the better by the other number."""
    best = min(points, key=lambda point: (point.brier.value, -point.accuracy.value))
    return best, max(points, key=lambda point: (point.accuracy.value, -point.brier.value))


def _lowest_brier_sentence(points: Sequence[ComparisonPoint], method: str) -> str:
    best, right = _best_and_most_accurate(points)
    brier, accuracy = f"{best.brier.value:.4f}", format_percent(best.accuracy.value)
    if len(points) == 1:
        return (
            f"{best.name} is right {accuracy} of the time and has a Brier score of {brier} by “{method}”: "
            "that score is low where right answers have a high confidence and wrong ones a low one."
        )
    first = sum(point.brier.value <= best.brier.value + ROUNDING_TOLERANCE for point in points) == 1
    lowest = f"{'the lowest Brier score' if first else 'as low a Brier score as any'}, {brier}"
    opening = f"Of {len(points)} runs, {best.name} has {lowest}, and is right {accuracy} of the time"
    if right is best:
        low = "the score is low where right answers are sure and wrong ones are not"
        alone = [point.accuracy.value for point in points].count(best.accuracy.value) == 1
        return f"{opening}, {'the most of all' if alone else 'as often as any'}: {low}."
    return (
        f"{opening}, while {right.name} is right most often, {format_percent(right.accuracy.value)}, with a Brier "
        f"score of {right.brier.value:.4f}."
    )


def _trust_sentence(points: Sequence[ComparisonPoint]) -> str:
    best, right = _best_and_most_accurate(points)
    always = (
        f"always saying {format_percent(best.accuracy.value)} would score {best.constant_brier:.4f}, and its own score "
        f"{_against_constant_clause(best)}"
    )
    if len(points) == 1:
        return f"Which to trust takes another to compare it with; {always}."
    if best.n_used < MIN_ROWS:
        return f"A score of {plural(best.n_used, 'row')} says too little to trust {best.name} by; {always}."
    if right is not best:
        return f"{_trade_off_clause(best, right)}: {always}."
    near = [point for point in points if point is not best and point.brier.overlaps(best.brier)]
    if near:
        others = "that of 1 other run" if len(near) == 1 else f"those of {len(near)} other runs"
        return (
            f"The interval of its score{_interval_clause(best.brier)} meets {others}, so this data does not settle "
            f"which of them to trust most; {always}."
        )
    first = "it is the one to trust" if _beats_constant(best) else "it stands first"
    interval = f"The interval of its score{_interval_clause(best.brier)}"
    return f"{interval} meets no other run's, so of these {first}; {always}."


def _trade_off_clause(best: ComparisonPoint, most_accurate: ComparisonPoint) -> str:
    """What to trust whom for, where the lowest score and the highest accuracy are not of one run."""
    if not _beats_constant(best):
        return f"A low score alone is no reason to trust {best.name}"
    if best.brier.overlaps(most_accurate.brier):
        settled = "does not settle which of them to trust most"
        return f"The intervals of these two scores meet, so this data {settled}"
    return f"Trust {most_accurate.name} to be right most often, and {best.name} to tell right from wrong"


def _against_constant_clause(point: ComparisonPoint) -> str:
    """The Brier score beside that of always saying the run's own accuracy, as far as its interval tells."""
    if point.brier.low is None or point.brier.high is None:
        return f"is {point.brier.value:.4f}"
    if _beats_constant(point):
        return "is better than that"
    return "is worse than that" if point.brier.low > point.constant_brier else "is about the same"


def _beats_constant(point: ComparisonPoint) -> bool:
    """Whether the confidence is clearly worth more than always saying the run's own accuracy."""
    return point.brier.high is not None and point.brier.high < point.constant_brier


def _interval_clause(estimate: MetricEstimate) -> str:
    return (
        ""
        if estimate.low is None or estimate.high is None
        else f", {estimate.low:.4f} to {estimate.high:.4f},"
    )


_STEP_BUILDERS: Final[Mapping[StepKind, Callable[[TourSubject], TourStep]]] = MappingProxyType(
    {
        "answer": answer_step,
        "bin": bin_step,
        "whole": overall_step,
        "bins": bins_step,
        "samples": samples_step,
    }
)

STEP_KINDS: Final[tuple[StepKind, ...]] = (*_STEP_BUILDERS, "models")
"""In the order in which they are told."""


def tour_step(kind: StepKind, subject: TourSubject, estimator: MetricEstimator = estimate_metric) -> TourStep:
    """One step of the tour.

    measure: makes the numbers of the last step with their intervals, or takes them from a store. Raises
    Unavailable with the reason where the data cannot give the step.
    """
    return models_step(subject, estimator) if kind == "models" else _STEP_BUILDERS[kind](subject)
