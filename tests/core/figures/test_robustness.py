"""Each metric is drawn at its values, on its own scale, with what noise alone would give."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import plotly.graph_objects as go
import pytest

from calib_core.figures.palette import DARK, LIGHT
from calib_core.figures.robustness import describe_metric_values, metric_values_figure
from core.figures.sweep_builders import make_curve, make_null, make_sweep, trace_named, traces_of_metric

FIVE = ("ece", "cw_ece", "cw_ece_sum", "full_ece", "full_ece_mass")


def headings(figure: dict[str, Any]) -> list[str]:
    return [note["text"] for note in figure["layout"]["annotations"] if note["text"].startswith("<b>")]


def test_every_value_is_a_point_at_its_m() -> None:
    (trace,) = traces_of_metric(metric_values_figure([make_sweep(make_curve("ece"))], LIGHT), "ece")
    assert (trace["x"], trace["y"]) == ([5, 10, 100], [0.1, 0.2, 0.3])
    assert trace["hovertext"][0] == (
        "<b>ECE</b><br>M = 5<br>0.1<br>calibrated model 0.01 (0.005 to 0.02)<br>p ≤ 0.005"
    )


def test_no_two_scales_share_an_axis() -> None:
    figure = metric_values_figure([make_sweep(*map(make_curve, FIVE))], LIGHT)
    axes = {metric: traces_of_metric(figure, metric)[0]["yaxis"] for metric in FIVE}
    assert axes == {"ece": "y", "full_ece_mass": "y", "full_ece": "y2", "cw_ece_sum": "y2", "cw_ece": "y3"}
    assert headings(figure) == [
        "<b>Possible range 0 to 1</b>",
        "<b>Possible range 0 to 2</b>",
        "<b>Divided by the K classes: possible range 0 to 2/K</b>",
    ]
    domains = [figure["layout"][key]["domain"] for key in ("yaxis", "yaxis2", "yaxis3")]
    assert domains[0][0] > domains[1][1] > domains[1][0] > domains[2][1] > domains[2][0] == 0
    assert figure["layout"]["xaxis"]["anchor"] == "y3"


def test_the_null_is_a_pale_band_of_the_first_run_alone() -> None:
    one, two = make_sweep(make_curve("ece")), make_sweep(make_curve("ece"), run="other")
    bands = [trace for trace in metric_values_figure([one, two], LIGHT)["data"] if trace.get("fill")]
    (band,) = bands
    assert band["x"] == [5, 10, 100, 100, 10, 5]
    assert band["y"] == pytest.approx([0.005, 0.01, 0.015, 0.06, 0.04, 0.02])
    assert band["fillcolor"].startswith("rgba(0,114,178,")
    assert trace_named(metric_values_figure([one, two], LIGHT), "calibrated model")["name"].endswith(
        "(first run)"
    )


def test_the_fitted_model_takes_the_place_of_the_calibrated_one() -> None:
    curve = replace(make_curve("ece"), fitted=replace(make_null((0.1, 0.2, 0.3)), low=(0.09, 0.1, 0.11)))
    figure = metric_values_figure([make_sweep(curve, make_curve("full_ece"))], LIGHT)
    of_ece, of_full = [trace for trace in figure["data"] if trace.get("fill")]
    assert of_ece["y"][:3] == pytest.approx([0.09, 0.1, 0.11])
    assert of_full["y"][:3] == pytest.approx([0.005, 0.01, 0.015])
    assert traces_of_metric(figure, "ece")[0]["hovertext"][0] == (
        "<b>ECE</b><br>M = 5<br>0.1<br>fitted model 0.01 (0.09 to 0.02)"
    )
    assert [trace["name"] for trace in figure["data"] if "5–95 %" in str(trace.get("name"))] == [
        "calibrated model: 5–95 %",
        "ECE, fitted model: 5–95 %",
    ]


def test_without_a_null_there_is_no_band() -> None:
    figure = metric_values_figure([make_sweep(make_curve("ece", null=False))], LIGHT)
    assert not any(trace.get("fill") for trace in figure["data"])
    assert not any(str(trace.get("name", "")).startswith("if") for trace in figure["data"])


def test_bounds_are_a_bar_and_never_a_point() -> None:
    curve = make_curve("full_ece", (0.2, None, None), bounds={10: (0.2, 0.4), 100: (0.3, 0.8)})
    points, bars = traces_of_metric(metric_values_figure([make_sweep(curve)], LIGHT), "full_ece")
    assert points["y"] == [0.2, None, None]
    assert (bars["x"], bars["y"]) == ([10, 100], pytest.approx([0.3, 0.55]))
    assert bars["error_y"]["array"] == pytest.approx([0.1, 0.25])
    assert bars["marker"]["opacity"] == 0
    assert bars["hovertext"][0] == "<b>Full-ECE</b><br>M = 10<br>between 0.2 and 0.4"


def test_a_curve_with_only_bounds_has_no_line() -> None:
    curve = make_curve("full_ece", (None, None, None), bounds=dict.fromkeys((5, 10, 100), (0.1, 0.2)))
    figure = metric_values_figure([make_sweep(curve)], LIGHT)
    assert [trace["mode"] for trace in traces_of_metric(figure, "full_ece")] == ["markers"]
    assert figure["layout"]["yaxis"]["range"][1] == pytest.approx(0.224)


@pytest.mark.parametrize(("ceiling", "drawn"), [(0.48, True), (0.49, False)])
def test_a_near_ceiling_is_a_line_and_a_far_one_is_stated(ceiling: float, drawn: bool) -> None:  # noqa: FBT001
    layout = metric_values_figure([make_sweep(make_curve("full_ece", ceiling=ceiling))], LIGHT)["layout"]
    assert [line["y0"] for line in layout["shapes"]] == ([ceiling] if drawn else [])
    words = " ".join(note["text"] for note in layout["annotations"])
    assert (f"ceiling 2·mean(1 − p) = {ceiling}" in words) == drawn
    assert (f"(ceiling {ceiling}, out of view)" in words) != drawn
    assert (layout["yaxis"]["range"][1] > ceiling) == drawn


def test_a_run_has_its_symbol_and_a_metric_its_line() -> None:
    runs = [make_sweep(make_curve("ece"), make_curve("full_ece"), run=name) for name in ("a", "b")]
    figure = metric_values_figure(runs, LIGHT)
    (first, second), (full, _) = traces_of_metric(figure, "ece"), traces_of_metric(figure, "full_ece")
    assert first["line"] == second["line"] != full["line"]
    assert first["line"]["dash"] != full["line"]["dash"]
    assert first["marker"]["symbol"] != second["marker"]["symbol"]
    assert (
        first["marker"]["symbol"] == full["marker"]["symbol"] == trace_named(figure, "a")["marker"]["symbol"]
    )


def test_the_legend_of_several_runs_has_as_many_entries_to_a_line_as_fit() -> None:
    runs = [make_sweep(*map(make_curve, FIVE), run=f"run {at}") for at in range(4)]
    layout = metric_values_figure(runs, LIGHT)["layout"]
    assert layout["legend"]["entrywidthmode"] == "pixels"
    assert layout["margin"]["t"] == 14 + 4 * 19, "ten entries in four lines"


def test_tiny_values_have_ticks_of_their_own() -> None:
    tiny = metric_values_figure([make_sweep(make_curve("cw_ece", (1e-4, 2e-4, 3e-4)))], LIGHT)["layout"][
        "yaxis"
    ]
    assert (tiny["exponentformat"], "tickformat" in tiny) == ("e", False)


def test_a_name_with_markup_is_drawn_as_text() -> None:
    hostile = make_sweep(make_curve("ece"), run='<a href="https://x.test">x</a>')
    runs = [hostile, make_sweep(make_curve("ece"))]
    assert "<a" not in json.dumps(metric_values_figure(runs, LIGHT))


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("count", [0, 1, 5])
def test_plotly_knows_every_key(count: int, theme: Any) -> None:
    sweep = make_sweep(*map(make_curve, FIVE[:count]))
    for runs in ([sweep], [sweep, sweep]):
        figure = metric_values_figure(runs, theme)
        assert figure["data"]
        go.Figure(figure)


def test_the_sentence_has_the_main_numbers() -> None:
    bounds = make_curve("full_ece", (None, None, None), bounds={5: (0.1, 0.2)})
    assert describe_metric_values([make_sweep(make_curve("ece"), bounds)]) == (
        "Metrics over the number of bins M. ECE: 0.1000 at M = 5, 0.3000 at M = 100, RSD 40.8 %; "
        "Full-ECE: only bounds are known."
    )
    one = make_sweep(replace(make_curve("ece", (0.1,)), bins=(10,), rsd=None))
    assert describe_metric_values([one]).endswith(" ECE: 0.1000 at M = 10.")
