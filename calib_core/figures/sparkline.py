"""A run's reliability curve as an image small enough for the cell of a table."""

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
"""Size of the image in pixels, as it is drawn in a table."""

_PADDING: Final = 4
_MIN_RADIUS, _MAX_RADIUS = 1.4, 3.2
"""Radius in pixels that a point approaches as its bin empties, and that of the fullest bin."""


def sparkline(run_summary: RunSummary, theme: Theme) -> str:
    """The reliability curve of a run as the "data:" URL of an SVG.

    The dashed diagonal is perfect calibration. Each non-empty bin has a point, which grows with the number of
    its rows and is pale if the bin is thin, and a stem from the diagonal to the point, which is the gap:
    downward if over-confident, upward if under-confident. A line joins adjacent bins and is interrupted at
    empty ones. The image contains no text from a file.

    Parameters
    ----------
    run_summary : RunSummary
        The run.
    theme : Theme
        Colours.
    """
    bins = run_summary.curve.rows(named=True)
    parts = [
        f'<path d="M{_x(0)} {_y(0)}L{_x(1)} {_y(1)}" stroke="{theme.axis_line}" stroke-dasharray="3 2.5"/>',
        *_gap_stems(bins, theme),
        *_segments(bins, theme),
        *_points(bins, theme),
    ]
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{SPARKLINE_WIDTH}" height="{SPARKLINE_HEIGHT}" '
        f'viewBox="0 0 {SPARKLINE_WIDTH} {SPARKLINE_HEIGHT}" fill="none">{"".join(parts)}</svg>'
    )
    return f"data:image/svg+xml,{quote(svg, safe=' =:/')}"


def _x(confidence: float) -> str:
    """Horizontal position in pixels, as SVG writes it."""
    return f"{_PADDING + confidence * (SPARKLINE_WIDTH - 2 * _PADDING):.3g}"


def _y(accuracy: float) -> str:
    """Vertical position in pixels from the top, as SVG writes it."""
    return f"{SPARKLINE_HEIGHT - _PADDING - accuracy * (SPARKLINE_HEIGHT - 2 * _PADDING):.3g}"


def _gap_stems(bins: list[dict[str, Any]], theme: Theme) -> Iterator[str]:
    for bin_row in bins:
        confidence, accuracy = bin_row["confidence"], bin_row["accuracy"]
        colour = theme.overconfident if confidence > accuracy else theme.underconfident
        yield (
            f'<path d="M{_x(confidence)} {_y(confidence)}V{_y(accuracy)}" stroke="{colour}" '
            f'stroke-width="3.4" opacity="{_bin_opacity(bin_row)}"/>'
        )


def _segments(bins: list[dict[str, Any]], theme: Theme) -> Iterator[str]:
    for left, right in itertools.pairwise(bins):
        if right["bin"] == left["bin"] + 1:
            yield (
                f'<path d="M{_x(left["confidence"])} {_y(left["accuracy"])}L{_x(right["confidence"])} '
                f'{_y(right["accuracy"])}" stroke="{theme.text}" '
                f'opacity="{min(_bin_opacity(left), _bin_opacity(right))}"/>'
            )


def _points(bins: list[dict[str, Any]], theme: Theme) -> Iterator[str]:
    max_count = max((bin_row["count"] for bin_row in bins), default=1)
    for bin_row in bins:
        radius = _MIN_RADIUS + (_MAX_RADIUS - _MIN_RADIUS) * (bin_row["count"] / max_count) ** 0.5
        yield (
            f'<circle cx="{_x(bin_row["confidence"])}" cy="{_y(bin_row["accuracy"])}" r="{radius:.2g}" '
            f'fill="{theme.text}" opacity="{_bin_opacity(bin_row)}"/>'
        )


def _bin_opacity(bin_row: dict[str, Any]) -> float:
    return FADED_OPACITY if bin_row["thin"] else 1
