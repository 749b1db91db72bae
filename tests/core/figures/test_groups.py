"""Every group has its row, dot, whiskers and count."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import plotly.graph_objects as go
import pytest

from calib_core.figures.groups import describe_groups, groups_figure
from calib_core.figures.layout import (
    BOTTOM_MARGIN,
    LEGEND_LINE_HEIGHT,
    Figure,
    flowing_legend_growth,
    legend_names,
)
from calib_core.figures.palette import DARK, LIGHT
from calib_core.inference.verdict import judge
from calib_core.results.groups import GroupResults
from core.figures.group_builders import make_group, make_groups

OVER = judge([0.9] * 100, [1, 0] * 50)
ONE = make_groups(
    make_group("law", 0.3, low=0.2, high=0.45, null=0.05, verdict=OVER, q=0.012),
    make_group("sums", 0.1, low=0.1, high=0.2, n=20),
    overall={"r": 0.15},
)
TWO = make_groups(
    make_group("law", 0.3),
    make_group("law", 0.2, run="s", n=90),
    make_group("sums", 0.1),
    make_group("sums", 0.15, run="s"),
    overall={"r": 0.2, "s": 0.18},
)


def dots(figure: Figure) -> list[dict[str, Any]]:
    return [trace for trace in figure["data"] if trace.get("customdata")]


def test_dots_are_in_order_from_the_top_with_their_whiskers() -> None:
    figure = groups_figure(ONE, LIGHT)
    (trace,) = dots(figure)
    assert (trace["x"], trace["y"]) == ([0.3, 0.1], [0, 1])
    assert trace["error_x"]["array"] == pytest.approx([0.15, 0.1])
    assert trace["error_x"]["arrayminus"] == pytest.approx([0.1, 0])
    assert trace["customdata"] == [["r", "law"], ["r", "sums"]]
    assert figure["layout"]["yaxis"]["ticktext"] == ["law", "sums"]
    low, high = figure["layout"]["yaxis"]["range"]
    assert low > high, "the first group is at the top"
    assert figure["layout"]["yaxis2"]["range"] == [low, high]


def test_counts_stand_at_the_right_and_few_rows_are_hollow() -> None:
    figure = groups_figure(ONE, LIGHT)
    assert figure["layout"]["yaxis2"]["ticktext"] == ["n = 100", "n = 20"]
    assert dots(figure)[0]["marker"]["symbol"] == ["circle", "circle-open"]
    assert groups_figure(TWO, LIGHT)["layout"]["yaxis2"]["ticktext"] == ["n = 90–100", "n = 100"]


def test_the_null_is_a_stroke_and_in_the_hover() -> None:
    figure = groups_figure(ONE, LIGHT)
    (stroke,) = [trace for trace in figure["data"] if trace.get("marker", {}).get("symbol") == "line-ns"]
    assert (stroke["x"], stroke["y"]) == ([0.05], [0])
    assert dots(figure)[0]["hovertext"][0] == (
        "<b>law</b><br>r<br>ECE 0.3000 (0.2000 to 0.4500)<br>calibrated model 0.0500<br>n = 100"
        "<br>over-confident (q = 0.012)"
    )
    assert dots(figure)[0]["hovertext"][1].endswith("n = 20, few<br>too few rows")


def legend_texts(figure: Figure) -> list[str]:
    return legend_names(figure["data"])


def test_the_stroke_is_explained_once_and_a_series_without_a_dot_has_no_entry() -> None:
    first = make_groups(make_group("law", 0.3, null=0.05), make_group("law", 0.2, run="s"))
    assert legend_texts(groups_figure(first, LIGHT)) == ["r", "s", "calibrated model: median"]
    bare = replace(first, series={"r": "r", "none": "none", "s": "s"})
    assert legend_texts(groups_figure(bare, LIGHT)) == ["r", "s", "calibrated model: median"]
    assert legend_texts(groups_figure(make_groups(make_group("law", 0.3)), LIGHT)) == ["r"]


def test_a_number_below_zero_has_a_minus_sign_in_the_hover() -> None:
    group = make_group("law", -0.3, low=-0.4, high=-0.2, null=-0.01)
    (words,) = dots(groups_figure(make_groups(group, metric="bias"), LIGHT))[0]["hovertext"]
    assert "-" not in words
    assert "−0.3000 (−0.4000 to −0.2000)<br>calibrated model −0.0100" in words


def test_two_long_names_that_end_otherwise_are_distinguished() -> None:
    runs = [f"{'a-model-of-the-family-' * 3}step{at}" for at in (1, 2)]
    figure = groups_figure(make_groups(*(make_group(run, 0.1, run=run) for run in runs), of="runs"), LIGHT)
    assert len(set(legend_texts(figure))) == len(set(figure["layout"]["yaxis"]["ticktext"])) == 2


def test_series_differ_in_colour_symbol_and_place() -> None:
    first, second = dots(groups_figure(TWO, LIGHT))
    assert first["marker"]["color"] != second["marker"]["color"]
    assert first["marker"]["symbol"] != second["marker"]["symbol"]
    assert all(a < b for a, b in zip(first["y"], second["y"], strict=True))
    assert [round(y) for y in (*first["y"], *second["y"])] == [0, 1, 0, 1]


def test_the_whole_run_is_a_line_of_its_own_colour() -> None:
    figure = groups_figure(TWO, LIGHT)
    shapes = figure["layout"]["shapes"]
    assert [shape["x0"] for shape in shapes] == [0.2, 0.18]
    assert [shape["line"]["color"] for shape in shapes] == [
        trace["marker"]["color"] for trace in dots(figure)
    ]


def test_the_only_dot_of_a_row_is_in_its_middle() -> None:
    result = make_groups(
        make_group("a", 0.1, run="a", series="0-shot"),
        make_group("b", 0.2, run="b", series="5-shot"),
        of="runs",
    )
    first, second = dots(groups_figure(result, LIGHT))
    assert (first["y"], second["y"]) == ([0], [1])


def test_the_axis_holds_every_whisker_and_zero() -> None:
    low, high = groups_figure(ONE, LIGHT)["layout"]["xaxis"]["range"]
    assert low <= 0
    assert high > 0.45
    low, _ = groups_figure(make_groups(make_group("a", -0.2), metric="bias"), LIGHT)["layout"]["xaxis"][
        "range"
    ]
    assert low < -0.2


def test_it_grows_with_the_groups() -> None:
    many = make_groups(*(make_group(f"g{at}", at / 100) for at in range(57)))
    assert groups_figure(many, LIGHT)["layout"]["height"] > 57 * 22


def test_rows_keep_their_dots_apart_under_the_legend_of_a_phone() -> None:
    groups = [make_group(name, 0.3, run=run) for name in ("law", "sums") for run in ("r" * 24, "s" * 24)]
    figure = groups_figure(make_groups(*groups, overall={"r" * 24: 0.2}), LIGHT)
    names = legend_names(figure["data"])
    assert flowing_legend_growth(names) == 2 * LEGEND_LINE_HEIGHT
    layout = figure["layout"]
    panel = layout["height"] - layout["margin"]["t"] - BOTTOM_MARGIN - flowing_legend_growth(names)
    pixels_apart = (dots(figure)[1]["y"][0] - dots(figure)[0]["y"][0]) * panel / 2
    assert pixels_apart >= dots(figure)[0]["marker"]["size"]


def test_what_is_undefined_or_infinite_is_not_drawn() -> None:
    figure = groups_figure(make_groups(make_group("a", None), make_group("b", float("inf"))), LIGHT)
    json.dumps(figure, allow_nan=False)
    assert figure["layout"]["yaxis"]["ticktext"] == ["a", "b"]


def test_names_with_markup_are_text() -> None:
    hostile = '<a href="https://x.test">x</a>'
    figure = groups_figure(make_groups(make_group(hostile, 0.1, run=hostile)), LIGHT)
    for trace in figure["data"]:
        trace.pop("customdata", None)  # never drawn
    assert "<a" not in json.dumps(figure)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("result", [ONE, TWO, make_groups()], ids=["one", "two", "none"])
def test_plotly_knows_every_key(result: GroupResults, theme: Any) -> None:
    figure = groups_figure(result, theme)
    assert figure["data"]
    go.Figure(figure)


def test_the_table_has_no_prose() -> None:
    (words,) = groups_figure(make_groups(), LIGHT)["layout"]["annotations"]
    assert words["text"].startswith("Both groups")


def test_the_sentence_has_the_main_numbers() -> None:
    assert describe_groups(ONE) == (
        "ECE by subject, 2 groups, 2 numbers, 1 of them on fewer than 30 rows. "
        "Both groups by subject are over-confident."
    )
    lacking = make_groups(make_group("law", None, n=3), make_group("art", 0.1))
    assert describe_groups(lacking).startswith("ECE by subject, 1 group, 1 number. ")
    assert describe_groups(make_groups(make_group("a", 0.1), of="runs")).startswith("ECE by subject, 1 run, ")
