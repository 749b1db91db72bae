"""How are methods that need no samples drawn beside those that do?  Level lines with a label each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from calib_core.analysis.samples_result import SampleSizeSweep
from calib_core.confidence import METHODS
from calib_core.figures.layout import LABEL_SIZE, Figure, annotation
from calib_core.figures.text import wrap_lines
from calib_core.figures.theme import Theme

_LABEL_SPACING: Final = 30
"""Pixels from the middle of one label, of two lines, to that of the next."""

_LABEL_LINE_LENGTH: Final = 18
"""Letters of one line of a label: a longer name has two."""

LABEL_SHARE: Final = 0.27
"""The part of the figure's breadth, at its right end, that is left to labels."""


@dataclass(frozen=True, slots=True)
class LabelledLevel:
    """One label beside the data, at its height. name: whose it is; line: whether a line leads to it."""

    value: float
    name: str
    has_line: bool = True


def baseline_levels(result: SampleSizeSweep, metric: str) -> list[LabelledLevel]:
    """The baselines from low to high; accuracies of one answer are one."""
    own = [each for each in result.baselines if each.metric == metric]
    named = {
        (each.value, each.judged if metric == "accuracy" else METHODS[each.method].title) for each in own
    }
    return [LabelledLevel(value, name) for value, name in sorted(named)]


def baseline_lines(levels: Sequence[LabelledLevel], theme: Theme) -> list[Figure]:
    """Dashed lines across the upper panel, as far as the labels."""
    return [
        {
            "type": "line", "xref": "x domain", "yref": "y", "x0": 0, "x1": 1 - LABEL_SHARE, "y0": level.value,
            "y1": level.value, "layer": "below",
            "line": {"color": theme.muted_text, "width": 1.5, "dash": "9px,4px"},
        }
        for level in levels
    ]


def level_labels(
    levels: Sequence[LabelledLevel], theme: Theme, axis_range: tuple[float, float], height: float, yref: str = "y"
) -> list[Figure]:
    """A label at the right end of each line, moved up where the one below it would touch it.

    levels: from low to high; span: ends of the axis; height: its pixels.
    """
    labels: list[Figure] = []
    least = _LABEL_SPACING / 2
    for place, level in enumerate(levels):
        own = (level.value - axis_range[0]) / (axis_range[1] - axis_range[0]) * height
        above = (len(levels) - place - 0.5) * _LABEL_SPACING  # room for this one and those that are still to come
        at = max(least, min(own, height - above))
        least = at + _LABEL_SPACING
        labels.append(annotation(
            theme, wrap_lines(level.name, _LABEL_LINE_LENGTH) + (f"<br>{level.value:.4f}" if level.has_line else ""),
            xref="x domain", x=1 - LABEL_SHARE + 0.015, xanchor="left", align="left",
            yref=yref, y=level.value, yanchor="middle", yshift=round(at - own),
            font={"size": LABEL_SIZE, "color": theme.muted_text},
        ))
    return labels
