"""What is calibration? A tour in five steps, on one run and one method of the loaded data."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, cast

import numpy as np
import polars as pl

from calib_core.edges import DEFAULT_SCHEME
from calib_core.errors import Unavailable, single_line
from calib_core.inference.bin_gaps import BinGaps, bin_gaps
from calib_core.inference.intervals import wilson_interval
from calib_core.inference.null import NullDistribution
from calib_core.inference.text_test import DEPENDENT_POSITIONS
from calib_core.inference.verdict import LEVEL_KINDS, MIN_ROWS, Verdict, VerdictKind
from calib_core.methods import METHODS
from calib_core.methods.answers.normalise import choice_texts
from calib_core.results.best import SKILL, PairedComparison
from calib_core.results.comparison import (
    Comparison,
    ComparisonPoint,
    MetricEstimator,
    compare_runs,
    estimate_metric,
)
from calib_core.results.concentration import Concentration, measure_concentration
from calib_core.results.defaults import default_method, default_run
from calib_core.results.evidence import AnswerEvidence, Evidence, refuse_weights
from calib_core.results.questions import questions_in_bin
from calib_core.results.recipe import recipe_text
from calib_core.results.reliability import (
    Reliability,
    reading_of_bin,
    reliability_diagram,
    stated_and_observed,
)
from calib_core.results.robustness import PAPER_BINS, Sweep, SweepCurve, sweep_bins
from calib_core.results.run_names import GivenName, name_with_model
from calib_core.terms import ANSWER_TERMS, TERMS, ProbabilityOf, Terms
from calib_core.wording import (
    ROUNDING_TOLERANCE,
    BinReading,
    both_or_all,
    format_percent,
    format_short,
    format_signed,
    plural,
    too_few_phrase,
)

StepKind = Literal["answer", "bin", "whole", "bins", "models"]


def step_title(kind: StepKind, terms: Terms) -> str:
    """The heading of a step; the data decides that of the third."""
    match kind:
        case "answer":
            return f"What a {terms.confidence} is"
        case "bin":
            return "What calibrated means"
        case "whole":
            return f"{terms.over.capitalize()} or not, and where"
        case "bins":
            return "How far off, in one number"
        case "models":
            return "Which model to trust"


GAP_NAMES: Final[dict[VerdictKind, str]] = {
    "over": "the over-confidence",
    "under": "the under-confidence",
    "often": "the excess of yes",
    "rarely": "the lack of yes",
}
"""Name of the gap that a verdict is about, where the largest gap is on the other side."""

_MAX_QUESTION_LETTERS: Final = 200

_MAX_ANSWER_LETTERS: Final = 60
"""Characters of a question and of an answer in a sentence."""

_BRIER_MEANINGS: Final[Mapping[ProbabilityOf, str]] = MappingProxyType(
    {
        "answer": (
            "The Brier score is low when right answers have a high confidence and wrong answers a low one"
        ),
        "event": (
            "The Brier score is low when yes has a high probability where it is true, and a low one elsewhere"
        ),
    }
)

_UNCHANGED_SHARE: Final = 0.01
"""Share of the ECE up to which a change over M is not worth a warning, if the ECE is far above chance …"""
_FAR_ABOVE_CHANCE: Final = 2.0
"""… at this many times the null's median at every M, or more."""
_WRONG_OPTION: Final = "answer is wrong"
"""The alternative to an answer that comes with a single confidence."""


@dataclass(frozen=True, slots=True, eq=False)
class TourCandidate:
    """One run the tour could show.

    Attributes
    ----------
    title : str
        Name of the run.
    usable : Mapping[str, Evidence]
        Method id → evidence; at least one.
    """

    title: str
    usable: Mapping[str, Evidence]

    @property
    def default_evidence(self) -> Evidence:
        """The evidence of its default method, for facts that do not depend on the method."""
        return self.usable[default_method(self.usable)]

    @property
    def name(self) -> str:
        """The name to use in a sentence: the user's own, else the model, if the file names it."""
        if isinstance(self.title, GivenName):
            return self.title
        return self.default_evidence.run.info.model or self.title

    @property
    def has_answers(self) -> bool:
        """Whether it answers questions, rather than predicting a text."""
        return isinstance(self.default_evidence, AnswerEvidence)


