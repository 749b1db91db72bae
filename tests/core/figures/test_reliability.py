"""The reliability diagram shows each bin once, correctly and accessibly."""

from __future__ import annotations

import json
from typing import Any

import plotly.graph_objects as go
import polars as pl
import pytest

from calib_core.edges import Scheme
from calib_core.figures.bars import FADED_OPACITY
from calib_core.figures.palette import DARK, LIGHT
from calib_core.figures.reliability import reliability_figure, small_reliability_figure
from calib_core.results.reliability import Reliability
from core.figures.result_builders import THREE_BINS, make_reliability

Trace = dict[str, Any]


def traces(figure: dict[str, Any], axis: str = "y", **wanted: object) -> list[Trace]:
    """Traces on that vertical axis that have every wanted value."""
    return [
        trace
        for trace in figure["data"]
        if trace.get("yaxis", "y") == axis and all(trace.get(name) == value for name, value in wanted.items())
    ]


def seen_bars(figure: dict[str, Any], axis: str) -> list[Trace]:
    return [trace for trace in traces(figure, axis, type="bar") if trace.get("opacity", 1) > 0]


@pytest.fixture
def three_bins() -> Reliability:
    return make_reliability(pairs=THREE_BINS)


def test_bars_are_solid_to_the_smaller_and_hatched_to_the_larger(three_bins: Reliability) -> None:
    figure = reliability_figure(three_bins, LIGHT)
    solid, over, under, thin_solid, _, thin_under = seen_bars(figure, "y")
    assert (solid["x"], solid["y"]) == ([0.55, 0.95], [0.55, 0.75])
    assert (over["name"], over["x"], over["base"], over["y"]) == ("over-confident gap", [0.95], [0.75], [0.2])
    assert (under["name"], under["x"], under["base"], under["y"]) == (
        "under-confident gap",
        [0.55],
        [0.55],
        [0.25],
    )
    assert (thin_solid["x"], thin_solid["y"]) == ([0.15], [0.15])
    assert (thin_under["x"], thin_under["base"], thin_under["y"]) == ([0.15], [0.15], [0.1])
    assert {trace["width"] for trace in (solid, over, under, thin_solid)} == {0.1}


def test_the_hatch_says_which_way_the_gap_goes(three_bins: Reliability) -> None:
    _, over, under, *_ = seen_bars(reliability_figure(three_bins, LIGHT), "y")
    assert over["marker"]["pattern"]["shape"] == "/"
    assert under["marker"]["pattern"]["shape"] == "\\"


def test_thin_bins_are_faded_and_still_there(three_bins: Reliability) -> None:
    figure = reliability_figure(three_bins, LIGHT)
    faded = [trace for trace in figure["data"] if trace.get("opacity") == FADED_OPACITY]
    assert [trace["x"] for trace in faded if trace["type"] == "bar"] == [[0.15], [None], [0.15]]
    assert [trace["y"] for trace in faded if trace["type"] == "scatter"] == [[0.25]]
    assert not any(trace["showlegend"] for trace in faded)


def test_thin_counts_are_paler_but_as_legible(three_bins: Reliability) -> None:
    full, thin = seen_bars(reliability_figure(three_bins, LIGHT), "y2")
    assert (full["text"], thin["text"]) == (["40", "40"], ["4"])
    assert full["marker"]["color"] != thin["marker"]["color"]
    assert thin["textfont"]["color"] == LIGHT.text
    assert thin.get("opacity", 1) == 1


def test_a_small_diagram_has_the_same_marks_and_no_trace_without_any(three_bins: Reliability) -> None:
    def marks(figure: dict[str, Any]) -> list[Trace]:
        return [trace | {"showlegend": False} for trace in traces(figure) if trace["x"] != [None]]

    small = small_reliability_figure(three_bins, LIGHT)["data"]
    assert small == marks(reliability_figure(three_bins, LIGHT))
    assert len(small) == len(traces(reliability_figure(three_bins, LIGHT))) - 1


@pytest.mark.parametrize("axis", ["y", "y2"])
def test_no_empty_bin_is_drawn(three_bins: Reliability, axis: str) -> None:
    figure = reliability_figure(three_bins, LIGHT)
    drawn = {x for trace in traces(figure, axis, type="bar") for x in trace["x"] if x is not None}
    assert drawn == {0.15, 0.55, 0.95}


