"""Would another scale of the confidences help? A run before and after recalibration, judged out of fold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.edges import DEFAULT_SCHEME
from calib_core.errors import Unavailable
from calib_core.inference.paired_test import MIN_COMMON_QUESTIONS, paired_test
from calib_core.inference.recalibration import (
    MAP_KINDS,
    Levels,
    fit_choice_temperature,
    out_of_fold,
    out_of_fold_choices,
)
from calib_core.metrics import METRICS
from calib_core.results.columns import Column, frame_of
from calib_core.results.display import Displayable
from calib_core.results.evidence import AnswerEvidence, Evidence, refuse_weights
from calib_core.results.recalibration_map import (
    SUMS_ONLY,
    RecalibrationMap,
    rows_digest,
    with_choices,
    with_confidences,
)
from calib_core.results.recipe import recipe_text
from calib_core.results.uncertainty import (
    MIN_OF_RARER_OUTCOME,
    count_rarer_outcome,
    difference_on_same_rows,
)
from calib_core.runs import AnswerRun, Run
from calib_core.wording import format_interval, format_signed, plural

DEFAULT_FOLDS: Final = 5
MAX_FOLDS: Final = 50
DEFAULT_SEED: Final = 0
DEFAULT_MAP: Final = "platt"

JUDGED_METRICS: Final = ("ece", "brier", "nll")
"""Ids of the numbers that are compared; "nll" is that of the outcome, right or wrong."""

METRIC_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {"ece": "ECE", "brier": "Brier score", "nll": "Log loss"}
)
"""Names of the same on screen."""

RECALIBRATION_COLUMNS: Final = (
    Column("run"),
    Column("method", "Method", "method"),
    Column("by"),
    Column("metric", "Metric"),
    Column("before", "Before", "number"),
    Column("after", "After", "number", help="Each row by a map that was fitted to other questions."),
    Column("difference", "Difference", "signed", help="After minus before; negative is better."),
    Column(
        "low", "Interval", "signed", help="Of the difference out of fold, paired by question.", upper="high"
    ),
    Column("high", kind="signed"),
    Column("p", "p", "p", help="Two-sided, of no difference."),
    Column("folds", kind="count"),
    Column("seed", kind="count"),
    Column("recipe"),
)
"""The columns of the table of metrics."""

MOST_UNCONFIRMED: Final = 2.0
"""Percent of data sets, at most, in which a gain was reported that fresh rows did not confirm, and …"""

COVERAGE: Final = (73.5, 100.0)
"""… the fewest and most whose interval of the Brier score held the map's: benchmarks/recalibration.md."""

TOP_LABEL_ONLY: Final = (
    "Recalibration applies to the top label's confidence; choose the top label, not all labels."
)


