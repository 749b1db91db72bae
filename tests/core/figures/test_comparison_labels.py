"""The labels of the reference curves avoid the lines at every width."""

from __future__ import annotations

import numpy as np
import pytest

from calib_core.figures.comparison import CONSTANT_CONFIDENCE_LABEL, NAME_SET_WIDTHS, comparison_figure
from calib_core.figures.label_placement import text_width
from calib_core.figures.palette import LIGHT
from core.figures.comparison_builders import make_comparison, make_point

DOWN = (0.12, 0.2, 0.29, 0.235, 0.15, 0.1)
ALONG = (0.061, 0.185, 0.305, 0.259, 0.23, 0.146)
"""Brier scores of six sizes, which come down over the very top of a(1−a), and go along it."""


@pytest.mark.parametrize(("way_of", "least"), [(DOWN, 300), (ALONG, 400)])
def test_curve_labels_avoid_the_lines_between_sizes(way_of: tuple[float, ...], least: int) -> None:
    """least: width from which on there is room for it."""
    sizes = [make_point(f"m{at}", 0.14 + 0.14 * at, y, half=0.03) for at, y in enumerate(way_of)]
    result = make_comparison(*sizes, families=(tuple(point.key for point in sizes),))
    figure = comparison_figure(result, LIGHT)
    (low, high), (left, right) = (figure["layout"][axis]["range"] for axis in ("yaxis", "xaxis"))
    for width in (width for width in NAME_SET_WIDTHS if width >= least):
        across, down = (width - 70) / (right - left), 440 / (high - low)
        half = text_width(CONSTANT_CONFIDENCE_LABEL, 12) / 2
        ((x, y),) = [
            (x, y)
            for trace in figure["data"]
            if trace.get("xaxis") == f"x{width}" and trace["mode"] == "text"
            for x, y, words in zip(trace["x"], trace["y"], trace["text"], strict=True)
            if words == CONSTANT_CONFIDENCE_LABEL
        ]
        way = np.linspace(0, 1, 400)
        at_x = np.interp(way * (len(sizes) - 1), range(len(sizes)), [point.x.value for point in sizes])
        at_y = np.interp(way * (len(sizes) - 1), range(len(sizes)), way_of)
        met = (abs(at_x - x) * across < half) & (abs(at_y - y) * down < 7)
        assert not met.any(), width


def test_a_leader_begins_at_its_point() -> None:
    close = [make_point(f"a model with a name {at}", 0.5 + 0.002 * at, 0.2, half=0.01) for at in range(8)]
    apart = [make_point("low", 0.1, 0.05, half=0.01), make_point("high", 0.9, 0.35, half=0.01)]
    figure = comparison_figure(make_comparison(*close, *apart), LIGHT)
    leaders = [
        trace
        for trace in figure["data"]
        if trace["mode"] == "lines" and trace.get("xaxis") == f"x{NAME_SET_WIDTHS[-1]}" and any(trace["x"])
    ]
    assert leaders
    x, y = (leaders[0][axis] for axis in "xy")
    assert len(x) == len(y)
    points = {(round(point.x.value, 9), round(point.y.value, 9)) for point in (*close, *apart)}
    starts = list(zip(x[::3], y[::3], strict=True))
    assert {(round(at, 9), round(up, 9)) for at, up in starts} <= points
    assert all(end != start for end, start in zip(zip(x[1::3], y[1::3], strict=True), starts, strict=True))