def test_points_have_wilson_s_whiskers(three_bins: Reliability) -> None:
    point = traces(reliability_figure(three_bins, LIGHT), mode="markers", opacity=1.0)[0]
    rows = three_bins.table.filter(~pl.col("thin"))
    above, below = rows["accuracy_high"] - rows["accuracy"], rows["accuracy"] - rows["accuracy_low"]
    assert (point["x"], point["y"]) == ([0.55, 0.95], [0.8, 0.75])
    assert point["error_y"]["array"] == pytest.approx(above.to_list(), abs=1e-5)
    assert point["error_y"]["arrayminus"] == pytest.approx(below.to_list(), abs=1e-5)
    assert point["cliponaxis"] is False


def test_dependent_pairs_have_no_whiskers_and_do_not_promise_any() -> None:
    figure = reliability_figure(make_reliability(dependent=True), LIGHT)
    points = traces(figure, mode="markers")
    assert all("error_y" not in point and point["name"] == "accuracy" for point in points)
    assert figure["layout"]["yaxis2"]["title"]["text"] == "Count (labels)"
    assert " to " not in " ".join(traces(figure, opacity=0)[0]["hovertext"])


def test_the_panel_is_the_unit_square(three_bins: Reliability) -> None:
    layout = reliability_figure(three_bins, LIGHT)["layout"]
    assert layout["xaxis"]["range"] == layout["yaxis"]["range"] == [0, 1]
    assert layout["yaxis"]["scaleanchor"] == "x"
    assert layout["xaxis"]["constrain"] == layout["yaxis"]["constrain"] == "domain"


def test_axes_say_what_they_measure(three_bins: Reliability) -> None:
    layout = reliability_figure(three_bins, LIGHT)["layout"]
    titles = [layout[axis]["title"]["text"] for axis in ("xaxis", "yaxis", "yaxis2")]
    assert titles == ["Confidence", "Accuracy (share right)", "Count (rows)"]


def test_the_diagonal_lies_on_a_casing_of_page(three_bins: Reliability) -> None:
    casing, diagonal = traces(reliability_figure(three_bins, DARK), mode="lines")
    assert casing["x"] == casing["y"] == diagonal["x"] == diagonal["y"] == [0, 1]
    assert casing["line"]["color"] == DARK.background
    assert casing["line"]["width"] > diagonal["line"]["width"]
    assert "dash" in diagonal["line"]


@pytest.mark.parametrize("scheme", [Scheme(), Scheme("width", 200), Scheme("mass", 8), Scheme("natural")])
def test_each_panel_takes_clicks_in_one_trace_that_names_every_bin(scheme: Scheme) -> None:
    pairs = ([place / 16 for place in range(17)] * 3, [1, 0, 1] * 17)
    result = make_reliability(scheme, pairs=pairs)
    figure = reliability_figure(result, LIGHT)
    hit = [trace for trace in figure["data"] if trace["hoverinfo"] != "skip"]
    assert [trace.get("yaxis", "y") for trace in hit] == ["y", "y2"]
    for trace in hit:
        assert trace["customdata"] == [[bin_] for bin_ in result.table["bin"]]
        assert len(trace["x"]) == len(trace["hovertext"]) == result.table.height
    assert figure["layout"]["hovermode"] == "x"
    assert figure["layout"]["clickmode"] == "event+select"


def test_the_hover_says_all_of_the_bin(three_bins: Reliability) -> None:
    upper, lower = traces(reliability_figure(three_bins, LIGHT), opacity=0) + traces(
        reliability_figure(three_bins, LIGHT), "y2", opacity=0
    )
    assert upper["hovertext"][-1] == (
        "<b>90–100 % (0.9, 1]</b><br>40 rows<br>"
        "confidence 0.950<br>accuracy 0.750 (0.598 to 0.858)<br>gap +0.200"
    )
    assert upper["hovertext"][1].endswith("gap −0.250")
    assert lower["hovertext"][-1] == "<b>90–100 % (0.9, 1]</b><br>40 rows"


def test_a_click_fades_nothing(three_bins: Reliability) -> None:
    for trace in reliability_figure(three_bins, LIGHT)["data"]:
        if trace["type"] == "bar" or trace["mode"] == "markers":
            assert trace["unselected"]["marker"]["opacity"] == 1