@dataclass(frozen=True, slots=True, eq=False)
class TourSubject:
    """The run and method the tour shows.

    Attributes
    ----------
    run : str
        Key in `runs`.
    method : str
        Id of a method the run supports.
    runs : Mapping[str, TourCandidate]
        All runs, by key.
    """

    run: str
    method: str
    runs: Mapping[str, TourCandidate]

    @property
    def candidate(self) -> TourCandidate:
        """The run that is shown."""
        return self.runs[self.run]

    @property
    def evidence(self) -> Evidence:
        """The run as seen by the method, by top label."""
        return self.candidate.usable[self.method].top_label

    @property
    def name(self) -> str:
        """The run's name in a sentence."""
        return self.candidate.name

    @property
    def terms(self) -> Terms:
        """The words for its probabilities and outcomes."""
        return METHODS[self.method].terms

    @property
    def unit_plural(self) -> str:
        """What is counted: "answers", "rows" of an event, or "positions" of a text."""
        return self.terms.answers if self.candidate.has_answers else "positions"


@dataclass(frozen=True, slots=True)
class AnswerOption:
    """One possible answer to a question.

    Attributes
    ----------
    text : str
    confidence : float
        In [0, 1].
    chosen : bool
        Whether it is the answer that is judged.
    right : bool or None
        None where not known.
    """

    text: str
    confidence: float
    chosen: bool
    right: bool | None


@dataclass(frozen=True, slots=True)
class SingleAnswer:
    """The answer to one question, and its confidence.

    Attributes
    ----------
    question : str or None
        None where the file has no texts.
    options : tuple[AnswerOption, ...]
        In the file's order.
    confidence : float
    right : bool
    of : {"answer", "event"}
        What the confidence is the probability of.
    """

    question: str | None
    options: tuple[AnswerOption, ...]
    confidence: float
    right: bool
    of: ProbabilityOf = "answer"

    @property
    def terms(self) -> Terms:
        """The words for its probability and outcome."""
        return TERMS[self.of]

    def to_frame(self) -> pl.DataFrame:
        """One row for each option: answer, confidence, chosen, right."""
        return pl.DataFrame(
            [(option.text, option.confidence, option.chosen, option.right) for option in self.options],
            schema={"answer": pl.String, "confidence": pl.Float64, "chosen": pl.Boolean, "right": pl.Boolean},
            orient="row",
        )


