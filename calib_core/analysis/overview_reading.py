"""What do the runs at hand come to, in a headline and a sentence or two?"""

from __future__ import annotations

from collections.abc import Sequence

from calib_core.analysis.overview_look import Look
from calib_core.analysis.tendency import WORDS, Kind, being, counted
from calib_core.wording import ROUNDED, count, every, percent


def headline(looks: Sequence[Look]) -> tuple[str, str]:
    """What can be said of how many runs, and which is furthest off, nearest, and most often right.

    looks: one a run. The second is "" where the first says it all.
    """
    judged = sorted((look for look in looks if look.kind != "few"), key=lambda look: look.ece or 0.0)
    if not judged:
        return _too_few(looks), ""
    if len(looks) == 1:
        return _of_one(judged[0]), ""
    return _kinds([look.kind for look in looks]), _extremes(judged, looks)


def _kinds(kinds: Sequence[Kind]) -> str:
    """"Of 3 runs, 2 are over-confident and 1 is under-confident.", or "Both runs are over-confident."."""
    if len(set(kinds)) == 1:
        return f"{every(len(kinds)).capitalize()} runs {being(kinds[0], len(kinds))}."
    return f"Of {len(kinds)} runs, {counted(kinds)}."


def _too_few(looks: Sequence[Look]) -> str:
    if not looks:
        return "There is no run here."
    if len(looks) == 1:
        return f"The one run here, {looks[0].run}, has too few {looks[0].unit} to be judged."
    which = "Neither" if len(looks) == 2 else "None"
    return f"{which} of the {len(looks)} runs here has rows enough to be judged."


def _of_one(look: Look) -> str:
    """"model · quiz says 71.2 % on average and is right 60.0 % of the time: over-confident."."""
    by = f" with {look.used:,} {look.unit}" if look.kind == "neither" else ""
    return f"{look.run} {_said(look)}: {WORDS[look.kind]}{by}."


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
    equal = sum((look.ece or 0.0) - (honest.ece or 0.0) <= ROUNDED for look in own) - 1
    whose = f"{honest.run}{_beside(equal, 'of ')}"
    opening = f"{which} lowest ECE, {lowest}, is that of {whose}, which {_said(honest)}"
    equal = [look.accuracy for look in own].count(right.accuracy) - 1
    if right.accuracy == honest.accuracy:
        return f"{opening}, {'as often as any' if equal else 'the most of all'}."
    return f"{opening}. Right most often is {right.run}{_beside(equal)}, which {_said(right)}."


def _beside(others: int, of: str = "") -> str:
    """Of how many others that is true as well."""
    return f" (and {of}{count(others, 'other')})" if others else ""


def _beats(look: Look, honest: Look, right: Look) -> bool:
    """Whether one with too few rows has a lower ECE or a higher accuracy than those that are named."""
    if look.ece is None or look.accuracy is None:
        return False
    return look.ece < (honest.ece or 0.0) or look.accuracy > (right.accuracy or 0.0)


def _said(look: Look) -> str:
    """"says 71.2 % on average and is right 60.0 % of the time"."""
    return (
        f"says {percent(look.confidence or 0.0)} on average and is right {percent(look.accuracy or 0.0)} of "
        "the time"
    )
