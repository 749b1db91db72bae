"""Axes have round ticks, and nothing of plotly's default look is left."""

from __future__ import annotations

import plotly.graph_objects as go
import polars as pl
import pytest

from calib_core.figures.layout import (
    annotation,
    axis,
    base_layout,
    flowing_legend_growth,
    flowing_legend_margin,
    legend_entry,
    legend_margin,
    legend_names,
    log_ticks,
    probability_axis,
    rounded_values,
    share_ticks,
)
from calib_core.figures.palette import DARK, FONT, TRANSPARENT


def test_paper_is_clear_and_keeps_plotly_s_template_out() -> None:
    layout = base_layout(DARK, height=400, top=40)
    assert layout["paper_bgcolor"] == layout["plot_bgcolor"] == TRANSPARENT
    assert layout["font"]["family"] == layout["hoverlabel"]["font"]["family"] == FONT
    assert len(go.Figure({"data": [], "layout": layout}).to_json() or "") < 1500


def test_the_legend_hides_nothing_when_clicked() -> None:
    legend = base_layout(DARK, height=400, top=40)["legend"]
    assert legend["itemclick"] is False
    assert legend["itemdoubleclick"] is False


@pytest.mark.parametrize(
    ("names", "room"),
    [
        ([], (33, False)),
        (["a"], (33, False)),
        (["a", "b"], (33, False)),
        (["a", "b", "c"], (52, False)),
        (["a", "b", "c" * 26], (52, False)),
        (["a" * 26, "b", "c"], (71, True)),
    ],
)
def test_a_legend_has_two_columns_unless_an_entry_is_too_long(
    names: list[str], room: tuple[int, bool]
) -> None:
    assert legend_margin(names) == room
    assert legend_margin(names, one_per_line=True) == (14 + 19 * max(len(names), 1), True)
    width = base_layout(DARK, height=400, top=40, one_per_line=room[1])["legend"]["entrywidth"]
    assert width == (0.98 if room[1] else 0.48)


def test_a_flowing_legend_is_higher_on_a_phone_by_the_lines_that_it_has_more() -> None:
    assert [flowing_legend_margin(["a" * 20] * n) for n in (1, 4, 6)] == [33, 33, 52]
    assert [flowing_legend_growth(["a" * 20] * n) for n in (0, 1, 2, 4, 6)] == [0, 0, 19, 57, 76]
    assert [flowing_legend_growth(["a" * 10] * n) for n in (2, 4)] == [0, 19]


def test_names_of_a_legend_are_those_that_it_shows_in_its_order() -> None:
    shown = legend_entry("a<b", "lines", legendrank=1001), legend_entry("c", "markers")
    hidden = {"name": "d", "showlegend": False}, {"x": [1]}
    assert legend_names([*shown, *hidden]) == ["c", "a&lt;b"]
    assert (shown[0]["x"], shown[0]["hoverinfo"]) == ([None], "skip")


def test_axes_cannot_be_dragged_and_take_what_is_laid_over() -> None:
    assert axis(DARK)["fixedrange"]
    assert "title" not in axis(DARK)
    assert probability_axis(DARK, "Confidence")["range"] == [0, 1]
    assert probability_axis(DARK, tickvals=[0, 1])["tickvals"] == [0, 1]


@pytest.mark.parametrize(
    ("largest", "ticks"),
    [
        (1, [1]),
        (8, [1, 2, 5]),
        (10, [1, 2, 5, 10]),
        (72, [1, 3, 10, 30]),
        (422, [1, 10, 100]),
        (1_000_000, [1, 10, 100, 1000, 10_000, 100_000, 1_000_000]),
        (0, [1]),
    ],
)
def test_log_ticks_always_have_one_and_never_pass_the_largest(largest: int, ticks: list[int]) -> None:
    assert log_ticks(largest) == ticks


@pytest.mark.parametrize(
    ("top", "most", "ticks", "form"),
    [
        (0.42, 4, [0, 0.2, 0.4], ".0%"),
        (1.29, 4, [0, 0.5, 1], ".0%"),
        (0.024, 4, [0, 0.01, 0.02], ".0%"),
        (0.008, 2, [0, 0.005], ".1%"),
        (1.1, 2, [0, 0.5, 1], ".0%"),
    ],
)
def test_share_ticks_are_round_and_end_at_all(top: float, most: int, ticks: list[float], form: str) -> None:
    assert share_ticks(top, most) == {"tickvals": ticks, "tickformat": form}


def test_numbers_are_rounded_and_keep_what_is_missing() -> None:
    assert rounded_values(pl.Series([1 / 3, None])) == [0.33333, None]
    assert rounded_values(pl.Series([7], dtype=pl.Int64)) == [7]
    assert rounded_values(pl.Series([], dtype=pl.Float64)) == []


def test_a_note_has_no_arrow_and_can_be_placed() -> None:
    assert annotation(DARK, "none", x=0.5) | {"x": 0.2} == annotation(DARK, "none", x=0.2)
    assert annotation(DARK, "none")["showarrow"] is False
