"""Each run looks the same on every page, and differs from the others with any colour vision."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest

from calib_core.figures.groups import groups_figure
from calib_core.figures.palette import (
    DARK,
    LIGHT,
    Theme,
    run_style,
)
from calib_core.figures.robustness import metric_values_figure, relative_values_figure
from calib_core.figures.training import training_figure
from core.figures.colour_vision import colour_distance
from core.figures.group_builders import make_group, make_groups
from core.figures.sweep_builders import (
    make_curve,
    make_line,
    make_sweep,
    make_training,
    trace_named,
    traces_of_metric,
)
from core.figures.wcag import contrast

BOTH = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])


@BOTH
def test_six_colours_are_seen_on_the_page_and_apart_by_every_kind_of_colour_vision(theme: Theme) -> None:
    assert len(theme.series_colours) >= 6
    assert min(contrast(colour, theme.background) for colour in theme.series_colours) >= 3
    for one, other in combinations(theme.series_colours, 2):
        for vision in ("normal", "protan", "deutan", "tritan"):
            assert colour_distance(one, other, vision) > 1.2, (one, other, vision)


@BOTH
def test_any_six_neighbours_have_six_colours_and_any_thirty_another_line(theme: Theme) -> None:
    looks = [run_style(place, theme) for place in range(60)]
    for first in range(30):
        assert len({look.colour for look in looks[first : first + 6]}) == 6
        assert len({(look.colour, look.dash) for look in looks[first : first + 30]}) == 30


@BOTH
def test_in_grey_dash_and_symbol_distinguish_forty_five_runs(theme: Theme) -> None:
    looks = [run_style(place, theme) for place in range(45)]
    assert len({(one.dash, one.symbol) for one in looks}) == 45


def test_runs_of_one_colour_differ_in_dash_or_symbol_and_neighbours_in_all() -> None:
    looks = [run_style(place, LIGHT) for place in range(40)]
    for one, other in combinations(looks, 2):
        if one.colour == other.colour:
            assert (one.dash, one.symbol) != (other.dash, other.symbol)
    for one, other in pairwise(looks):
        assert one.dash != other.dash
        assert one.symbol != other.symbol


def test_a_run_looks_the_same_in_light_and_dark_but_for_the_tone() -> None:
    light, dark = run_style(11, LIGHT), run_style(11, DARK)
    assert (light.dash, light.symbol) == (dark.dash, dark.symbol)
    assert LIGHT.series_colours.index(light.colour) == DARK.series_colours.index(dark.colour)


def test_a_swept_run_keeps_its_symbol_whatever_the_order() -> None:
    results = [make_sweep(make_curve("ece"), run="a"), make_sweep(make_curve("ece"), run="b")]
    for figure in (
        metric_values_figure(results, LIGHT, (4, 7)),
        relative_values_figure(results, LIGHT, (4, 7)),
    ):
        marks = [trace["marker"]["symbol"] for trace in traces_of_metric(figure, "ece")]
        assert marks == [run_style(4, LIGHT).symbol, run_style(7, LIGHT).symbol]
        assert trace_named(figure, "b")["marker"]["symbol"] == run_style(7, LIGHT).symbol
    alone = metric_values_figure(results[1:], LIGHT, (7,))
    assert traces_of_metric(alone, "ece")[-1]["marker"]["symbol"] == run_style(7, LIGHT).symbol


def test_a_training_looks_as_its_last_checkpoint() -> None:
    training = make_training(make_line("a", (1, 0.3), (2, 0.2)), make_line("b", (1, 0.3), (3, 0.1)))
    figure = training_figure(training, DARK, style_indices={"a@1": 0, "a@2": 9, "b@1": 1, "b@3": 5})
    for name, place in (("a", 9), ("b", 5)):
        trace, own = trace_named(figure, name), run_style(place, DARK)
        assert (trace["line"]["color"], trace["line"]["dash"]) == (own.colour, own.dash)
        assert trace["marker"]["symbol"] == own.symbol


def test_dots_of_a_run_have_its_colour_and_symbol() -> None:
    groups = make_groups(*(make_group("sums", 0.1, run=run, n=n) for run, n in (("a", 100), ("b", 9))))
    places = {series: 3 + 4 * at for at, series in enumerate(groups.series)}
    figure = groups_figure(groups, LIGHT, places)
    drawn = [trace for trace in figure["data"] if trace.get("customdata")]
    assert len(drawn) == len(groups.series)
    for trace, place in zip(drawn, places.values(), strict=True):
        own = run_style(place, LIGHT)
        assert trace["marker"]["color"] == own.colour
        assert {symbol.removesuffix("-open") for symbol in trace["marker"]["symbol"]} == {own.symbol}
