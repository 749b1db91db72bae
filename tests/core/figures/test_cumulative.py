"""The cumulative figure starts with the fullest bin, ends at all rows, and its lines differ."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import plotly.graph_objects as go
import pytest

from calib_core.edges import Scheme
from calib_core.figures.concentration import cumulative_figure, describe_cumulative
from calib_core.figures.palette import DARK, LIGHT, Theme, method_style
from calib_core.methods import METHODS
from calib_core.results.concentration import Concentration
from core.figures.result_builders import make_concentration

SPIKY = [0.95] * 6 + [0.75] * 3 + [0.15]
FLAT = [(place + 0.5) / 10 for place in range(10)]


@pytest.fixture
def spiky() -> Concentration:
    return make_concentration(SPIKY)


@pytest.fixture
def flat() -> Concentration:
    return make_concentration(FLAT, title="p(True)")


def test_the_line_goes_from_nothing_to_all_fullest_first(spiky: Concentration) -> None:
    line = cumulative_figure([spiky], LIGHT)["data"][0]
    assert line["x"] == [0, 1, 2, 3, 10]
    assert line["y"] == pytest.approx([0, 0.6, 0.9, 1, 1])


def test_natural_bins_end_with_the_last_value() -> None:
    figure = cumulative_figure([make_concentration(SPIKY, Scheme("natural"))], LIGHT)
    assert figure["data"][0]["x"] == [0, 1, 2, 3]
    assert figure["layout"]["xaxis"]["range"] == [0, 3]


def test_the_two_fullest_and_the_effective_number_are_marked_and_described(spiky: Concentration) -> None:
    figure = cumulative_figure([spiky], LIGHT)
    diamond = figure["data"][2]
    assert (diamond["x"], diamond["y"], diamond["marker"]["symbol"]) == ([2], [0.9], "diamond")
    (line,) = figure["layout"]["shapes"]
    assert line["x0"] == line["x1"] == pytest.approx(1 / 0.46)
    assert [note["text"] for note in figure["layout"]["annotations"]] == [
        "<b>two fullest</b>",
        "2.2 effective bins",
    ]


def test_a_single_bin_is_not_called_two() -> None:
    figure = cumulative_figure([make_concentration([0.5], Scheme("natural"))], LIGHT)
    assert figure["data"][2]["x"] == [1]
    assert figure["layout"]["annotations"][0]["text"] == "<b>the only bin</b>"


def test_equally_full_bins_are_the_reference(spiky: Concentration) -> None:
    line = cumulative_figure([spiky], LIGHT)["data"][1]
    assert (line["x"], line["y"], line["name"]) == ([0, 10], [0, 1], "10 equally full bins")


def test_several_are_distinguished_without_colour(spiky: Concentration) -> None:
    lines = cumulative_figure([replace(spiky, method=id_) for id_ in METHODS], LIGHT)["data"][: len(METHODS)]
    looks = {(line["line"]["dash"], line["marker"]["symbol"]) for line in lines}
    assert len(looks) == len(METHODS)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_a_line_looks_as_its_method_does_on_every_page(spiky: Concentration, theme: Theme) -> None:
    second = replace(spiky, method="p_true")
    figure = cumulative_figure([spiky, second], theme)
    for line, mark, own in zip(figure["data"], figure["layout"]["shapes"], (spiky, second), strict=False):
        style = method_style(own.method, theme)
        assert (line["line"], line["marker"]["symbol"]) == (style.line(), style.symbol)
        assert mark["line"]["color"] == style.colour
    assert cumulative_figure([spiky], theme)["data"][0]["line"]["color"] == theme.text


def test_several_are_named_in_legend_and_hover(spiky: Concentration, flat: Concentration) -> None:
    figure = cumulative_figure([spiky, flat], LIGHT)
    assert [line["name"] for line in figure["data"][:2]] == ["stated confidence", "p(True)"]
    assert all("%{text}" in line["hovertemplate"] for line in figure["data"][:2])
    assert figure["layout"]["annotations"] == []
    assert figure["layout"]["margin"]["t"] > cumulative_figure([spiky], LIGHT)["layout"]["margin"]["t"]


def test_axes_say_what_they_measure(spiky: Concentration) -> None:
    layout = cumulative_figure([spiky], LIGHT)["layout"]
    titles = [layout[axis]["title"]["text"] for axis in ("xaxis", "yaxis")]
    assert titles == ["Number of bins, fullest first", "Share of rows"]
    assert layout["yaxis"]["tickformat"] == ".0%"


def test_a_title_with_markup_is_drawn_as_text(flat: Concentration) -> None:
    hostile = make_concentration(SPIKY, title="<b>x</b> %{y}")
    figure = cumulative_figure([hostile, flat], LIGHT)
    assert figure["data"][0]["name"] == "&lt;b&gt;x&lt;/b&gt; %{y}"
    assert "x&lt;" not in figure["data"][0]["hovertemplate"]
    assert "<b>x" not in json.dumps(figure)


@pytest.mark.parametrize(("bins", "mode"), [(50, "lines+markers"), (51, "lines")])
def test_markers_give_way_to_many_bins(bins: int, mode: str) -> None:
    figure = cumulative_figure([make_concentration(SPIKY, Scheme("width", bins))], LIGHT)
    assert figure["data"][0]["mode"] == mode


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("scheme", [Scheme(), Scheme("width", 1), Scheme("width", 1000), Scheme("natural")])
def test_plotly_knows_every_key(scheme: Scheme, theme: Any) -> None:
    results = [make_concentration(confidence, scheme) for confidence in (SPIKY, FLAT, [0.5])]
    for count in (1, 2, 3):
        go.Figure(cumulative_figure(results[:count], theme))


def test_no_sentence_without_data() -> None:
    figure = cumulative_figure([make_concentration([], Scheme("natural"))], LIGHT)
    assert [note["text"] for note in figure["layout"]["annotations"]] == ["No rows."]
    go.Figure(figure)


def test_the_sentence_has_the_main_numbers(spiky: Concentration) -> None:
    assert describe_cumulative([spiky, make_concentration([], title="p(True)")]) == (
        "Cumulative share of rows, fullest bin first. "
        "stated confidence: 90.0 % in the two fullest of 10 bins; p(True): no rows."
    )
    alone = make_concentration([0.5], Scheme("natural"))
    assert describe_cumulative([alone]).endswith("stated confidence: 100.0 % in the only bin.")
