"""How is the number of bins M drawn as an axis?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from calib_core.figures.layout import axis
from calib_core.figures.theme import Theme

_MIN_TICK_DISTANCE: Final = 0.055
"""Ticks nearer than this part of the axis would have their numbers run into one another."""


def bin_count_axis(theme: Theme, bin_counts: Sequence[int], **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """A logarithmic axis with a tick at each of these M (ascending, 1 or more), crowded ones left out."""
    low, high = math.log10(bin_counts[0]), math.log10(bin_counts[-1])
    room = max(0.06 * (high - low), 0.04)
    ticks: list[int] = []
    for number in reversed(bin_counts):  # from the right, where numbers are longest
        if not ticks or math.log10(ticks[-1] / number) >= _MIN_TICK_DISTANCE * (high - low + 2 * room):
            ticks.append(number)
    return axis(
        theme, "Number of bins M (log)", standoff=6, type="log", range=[low - room, high + room],
        tickvals=ticks[::-1], ticktext=[f"{tick:,}" for tick in reversed(ticks)], **more,
    )
