"""Each mean is drawn at its value, greyed ones separately, and every baseline has its label."""

from __future__ import annotations

import functools
import itertools
import json
import math
from dataclasses import replace
from typing import Any

import plotly.graph_objects as go
import pytest

from calib_core.figures.palette import DARK, LIGHT, THEMES, method_style
from calib_core.figures.sampling import describe_sampling, sampling_figure
from calib_core.results.sampling import (
    DEFAULT_METRICS,
    Baseline,
    SampleSizeSweep,
    SamplingPlan,
    sample_size_sweep,
)
from core.sampled_runs import METHODS, make_questions, make_run, without_none


@functools.cache
def make_sweep(sizes: tuple[int, ...] = (2, 4, 6, 8), **more: Any) -> SampleSizeSweep:
    run = make_run(make_questions(20, 8), p_true=[0.3] * 20, correct=[row % 3 > 0 for row in range(20)])
    return sample_size_sweep(run, SamplingPlan(sizes, 5, **more))


def lines(figure: dict[str, Any], method: str, *, greyed: bool = False) -> list[dict[str, Any]]:
    """Traces with the points of a method in the upper panel."""
    return [
        trace
        for trace in figure["data"]
        if trace.get("meta", {}).get("method") == method
        and trace["meta"]["greyed"] == greyed
        and "markers" in trace["mode"]
    ]


def legend(figure: dict[str, Any]) -> list[str]:
    return [trace["name"] for trace in figure["data"] if trace.get("showlegend")]


def test_every_mean_is_a_point_at_its_size() -> None:
    result = make_sweep()
    figure = sampling_figure(result, "ece", LIGHT)
    for method in METHODS:
        mean = result.curve(method, "ece").mean
        (clear,) = lines(figure, method)
        (pale,) = lines(figure, method, greyed=True)
        assert (clear["x"], pale["x"]) == ([2, 4], [6, 8])
        assert clear["y"] == pytest.approx(mean[:2], abs=1e-6)
        assert pale["y"] == pytest.approx(mean[2:], abs=1e-6)
        assert pale["marker"]["symbol"].endswith("-open")
        assert pale["line"]["color"] != clear["line"]["color"]


def test_the_spread_is_a_band_of_clear_sizes_alone() -> None:
    result = make_sweep()
    bands = [trace for trace in sampling_figure(result, "brier", LIGHT)["data"] if trace.get("fill")]
    assert len(bands) == 3
    curve = result.curve("cluster_number", "brier")
    (low, high), (less, more) = without_none(curve.mean[:2]), without_none(curve.std[:2])
    ends = [low - less, high - more, high + more, low + less]
    assert bands[0]["x"] == [2, 4, 4, 2]
    assert bands[0]["y"] == pytest.approx(ends, abs=1e-6)


def test_greyed_sizes_say_why() -> None:
    result = make_sweep()
    figure = sampling_figure(result, "brier", LIGHT)
    (pale,) = lines(figure, "pairwise", greyed=True)
    assert "more than half of 8 samples" in pale["hovertext"][0]
    assert "uses all samples" in pale["hovertext"][1]
    grounds = [shape for shape in figure["layout"]["shapes"] if shape["type"] == "rect"]
    assert len(grounds) == 2
    assert grounds[0]["x0"] == pytest.approx(math.sqrt(4 * 6))
    assert "grey: subsets overlap" in legend(figure)
    clear = sampling_figure(make_sweep((2, 4)), "brier", LIGHT)
    assert not any(shape["type"] == "rect" for shape in clear["layout"]["shapes"])
    assert not any("&gt;" in name for name in legend(clear))


def test_methods_differ_in_colour_dash_and_symbol() -> None:
    figure = sampling_figure(make_sweep(), "brier", DARK)
    own = [lines(figure, method)[0] for method in METHODS]
    for part in ("color", "dash"):
        assert len({trace["line"][part] for trace in own}) == 3
    assert len({trace["marker"]["symbol"] for trace in own}) == 3
    for method, trace in zip(METHODS, own, strict=True):  # as on the pages that show them beside others
        style = method_style(method, DARK)
        assert (trace["line"]["color"], trace["marker"]["symbol"]) == (style.colour, style.symbol)


def test_accuracy_is_one_line_for_all_three() -> None:
    figure = sampling_figure(make_sweep(), "accuracy", LIGHT)
    assert [method for method in METHODS if lines(figure, method)] == ["cluster_number"]
    first, *others = legend(figure)
    assert first == "Accuracy of the majority answer, the same for all three"
    assert others == ["grey: subsets overlap"]
    labels = [note["text"] for note in figure["layout"]["annotations"]]
    assert "greedy answer<br>0.6500" in labels


