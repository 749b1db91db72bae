"""Every point is at its values with its intervals, distinguishable and clickable."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import plotly.graph_objects as go
import pytest

from calib_core.figures.comparison import (
    CONSTANT_CONFIDENCE_LABEL,
    FULL_CONFIDENCE_LABEL,
    MAX_NUMBERED_POINTS,
    axis_ranges,
    comparison_figure,
    describe_comparison,
    number_places,
)
from calib_core.figures.layout import Figure, halo, legend_names
from calib_core.figures.palette import DARK, LIGHT, Theme, readable_text_colour, run_style
from calib_core.inference.missingness import Missingness
from calib_core.results.comparison import ComparisonPoint
from core.figures.comparison_builders import make_comparison, make_point

RED, GREEN = make_point("red", 0.5, 0.2), make_point("green", 0.8, 0.1)
OTHER = make_point("red", 0.55, 0.15, method="cluster_size")


def numbered(figure: Figure) -> list[dict[str, Any]]:
    return [trace for trace in figure["data"] if trace["mode"] == "markers+text"]


def clickable(figure: Figure) -> list[dict[str, Any]]:
    return [trace for trace in figure["data"] if trace.get("customdata")]


def test_points_stand_at_their_numbers_and_carry_their_key() -> None:
    given, sampled = clickable(comparison_figure(make_comparison(RED, GREEN, OTHER), LIGHT))
    assert (given["x"], given["y"]) == ([0.5, 0.8], [0.2, 0.1])
    assert given["customdata"] == [["red:given"], ["green:given"]]
    assert sampled["customdata"] == [["red:cluster_size"]]
    assert given["error_y"]["array"] == pytest.approx([0.02, 0.02])
    assert given["error_x"]["arrayminus"] == pytest.approx([0.02, 0.02])
    assert given["marker"]["symbol"] == ["hexagon", "hexagon"] != sampled["marker"]["symbol"]
    red, green = given["marker"]["color"]
    assert sampled["marker"]["color"] == [red] != [green]
    assert given["hovertext"][0] == (
        "<b>red in full</b><br>Confidence in the file<br>Accuracy 50.0 % (48.0 % to 52.0 %)"
        "<br>Brier score 0.2000 (0.1800 to 0.2200)<br>skill 0.100<br>n = 1,000, greedy answer judged"
    )


def test_confidences_that_a_file_names_have_a_symbol_each_as_in_the_legend() -> None:
    points = [make_point("m", 0.4 + at / 10, 0.2, method=f"given.{name}") for at, name in enumerate("abcd")]
    figure = comparison_figure(make_comparison(*points), LIGHT)
    symbols = [symbol for trace in clickable(figure) for symbol in trace["marker"]["symbol"]]
    assert len(set(symbols)) == 4
    legend = {
        trace["name"]: trace["marker"]["symbol"]
        for trace in figure["data"]
        if trace.get("name") in list("ABCD")
    }
    assert legend == dict(zip("ABCD", symbols, strict=True))


def test_a_single_method_is_no_entry_of_the_legend() -> None:
    names = legend_names(comparison_figure(make_comparison(RED, GREEN), LIGHT)["data"])
    assert "Confidence in the file" not in names
    assert "Confidence in the file" in legend_names(
        comparison_figure(make_comparison(RED, OTHER), LIGHT)["data"]
    )


def test_a_point_that_stands_on_rows_of_its_own_choice_is_hollow() -> None:
    lacking = replace(GREEN, n_used=900, missing=Missingness(100, 10, 900, 720, 1e-9))
    (given,) = clickable(comparison_figure(make_comparison(RED, lacking), LIGHT))
    assert given["marker"]["symbol"] == ["hexagon", "hexagon-open"]
    nearly = replace(GREEN, n_used=901, missing=Missingness(99, 10, 901, 720, 1e-9))
    (given,) = clickable(comparison_figure(make_comparison(RED, nearly), LIGHT))
    assert given["marker"]["symbol"] == ["hexagon", "hexagon"]


def test_a_point_without_an_interval_has_no_bars() -> None:
    bare = make_point("bare", 0.5, 0.2, half=None)
    (trace,) = clickable(comparison_figure(make_comparison(bare), LIGHT))
    assert (trace["error_x"]["array"], trace["error_y"]["arrayminus"]) == ([0], [0])
    assert "to" not in trace["hovertext"][0].split("<br>")[2]


def curves_of(figure: Figure) -> list[dict[str, Any]]:
    return [trace for trace in figure["data"] if trace.get("line", {}).get("dash")]


def test_both_curves_are_those_of_constant_confidences() -> None:
    constant, certain = curves_of(comparison_figure(make_comparison(RED, GREEN), LIGHT))
    assert constant["y"] == pytest.approx([a * (1 - a) for a in constant["x"]], abs=1e-5)
    assert certain["y"] == pytest.approx([1 - a for a in certain["x"]], abs=1e-5)
    assert constant["line"]["dash"] != certain["line"]["dash"]
    assert constant["fill"] == "tozeroy"


def test_curves_and_their_labels_appear_only_for_accuracy_against_brier() -> None:
    figure = comparison_figure(make_comparison(RED, GREEN), LIGHT)
    assert [name for name in legend_names(figure["data"]) if "always" in name] == [
        CONSTANT_CONFIDENCE_LABEL,
        FULL_CONFIDENCE_LABEL,
    ]
    swapped = ("brier", "accuracy")
    points = [make_point("red", 0.2, 0.5, metrics=swapped), make_point("green", 0.1, 0.8, metrics=swapped)]
    other = comparison_figure(make_comparison(*points, metrics=swapped), LIGHT)
    assert curves_of(other) == []
    assert not any("always" in name for name in legend_names(other["data"]))
    assert other["layout"]["xaxis"]["title"]["text"] == "Brier score (lower is better)"
    assert other["layout"]["yaxis"]["tickformat"] == ".0%"


def test_all_of_a_point_is_in_view_and_so_is_the_curve_over_it() -> None:
    layout = comparison_figure(make_comparison(RED, GREEN), LIGHT)["layout"]
    left, right = layout["xaxis"]["range"]
    low, high = layout["yaxis"]["range"]
    assert left < 0.48
    assert right > 0.82
    assert low < 0.08
    assert high > 0.25


def test_a_metric_axis_does_not_extend_far_beyond_its_range() -> None:
    edge = make_comparison(make_point("a", 1.0, 0.0, half=None), make_point("b", 0.5, 0.4))
    layout = comparison_figure(edge, LIGHT)["layout"]
    assert layout["xaxis"]["range"][1] == pytest.approx(1 + 0.02 * (1 - 0.48))
    assert layout["yaxis"]["range"][0] == pytest.approx(-0.02 * 0.42)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_point_number_and_legend_have_the_colour_of_the_run_on_every_page(theme: Theme) -> None:
    figure = comparison_figure(
        make_comparison(RED, GREEN, OTHER),
        theme,
        style_indices={"red:given": 4, "red:cluster_size": 4, "green:given": 11},
    )
    red, green = run_style(4, theme).colour, run_style(11, theme).colour
    assert [trace["marker"]["color"] for trace in clickable(figure)] == [[red, green], [red]]
    numbers = {trace["textfont"]["color"]: trace["text"] for trace in numbered(figure)}
    assert numbers == {
        readable_text_colour(red, theme): ["2", "2"],
        readable_text_colour(green, theme): ["1"],
    }
    assert all(trace["unselected"]["textfont"]["color"] in numbers for trace in numbered(figure))
    assert {trace["textfont"]["shadow"] for trace in numbered(figure)} == {halo(theme)}
    legend = {trace.get("name"): trace.get("line", {}).get("color") for trace in figure["data"]}
    assert (legend["2 red"], legend["1 green"]) == (red, green)


def test_the_legend_lists_the_runs_by_accuracy_unless_they_are_many() -> None:
    def named(*points: ComparisonPoint) -> list[str]:
        names = legend_names(comparison_figure(make_comparison(*points), LIGHT)["data"])
        return [name for name in names if " m" in name]

    runs = [make_point(f"m{at}", 0.3 + at / 50, 0.3) for at in range(9)]
    assert named(*runs[:8]) == ["1 m7", "2 m6", "3 m5", "4 m4", "5 m3", "6 m2", "7 m1", "8 m0"]
    assert named(*runs) == named(runs[0]) == []


def test_a_long_legend_takes_its_room_from_the_panel() -> None:
    points = [make_point(f"a-rather-long-model-name-{at}", 0.3 + at / 50, 0.3) for at in range(8)]
    few, many = (comparison_figure(make_comparison(*of), LIGHT)["layout"] for of in (points[:1], points))
    assert few["height"] == many["height"] == 500
    assert few["margin"]["t"] < many["margin"]["t"]


def test_each_point_has_the_number_of_its_run_unless_they_are_very_many() -> None:
    for count in (MAX_NUMBERED_POINTS, MAX_NUMBERED_POINTS + 1):
        crowd = [make_point(f"m{at}", 0.1 + 0.8 * at / count, 0.3) for at in range(count)]
        result = make_comparison(*crowd)
        numbers = {
            x: int(number)
            for trace in numbered(comparison_figure(result, LIGHT))
            for x, number in zip(trace["x"], trace["text"], strict=True)
        }
        wanted = {point.x.value: count - at for at, point in enumerate(crowd)}
        assert numbers == (wanted if count == MAX_NUMBERED_POINTS else {})


def places(*points: ComparisonPoint) -> dict[str, str]:
    result = make_comparison(*points)
    return {point.key: corner for point, corner in number_places(result, axis_ranges(result))}


def test_numbers_of_near_points_cover_neither_points_nor_each_other() -> None:
    first, second = make_point("first", 0.503, 0.2), make_point("second", 0.5, 0.2)
    found = places(first, second, make_point("far", 0.9, 0.1))
    assert found == {"far:given": "top right", "first:given": "top right", "second:given": "bottom right"}
    three = places(first, second, make_point("third", 0.5, 0.2), make_point("far", 0.9, 0.1))
    assert len(set(three.values())) == 3


def test_points_of_one_run_that_lie_on_each_other_share_a_number() -> None:
    methods = [replace(make_point("one", 0.5, y), key=f"one:{y}") for y in (0.2, 0.2001, 0.1)]
    found = places(*methods, make_point("other", 0.9, 0.1))
    assert sorted(key for key in found if key.startswith("one")) == ["one:0.1", "one:0.2"]
    near = [replace(make_point("one", 0.5, 0.2 + at / 2000), key=f"one:{at}") for at in range(60)]
    assert 1 <= sum(key.startswith("one") for key in places(*near, make_point("other", 0.9, 0.1))) < 60
    crowded = places(*(make_point(f"m{at}", 0.5, 0.2) for at in range(20)))
    assert len(crowded) == 20


def test_sizes_of_one_model_are_joined_in_order() -> None:
    result = make_comparison(GREEN, RED, families=(("red:given", "green:given"),))
    figure = comparison_figure(result, LIGHT)
    (line,) = [trace for trace in figure["data"] if "family" in trace.get("meta", {})]
    assert (line["x"], line["y"]) == ([0.5, 0.8], [0.2, 0.1])
    assert "lines: one model family by size" in [trace.get("name") for trace in figure["data"]]
    alone = comparison_figure(make_comparison(GREEN, RED), LIGHT)
    assert "lines: one model family by size" not in [trace.get("name") for trace in alone["data"]]


def test_the_chosen_point_has_a_ring() -> None:
    def rings(selected: str | None) -> list[tuple[Any, Any]]:
        figure = comparison_figure(make_comparison(RED, GREEN), LIGHT, selected=selected)
        return [
            (t["x"], t["y"]) for t in figure["data"] if t.get("marker", {}).get("symbol") == "circle-open"
        ]

    assert (rings("green:given"), rings("nobody"), rings(None)) == ([([0.8], [0.1])], [], [])


def test_a_name_with_markup_is_drawn_as_text() -> None:
    hostile = make_point('<a href="https://x.test">x</a>', 0.5, 0.2)
    drawn = comparison_figure(make_comparison(hostile, RED), LIGHT)["data"]
    assert any("&lt;a" in name for name in legend_names(drawn))
    for trace in drawn:
        trace.pop("customdata", None)  # never drawn
    assert "<a" not in json.dumps(drawn)


def test_without_a_point_it_says_so() -> None:
    figure = comparison_figure(make_comparison(), LIGHT)
    (words,) = figure["layout"]["annotations"]
    assert words["text"] == "No run has both numbers."
    go.Figure(figure)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_plotly_knows_every_key(theme: Theme) -> None:
    result = make_comparison(RED, GREEN, OTHER, families=(("red:given", "green:given"),))
    figure = comparison_figure(result, theme, selected="red:given")
    go.Figure(figure)
    json.dumps(figure, allow_nan=False)


def test_the_sentence_has_the_main_numbers() -> None:
    assert describe_comparison(make_comparison(RED)) == (
        "Brier score against accuracy, 1 point. red by confidence in the file: Accuracy 50.0 % (48.0 % "
        "to 52.0 %), Brier score 0.2000 (0.1800 to 0.2200)."
    )
    many = [make_point(f"m{at}", 0.5, 0.2) for at in range(10)]
    assert describe_comparison(make_comparison(*many)).endswith("; and 2 more.")