@dataclass(frozen=True, slots=True)
class RecalibrationDifference:
    """A metric after recalibration minus before.

    Attributes
    ----------
    value : float
        Below 0 where recalibration helps.
    low, high : float
        Its interval over questions, at 95 % if each row's map were fixed; see `COVERAGE`.
    p : float
        Two-sided, of no difference.
    """

    value: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Recalibration(Displayable):
    """A run before and after a map, each row judged by a map fitted to other rows.

    Attributes
    ----------
    run, method, by : str
        The run's label, and the ids of method and map.
    before, after : Mapping[str, float]
        Metric → its value; the log loss may be infinite.
    differences : Mapping[str, RecalibrationDifference]
        Metric → after minus before; without those that have no interval.
    no_difference : Mapping[str, str]
        Metric → why it has no difference.
    folds, seed : int
    map : RecalibrationMap
        Fitted to all rows, for use on others.
    evidence, recalibrated : AnswerEvidence
        The confidences before, and those out of fold.
    n_used, n_total, n_questions : int
        Rows used, rows in the file, and different questions among those used.
    recipe : str
    """

    run: str
    method: str
    by: str
    before: Mapping[str, float]
    after: Mapping[str, float]
    differences: Mapping[str, RecalibrationDifference]
    no_difference: Mapping[str, str]
    folds: int
    seed: int
    map: RecalibrationMap
    evidence: AnswerEvidence
    recalibrated: AnswerEvidence
    n_used: int
    n_total: int
    n_questions: int
    recipe: str

    @property
    def gains(self) -> bool:
        """Whether the Brier score is lower beyond chance: the interval of its difference excludes 0."""
        brier = self.differences.get("brier")
        return brier is not None and brier.high < 0

    @property
    def headline(self) -> str:
        """Whether recalibration helps, by the Brier score, in one sentence."""
        title = MAP_KINDS[self.by].title
        brier = self.differences.get("brier")
        if brier is None:
            return f"{title}: not judged. {self.no_difference['brier']}"
        interval = f"interval out of fold {format_interval(brier.low, brier.high, '+.4f')}"
        change = f"{format_signed(brier.value)} ({interval})"
        if brier.high < 0:
            return f"{title} recalibration lowers the Brier score: {change}."
        if brier.low > 0:
            return f"{title} recalibration raises the Brier score: {change}."
        return f"No clear gain: {title} recalibration changes the Brier score by {change}."

    def apply(self, run: Run) -> AnswerRun:
        """Another run, with or without outcomes, recalibrated by the map that was fitted to all rows.

        Parameters
        ----------
        run : AnswerRun
            A run that the same method can be computed for; `load(…, needs_outcomes=False)` makes one of rows
            that nobody has judged.

        Returns
        -------
        AnswerRun
            The same rows, with the recalibrated confidence as their only one; null where there was none.

        Raises
        ------
        Unavailable
            If the method cannot be computed for this run.
        """
        return self.map.apply(run, method=self.method, options=self.evidence.options)

    def to_frame(self) -> pl.DataFrame:
        """One row for each metric."""
        shared = {
            "run": self.run,
            "method": self.method,
            "by": self.by,
            "folds": self.folds,
            "seed": self.seed,
            "recipe": self.recipe,
        }
        differences = {
            metric: {"difference": one.value, "low": one.low, "high": one.high, "p": one.p}
            for metric, one in self.differences.items()
        }
        return frame_of(
            RECALIBRATION_COLUMNS,
            (
                {
                    **shared,
                    "metric": metric,
                    "before": self.before[metric],
                    "after": self.after[metric],
                    **differences.get(metric, {}),
                }
                for metric in JUDGED_METRICS
            ),
        )


def recalibrate(
    evidence: Evidence, by: str, folds: int = DEFAULT_FOLDS, seed: int = DEFAULT_SEED
) -> Recalibration:
    """Recalibrate the confidences of one method on one run, and judge the result out of fold.

    A temperature changes the probabilities of all choices where the method has them, and otherwise the
    confidence alone, as the other maps do.

    Parameters
    ----------
    evidence : Evidence
        By the top label.
    by : str
        Key of `MAP_KINDS`.
    folds : int
        2 to 50. All rows of a question are in one fold.
    seed : int
        By which questions are dealt into folds.

    Raises
    ------
    Unavailable
        For token-level sums, all labels, an unknown map, or fewer questions than folds.
    ValueError
        For a number of folds outside 2 to 50, or a negative seed.
    """
    if by not in MAP_KINDS:
        raise Unavailable(f"There is no map {by!r}. Maps: {', '.join(MAP_KINDS)}.")
    if not 2 <= folds <= MAX_FOLDS or seed < 0:
        raise ValueError(f"folds must be from 2 to {MAX_FOLDS} and seed at least 0, not {folds} and {seed}")
    if not isinstance(evidence, AnswerEvidence):
        raise Unavailable(SUMS_ONLY)
    if evidence.options.labels != "top":
        raise Unavailable(TOP_LABEL_ONLY)
    refuse_weights(evidence, "The fit of a map")
    n_questions = evidence.n_used if evidence.cluster is None else int(evidence.cluster.max()) + 1
    if n_questions < folds:
        raise Unavailable(
            f"{folds} folds need at least {folds} {evidence.terms.questions} with a "
            f"{evidence.terms.confidence} and an outcome; there are {n_questions}."
        )
    fitted, after = _fit(evidence, by, folds, seed)
    differences, no_difference = _differences(evidence, after, n_questions)
    return Recalibration(
        run=evidence.run.label,
        method=evidence.method.id,
        by=by,
        before=_values(evidence),
        after=_values(after),
        differences=MappingProxyType(differences),
        no_difference=MappingProxyType(no_difference),
        folds=folds,
        seed=seed,
        map=fitted,
        evidence=evidence,
        recalibrated=after,
        n_used=evidence.n_used,
        n_total=evidence.n_total,
        n_questions=n_questions,
        recipe=f"{by} of {fitted.target_text}, out of fold, {folds} folds by question, seed {seed}, "
        f"{recipe_text(evidence, None, None)}",
    )


