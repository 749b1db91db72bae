"""What do the runs at hand come to, in a headline and a sentence or two?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from calib_core.analysis.overview_look import Look
from calib_core.wording import percent


def headline(looks: Sequence[Look]) -> tuple[str, str]:
    """What can be said of how many runs, and which is furthest off, nearest, and most often right.

    looks: one a run. The second is "" where the first says it all.
    """
    judged = sorted((look for look in looks if look.kind != "few"), key=lambda look: look.ece or 0.0)
    if not judged:
        return _too_few(looks), ""
    if len(looks) == 1:
        return _of_one(judged[0]), ""
    return _counted(looks), _extremes(judged, looks)


def _too_few(looks: Sequence[Look]) -> str:
    if not looks:
        return "There is no run here."
    if len(looks) == 1:
        return f"The one run here, {looks[0].run}, has too few {looks[0].unit} to be judged."
    return f"None of the {len(looks)} runs here has rows enough to be judged."


def _of_one(look: Look) -> str:
    """"model · quiz says 71.2 % on average and is right 60.0 %: it is over-confident."."""
    told = {
        "over": "it is over-confident",
        "under": "it is under-confident",
        "mixed": "close on average, but not in every bin",
    }.get(look.kind, f"no more apart than {look.used:,} {look.unit} differ by chance")
    return f"{look.run} {_said(look)}: {told}."


def _counted(looks: Sequence[Look]) -> str:
    """"Of 14 runs, 9 are over-confident, 1 is under-confident and 4 show no sign of either."."""
    count = Counter(look.kind for look in looks)
    clauses = [
        _clause(count["over"], "is over-confident", "are over-confident"),
        _clause(count["under"], "is under-confident", "are under-confident"),
        _clause(count["mixed"], "is close on average only", "are close on average only"),
        _clause(count["neither"], "shows no sign of either", "show no sign of either"),
        _clause(count["few"], "has too few rows to say", "have too few rows to say"),
    ]
    told = [clause for clause in clauses if clause]
    if not count["over"] + count["under"]:
        told = [clause.replace("of either", "of over- or under-confidence") for clause in told]
    listed = told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"
    return f"Of {len(looks)} runs, {listed}."


def _clause(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}" if count else ""


def _extremes(judged: Sequence[Look], looks: Sequence[Look]) -> str:
    """The lowest ECE and the highest accuracy; answers and texts are not compared with one another.

    judged: those of `looks` with rows enough, the lowest ECE first.
    """
    answers = [look for look in judged if look.unit == "rows"]
    own = answers or judged
    said = ["answers"] if len(own) < len(judged) else []
    if len(own) == 1:
        return f"{own[0].run} {_said(own[0])}."
    honest, right = own[0], max(own, key=lambda look: look.accuracy or 0.0)
    if any(_beats(look, honest, right) for look in looks if look.kind == "few"):
        said.append("rows enough")
    which = f"Of the {len(own)} with {' and '.join(said)}, the" if said else "The"
    lowest = f"{honest.ece or 0.0:.4f}"
    opening = f"{which} lowest ECE, {lowest}, is that of {honest.run}, which {_said(honest)}"
    if right.accuracy == honest.accuracy:
        alone = [look.accuracy for look in own].count(right.accuracy) == 1
        return f"{opening}, {'the most of all' if alone else 'as often as any'}."
    return f"{opening}. Right most often is {right.run}, which {_said(right)}."


def _beats(look: Look, honest: Look, right: Look) -> bool:
    """Whether one with too few rows has a lower ECE or a higher accuracy than those that are named."""
    if look.ece is None or look.accuracy is None:
        return False
    return look.ece < (honest.ece or 0.0) or look.accuracy > (right.accuracy or 0.0)


def _said(look: Look) -> str:
    """"says 71.2 % on average and is right 60.0 %"."""
    return f"says {percent(look.confidence or 0.0)} on average and is right {percent(look.accuracy or 0.0)}"
