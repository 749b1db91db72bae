"""Every line is the curve of its method, thinned only where nobody can see it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from calib_core.figures.abstention import (
    MAX_LINE_POINTS,
    abstention_figure,
    describe_abstention,
    plotted_steps,
)
from calib_core.figures.layout import Figure
from calib_core.figures.palette import DARK, LIGHT, Theme
from calib_core.figures.text import text_width
from calib_core.results.abstention import AbstentionCurve, abstention_curve, guaranteed_threshold
from calib_core.results.evidence import gather_evidence
from core.run_builders import block_evidence, given_evidence, make_answer_run

LADDER = abstention_curve(block_evidence((0.9, 100, 95), (0.6, 100, 60), (0.2, 100, 10)))


def lines(figure: Figure) -> dict[str, dict[str, Any]]:
    drawn = [trace for trace in figure["data"] if "lines" in trace["mode"]]
    return {trace["name"]: trace for trace in drawn if trace.get("name")}


def random_curve(rows: int = 5000) -> AbstentionCurve:
    random = np.random.default_rng(3)
    confidence = random.random(rows)
    return abstention_curve(given_evidence(confidence, random.random(rows) < confidence))


def test_a_line_is_its_curve() -> None:
    line = lines(abstention_figure([LADDER], LIGHT))["confidence in the file"]
    assert line["x"] == pytest.approx(LADDER.coverage.tolist(), abs=1e-6)
    assert line["y"] == pytest.approx([0.95, 0.775, 0.55], abs=1e-6)
    assert line["marker"]["maxdisplayed"] == 0
    assert line["hovertext"][1] == (
        "<b>confidence in the file</b><br>confidence ≥ 0.6<br>answered 66.7 % (200)"
        "<br>right 77.5 % (71.2 % to 82.7 %)"
    )


def test_its_interval_lies_around_it() -> None:
    (pale,) = [trace for trace in abstention_figure([LADDER], LIGHT)["data"] if trace.get("fill")]
    low, high = LADDER.accuracy_interval
    assert pale["y"] == pytest.approx([*low, *high[::-1]], abs=1e-6)


def test_a_guaranteed_threshold_is_a_square_above_its_bound() -> None:
    found = [guaranteed_threshold(LADDER, target) for target in (0.85, 0.99)]
    figure = abstention_figure([LADDER], LIGHT, target_accuracy=0.85, guaranteed=found)
    (square,) = [trace for trace in figure["data"] if trace.get("name") == "guaranteed at 85 %"]
    assert found[0].accuracy_low is not None
    assert found[1].point is None
    assert (square["x"], square["y"]) == ([pytest.approx(1 / 3)], [0.95])
    assert square["error_y"]["arrayminus"] == pytest.approx([0.95 - found[0].accuracy_low])
    assert "on new questions at least 89.3 % with 95 % confidence" in describe_abstention([LADDER], found)


def test_a_long_curve_is_thinned_and_keeps_both_ends() -> None:
    curve = random_curve()
    at = plotted_steps(curve)
    assert at.size <= MAX_LINE_POINTS
    assert (at[0], at[-1]) == (0, curve.n_answered.size - 1)
    assert np.diff(curve.coverage[at]).max() < 2.5 / MAX_LINE_POINTS
    line = lines(abstention_figure([curve], LIGHT))["confidence in the file"]
    assert len(line["x"]) <= MAX_LINE_POINTS
    assert 0 < line["marker"]["maxdisplayed"] < 20
    assert plotted_steps(LADDER).tolist() == [0, 1, 2]


def test_the_target_accuracy_is_a_level_with_a_ring_where_it_is_last_reached() -> None:
    figure = abstention_figure([LADDER], LIGHT, target_accuracy=0.75, threshold=0.9)
    markers = [trace for trace in figure["data"] if trace["mode"] == "markers"]
    rings = {trace["name"]: (trace["x"], trace["y"]) for trace in markers}
    assert rings == {
        "empirical at 75 %": ([pytest.approx(2 / 3)], [0.775]),
        "confidence ≥ 0.9": ([pytest.approx(1 / 3)], [0.95]),
    }
    levels = {shape["y0"]: shape["line"]["dash"] for shape in figure["layout"]["shapes"]}
    assert set(levels) == {0.55, 0.75}
    assert levels[0.55] != levels[0.75]
    words = [note["text"] for note in figure["layout"]["annotations"]]
    assert words == ["all answered: 55.0 %", "target: 75 %"]


def test_the_legend_has_a_line_for_each_of_its_entries() -> None:
    curves = [replace(LADDER, method=name) for name in ("choice_softmax", "choice_length_normalised")]
    tops = [
        abstention_figure(curves, LIGHT, target_accuracy=wanted, threshold=threshold)["layout"]["margin"]["t"]
        for wanted, threshold in ((None, None), (0.75, None), (0.75, 0.5))
    ]
    assert tops == [14 + 2 * 19, 14 + 3 * 19, 14 + 4 * 19]


def test_what_is_not_reached_has_no_ring() -> None:
    figure = abstention_figure([LADDER], LIGHT, target_accuracy=0.99, threshold=0.95)
    assert [trace for trace in figure["data"] if trace["mode"] == "markers"] == []
    assert "target: 99 %" in [note["text"] for note in figure["layout"]["annotations"]]


def sampled_curves() -> list[AbstentionCurve]:
    run = make_answer_run(
        {
            "gold": ["1", "2", "3", "4"],
            "confidence": [0.9, 0.8, 0.4, 0.3],
            "correct": [True, False, False, False],
            "samples": [["1", "1"], ["2", "2"], ["3", "5"], ["5", "5"]],
        }
    )
    return [abstention_curve(gather_evidence(run, method)) for method in ("given", "cluster_size")]


def test_answers_judged_differently_have_a_level_each() -> None:
    figure = abstention_figure(sampled_curves(), LIGHT)
    words = {note["text"]: note["yanchor"] for note in figure["layout"]["annotations"]}
    assert words == {
        "all answered (majority answer): 75.0 %": "bottom",
        "all answered (greedy answer): 25.0 %": "top",
    }
    assert len({line["marker"]["symbol"] for line in lines(figure).values()}) == 2


def notes(figure: Figure) -> dict[str, dict[str, Any]]:
    return {note["text"]: note for note in figure["layout"]["annotations"]}


def test_a_shared_number_of_rows_is_stated_once() -> None:
    nearly = abstention_curve(block_evidence((0.8, 2000, 1100)))
    other = abstention_curve(block_evidence((0.8, 1999, 1099)))
    assert list(notes(abstention_figure([nearly, other], LIGHT))) == ["all answered: 55.0 %"]
    both = [nearly, replace(other, judged="majority answer")]
    figure = abstention_figure(both, LIGHT)
    assert list(notes(figure)) == ["all answered: 55.0 %"]
    assert len(figure["layout"]["shapes"]) == 1


def test_the_interval_begins_where_rows_are_enough() -> None:
    curve = abstention_curve(block_evidence((0.99, 1, 1), (0.98, 1, 1), (0.9, 98, 95), (0.6, 100, 60)))
    (pale,) = [trace for trace in abstention_figure([curve], LIGHT)["data"] if trace.get("fill")]
    assert sorted(set(pale["x"])) == [0.5, 1]
    few = abstention_curve(block_evidence((0.9, 10, 9), (0.6, 10, 6)))
    assert [trace for trace in abstention_figure([few], LIGHT)["data"] if trace.get("fill")] == []


def test_what_is_drawn_gives_the_range() -> None:
    curve = abstention_curve(block_evidence((0.99, 5, 5), (0.9, 900, 895), (0.6, 100, 60)))
    low = float(curve.accuracy_interval[0][1:].min())
    bottom = abstention_figure([curve], LIGHT)["layout"]["yaxis"]["range"][0]
    assert low - 0.1 < bottom < low
    begins_wrong = abstention_curve(block_evidence((0.99, 1, 0), (0.9, 900, 895), (0.6, 100, 60)))
    assert abstention_figure([begins_wrong], LIGHT)["layout"]["yaxis"]["range"][0] > 0.8


@pytest.mark.parametrize(("target", "side"), [(0.9, "bottom"), (0.5, "top")])
def test_the_label_of_the_target_is_on_the_side_without_curves(target: float, side: str) -> None:
    """At the right, curves are below a target that answering all misses, and above one that it reaches."""
    figure = abstention_figure([LADDER], LIGHT, target_accuracy=target)
    note = notes(figure)[f"target: {100 * target:g} %"]
    assert note["x"] > 0.5
    assert note["yanchor"] == side


@pytest.mark.parametrize("wanted", [0.5, 0.54, 0.56])
def test_labels_of_near_levels_do_not_overlap(wanted: float) -> None:
    """Not on a telephone's panel either."""
    overall, target = notes(abstention_figure([LADDER], LIGHT, target_accuracy=wanted)).values()
    width = text_width(target["text"], 12) * {"center": 0.5, "right": 1}[target["xanchor"]]
    assert 270 * overall["x"] + text_width(overall["text"], 12) < 270 * target["x"] - width