def _fit(evidence: AnswerEvidence, by: str, folds: int, seed: int) -> tuple[RecalibrationMap, AnswerEvidence]:
    """The map fitted to all rows, and the evidence with confidences out of fold."""
    pairs, distribution = evidence.confidences.pairs, evidence.confidences.distribution
    if by == "temperature" and distribution is not None and distribution.normalised:
        target = "choices"
        parameters = fit_choice_temperature(distribution)
        after = with_choices(evidence, out_of_fold_choices(distribution, evidence.cluster, folds, seed))
    else:
        target = "confidence"
        kind, confidence = MAP_KINDS[by], pairs.confidence.astype(np.float64)
        parameters = kind.fit(Levels.from_pairs(confidence, pairs.correct))
        after = with_confidences(
            evidence, out_of_fold(kind, confidence, pairs.correct, evidence.cluster, folds, seed)
        )
    fitted = RecalibrationMap(
        by=by,
        target=target,
        parameters=MappingProxyType(dict(parameters)),
        run=evidence.run.label,
        method=evidence.method.id,
        n_rows=evidence.n_used,
        folds=folds,
        seed=seed,
        recipe=recipe_text(evidence, None, None),
        rows_digest=rows_digest(evidence),
    )
    return fitted, after


def log_losses(evidence: AnswerEvidence) -> NDArray[np.float64]:
    """−ln c of each right answer and −ln(1 − c) of each wrong one, in nats, shape (n_used,)."""
    pairs = evidence.confidences.pairs
    confidence = pairs.confidence.astype(np.float64)
    with np.errstate(divide="ignore"):
        return -np.log(np.where(pairs.correct, confidence, 1 - confidence)) + 0.0


def _values(evidence: AnswerEvidence) -> Mapping[str, float]:
    values = {metric: _value(evidence, metric) for metric in ("ece", "brier")}
    return MappingProxyType({**values, "nll": float(log_losses(evidence).mean())})


def _value(evidence: AnswerEvidence, metric: str) -> float:
    """The metric at ten bins of equal width; the rows are known to be some."""
    return METRICS[metric].compute(evidence.sums, DEFAULT_SCHEME) or 0.0


def _differences(
    before: AnswerEvidence, after: AnswerEvidence, n_questions: int
) -> tuple[dict[str, RecalibrationDifference], dict[str, str]]:
    few, n_rarer = "", count_rarer_outcome(before)
    if n_questions < MIN_COMMON_QUESTIONS:
        few = f"{plural(n_questions, before.terms.question)}, fewer than {MIN_COMMON_QUESTIONS}."
    elif n_rarer < MIN_OF_RARER_OUTCOME:
        terms = before.terms
        outcome = terms.right if before.pairs.correct.mean() < 0.5 else terms.wrong
        of_event = f"{n_rarer:,} {terms.answers} with the outcome {outcome}"
        rarer = of_event if terms.of == "event" else plural(n_rarer, f"{outcome} answer")
        few = f"{rarer}, fewer than {MIN_OF_RARER_OUTCOME}."
    if few:
        return {}, dict.fromkeys(JUDGED_METRICS, few)
    found: dict[str, RecalibrationDifference] = {}
    reasons: dict[str, str] = {}
    for metric in ("ece", "brier"):
        try:
            each = difference_on_same_rows(before, after, metric)
        except Unavailable as reason:
            reasons[metric] = str(reason)
        else:
            found[metric] = RecalibrationDifference(each.value, each.low, each.high, each.p)
    losses = log_losses(before), log_losses(after)
    if all(np.isfinite(one).all() for one in losses):
        change = losses[1] - losses[0]
        test = paired_test(float(change.mean()), change - change.mean(), before.cluster)
        found["nll"] = RecalibrationDifference(test.difference, test.low, test.high, test.p)
    else:
        n_infinite = int(np.count_nonzero(~np.isfinite(losses[0]) | ~np.isfinite(losses[1])))
        reasons["nll"] = f"The log loss is infinite: {plural(n_infinite, 'outcome')} had probability 0."
    return found, reasons


def parameters_text(fitted: RecalibrationMap) -> str:
    """The formula and the numbers of the map, as in "p = σ(logit(c) / temperature); temperature 1.8"."""
    numbers = [
        f"{name}: {plural(len(value), 'number')}" if isinstance(value, tuple) else f"{name} {value:.4g}"
        for name, value in fitted.parameters.items()
    ]
    return f"{fitted.formula}; {', '.join(numbers)}"