def test_the_selected_bin_is_outlined_in_both_panels(three_bins: Reliability) -> None:
    plain, chosen = (reliability_figure(three_bins, LIGHT, selected=bin_) for bin_ in (None, 6))
    more = [trace for trace in chosen["data"] if trace not in plain["data"]]
    assert [(trace.get("yaxis", "y"), trace["x"], trace["y"]) for trace in more] == [
        ("y", [0.55], [0.8]),
        ("y2", [0.55], [40]),
    ]
    assert all(trace["marker"]["line"]["color"] == LIGHT.highlight_outline for trace in more)
    bands = chosen["layout"]["shapes"][:2]
    assert [(round(band["x0"], 3), round(band["x1"], 3), band["layer"]) for band in bands] == [
        (0.5, 0.6, "below"),
        (0.5, 0.6, "below"),
    ]


@pytest.mark.parametrize("absent", [0, 1, 11, -3])
def test_a_missing_bin_is_not_selected(three_bins: Reliability, absent: int) -> None:
    assert reliability_figure(three_bins, LIGHT, selected=absent) == reliability_figure(three_bins, LIGHT)


def test_log_counts_change_the_lower_panel_only(three_bins: Reliability) -> None:
    linear, log = (reliability_figure(three_bins, LIGHT, log_counts=switch) for switch in (False, True))
    assert {name for name in linear["layout"] if linear["layout"][name] != log["layout"][name]} == {"yaxis2"}
    assert linear["data"] == log["data"]
    axis = log["layout"]["yaxis2"]
    assert axis["type"] == "log"
    assert axis["range"][0] < 0 < axis["range"][1]
    assert axis["title"]["text"] == "Count (rows, log)"


@pytest.mark.parametrize("bins", [10, 20])
def test_counts_are_written_up_to_twenty_bins(bins: int) -> None:
    result = make_reliability(Scheme("width", bins))
    written = [text for trace in seen_bars(reliability_figure(result, LIGHT), "y2") for text in trace["text"]]
    assert sorted(map(int, written)) == sorted(result.table["count"])


@pytest.mark.parametrize("bins", [21, 50, 200])
def test_above_twenty_bins_no_count_is_written(bins: int) -> None:
    counts = seen_bars(reliability_figure(make_reliability(Scheme("width", bins)), LIGHT), "y2")
    assert not any("text" in trace for trace in counts)


def test_natural_bins_are_placed_at_their_values() -> None:
    pairs = [0.0, 0.5, 0.5, 0.9375, 1.0] * 30, [0, 1, 0, 1, 1] * 30
    result = make_reliability(Scheme("natural"), pairs=pairs)
    solid = seen_bars(reliability_figure(result, LIGHT), "y")[0]
    assert solid["x"] == pytest.approx([0.01, 0.5, 0.9375, 0.99])
    assert solid["width"] == pytest.approx(0.02)


@pytest.mark.parametrize("bins", [5, 10, 15, 20, 50])
def test_up_to_fifty_bins_a_change_is_at_most_sixty_kilobytes(bins: int) -> None:
    result = make_reliability(Scheme("width", bins), rows=100_000)
    assert result.table.height == bins
    assert len(json.dumps(reliability_figure(result, DARK, selected=bins))) <= 60_000


def test_the_number_of_traces_does_not_grow_with_the_bins() -> None:
    few, many = (reliability_figure(make_reliability(Scheme("width", bins)), LIGHT) for bins in (100, 500))
    assert len(few["data"]) == len(many["data"])


def test_from_a_hundred_bins_no_pattern_is_drawn() -> None:
    assert "pattern" in json.dumps(reliability_figure(make_reliability(Scheme("width", 50)), LIGHT))
    assert "pattern" not in json.dumps(reliability_figure(make_reliability(Scheme("width", 100)), LIGHT))


def test_without_rows_the_square_and_the_reason_remain() -> None:
    figure = reliability_figure(make_reliability(pairs=([], [])), LIGHT)
    (note,) = figure["layout"]["annotations"]
    assert note["text"].replace("<br>", " ") == "No row has both a confidence and an outcome."
    assert len(traces(figure, mode="lines")) == 2
    go.Figure(figure)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("scheme", [Scheme(), Scheme("width", 500), Scheme("mass", 10), Scheme("width", 1)])
def test_plotly_knows_every_key(scheme: Scheme, theme: Any) -> None:
    result = make_reliability(scheme)
    for log_counts in (False, True):
        drawn = go.Figure(reliability_figure(result, theme, log_counts=log_counts, selected=1)).to_json()
        assert "layout" not in json.loads(drawn or "")["layout"]["template"]


def test_both_themes_draw_the_same_numbers(three_bins: Reliability) -> None:
    light, dark = (reliability_figure(three_bins, theme)["data"] for theme in (LIGHT, DARK))
    assert [(one["x"], one["y"]) for one in light] == [(one["x"], one["y"]) for one in dark]
