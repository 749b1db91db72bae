"""What does a reliability diagram say, in one plain sentence?"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.analysis.basis import Unit
from calib_core.analysis.limits import FEW
from calib_core.analysis.tendency import WORDS, Tendency, tendency
from calib_core.bins import Binned
from calib_core.wording import ROUNDED, percent, too_few

MOSTLY: Final = 2 / 3
"""Bins that carry this part of the gap are said to carry most of it."""


def read_aloud(binned: Binned, *, dependent: bool, unit: Unit = "rows", alike: float = 1.0) -> str:
    """One sentence on the whole, and where the gap lies.

    dependent: the pairs are all choices of each row, whose mean confidence and share of right ones
    are both 1/K by construction, so only the gaps are spoken of; unit: what is counted; alike: as in
    `tendency`.
    """
    if not binned.size:
        return f"No {unit[:-1]} has both a confidence and an outcome."
    n = int(binned.count.sum())
    if dependent:
        return _of_all_choices(binned, n, unit)
    if n < FEW:
        return f"{too_few(n, unit[:-1])}: {says_and_is(binned)}."
    return f"{says_and_is(binned).capitalize()}{_verdict(binned, tendency(binned, alike=alike), n, unit)}."


def says_and_is(binned: Binned) -> str:
    """"says 75.0 % on average, is right 51.6 % of the time": a verb's part of a sentence on some pairs."""
    n = int(binned.count.sum())
    said, right = float(binned.confidence.sum()) / n, int(binned.correct.sum()) / n
    return f"says {percent(said)} on average, is right {percent(right)} of the time"


def _of_all_choices(binned: Binned, n: int, unit: Unit) -> str:
    """Of pairs that exclude one another chance is not judged: only where the gap lies is told."""
    gap = float(binned.absolute_gap.sum()) / n
    pairs = "choices of every question" if unit == "rows" else "classes of every position"
    subject = f"Over all {pairs}, probability and share of right ones"
    if gap <= ROUNDED:
        return f"{subject} agree in every bin."
    apart = f"{percent(gap)} apart on average"
    if unit == "positions":
        # A vocabulary's average is next to nothing; each position has one right class, so this is Full-ECE.
        apart = f"{n * gap / max(int(binned.correct.sum()), 1):.4f} apart a position"
    return f"{subject} are {apart}{_comma(_where(binned, binned.absolute_gap))}."


def _verdict(binned: Binned, found: Tendency, n: int, unit: Unit) -> str:
    """Over- or under-confident, both, or neither, as far as the rows can tell (95 %)."""
    over, under, clear = found.over, found.under, found.clear
    if found.kind == "neither":
        return f": {WORDS[found.kind]} with {n:,} {unit}"
    if found.kind == "mixed":
        return _only_on_average(binned, over * clear, under * clear)
    mine, other, whose = (over, under, "under") if found.kind == "over" else (under, over, "over")
    verdict = f": {WORDS[found.kind]}{_comma(_where(binned, mine))}"
    if (other * clear).any():
        verdict += f", though {WORDS[whose]} {_where(binned, other * clear)}"
    return verdict


def _only_on_average(binned: Binned, over: NDArray[np.float64], under: NDArray[np.float64]) -> str:
    """Averages that agree over bins that do not; `over`, `under`: the clear gaps, in rows."""
    sides = ((WORDS["over"], over), (WORDS["under"], under))
    told = ", ".join(f"{name} {_where(binned, side)}" for name, side in sides if side.any())
    return f", {WORDS['mixed']}: {told}"


def _comma(where: str) -> str:
    return f", {where}" if where else ""


def _where(binned: Binned, part: NDArray[np.float64]) -> str:
    """Where the gap lies.

    "mostly in the top bin", "mostly in (0.3, 0.4] and in (0.8, 0.9]", "in 7 of 9 bins", "in both bins";
    empty where there is only one bin, which then need not be named.
    """
    if binned.size == 1:
        return ""
    total = part.sum()
    heaviest = np.argsort(-part, kind="stable")[:2]
    chosen = heaviest[:1] if part[heaviest[0]] >= MOSTLY * total else heaviest
    if len(chosen) == binned.size:
        return "in both bins"
    if part[chosen].sum() < MOSTLY * total:
        found = int((part > ROUNDED).sum())
        return f"in all {found} bins" if found == binned.size else f"in {found} of {binned.size} bins"
    if set(chosen.tolist()) == set(range(binned.size - len(chosen), binned.size)):
        return "mostly in the top bin" if len(chosen) == 1 else "mostly in the two top bins"
    return "mostly " + " and ".join(_place(binned, int(bin_)) for bin_ in sorted(chosen.tolist()))


def _place(binned: Binned, bin_: int) -> str:
    """"in (0.8, 0.9]", or "at 0.9" where the bin is a single value."""
    name = bin_name(binned, bin_)
    return f"in {name}" if name.endswith("]") else f"at {name}"


def bin_name(binned: Binned, bin_: int) -> str:
    """"(0.8, 0.9]" for equal width, "[0.62, 0.71]" or "0.9375" for bins of found values."""
    low, high = float(binned.low[bin_]), float(binned.high[bin_])
    # Three digits, or as many more as it takes to tell the two ends apart.
    digits = next((digits for digits in range(3, 17) if f"{low:.{digits}g}" != f"{high:.{digits}g}"), 3)
    if binned.scheme.binning == "width":
        return f"{'[' if low == 0 else '('}{low:.{digits}g}, {high:.{digits}g}]"
    return f"[{low:.{digits}g}, {high:.{digits}g}]" if low < high else f"{low:.6g}"
