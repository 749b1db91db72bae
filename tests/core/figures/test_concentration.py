"""The histograms share their axes, mark the two fullest bins, and escape text from files."""

from __future__ import annotations

import json
from typing import Any

import plotly.graph_objects as go
import pytest

from calib_core.edges import Scheme
from calib_core.figures.concentration import (
    MAX_HOVERED_BINS,
    cumulative_figure,
    describe_histogram,
    histogram_figure,
)
from calib_core.figures.palette import DARK, LIGHT
from calib_core.results.concentration import Concentration
from core.figures.result_builders import make_concentration

SPIKY = [0.95] * 6 + [0.75] * 3 + [0.15]
FLAT = [(place + 0.5) / 10 for place in range(10)]


@pytest.fixture
def spiky() -> Concentration:
    return make_concentration(SPIKY)


@pytest.fixture
def flat() -> Concentration:
    return make_concentration(FLAT, title="logit, softmax over the choices")


def test_shares_are_drawn_and_the_two_fullest_stand_out(spiky: Concentration) -> None:
    others, fullest, _, _ = histogram_figure([spiky], LIGHT)["data"]
    assert (others["x"], others["y"], others["text"]) == ([0.15], [0.1], ["1"])
    assert (fullest["x"], fullest["y"], fullest["text"]) == ([0.75, 0.95], [0.3, 0.6], ["3", "6"])
    assert fullest["marker"]["color"] == LIGHT.highlight
    assert fullest["marker"]["line"] == {"color": LIGHT.highlight_outline, "width": 1.5}


def test_no_empty_bin_is_drawn(spiky: Concentration) -> None:
    for trace in histogram_figure([spiky], LIGHT)["data"]:
        assert all(height > 0 for height in trace["y"])


def test_equally_full_bins_are_the_reference(spiky: Concentration) -> None:
    (line,) = histogram_figure([spiky], LIGHT)["layout"]["shapes"]
    assert (line["x0"], line["x1"], line["y0"], line["y1"]) == (0, 1, 0.1, 0.1)
    natural = make_concentration(SPIKY, Scheme("natural"))
    assert histogram_figure([natural], LIGHT)["layout"]["shapes"][0]["y0"] == pytest.approx(1 / 3)


def test_the_finest_bins_are_one_thin_line_each(spiky: Concentration) -> None:
    finest = histogram_figure([spiky], LIGHT)["data"][2]
    assert finest["x"] == pytest.approx([0.1495, 0.7495, 0.9495])
    assert finest["y"] == pytest.approx([0.1, 0.3, 0.6])
    stem = finest["error_y"]
    assert (stem["type"], stem["symmetric"], stem["value"], stem["valueminus"]) == ("percent", False, 0, 100)
    assert finest["hovertext"][0] == "<b>14.9–15 % (0.149, 0.15]</b><br>1 row<br>10.0 % of all"


def test_lines_too_near_to_be_pointed_at_have_no_hover() -> None:
    many = make_concentration([(place + 0.5) / 1000 for place in range(MAX_HOVERED_BINS + 1)])
    assert histogram_figure([many], LIGHT)["data"][2]["hoverinfo"] == "skip"


def test_the_hover_says_share_and_place(spiky: Concentration) -> None:
    assert histogram_figure([spiky], LIGHT)["data"][-1]["hovertext"][-1] == (
        "<b>90–100 % (0.9, 1]</b><br>6 rows<br>60.0 % of all, place 1"
    )


def test_several_share_their_axes(spiky: Concentration, flat: Concentration) -> None:
    layout = histogram_figure([spiky, flat], LIGHT)["layout"]
    assert layout["yaxis"]["range"] == layout["yaxis3"]["range"]
    assert layout["xaxis"]["range"] == layout["xaxis2"]["range"] == [0, 1]
    assert layout["yaxis"]["range"][1] > 0.6
    assert (layout["yaxis"]["showticklabels"], layout["yaxis3"]["showticklabels"]) == (True, False)


