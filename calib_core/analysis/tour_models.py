"""Which model is to be trusted?  The last step of the tour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from calib_core.analysis.comparison import comparison
from calib_core.analysis.comparison_points import Measure, Measured, Point
from calib_core.analysis.evidence import Evidence
from calib_core.analysis.families import in_full
from calib_core.analysis.limits import FEW
from calib_core.analysis.tour_step import ABOUT, Step
from calib_core.analysis.tour_subject import Subject
from calib_core.confidence import METHODS
from calib_core.problems import Unavailable
from calib_core.wording import ROUNDED, count, every, percent


def models_step(subject: Subject, measure: Measure) -> Step:
    """Accuracy and Brier score of the runs of one data set, by the same method.

    measure: makes each number with its interval. Raises Unavailable where no run has both numbers.
    """
    seen = _alike(subject)
    result = comparison(
        seen, titles={key: subject.runs[key].title for key in seen}, measure=measure,
    )
    if not result.points:
        raise Unavailable(result.reading)
    method = METHODS[subject.method].title
    points = [replace(one, name=in_full(one.name, seen[one.key].run.info)) for one in result.points]
    return Step(
        kind="models",
        heading=ABOUT["models"],
        sentences=(_best(points, method), _trust(points)),
        picture=result,
        chosen=_chosen(subject, len(result.points), method),
        recipe=result.recipe,
    )


def _alike(subject: Subject) -> dict[str, Evidence]:
    """The runs of the shown one's data set that give the same confidence, that one among them."""
    dataset = subject.evidence.run.info.dataset
    return {
        key: one.usable[subject.method].of_top
        for key, one in subject.runs.items()
        if subject.method in one.usable and one.any.run.info.dataset == dataset
        and one.answers is subject.shown.answers
    }


def _chosen(subject: Subject, n: int, method: str) -> str:
    dataset = subject.evidence.run.info.dataset
    unnamed = "whose file names no data set" if n == 1 else "whose files name no data set"
    of = f"of the data set {dataset}" if dataset else unnamed
    if n == 1:
        return f"It is the only run {of} that gives “{method}”."
    return f"{every(n).capitalize()} runs {of} that give “{method}”."


def _ends(points: Sequence[Point]) -> tuple[Point, Point]:
    """The lowest Brier score and the highest accuracy; of equal ones the better by the other number."""
    best = min(points, key=lambda point: (point.brier.value, -point.accuracy.value))
    return best, max(points, key=lambda point: (point.accuracy.value, -point.brier.value))


def _best(points: Sequence[Point], method: str) -> str:
    best, right = _ends(points)
    brier, accuracy = f"{best.brier.value:.4f}", percent(best.accuracy.value)
    if len(points) == 1:
        return (
            f"{best.name} is right {accuracy} of the time and has a Brier score of {brier} by “{method}”: "
            "that score is low where right answers have a high confidence and wrong ones a low one."
        )
    first = sum(point.brier.value <= best.brier.value + ROUNDED for point in points) == 1
    lowest = f"{'the lowest Brier score' if first else 'as low a Brier score as any'}, {brier}"
    opening = f"Of {len(points)} runs, {best.name} has {lowest}, and is right {accuracy} of the time"
    if right is best:
        low = "the score is low where right answers are sure and wrong ones are not"
        alone = [point.accuracy.value for point in points].count(best.accuracy.value) == 1
        return f"{opening}, {'the most of all' if alone else 'as often as any'}: {low}."
    return (
        f"{opening}, while {right.name} is right most often, {percent(right.accuracy.value)}, with a Brier "
        f"score of {right.brier.value:.4f}."
    )


def _trust(points: Sequence[Point]) -> str:
    best, right = _ends(points)
    always = (
        f"always saying {percent(best.accuracy.value)} would score {best.constant:.4f}, and its own score "
        f"{_beside(best)}"
    )
    if len(points) == 1:
        return f"Which to trust takes another to compare it with; {always}."
    if best.n_used < FEW:
        return f"A score of {count(best.n_used, 'row')} says too little to trust {best.name} by; {always}."
    if right is not best:
        return f"{_of_two(best, right)}: {always}."
    near = [point for point in points if point is not best and point.brier.meets(best.brier)]
    if near:
        others = "that of 1 other run" if len(near) == 1 else f"those of {len(near)} other runs"
        return (
            f"The interval of its score{_interval(best.brier)} meets {others}, so this data does not settle "
            f"which of them to trust most; {always}."
        )
    first = "it is the one to trust" if _better(best) else "it stands first"
    interval = f"The interval of its score{_interval(best.brier)}"
    return f"{interval} meets no other run's, so of these {first}; {always}."


def _of_two(best: Point, right: Point) -> str:
    """What to trust whom for, where the lowest score and the highest accuracy are not of one run."""
    if not _better(best):
        return f"A low score alone is no reason to trust {best.name}"
    if best.brier.meets(right.brier):
        settled = "does not settle which of them to trust most"
        return f"The intervals of these two scores meet, so this data {settled}"
    return f"Trust {right.name} to be right most often, and {best.name} to tell right from wrong"


def _beside(point: Point) -> str:
    """The Brier score beside that of always saying the run's own accuracy, as far as its interval tells."""
    if point.brier.low is None or point.brier.high is None:
        return f"is {point.brier.value:.4f}"
    if _better(point):
        return "is better than that"
    return "is worse than that" if point.brier.low > point.constant else "is about the same"


def _better(point: Point) -> bool:
    """Whether the confidence is clearly worth more than always saying the run's own accuracy."""
    return point.brier.high is not None and point.brier.high < point.constant


def _interval(one: Measured) -> str:
    return "" if one.low is None or one.high is None else f", {one.low:.4f} to {one.high:.4f},"
