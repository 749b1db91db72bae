"""Which model is to be trusted?  The last step of the tour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from calib_core.analysis.comparison import compare_runs
from calib_core.analysis.comparison_points import MetricEstimator, MetricEstimate, ComparisonPoint
from calib_core.analysis.evidence import Evidence
from calib_core.analysis.families import name_with_model
from calib_core.analysis.limits import MIN_ROWS
from calib_core.analysis.tour_step import STEP_TITLES, TourStep
from calib_core.analysis.tour_subject import TourSubject
from calib_core.confidence import METHODS
from calib_core.problems import Unavailable
from calib_core.wording import ROUNDING_TOLERANCE, plural, both_or_all, format_percent


def models_step(subject: TourSubject, estimator: MetricEstimator) -> TourStep:
    """Accuracy and Brier score of the runs of one data set, by the same method.

    measure: makes each number with its interval. Raises Unavailable where no run has both numbers.
    """
    seen = _comparable_evidences(subject)
    result = compare_runs(
        seen, titles={key: subject.runs[key].title for key in seen}, estimator=estimator,
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
        if subject.method in one.usable and one.first_evidence.run.info.dataset == dataset
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
    return "" if estimate.low is None or estimate.high is None else f", {estimate.low:.4f} to {estimate.high:.4f},"
