"""The figures of classwise ECE and of a vocabulary by powers of ten."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from calib_core.edges import Scheme
from calib_core.figures.classwise import MAX_POINTS, classwise_figure, describe_classwise
from calib_core.figures.palette import DARK, LIGHT, Theme
from calib_core.figures.reliability_log import axis_start, log_reliability_figure
from calib_core.results.classwise import Classwise, classwise
from calib_core.results.reliability import Reliability, reliability_diagram
from core.run_builders import choice_evidence

THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])


def probabilities(n_classes: int, rows: int = 80) -> Any:
    random = np.random.default_rng(5)
    probs = random.dirichlet(np.full(n_classes, 0.05), rows)
    return choice_evidence(probs.tolist(), random.integers(0, n_classes, rows).tolist())


@pytest.fixture(scope="module")
def many() -> Classwise:
    return classwise(probabilities(1200))


@pytest.fixture(scope="module")
def pooled() -> Reliability:
    return reliability_diagram(probabilities(1200), "full_ece", Scheme("width", 10))


def test_few_classes_are_bars_with_names() -> None:
    result = classwise(probabilities(4))
    bars = classwise_figure(result, LIGHT)["data"][0]
    assert bars["type"] == "bar"
    assert [data for (data,) in bars["customdata"]] == result.table["class"].to_list()
    assert bars["y"] == pytest.approx(result.table["ece"].to_list(), abs=1e-5)
    assert classwise_figure(result, LIGHT)["layout"]["xaxis"]["ticktext"] == result.table["name"].to_list()


def test_a_vocabulary_is_a_line_of_few_points_with_the_selected_class(many: Classwise) -> None:
    last = int(many.table["class"][1003])
    line = classwise_figure(many, LIGHT, selected=last)["data"][0]
    assert line["type"] == "scatter"
    assert [last] in line["customdata"]
    assert line["x"][:100] == list(range(1, 101))
    assert line["x"][-1] == 1200
    assert len(line["x"]) <= MAX_POINTS + 101
    marks = [
        trace for trace in classwise_figure(many, LIGHT, selected=last)["data"] if trace["mode"] == "markers"
    ]
    assert [mark["x"] for mark in marks] == [[1004], [1004]]


def test_the_sentence_has_the_number_and_the_classes(many: Classwise) -> None:
    text = describe_classwise(many)
    assert "cw-ECE 0.00" in text
    assert "1,200 classes" in text


@THEMES
def test_plotly_knows_every_key(many: Classwise, pooled: Reliability, theme: Theme) -> None:
    go.Figure(classwise_figure(many, theme, selected=3))
    go.Figure(log_reliability_figure(pooled, theme, selected=1))
    go.Figure(
        log_reliability_figure(
            reliability_diagram(probabilities(1200), "full_ece", Scheme("width", 500)), theme
        )
    )


def test_both_axes_begin_below_every_mean(pooled: Reliability) -> None:
    start = axis_start(pooled.table)
    smallest = min(v for name in ("confidence", "accuracy") for v in pooled.table[name] if v)
    assert start <= smallest < 10 * start
    layout = log_reliability_figure(pooled, LIGHT)["layout"]
    for axis in ("xaxis", "yaxis"):
        assert layout[axis]["type"] == "log"
        assert layout[axis]["range"] == pytest.approx([math.log10(start), 0])


def test_the_first_bin_has_its_place_and_its_part_of_the_sum(pooled: Reliability) -> None:
    figure = log_reliability_figure(pooled, LIGHT)
    parts = next(trace for trace in figure["data"] if trace.get("yaxis") == "y2" and "text" in trace)
    start = axis_start(pooled.table)
    first = pooled.table.row(0, named=True)
    width = parts["width"][0]
    assert parts["x"][0] - width / 2 == pytest.approx(start, rel=0.01)
    assert parts["x"][0] + width / 2 == pytest.approx(0.1, rel=0.01)
    assert parts["y"] == pytest.approx(pooled.table["share"].to_list(), abs=1e-5)
    assert parts["text"][0] == f"{100 * first['share']:.1f} %"
    targets = [trace for trace in figure["data"] if "customdata" in trace]
    assert [[data for (data,) in trace["customdata"]] for trace in targets] == [
        pooled.table["bin"].to_list()
    ] * 2
    assert "0.0 %" not in targets[0]["hovertext"][0].split("of the sum")[0].split("gap")[0]


def test_small_values_keep_their_digits(pooled: Reliability) -> None:
    figure = log_reliability_figure(pooled, LIGHT)
    first = pooled.table.row(0, named=True)
    points = next(trace for trace in figure["data"] if trace.get("name") == "accuracy")
    assert points["x"][0] == pytest.approx(first["confidence"], rel=1e-3)
    assert first["confidence"] < 0.01


def test_a_bin_without_a_right_label_has_no_point() -> None:
    evidence = choice_evidence([[0.95, 0.05], [0.55, 0.45]], [1, 0])
    result = reliability_diagram(evidence, "full_ece", Scheme("width", 10))
    assert 0.0 in result.table["accuracy"].to_list()
    drawn = [
        value
        for trace in log_reliability_figure(result, LIGHT)["data"]
        if trace.get("name") == "accuracy"
        for value in trace["y"]
    ]
    assert 0.0 not in drawn
