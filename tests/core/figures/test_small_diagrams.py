"""The small diagram shows the same bars as the large one's square."""

from __future__ import annotations

import json

import plotly.graph_objects as go
import pytest

from calib_core.edges import Scheme
from calib_core.figures.palette import DARK, LIGHT, Theme
from calib_core.figures.reliability import SMALL_FIGURE_HEIGHT, reliability_figure, small_reliability_figure
from core.figures.result_builders import THREE_BINS, make_reliability


def test_the_bars_are_those_of_the_large_one() -> None:
    result = make_reliability(pairs=THREE_BINS)
    small, large = small_reliability_figure(result, LIGHT), reliability_figure(result, LIGHT)
    upper = [trace for trace in large["data"] if trace.get("yaxis") != "y2" and trace["y"] != [None]]
    assert [trace["y"] for trace in small["data"]] == [trace["y"] for trace in upper]
    assert 0 < len(small["data"]) < len(large["data"])
    assert not any(trace["showlegend"] for trace in small["data"])
    assert "y2" not in json.dumps(small)


def test_it_is_a_small_square() -> None:
    layout = small_reliability_figure(make_reliability(), LIGHT)["layout"]
    assert (layout["height"], layout["yaxis"]["scaleanchor"]) == (SMALL_FIGURE_HEIGHT, "x")
    assert layout["xaxis"]["range"] == layout["yaxis"]["range"] == [0, 1]


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("bins", [1, 10, 200])
def test_plotly_knows_every_key(bins: int, theme: Theme) -> None:
    figure = small_reliability_figure(make_reliability(Scheme("width", bins)), theme)
    go.Figure(figure)
    json.dumps(figure, allow_nan=False)


def test_an_empty_one_says_so() -> None:
    (words,) = small_reliability_figure(make_reliability(pairs=([], [])), LIGHT)["layout"]["annotations"]
    assert "No row" in words["text"]
