"""How are methods that need no samples drawn beside those that do?  Level lines with a label each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from calib_core.analysis.samples_result import Sampled
from calib_core.confidence import METHODS
from calib_core.figures.layout import LABEL_SIZE, Figure, note
from calib_core.figures.text import lines
from calib_core.figures.theme import Theme

_ROOM: Final = 30
"""Pixels from the middle of one label, of two lines, to that of the next."""

_LETTERS: Final = 18
"""Letters of one line of a label: a longer name has two."""

SHARE: Final = 0.27
"""The part of the figure's breadth, at its right end, that is left to labels."""


@dataclass(frozen=True, slots=True)
class Level:
    """One label beside the data, at its height. name: whose it is; line: whether a line leads to it."""

    value: float
    name: str
    line: bool = True


def levels_of(result: Sampled, metric: str) -> list[Level]:
    """The baselines from low to high; accuracies of one answer are one."""
    own = [each for each in result.baselines if each.metric == metric]
    named = {
        (each.value, each.judged if metric == "accuracy" else METHODS[each.method].title) for each in own
    }
    return [Level(value, name) for value, name in sorted(named)]


def level_lines(levels: Sequence[Level], theme: Theme) -> list[Figure]:
    """Dashed lines across the upper panel, as far as the labels."""
    return [
        {
            "type": "line", "xref": "x domain", "yref": "y", "x0": 0, "x1": 1 - SHARE, "y0": level.value,
            "y1": level.value, "layer": "below",
            "line": {"color": theme.muted, "width": 1.5, "dash": "9px,4px"},
        }
        for level in levels
    ]


def level_labels(
    levels: Sequence[Level], theme: Theme, span: tuple[float, float], height: float, yref: str = "y"
) -> list[Figure]:
    """A label at the right end of each line, moved up where the one below it would touch it.

    levels: from low to high; span: ends of the axis; height: its pixels.
    """
    labels: list[Figure] = []
    least = _ROOM / 2
    for place, level in enumerate(levels):
        own = (level.value - span[0]) / (span[1] - span[0]) * height
        above = (len(levels) - place - 0.5) * _ROOM  # room for this one and those that are still to come
        at = max(least, min(own, height - above))
        least = at + _ROOM
        labels.append(note(
            theme, lines(level.name, _LETTERS) + (f"<br>{level.value:.4f}" if level.line else ""),
            xref="x domain", x=1 - SHARE + 0.015, xanchor="left", align="left",
            yref=yref, y=level.value, yanchor="middle", yshift=round(at - own),
            font={"size": LABEL_SIZE, "color": theme.muted},
        ))
    return labels
