"""What do the numbers of many groups say, and how much of it would chance alone say?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from calib_core.analysis.contrasts import Contrast
from calib_core.metrics.metric import Metric

OUTSIDE_BY_CHANCE: Final = 0.05
"""Share of 95 % intervals that do not hold the true value."""


@dataclass(frozen=True, slots=True)
class Chance:
    """outside: intervals that do not hold the value of their whole run; of: how many there are."""

    outside: int
    of: int

    @property
    def expected(self) -> float:
        """How many would not if all groups were alike and the intervals held what they promise."""
        return OUTSIDE_BY_CHANCE * self.of

    @property
    def words(self) -> str:
        """Both counts in one sentence."""
        verb = "does" if self.outside == 1 else "do"
        return (
            f"{self.outside} of {self.of} intervals {verb} not hold the value of the whole run; if all "
            f"groups were alike, about {self.expected:.1f} of {self.of} would not by chance alone (5 %, and "
            f"somewhat more, as the intervals are approximate)."
        )


def chance_of(groups: Sequence[tuple[float | None, float | None, float | None]]) -> Chance | None:
    """groups: (low, high, value of the whole run) of each group; None with fewer than two intervals."""
    known = [
        (low, high, whole) for low, high, whole in groups
        if low is not None and high is not None and whole is not None
    ]
    if len(known) < 2:
        return None
    return Chance(sum(not low <= whole <= high for low, high, whole in known), len(known))


def read_range(
    metric: Metric,
    by: str,
    groups: Mapping[str, Sequence[tuple[str, float | None, int]]],
    overall: Mapping[str, float | None],
) -> str:
    """The smallest and the largest number.

    groups: run title → (name, value, n) of each group; overall: run title → value of the whole run.
    """
    known = [
        (value, name, title, n) for title, own in groups.items() for name, value, n in own
        if value is not None
    ]
    if not known:
        return f"No group here has a defined {metric.title}."
    ends = [
        f"{value:.4f} ({name}{f' of {title}' if len(groups) > 1 else ''}, n={n:,})"
        for value, name, title, n in (min(known), max(known))
    ]
    told = f"{metric.title} by {by}{f' in {len(groups)} runs' if len(groups) > 1 else ''}"
    whole = next(iter(overall.values())) if len(overall) == 1 else None
    tail = "" if whole is None else f"; of the whole run {whole:.4f}"
    if len(known) == 1:
        return f"{told}: {ends[0]}{tail}."
    return f"{told}: from {ends[0]} to {ends[1]}{tail}."


def read_contrasts(metric: Metric, contrasts: Sequence[Contrast]) -> str:
    """Every paired difference with its interval, and whether that holds 0."""
    told = [
        f"{contrast.level} − {contrast.against}: {metric.title} {_signed(found.value)} "
        f"({_signed(found.low)} to {_signed(found.high)}) on {found.questions:,} questions; "
        + ("the interval holds 0." if found.low <= 0 <= found.high else "the interval does not hold 0.")
        for contrast in contrasts
        if (found := contrast.difference) is not None
    ]
    return " ".join(told) or "No two runs here can be compared question by question."


def _signed(value: float) -> str:
    return f"{value:+.4f}".replace("-", "−")