def test_a_baseline_is_a_dashed_line_with_its_name_and_value() -> None:
    result = make_sweep()
    figure = sampling_figure(result, "brier", LIGHT)
    (level,) = [shape for shape in figure["layout"]["shapes"] if shape["type"] == "line"]
    (baseline,) = [each for each in result.baselines if each.metric == "brier"]
    assert level["y0"] == level["y1"] == baseline.value
    assert level["line"]["dash"] != "solid"
    assert f"p(True)<br>{baseline.value:.4f}" in [note["text"] for note in figure["layout"]["annotations"]]
    low, high = figure["layout"]["yaxis"]["range"]
    assert low < baseline.value < high


@pytest.mark.parametrize("value", [0.1, 0.35, 0.9])
def test_labels_of_near_baselines_stand_apart_within_the_panel(value: float) -> None:
    levels = tuple(
        Baseline(method, "brier", value + 1e-4 * at, 9, "greedy answer", "r")
        for at, method in enumerate(("logit_path", "logit_answer", "p_true"))
    )
    figure = sampling_figure(replace(make_sweep(), baselines=levels), "brier", LIGHT)
    low, high = figure["layout"]["yaxis"]["range"]
    places = sorted(
        (note["y"] - low) / (high - low) * 270 + note["yshift"]
        for note in figure["layout"]["annotations"]
        if "<br>0." in note["text"] or "<br>1." in note["text"]
    )
    assert len(places) == 3
    assert all(above - below >= 29 for below, above in itertools.pairwise(places))
    assert places[0] >= 14
    assert places[-1] <= 256


def test_the_ceiling_of_f_cn_and_the_accuracy_are_below() -> None:
    result = make_sweep()
    data = sampling_figure(result, "brier", LIGHT)["data"]
    (ceiling,) = [trace for trace in data if trace.get("meta", {}).get("ceiling")]
    assert ceiling["y"] == [1 / 2, 3 / 4, 5 / 6, 7 / 8]
    (right,) = [trace for trace in data if trace.get("meta", {}).get("accuracy")]
    assert right["y"] == pytest.approx(result.accuracy, abs=1e-6)
    for method in METHODS:
        (said,) = [trace for trace in data if trace.get("meta", {}).get("said") == method]
        assert said["y"] == pytest.approx(result.mean_confidence[method], abs=1e-6)
        assert said["yaxis"] == "y2"
    one = make_sweep(methods=("pairwise",))
    drawn = sampling_figure(one, "ece", LIGHT)["data"]
    assert not any(trace.get("meta", {}).get("ceiling") for trace in drawn)


def test_what_is_enough_is_in_the_legend() -> None:
    figure = sampling_figure(make_sweep().with_tolerance(0.9), "brier", LIGHT)
    assert legend(figure)[:3] == [f"{name} (N' = 2 is enough)" for name in ("F_CN", "F_CS", "F_PC")]


@pytest.mark.parametrize("theme", THEMES.values(), ids=list(THEMES))
@pytest.mark.parametrize("sizes", [(2, 4, 8), (8,), (3,)])
def test_plotly_knows_every_key(sizes: tuple[int, ...], theme: Any) -> None:
    for metric in DEFAULT_METRICS:
        figure = sampling_figure(make_sweep(sizes), metric, theme)
        go.Figure(figure)
        json.dumps(figure, allow_nan=False)


def test_the_sentence_has_the_main_numbers() -> None:
    result = make_sweep()
    mean = result.curve("cluster_size", "brier").mean
    description = describe_sampling(result, "brier")
    assert f"F_CS {mean[0]:.4f} at N' = 2, {mean[-1]:.4f} at N' = 8" in description
    assert "Without samples: p(True) " in description
    alone = make_sweep((4,))
    (only,) = alone.curve("cluster_size", "brier").mean
    assert f"F_CS {only:.4f} at N' = 4; " in describe_sampling(alone, "brier")


def test_the_sentence_says_the_accuracy_that_is_the_same_for_all_methods_once() -> None:
    result = make_sweep()
    right = result.curve("cluster_size", "accuracy").mean
    assert describe_sampling(result, "accuracy").startswith(
        "Accuracy over the number of samples. majority answer, the same for all three "
        f"{right[0]:.4f} at N' = 2, {right[-1]:.4f} at N' = 8. Without samples: "
    )
