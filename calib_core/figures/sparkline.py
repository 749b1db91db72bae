"""How does a reliability curve look that is no larger than a word?  One run → a picture for a cell."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

from calib_core.figures.bars import FADED_OPACITY
from calib_core.figures.palette import Theme
from calib_core.results.overview import RunSummary

SPARKLINE_WIDTH: Final = 88
SPARKLINE_HEIGHT: Final = 40
"""Pixels of the picture as it is drawn in a table."""

_PADDING: Final = 4
_MIN_RADIUS, _MAX_RADIUS = 1.4, 3.2
"""Radius of the point of the emptiest and of the fullest bin."""


def sparkline(run_summary: RunSummary, theme: Theme) -> str:
    """The curve as a "data:" address of an SVG, without a letter in it that a file wrote.

    Dashes: confidence = accuracy. A point a bin with rows, the larger the more rows, paler below 30 of them;
    a stem from the dashes to it, which is the gap: over-confident hangs down, under-confident rises. A line
    joins bins that are neighbours, so that where no row is there is no line.
    """
    bins = run_summary.curve.rows(named=True)
    parts = [
        f'<path d="M{_x(0)} {_y(0)}L{_x(1)} {_y(1)}" stroke="{theme.axis_line}" stroke-dasharray="3 2.5"/>',
        *_gap_stems(bins, theme),
        *_segments(bins, theme),
        *_points(bins, theme),
    ]
    drawn = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{SPARKLINE_WIDTH}" height="{SPARKLINE_HEIGHT}" '
        f'viewBox="0 0 {SPARKLINE_WIDTH} {SPARKLINE_HEIGHT}" fill="none">{"".join(parts)}</svg>'
    )
    return f"data:image/svg+xml,{quote(drawn, safe=' =:/')}"


def _x(confidence: float) -> str:
    return f"{_PADDING + confidence * (SPARKLINE_WIDTH - 2 * _PADDING):.3g}"


def _y(accuracy: float) -> str:
    return f"{SPARKLINE_HEIGHT - _PADDING - accuracy * (SPARKLINE_HEIGHT - 2 * _PADDING):.3g}"


def _gap_stems(bins: list[dict[str, Any]], theme: Theme) -> Iterator[str]:
    for one in bins:
        said, right = one["confidence"], one["accuracy"]
        colour = theme.overconfident if said > right else theme.underconfident
        yield (
            f'<path d="M{_x(said)} {_y(said)}V{_y(right)}" stroke="{colour}" stroke-width="3.4" '
            f'opacity="{_bin_opacity(one)}"/>'
        )


def _segments(bins: list[dict[str, Any]], theme: Theme) -> Iterator[str]:
    for one, other in itertools.pairwise(bins):
        if other["bin"] == one["bin"] + 1:
            yield (
                f'<path d="M{_x(one["confidence"])} {_y(one["accuracy"])}L{_x(other["confidence"])} '
                f'{_y(other["accuracy"])}" stroke="{theme.text}" '
                f'opacity="{min(_bin_opacity(one), _bin_opacity(other))}"/>'
            )


def _points(bins: list[dict[str, Any]], theme: Theme) -> Iterator[str]:
    most = max((one["count"] for one in bins), default=1)
    for one in bins:
        radius = _MIN_RADIUS + (_MAX_RADIUS - _MIN_RADIUS) * (one["count"] / most) ** 0.5
        yield (
            f'<circle cx="{_x(one["confidence"])}" cy="{_y(one["accuracy"])}" r="{radius:.2g}" '
            f'fill="{theme.text}" opacity="{_bin_opacity(one)}"/>'
        )


def _bin_opacity(bin_row: dict[str, Any]) -> float:
    return FADED_OPACITY if bin_row["thin"] else 1