@dataclass(frozen=True, slots=True)
class ConfidenceAccuracy:
    """Mean confidence and accuracy of some answers.

    Attributes
    ----------
    name : str
    mean_confidence, accuracy : float
        In [0, 1].
    low, high : float
        95 % Wilson interval of the accuracy.
    count : int
    """

    name: str
    mean_confidence: float
    accuracy: float
    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class ConfidenceAccuracyPairs:
    """Several pairs of mean confidence and accuracy, what they count, such as "answers", and their words."""

    pairs: tuple[ConfidenceAccuracy, ...]
    unit: str
    terms: Terms = ANSWER_TERMS

    def to_frame(self) -> pl.DataFrame:
        """One row per pair: name, said (mean confidence), right (accuracy), right_low, right_high, count."""
        return pl.DataFrame(
            [
                (pair.name, pair.mean_confidence, pair.accuracy, pair.low, pair.high, pair.count)
                for pair in self.pairs
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
    SingleAnswer | ConfidenceAccuracyPairs | Reliability | Sweep | Comparison | Concentration
)


@dataclass(frozen=True, slots=True, eq=False)
class TourStep:
    """One step of the tour.

    Attributes
    ----------
    kind : StepKind
    heading : str
        What the step is about.
    sentences : tuple[str, str]
        With numbers of this data.
    picture : TourPicture
    selection_note : str
        Which part of the data is shown, and how it was chosen.
    recipe : str
        How the numbers were made.
    """

    kind: StepKind
    heading: str
    sentences: tuple[str, str]
    picture: TourPicture
    selection_note: str
    recipe: str

    @property
    def picture_key(self) -> str:
        """What the marks of the picture mean that its legend does not name; "" where it names all."""
        picture = self.picture
        if isinstance(picture, SingleAnswer):
            if picture.of == "event":
                return "Bars: what the model expects; ✓: what came true."
            return "Strong bar and bold name: the model's answer."
        if isinstance(picture, Comparison):
            return "Lines: 95 % intervals, where they are wider than the marks."
        if not isinstance(picture, Reliability):
            return ""
        faded = f" Faded: fewer than {MIN_ROWS} {picture.pair_unit}." if picture.n_thin_bins else ""
        terms = picture.terms
        return f"Dot: mean {terms.confidence} and {terms.accuracy} of a bin.{faded}"

    def to_frame(self) -> pl.DataFrame:
        """The numbers of the picture, with the recipe repeated in every row."""
        return self.picture.to_frame().with_columns(recipe=pl.lit(self.recipe))


# --- Choosing the run -----------------------------------------------------------------------------


def default_tour_run(runs: Mapping[str, TourCandidate]) -> str:
    """The key of the run shown by default: as on other pages, but a run of answers where there is one."""
    answers = {key: candidate for key, candidate in runs.items() if candidate.has_answers}
    return default_run({key: run.default_evidence.n_used for key, run in (answers or runs).items()})


def choice_reason(runs: Mapping[str, TourCandidate], chosen_key: str) -> str:
    """Why `default_tour_run` chose this run, as a sentence."""
    chosen = runs[chosen_key]
    unit = chosen.default_evidence.terms.answers if chosen.has_answers else "positions"
    if len(runs) == 1:
        return "This is the only run loaded."
    if chosen.default_evidence.n_used < MIN_ROWS:
        return f"This run has the most {unit} of the {len(runs)} runs loaded."
    return f"This run is the first of the {len(runs)} loaded that has at least {MIN_ROWS} {unit}."


# --- Steps one and two: a confidence, and calibration ---------------------------------------------


def answer_step(subject: TourSubject) -> TourStep:
    """One question, its answer and its confidence; for a text, all positions, as single ones are not kept."""
    evidence = subject.evidence
    if not isinstance(evidence, AnswerEvidence):
        return _token_answer_step(subject, evidence)
    pairs = evidence.confidences.pairs
    index = int(np.argmin(np.abs(pairs.confidence.astype(np.float64) - (evidence.mean_confidence or 0.0))))
    row = questions_in_bin(evidence).frame.row(index, named=True)
    confidence, right = float(pairs.confidence[index]), bool(pairs.correct[index])
    text, answer = row.get("question"), row.get("answer")
    if subject.terms.of == "event":
        said, outcome = _event_sentences(subject.name, confidence, came_true=right)
        said = f"{_asked_clause(text, row, subject.terms)} {said}"
        outcome = f"{outcome}, {_single_answer_clause(confidence, right, 'row')}"
    else:
        said = (
            f"{_asked_clause(text, row, subject.terms)} {subject.name} {_answered_clause(answer)} and is "
            f"{format_percent(confidence)} sure: that number is the confidence."
        )
        outcome = (
            f"{_outcome_clause(right, row['gold'], answer)}, "
            f"{_single_answer_clause(confidence, right, 'answer')}"
        )
    return TourStep(
        kind="answer",
        heading=step_title("answer", subject.terms),
        sentences=(said, f"{outcome}: {_together_clause(evidence.n_used, subject.terms)}."),
        picture=SingleAnswer(
            text,
            _answer_options(evidence, index, answer),
            confidence,
            right,
            evidence.method.probability_of,
        ),
        selection_note=(
            f"The {'row' if subject.terms.of == 'event' else 'question'} shown is the one whose "
            f"{subject.terms.confidence} is closest to the average."
        ),
        recipe=recipe_text(evidence, None, None),
    )


def _asked_clause(text: str | None, row: dict[str, object], terms: Terms) -> str:
    if text:
        return f"Asked “{single_line(text, _MAX_QUESTION_LETTERS)}”,"
    return (
        f"On {terms.question} {single_line(str(row['id']), _MAX_ANSWER_LETTERS)},"
        if row.get("id")
        else f"On row {row['row']},"
    )


def _answered_clause(answer: str | None) -> str:
    return f"answers “{single_line(answer, _MAX_ANSWER_LETTERS)}”" if answer else "gives an answer"


def _outcome_clause(right: bool, gold: str | None, answer: str | None) -> str:  # noqa: FBT001 (the outcome itself, not an option)
    if right:
        return "This answer is right"
    gold_clause = (
        f" (the right answer is “{single_line(gold, _MAX_ANSWER_LETTERS)}”)"
        if gold and gold != answer
        else ""
    )
    return f"This answer is wrong{gold_clause}"


def _event_sentences(name: str, probability: float, *, came_true: bool) -> tuple[str, str]:
    """What the probability of an event is, and what came of this one."""
    meaning = (
        f"{name} gives yes {format_percent(probability)}: the probability of an event, not of an answer. "
        "10 % is as good a forecast as 90 % if yes then comes true that often."
    )
    return meaning, "Here yes is true" if came_true else "Here yes is not true"


def _single_answer_clause(confidence: float, right: bool, noun: str) -> str:  # noqa: FBT001 (the outcome itself, not an option)
    """What one answer says about calibration: nothing, unless the outcome had probability 0."""
    if confidence == (0.0 if right else 1.0):
        direction = "little" if right else "much"
        return f"so {format_percent(confidence)} was too {direction}, but one {noun} cannot show by how much"
    return f"but one {noun} cannot show whether {format_percent(confidence)} is too much or too little"


def _together_clause(n: int, terms: Terms) -> str:
    return (
        f"that takes {both_or_all(n)} {terms.answers}"
        if n > 1
        else f"that takes more than one {terms.answer}"
    )


def _answer_options(
    evidence: AnswerEvidence, pair_index: int, answer: str | None
) -> tuple[AnswerOption, ...]:
    """What the confidence is spread over: the choices of the question, or the answer and its being wrong."""
    pairs, distribution = evidence.confidences.pairs, evidence.confidences.distribution
    if distribution is None:
        confidence, right = float(pairs.confidence[pair_index]), bool(pairs.correct[pair_index])
        if evidence.terms.of == "event":
            return (
                AnswerOption("yes", confidence, chosen=True, right=right),
                AnswerOption("no", 1 - confidence, chosen=False, right=not right),
            )
        return (
            AnswerOption(answer or "its answer", confidence, chosen=True, right=right),
            AnswerOption(_WRONG_OPTION, 1 - confidence, chosen=False, right=None),
        )
    start, size = int(distribution.row_starts[pair_index]), int(distribution.sizes[pair_index])
    texts = choice_texts(evidence.run.rows[[int(distribution.rows[pair_index])] * size], np.arange(size))
    top = int(distribution.top_index[pair_index])
    return tuple(
        AnswerOption(
            texts[choice],
            float(distribution.probs[start + choice]),
            chosen=choice == top,
            right=choice == int(distribution.target[pair_index]),
        )
        for choice in range(size)
    )


def _token_answer_step(subject: TourSubject, evidence: Evidence) -> TourStep:
    concentration = measure_concentration(evidence, DEFAULT_SCHEME)
    fullest = concentration.table.row(int(concentration.table["count"].arg_max() or 0), named=True)
    return TourStep(
        kind="answer",
        heading=step_title("answer", subject.terms),
        sentences=(
            (
                f"At each of {evidence.n_used:,} positions of a text, {subject.name} predicts the next "
                "token and gives its probability: that number is the confidence, "
                f"{_mean_clause(evidence.mean_confidence)}."
            ),
            (
                f"The figure shows all positions: {format_percent(fullest['share'])} of them have a "
                f"confidence between {fullest['low']:.3g} and {fullest['high']:.3g}. Of all predictions, "
                f"{format_percent(evidence.accuracy or 0.0)} are right."
            ),
        ),
        picture=concentration,
        selection_note="All positions are shown.",
        recipe=concentration.recipe,
    )


def _mean_clause(mean: float | None) -> str:
    return f"{format_percent(mean or 0.0)} on average"


def bin_step(subject: TourSubject) -> TourStep:
    """What the answers in the fullest bin state, and how many of them are right."""
    evidence, noun, terms = subject.evidence, subject.unit_plural, subject.terms
    binned = evidence.top_label_sums.binned(DEFAULT_SCHEME)
    bin_index = int(np.argmax(binned.count))
    gaps = bin_gaps(binned, evidence.moved_ends, evidence.design_effect)
    n, n_correct = int(binned.count[bin_index]), int(binned.correct[bin_index])
    stated, accuracy, count_text = (
        float(binned.confidence[bin_index]) / n,
        n_correct / n,
        plural(n, noun[:-1]),
    )
    low, high = (
        float(end[bin_index]) for end in wilson_interval(binned.correct, binned.count, evidence.design_effect)
    )
    limit = float(gaps.limit[bin_index]) / n
    source = "chance and rounding" if gaps.rounding[bin_index] else "chance"
    chance_clause = (
        f", give or take {100 * limit:.1f} percentage points of {source}"
        if n >= MIN_ROWS and math.isfinite(limit)
        else ""
    )
    interval = reading_of_bin(binned, bin_index)
    return TourStep(
        kind="bin",
        heading=step_title("bin", subject.terms),
        sentences=(
            (
                f"Sort the {noun} of {subject.name} by {terms.confidence} into ten bins. The fullest bin, "
                f"{interval}, holds {count_text} with a mean {terms.confidence} of {format_percent(stated)}: "
                f"calibrated means that {terms.of_them_right(format_percent(stated))}{chance_clause}."
            ),
            (
                f"{_right_count_clause(n_correct, n, terms)}, which is "
                f"{format_percent(accuracy)}: {_bin_verdict_clause(gaps, bin_index, n, noun)}."
            ),
        ),
        picture=ConfidenceAccuracyPairs(
            (ConfidenceAccuracy(f"{interval}, {count_text}", stated, accuracy, low, high, n),), noun, terms
        ),
        selection_note=f"The bin shown is the one with the most {noun}.",
        recipe=recipe_text(evidence, None, DEFAULT_SCHEME),
    )


def _right_count_clause(n_right: int, n: int, terms: Terms) -> str:
    if terms.of == "event":
        return f"Yes is true in {n_right:,} of {n:,}"
    return f"{n_right:,} of {n:,} {'is' if n_right == 1 else 'are'} right"


def _bin_verdict_clause(gaps: BinGaps, bin_index: int, n: int, unit_plural: str) -> str:
    """The verdict on this bin, judged together with all other bins as in the next step."""
    if n < MIN_ROWS:
        return too_few_phrase(n, unit_plural[:-1])
    if not math.isfinite(gaps.limit[bin_index]):
        return f"chance may explain any difference, as {DEPENDENT_POSITIONS}"
    if not gaps.clear[bin_index]:
        return f"as often as the model says, as far as {n:,} {unit_plural} can tell"
    return f"{'less' if gaps.over[bin_index] else 'more'} often than the model says, by more than chance"


# --- Steps three and four: the verdict, and the number of bins ------------------------------------


def overall_step(subject: TourSubject) -> TourStep:
    """The reliability diagram, and its verdict."""
    evidence = subject.evidence
    result = reliability_diagram(evidence, "ece", DEFAULT_SCHEME)
    binned = evidence.top_label_sums.binned(DEFAULT_SCHEME)
    gaps = bin_gaps(binned, evidence.moved_ends, evidence.design_effect)
    verdict = evidence.verdict
    where_clause = ", and where" if verdict.kind in LEVEL_KINDS[verdict.of] and not verdict.scope else ""
    return TourStep(
        kind="whole",
        heading=verdict.words.capitalize() + verdict.scope + where_clause,
        sentences=(
            f"{subject.name} {stated_and_observed(binned, subject.terms)}.",
            _largest_gap_sentence(result, verdict, gaps, subject.unit_plural),
        ),
        picture=result,
        selection_note=f"All {subject.unit_plural} of the run are shown, in ten bins.",
        recipe=result.score.recipe,
    )


def _largest_gap_sentence(result: Reliability, verdict: Verdict, gaps: BinGaps, unit_plural: str) -> str:
    """The bin with the largest part of the gap the verdict is about; without one, the fullest bin."""
    table, terms = result.table.with_columns(clear=pl.Series(gaps.clear)), result.terms
    if not verdict.is_tested:
        reason = f"a verdict takes at least {MIN_ROWS} {unit_plural}."
        if result.score.n_used >= MIN_ROWS:
            reason = verdict.reason[0].lower() + verdict.reason[1:]
        return f"{_bin_clause(_fullest_bin(table), unit_plural, terms)}; {reason}"
    over, under = LEVEL_KINDS[verdict.of]
    side = {over: pl.col("gap") > 0, under: pl.col("gap") < 0}.get(verdict.kind, pl.col("clear"))
    on_that_side = table.filter(side).sort("share", descending=True)
    if not on_that_side.height:
        return (
            "No single gap is beyond chance, given how many bins there are. In the fullest bin, "
            f"{_bin_clause(_fullest_bin(table), unit_plural, terms)}."
        )
    worst = on_that_side.row(0, named=True)
    gap_name = "the gap"
    if worst["share"] < table["share"].max():
        gap_name = GAP_NAMES.get(verdict.kind, "the gap beyond chance")
    reading = BinReading(worst["percent"], worst["interval"])
    gaps_on_that_side = on_that_side.filter("clear")["gap"].abs()
    is_widest = not gaps_on_that_side.len() or abs(worst["gap"]) >= cast("float", gaps_on_that_side.max())
    many_clause = "" if is_widest else f", not where the gap is widest but where the {unit_plural} are many"
    within = _bin_clause(worst, unit_plural, terms)
    return f"The largest part of {gap_name} is in {reading}{many_clause}: {within}."


def _fullest_bin(table: pl.DataFrame) -> dict[str, Any]:
    return table.sort("count", descending=True, maintain_order=True).row(0, named=True)


def _bin_clause(row: dict[str, Any], unit_plural: str, terms: Terms) -> str:
    """ "412 answers state 97.5 % on average, and 80.1 % of them are right"."""
    stated, of_event = format_percent(row["confidence"]), terms.of == "event"
    if row["count"] == 1:
        said = f"1 {unit_plural[:-1]} {'gives yes' if of_event else 'states'} {stated}"
        outcome = terms.right if row["accuracy"] else terms.wrong
        return f"{said}, and the outcome is {outcome}" if of_event else f"{said} and is {outcome}"
    return (
        f"{row['count']:,} {unit_plural} {'give yes' if of_event else 'state'} {stated} on average, and "
        f"{terms.of_them_right(format_percent(row['accuracy']))}"
    )


def bins_step(subject: TourSubject) -> TourStep:
    """The ECE over M, and what chance alone would give; raises Unavailable where it has no curve."""
    evidence = subject.evidence
    result = sweep_bins(evidence, ("ece",), PAPER_BINS)
    if not result.curves:
        raise Unavailable(result.unavailable["ece"])
    curve = result.curves[0]
    fewest, most = curve.bins[0], curve.bins[-1]
    ends = (curve.values[0], curve.values[-1])
    low, high = ("not known" if value is None else format_short(value) for value in ends)
    number = f"{low} with {fewest} bins" + (f" and {high} with {most}" if low != high else f" as with {most}")
    return TourStep(
        kind="bins",
        heading=step_title("bins", subject.terms),
        sentences=(
            (
                "The ECE (expected calibration error) is the average gap between "
                f"{subject.terms.confidence} and {subject.terms.accuracy} over the bins, weighted by their "
                f"{subject.unit_plural}. For {subject.name}, the ECE is "
                f"{number}{_points_clause(ends)}."
            ),
            _null_sentence(curve, evidence.n_used, subject.unit_plural[:-1]),
        ),
        picture=result,
        selection_note=f"ECE at the {len(curve.bins)} values of M of the Full-ECE paper.",
        recipe=curve.recipe,
    )


def _points_clause(values: Sequence[float | None]) -> str:
    """What the ECE at the fewest and at the most bins means in percentage points; "" where one is unknown."""
    first, *_, last = values
    if first is None or last is None:
        return ""
    points = dict.fromkeys(f"{100 * value:.1f}" for value in (first, last))
    return f": {' and '.join(points)} percentage points on average"


def _null_sentence(curve: SweepCurve, n: int, noun: str) -> str:
    advice = "read an ECE together with its number of bins and rows"
    values = [value for value in curve.values if value is not None]
    if curve.null is not None and len(values) == len(curve.values):
        is_flat = max(values) - min(values) < _UNCHANGED_SHARE * min(values)
        if is_flat and min(values) > _FAR_ABOVE_CHANCE * max(curve.null.median):
            advice = "here the ECE is far above that, and the number of bins hardly changes it"
    if curve.null is None:
        return f"How much of the ECE is chance on {plural(n, noun)} is not known: {advice}."
    fewest, most = curve.bins[0], curve.bins[-1]
    rows = plural(n, noun if curve.null.has_p else f"independent {noun}")
    return (
        f"On {rows}, a perfectly calibrated model would by chance score about "
        f"{_null_median_text(curve, curve.null, 0)} with {fewest} bins and "
        f"{_null_median_text(curve, curve.null, -1)} with {most}: {advice}."
    )


def _null_median_text(curve: SweepCurve, null: NullDistribution, bins_index: int) -> str:
    """ "0.0198 (13 % of this)": the null median, and its share of the observed value where that is larger."""
    median, value = null.median[bins_index], curve.values[bins_index]
    share = f" ({100 * median / value:.0f} % of this)" if value is not None and median < value else ""
    return f"{format_short(median)}{share}"


# --- Step five: several models ---------------------------------------------------------------------


def models_step(subject: TourSubject, estimator: MetricEstimator) -> TourStep:
    """Accuracy and Brier score of the runs on one data set, by the same method.

    Parameters
    ----------
    subject : TourSubject
    estimator : callable
        Computes each metric with its interval.

    Raises
    ------
    Unavailable
        Where no run has both metrics.
    """
    evidences = _comparable_evidences(subject)
    result = compare_runs(
        evidences,
        titles={key: subject.runs[key].title for key in evidences},
        estimator=estimator,
    )
    if not result.points:
        raise Unavailable(result.headline)
    method = METHODS[subject.method].title
    points = [
        replace(point, name=name_with_model(point.name, evidences[point.key].run.info))
        for point in result.points
    ]
    return TourStep(
        kind="models",
        heading=step_title("models", subject.terms),
        sentences=(
            _highest_skill_sentence(points, subject)
            if subject.terms.of == "event"
            else _lowest_brier_sentence(points, subject),
            _trust_sentence(points, result.paired, subject.terms),
        ),
        picture=result,
        selection_note=_selection_note(subject, len(result.points), method),
        recipe=result.recipe,
    )


def _comparable_evidences(subject: TourSubject) -> dict[str, Evidence]:
    """The runs on the same data set that support the same method, the one shown among them."""
    dataset = subject.evidence.run.info.dataset
    return {
        key: candidate.usable[subject.method].top_label
        for key, candidate in subject.runs.items()
        if subject.method in candidate.usable
        and candidate.default_evidence.run.info.dataset == dataset
        and candidate.has_answers is subject.candidate.has_answers
    }


def _selection_note(subject: TourSubject, n_runs: int, method: str) -> str:
    dataset = subject.evidence.run.info.dataset
    unnamed = "whose file names no data set" if n_runs == 1 else "whose files name no data set"
    origin = f"of the data set {dataset}" if dataset else unnamed
    if n_runs == 1:
        return f"The run is the only one {origin} with “{method}”."
    return f"{both_or_all(n_runs).capitalize()} runs {origin} with “{method}”."


def _best_and_most_accurate(
    points: Sequence[ComparisonPoint], terms: Terms
) -> tuple[ComparisonPoint, ComparisonPoint]:
    """The points of lowest Brier score and of highest accuracy; ties are decided by the other metric.

    Of events both are the one of the highest skill: a Brier score is low where yes is rare, and a high share
    of yes is not a merit.
    """
    if terms.of == "event":
        best = max(points, key=lambda point: (_skill(point), -point.brier.value))
        return best, best
    best = min(points, key=lambda point: (point.brier.value, -point.accuracy_of_all.value))
    return best, max(points, key=lambda point: (point.accuracy_of_all.value, -point.brier.value))


def _skill(point: ComparisonPoint) -> float:
    """The skill of a point; that of one whose rows all have one outcome is below any other."""
    return -math.inf if point.brier_skill is None else point.brier_skill


def _highest_skill_sentence(points: Sequence[ComparisonPoint], subject: TourSubject) -> str:
    """The run of events with the highest skill, and that of the run that the tour is about."""
    meaning, (best, _) = _BRIER_MEANINGS["event"], _best_and_most_accurate(points, subject.terms)
    if len(points) == 1 or best.brier_skill is None:
        return f"{meaning}. {best.name} scores {best.brier.value:.4f}."
    own = next((point for point in points if point.key == subject.run), best)
    is_other = own is not best and own.brier_skill is not None
    own_clause = f"; {own.name} has {format_signed(_skill(own), '+.3f')}" if is_other else ""
    return (
        f"{meaning}. Skill measures it against always stating the {subject.terms.accuracy}. Of {len(points)} "
        f"runs, {best.name} has the highest skill, {format_signed(_skill(best), '+.3f')}{own_clause}."
    )


def _lowest_brier_sentence(points: Sequence[ComparisonPoint], subject: TourSubject) -> str:
    """The run with the lowest Brier score, and the score of the run that the tour is about."""
    method, meaning = METHODS[subject.method].title, _BRIER_MEANINGS["answer"]
    best, most_accurate = _best_and_most_accurate(points, subject.terms)
    brier, accuracy = f"{best.brier.value:.4f}", format_percent(best.accuracy_of_all.value)
    if len(points) == 1:
        return f"{meaning}. {best.name} scores {brier} with “{method}” and is right {accuracy} of the time."
    unique = sum(point.brier.value <= best.brier.value + ROUNDING_TOLERANCE for point in points) == 1
    lowest = f"{'the lowest' if unique else 'a score as low as any'}, {brier}"
    opening = f"{meaning}. Of {len(points)} runs, {best.name} has {lowest}"
    own = next((point for point in points if point.key == subject.run), best)
    own_clause = "" if own in (best, most_accurate) else f"; {own.name} has {own.brier.value:.4f}"
    if own_clause and own.brier.low is not None and own.brier.low > own.constant_brier:
        own_clause += f", worse than always stating {format_percent(own.accuracy.value)}"
    opening += f". The model is right {accuracy}"
    if most_accurate is best:
        accuracies = [point.accuracy_of_all.value for point in points]
        unique_accuracy = accuracies.count(best.accuracy_of_all.value) == 1
        how_often = "the highest share of these runs" if unique_accuracy else "as often as any"
        return f"{opening} of the time, {how_often}{own_clause}."
    return (
        f"{opening} of the time, but {most_accurate.name} is right most often "
        f"({format_percent(most_accurate.accuracy_of_all.value)}, Brier score "
        f"{most_accurate.brier.value:.4f}){own_clause}."
    )


def _trust_sentence(points: Sequence[ComparisonPoint], paired: PairedComparison, terms: Terms) -> str:
    best, most_accurate = _best_and_most_accurate(points, terms)
    constant_clause = (
        f"always stating {format_percent(best.accuracy.value)} would score {best.constant_brier:.4f}, and "
        f"the score of {best.name} {_against_constant_clause(best)}"
    )
    if len(points) == 1:
        return f"Load a second run to compare. For scale: {constant_clause}."
    if best.n_used < MIN_ROWS:
        return (
            f"A score over {plural(best.n_used, 'row')} is too little to judge {best.name} by. For scale: "
            f"{constant_clause}."
        )
    if most_accurate is not best:
        return f"{_trade_off_clause(best, most_accurate, paired)}. For scale: {constant_clause}."
    of_events = terms.of == "event"
    metric, better = (
        (SKILL, "skill is clearly higher") if of_events else ("brier", "Brier score is clearly lower")
    )
    pairs = {point.key: paired.pair(metric, best.key, point.key) for point in points if point is not best}
    answered = "are of" if of_events else "answered"
    if None in pairs.values():
        return (
            f"Not all runs {answered} the same {terms.questions}, so none can be called the best. For scale: "
            f"{constant_clause}."
        )
    n_alike = sum(pair is not None and not pair.clear for pair in pairs.values())
    if n_alike:
        others = "1 other run" if n_alike == 1 else f"{n_alike} other runs"
        return (
            f"{others} cannot be told apart from {best.name} on their common {terms.questions}, so this data "
            f"does not settle which model to trust most. For scale: {constant_clause}."
        )
    conclusion = "is the one of these to trust most" if _beats_constant(best) else "comes first"
    return (
        f"On their common {terms.questions}, this {better} than every other run's, so "
        f"{best.name} {conclusion}. For scale: {constant_clause}."
    )


def _trade_off_clause(best: ComparisonPoint, most_accurate: ComparisonPoint, paired: PairedComparison) -> str:
    """Which run to trust for what, where lowest Brier score and highest accuracy belong to different runs."""
    if not _beats_constant(best):
        return f"A low score alone is no reason to trust {best.name}"
    pair = paired.pair("brier", best.key, most_accurate.key)
    if pair is None or not pair.clear:
        settled = "does not settle which model to trust most"
        return (
            f"On their common questions, these two Brier scores cannot be told apart, so this data {settled}"
        )
    return f"Trust {most_accurate.name} to be right most often, and {best.name} to tell right from wrong"


def _against_constant_clause(point: ComparisonPoint) -> str:
    """The Brier score compared with always stating the run's own accuracy, as far as its interval tells."""
    if point.brier.low is None or point.brier.high is None:
        return f"is {point.brier.value:.4f}"
    if _beats_constant(point):
        return "is better than that"
    return (
        "is worse than that" if point.brier.low > point.constant_brier else "cannot be told apart from that"
    )


def _beats_constant(point: ComparisonPoint) -> bool:
    """Whether the confidence is significantly better than always stating the run's own accuracy."""
    return point.brier.high is not None and point.brier.high < point.constant_brier


_STEP_BUILDERS: Final[Mapping[StepKind, Callable[[TourSubject], TourStep]]] = MappingProxyType(
    {
        "answer": answer_step,
        "bin": bin_step,
        "whole": overall_step,
        "bins": bins_step,
    }
)

STEP_KINDS: Final[tuple[StepKind, ...]] = (*_STEP_BUILDERS, "models")
"""All steps, in the order of the tour."""


def tour_step(kind: StepKind, subject: TourSubject, estimator: MetricEstimator = estimate_metric) -> TourStep:
    """One step of the tour.

    Parameters
    ----------
    kind : StepKind
    subject : TourSubject
    estimator : callable
        Computes the metrics of the last step with their intervals, or takes them from a cache.

    Raises
    ------
    Unavailable
        With the reason, where the data does not support the step.
    """
    refuse_weights(subject.evidence, "The tour")
    return models_step(subject, estimator) if kind == "models" else _STEP_BUILDERS[kind](subject)