def test_labels_at_the_edge_are_inside_the_panel() -> None:
    wrong, right = (abstention_curve(block_evidence((0.9, 40, n))) for n in (0, 40))
    found = notes(abstention_figure([wrong], LIGHT, target_accuracy=1.0))
    assert (found["all answered: 0.0 %"]["y"], found["all answered: 0.0 %"]["yanchor"]) == (0, "bottom")
    assert found["target: 100 %"]["yanchor"] == "top"
    assert notes(abstention_figure([right], LIGHT))["all answered: 100.0 %"]["yanchor"] == "top"


def test_all_that_stands_on_enough_rows_is_in_view() -> None:
    low, high = abstention_figure([LADDER], LIGHT, target_accuracy=0.3)["layout"]["yaxis"]["range"]
    assert low < 0.3
    assert high > 1
    assert abstention_figure([random_curve()], LIGHT)["layout"]["yaxis"]["range"][0] > 0.3


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_plotly_knows_every_key(theme: Theme) -> None:
    for curves in ([], [LADDER], sampled_curves()):
        figure = abstention_figure(curves, theme, target_accuracy=0.9, threshold=0.5)
        go.Figure(figure)
        json.dumps(figure, allow_nan=False)


def test_the_sentence_has_the_main_numbers() -> None:
    assert describe_abstention([LADDER]) == (
        "Accuracy over the share of questions answered. confidence in the file: accuracy 55.0 % with all "
        "answered, 77.5 % with the half of the highest confidence."
    )


def test_lines_are_distinguished_without_colour() -> None:
    """By their dashes as well as by their symbols, which stand far from one another."""
    names = ("given", "verbal", "p_true", "cluster_size", "logit_path", "choice_softmax")
    figure = abstention_figure([replace(LADDER, method=name) for name in names], LIGHT)
    assert len({line["line"]["dash"] for line in lines(figure).values()}) == len(names)
