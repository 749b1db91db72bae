"""Every checkpoint is in its place, in the order of training, and can be clicked."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import plotly.graph_objects as go
import pytest

from calib_core.figures.palette import DARK, LIGHT
from calib_core.figures.training import describe_training, training_figure
from core.figures.sweep_builders import make_line, make_training, trace_named

STEEP = make_line("gpt", (10, 0.3), (100, 0.2), (1000, 0.05))


def test_points_are_the_checkpoints_and_carry_their_run() -> None:
    trace = trace_named(training_figure(make_training(STEEP), LIGHT), "gpt")
    assert (trace["x"], trace["y"]) == ([1, 2, 3], [0.3, 0.2, 0.05])
    assert trace["customdata"] == [["gpt@10"], ["gpt@100"], ["gpt@1000"]]
    assert trace["hovertext"][0] == (
        "<b>gpt</b><br>step10<br>0.3<br>calibrated model 0.02 (0.01 to 0.03)<br>over-confident (q < 0.001)"
    )


def test_checkpoints_that_say_nothing_are_hollow_and_beside_line_and_band() -> None:
    first, *others = STEEP.points
    untrained = replace(STEEP, points=(replace(first, value=0.0, is_one_bin=True), *others))
    figure = training_figure(make_training(untrained), LIGHT)
    line, hollow = (trace for trace in figure["data"] if trace.get("customdata"))
    assert (line["x"], line["name"]) == ([2, 3], "gpt")
    assert (hollow["x"], hollow["y"], hollow["customdata"]) == ([1], [0.0], [["gpt@10"]])
    assert (hollow["mode"], hollow["marker"]["symbol"]) == ("markers", f"{line['marker']['symbol']}-open")
    assert hollow["hovertext"] == ["<b>gpt</b><br>step10<br>0<br>all probabilities lie in one bin"]
    (band,) = (trace for trace in figure["data"] if trace.get("fill"))
    assert band["x"] == [2, 3, 3, 2]
    assert "0.2000 at step 100 to " in describe_training(make_training(untrained))
    go.Figure(figure)


def test_each_line_has_its_own_band() -> None:
    figure = training_figure(make_training(STEEP, make_line("bigram", (10, 0.1), (1000, 0.1))), LIGHT)
    bands = [trace for trace in figure["data"] if trace.get("fill")]
    assert [band["x"] for band in bands] == [[1, 2, 3, 3, 2, 1], [1, 3, 3, 1]]
    assert bands[0]["fillcolor"] != bands[1]["fillcolor"]
    assert trace_named(figure, "gpt")["line"]["dash"] != trace_named(figure, "bigram")["line"]["dash"]
    assert trace_named(figure, "gpt")["marker"]["symbol"] != trace_named(figure, "bigram")["marker"]["symbol"]


def test_without_a_null_there_is_no_band_and_no_entry() -> None:
    figure = training_figure(make_training(make_line("gpt", (1, 0.3), (2, 0.2), null=False)), LIGHT)
    assert [trace.get("name") for trace in figure["data"]] == ["gpt"]


def test_the_chosen_checkpoint_has_a_ring() -> None:
    def rings(selected: str) -> list[tuple[Any, Any]]:
        figure = training_figure(make_training(STEEP), LIGHT, selected=selected)
        return [
            (t["x"], t["y"]) for t in figure["data"] if t.get("marker", {}).get("symbol") == "circle-open"
        ]

    assert (rings("gpt@100"), rings("nobody")) == ([([2], [0.2])], [])


@pytest.mark.parametrize(
    ("metric", "title"), [("ece", "ECE"), ("full_ece", "Full-ECE (possible range 0 to 2)")]
)
def test_the_axis_says_its_scale_and_begins_at_zero(metric: str, title: str) -> None:
    drawn = training_figure(make_training(STEEP, metric=metric), LIGHT)["layout"]["yaxis"]
    assert (drawn["title"]["text"], drawn["range"][0], drawn["zeroline"]) == (title, 0, False)
    assert drawn["range"][1] > 0.3


def test_a_metric_below_zero_is_in_view_with_a_line_at_zero() -> None:
    line = make_line("gpt", (1, -0.2), (2, 0.1), null=False)
    drawn = training_figure(make_training(line, metric="bias"), LIGHT)["layout"]["yaxis"]
    assert drawn["range"][0] < -0.2
    assert drawn["zeroline"] is True


def test_what_is_infinite_is_not_drawn() -> None:
    line = make_line("gpt", (1, float("inf")), (2, 3.0), null=False)
    figure = training_figure(make_training(line, metric="nll"), LIGHT)
    assert trace_named(figure, "gpt")["y"] == [3.0]
    json.dumps(figure, allow_nan=False)


def test_a_title_with_markup_is_drawn_as_text() -> None:
    line = make_line('<a href="https://x.test">x</a>', (1, 0.1))
    figure = training_figure(make_training(line), LIGHT)
    drawn = figure["data"]
    for trace in drawn:
        trace.pop("customdata", None)  # never drawn
    assert "<a" not in json.dumps(drawn)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(
    "lines", [(), (make_line("one", (5, 0.1)),), (STEEP, make_line("b", (0, 0.1), (9, 0.2)))]
)
def test_plotly_knows_every_key(lines: Any, theme: Any) -> None:
    figure = training_figure(make_training(*lines), theme, selected="gpt@10")
    assert figure["data"]
    go.Figure(figure)


def test_no_ring_is_drawn_around_a_number_that_is_not_defined() -> None:
    (point,) = make_line("gpt", (10, 0.1)).points
    lacking = replace(make_line("gpt", (5, 0.1)), points=(replace(point, value=None),))
    for line, rings in ((lacking, 0), (make_line("gpt", (10, 0.1)), 1)):
        drawn = training_figure(make_training(line), LIGHT, selected="gpt@10")["data"]
        assert len([one for one in drawn if one.get("marker", {}).get("symbol") == "circle-open"]) == rings


def test_the_table_has_no_prose() -> None:
    (words,) = training_figure(make_training(), LIGHT)["layout"]["annotations"]
    assert words["text"] == "ECE is 0.3 at step 10."


def test_the_sentence_has_the_main_numbers() -> None:
    assert describe_training(make_training(STEEP, make_line("b", (5, 0.1)))) == (
        "ECE over training step. gpt: 0.3000 at step 10 to 0.0500 at step 1,000, 3 checkpoints; "
        "b: 0.1000 at step 5, 1 checkpoint."
    )
    tokens = make_training(make_line("b", (12_300_000, 0.1)), axis="Tokens seen")
    assert "0.1000 at 12.3M tokens" in describe_training(tokens)
    endless = make_training(make_line("b", (1, float("inf")), (2, -0.5), null=False), metric="nll")
    assert "b: ∞ at step 1 to −0.5000 at step 2" in describe_training(endless)
