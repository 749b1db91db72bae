"""The line of a cascade runs from the second model alone to the first alone."""

from __future__ import annotations

import plotly.graph_objects as go
import pytest

from calib_core.figures.abstention import MAX_LINE_POINTS
from calib_core.figures.cascade import cascade_figure, describe_cascade
from calib_core.figures.palette import DARK, LIGHT
from calib_core.results.cascade import Cascade, Costs, cascade
from core.run_builders import given_evidence

NAMES = ("small <b>", "large")


def make_cascade(n: int = 60) -> Cascade:
    ids = [f"q{at}" for at in range(n)]
    first = given_evidence([at / n for at in range(n)], [at % 3 > 0 for at in range(n)], id=ids)
    return cascade(first, given_evidence([0.5] * n, [at % 4 > 0 for at in range(n)], id=ids))


def test_the_line_joins_both_models() -> None:
    found = make_cascade()
    data = cascade_figure(found, LIGHT, 0.5, NAMES)["data"]
    (line,) = [trace for trace in data if trace["mode"] == "lines" and trace.get("name") == "cascade"]
    assert (line["x"][0], line["x"][-1]) == (1, 0)
    assert (line["y"][0], line["y"][-1]) == (found.second_alone.accuracy, found.first_alone.accuracy)
    marks = {trace["name"]: (trace["x"], trace["y"]) for trace in data if trace["mode"] == "markers"}
    assert marks == {
        "small &lt;b&gt; alone": ([0], [found.first_alone.accuracy]),
        "large alone": ([1], [found.second_alone.accuracy]),
        "t = 0.5": ([0.5], [found.at_threshold(0.5).accuracy]),
    }


def test_costs_replace_shares() -> None:
    figure = cascade_figure(make_cascade(), LIGHT, 0.5, NAMES, Costs(1, 10))
    xs = {trace["name"]: trace["x"] for trace in figure["data"] if trace.get("name")}
    assert (xs["cascade"][0], xs["cascade"][-1]) == (11, 1)
    assert [xs[name] for name in ("small &lt;b&gt; alone", "large alone", "t = 0.5")] == [[1], [10], [6]]
    assert figure["layout"]["xaxis"]["title"]["text"] == "Cost per question"
    assert figure["layout"]["xaxis"]["range"][1] > 11


@pytest.mark.parametrize("costs", [None, Costs(0, 0), Costs(1, 10)])
def test_plotly_takes_it(costs: Costs | None) -> None:
    for theme in (LIGHT, DARK):
        go.Figure(dict(cascade_figure(make_cascade(3 * MAX_LINE_POINTS), theme, 0.5, NAMES, costs)))
    line = cascade_figure(make_cascade(3 * MAX_LINE_POINTS), LIGHT, 0.5, NAMES)["data"][1]
    assert len(line["x"]) <= MAX_LINE_POINTS + 1


def test_it_is_described_with_its_numbers() -> None:
    text = describe_cascade(make_cascade(), 0.5, NAMES)
    assert "large alone: 75.0 %" in text
    assert "50.0 % handed on" in text
