"""How is the way of a training drawn as an axis: tokens seen, or steps?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from calib_core.figures.layout import axis
from calib_core.figures.text import compact_count
from calib_core.figures.theme import Theme

MAX_LINEAR_DECADES: Final = 1.5
"""A training that spans more powers of ten is drawn on a logarithmic axis."""

_MIN_TICK_DISTANCE: Final = 0.13
"""Ticks nearer than this part of the axis would have their numbers run into one another."""


def progress_text(progress: float) -> str:
    """"8,000", "12.3k", "300B": a step or a number of tokens in four digits at most."""
    return compact_count(round(progress))


def axis_positions(progresses: Sequence[float]) -> dict[float, float]:
    """Where each place of the training is drawn; the axis is linear in these.

    Decimal logarithms where the places above zero span more than `DECADES`, and then zero, which has
    none, stands one third of a decade left of the first. Else the places themselves.
    """
    above = sorted({at for at in progresses if at > 0})
    if not above or math.log10(above[-1] / above[0]) <= MAX_LINEAR_DECADES:
        return {at: at for at in progresses}
    start = math.log10(above[0]) - 1 / 3
    return {at: math.log10(at) if at > 0 else start for at in progresses}


def training_axis(theme: Theme, title: str, positions: dict[float, float]) -> dict[str, Any]:
    """The axis with ticks at checkpoints, crowded ones left out; the last always has one."""
    if not positions:
        return axis(theme, title, standoff=6, range=[0, 1], showticklabels=False)
    log = any(drawn != at for at, drawn in positions.items())
    low, high = min(positions.values()), max(positions.values())
    room = 0.04 * (high - low) or max(0.1 * abs(high), 0.5)
    ticks: list[float] = []
    for at in sorted(positions, reverse=True):
        if not ticks or positions[ticks[-1]] - positions[at] >= _MIN_TICK_DISTANCE * (high - low + 2 * room):
            ticks.append(at)
    return axis(
        theme, f"{title} (log)" if log else title, standoff=6, range=[low - room, high + room],
        tickvals=[positions[at] for at in reversed(ticks)], ticktext=[progress_text(at) for at in reversed(ticks)],
    )