def test_the_strip_of_each_of_several_is_as_high_as_its_fullest_line(
    spiky: Concentration, flat: Concentration
) -> None:
    layout = histogram_figure([spiky, flat], LIGHT)["layout"]
    strips = layout["yaxis2"], layout["yaxis4"]
    assert [strip["range"][1] for strip in strips] == pytest.approx([0.66, 0.11])
    told = [note for note in layout["annotations"] if note["yref"] != "paper"]
    assert [(note["text"], note["yref"]) for note in told] == [
        ("60.0 %", "y2 domain"),
        ("10.0 %", "y4 domain"),
    ]


def test_the_axis_of_several_ends_at_all_rows(flat: Concentration) -> None:
    layout = histogram_figure([make_concentration([0.95] * 10), flat], LIGHT)["layout"]
    assert layout["yaxis"]["range"] == [0, 1.02]


def test_several_are_named_and_have_one_legend(spiky: Concentration, flat: Concentration) -> None:
    figure = histogram_figure([spiky, flat], LIGHT)
    assert [note["text"] for note in figure["layout"]["annotations"] if note["yref"] == "paper"] == [
        "<b>stated confidence</b>",
        "<b>logit, softmax over<br>the choices</b>",
    ]
    entries = [trace["name"] for trace in figure["data"] if trace["showlegend"]]
    assert entries == ["two fullest bins"]
    assert [line["showlegend"] for line in figure["layout"]["shapes"]] == [True, False]


def test_one_alone_needs_no_title(spiky: Concentration) -> None:
    assert histogram_figure([spiky], LIGHT)["layout"]["annotations"] == []


def test_axes_say_what_they_measure(spiky: Concentration) -> None:
    layout = histogram_figure([spiky], LIGHT)["layout"]
    titles = [layout[axis]["title"]["text"] for axis in ("xaxis", "yaxis", "yaxis2")]
    assert titles == ["Confidence", "Share of rows", "1,000 bins"]
    assert layout["yaxis"]["tickformat"].endswith("%")


@pytest.mark.parametrize(
    ("bins", "panels", "text"), [(20, 1, ["3", "6"]), (21, 1, None), (20, 2, None), (10, 2, None)]
)
def test_counts_are_written_where_there_is_room(bins: int, panels: int, text: list[str] | None) -> None:
    results = [make_concentration(SPIKY, Scheme("width", bins))] * panels
    assert histogram_figure(results, LIGHT)["data"][1].get("text") == text


def test_a_title_with_markup_is_drawn_as_text(flat: Concentration) -> None:
    hostile = make_concentration(SPIKY, title='<a href="https://x.test">x</a>')
    assert "<a" not in json.dumps(histogram_figure([hostile, flat], LIGHT))


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("scheme", [Scheme(), Scheme("width", 1000), Scheme("mass", 10), Scheme("natural")])
def test_plotly_knows_every_key(scheme: Scheme, theme: Any) -> None:
    results = [make_concentration(confidence, scheme) for confidence in (SPIKY, FLAT, [0.5])]
    for count in (1, 2, 3):
        go.Figure(histogram_figure(results[:count], theme))


def test_nothing_is_drawn_of_nothing() -> None:
    figure = histogram_figure([make_concentration([])], LIGHT)
    assert all(height is None for trace in figure["data"] for height in trace["y"])
    go.Figure(figure)


def test_the_sentence_has_the_main_numbers(spiky: Concentration) -> None:
    assert describe_histogram([spiky, make_concentration([], title="p(True)")]) == (
        "Histogram of confidences. stated confidence: 90.0 % of 10 rows in the two fullest of 10 bins, as "
        "if only 2.2 of 10 bins were used; p(True): no rows."
    )


def test_a_single_histogram_is_as_wide_as_the_cumulative_figure_beside_it(spiky: Concentration) -> None:
    ours, beside = (figure([spiky], LIGHT)["layout"] for figure in (histogram_figure, cumulative_figure))
    assert (ours["height"], ours["margin"]) == (beside["height"], beside["margin"])
