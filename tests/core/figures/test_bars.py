"""Do over- and under-confident gaps differ without colour, and does detail give way where bars are dense?"""

from __future__ import annotations

import polars as pl
import pytest

from calib_core.bins import BinSums, Scheme
from calib_core.figures.bars import FADED, OVER, UNDER, bars, by_strength, detail, gap, solid, targets
from calib_core.figures.spans import LEAST, REACH, placed
from calib_core.figures.theme import DARK, LIGHT, Theme
from core.figures.wcag import contrast

BOTH = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])


def table(confidence: list[float]) -> pl.DataFrame:
    frame = BinSums.from_pairs(confidence, [1] * len(confidence)).binned(Scheme()).to_frame()
    return placed(frame, Scheme()).with_columns(thin=pl.col("count") < 2)


@BOTH
@pytest.mark.parametrize("bins", [5, 20, 50, 99])
def test_gaps_are_told_apart_by_their_hatch(theme: Theme, bins: int) -> None:
    over, under = gap(theme, theme.over, OVER, detail(bins)), gap(theme, theme.under, UNDER, detail(bins))
    assert (over["pattern"]["shape"], under["pattern"]["shape"]) == ("/", "\\")
    assert contrast(over["color"], over["pattern"]["bgcolor"]) >= 2.5
    assert contrast(under["color"], under["pattern"]["bgcolor"]) >= 2.5


@BOTH
@pytest.mark.parametrize("bins", [100, 200, 1000])
def test_without_hatch_they_differ_in_lightness(theme: Theme, bins: int) -> None:
    over, under = gap(theme, theme.over, OVER, detail(bins)), gap(theme, theme.under, UNDER, detail(bins))
    assert "pattern" not in over | under
    assert contrast(over["color"], under["color"]) >= 1.8


def test_more_bins_get_less_detail_of_each() -> None:
    looks = [detail(bins) for bins in (10, 30, 50, 100)]
    for name in ("edge", "outline", "cap", "whisker", "point"):
        values = [getattr(look, name) for look in looks]
        assert values == sorted(values, reverse=True), name
    assert [detail(bins).cap for bins in (49, 50)] == [2, 0]
    assert [detail(bins).hatch for bins in (99, 100)] == [True, False]


def test_thin_bins_come_apart_and_faded() -> None:
    parts = [(part["bin"].to_list(), opacity) for part, opacity in by_strength(table([0.15, 0.95, 0.95]))]
    assert parts == [([10], 1.0), ([2], FADED)]


def test_full_bins_always_come_so_that_the_legend_does_not_change() -> None:
    assert [opacity for _, opacity in by_strength(table([0.95, 0.95]))] == [1.0]
    assert [part.height for part, _ in by_strength(table([0.15]))] == [0, 1]


def test_bars_stand_where_they_were_placed() -> None:
    trace = bars(table([0.15, 0.95, 0.95]), "count", yaxis="y2")
    assert (trace["x"], trace["y"], trace["yaxis"]) == ([0.15, 0.95], [1, 2], "y2")
    assert trace["width"] == pytest.approx(0.1)
    assert trace["hoverinfo"] == "skip"


def test_a_trace_without_bars_keeps_its_legend_entry() -> None:
    trace = bars(table([]), "count")
    assert (trace["x"], trace["y"]) == ([None], [None])


def test_bars_of_different_width_say_each() -> None:
    wide = table([0.15, 0.95]).with_columns(width=pl.Series([0.1, 0.3]))
    assert bars(wide, "count")["width"] == [0.1, 0.3]


def test_targets_are_unseen_and_carry_the_bin() -> None:
    trace = targets(table([0.15, 0.95]), "count", ["two", "ten"])
    assert trace["opacity"] == 0
    assert trace["customdata"] == [[2], [10]]
    assert trace["hovertext"] == ["two", "ten"]
    assert trace["hoverinfo"] == "text"
    assert "hovertemplate" not in trace


def test_a_narrow_bar_is_hit_beside_it_too() -> None:
    natural = Scheme("natural")
    value = placed(BinSums.from_pairs([0.0, 0.5], [1, 1]).binned(natural).to_frame(), natural)
    drawn, hit = bars(value, "count"), targets(value, "count", ["none", "half"])
    assert drawn["width"] == LEAST
    assert (hit["x"], hit["width"]) == ([REACH / 2, 0.5], [REACH, 2 * REACH])


@BOTH
def test_dense_bars_have_no_seams_of_page(theme: Theme) -> None:
    assert solid(theme, theme.bar, detail(10))["line"]["color"] == theme.page
    assert solid(theme, theme.bar, detail(100))["line"]["color"] == theme.bar
