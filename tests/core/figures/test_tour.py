"""Each step has its picture with its own numbers, in valid plotly, and larger for a projector."""

from __future__ import annotations

import re
from typing import Any

import plotly.graph_objects as go
import pytest

from calib_core.figures.concentration import histogram_figure
from calib_core.figures.layout import base_layout
from calib_core.figures.palette import DARK, LIGHT
from calib_core.figures.tour import (
    ENLARGEMENT,
    MAX_OPTIONS,
    MAX_RANKED_RUNS,
    MIN_HEIGHT,
    MIN_HEIGHT_LARGE,
    confidence_accuracy_figure,
    describe_confidence_accuracy,
    describe_ranking,
    describe_single_answer,
    describe_tour,
    enlarge_figure,
    ranking_figure,
    single_answer_figure,
    tour_figure,
)
from calib_core.results.tour import (
    STEP_KINDS,
    AnswerOption,
    ConfidenceAccuracy,
    ConfidenceAccuracyPairs,
    SingleAnswer,
    TourSubject,
    tour_step,
)
from core.figures.result_builders import make_concentration
from core.sampled_runs import make_questions, make_run
from core.token_run_builders import dense_sums, random_rows, token_run
from core.tour_runs import OVER, block_answers, candidates, make_step

HOSTILE = "<a href='http://x.test'>x</a>&"
RUNS = {
    "given": block_answers(*OVER),
    "tokens": token_run(dense_sums(*random_rows(80, 5))),
    "cluster_size": make_run(make_questions(12)),
}


@pytest.mark.parametrize("kind", STEP_KINDS)
@pytest.mark.parametrize("method", RUNS)
def test_every_picture_is_valid_in_both_sizes(kind: Any, method: str) -> None:
    picture = tour_step(kind, TourSubject("0", method, candidates(RUNS[method]))).picture
    for theme in (LIGHT, DARK):
        small, large = tour_figure(picture, theme), tour_figure(picture, theme, large=True)
        for drawn in (small, large):
            go.Figure(drawn)
            assert drawn["data"]
        assert small["layout"]["height"] >= MIN_HEIGHT
        assert large["layout"]["height"] >= MIN_HEIGHT_LARGE
        assert large["layout"]["height"] > small["layout"]["height"]
        assert large["layout"]["font"]["size"] == ENLARGEMENT * small["layout"]["font"]["size"]
    assert re.search(r"\d", describe_tour(picture))


def test_options_as_bars_with_what_is_right() -> None:
    result = SingleAnswer(
        "Which?",
        (
            AnswerOption("a", 0.7, chosen=True, right=False),
            AnswerOption(HOSTILE, 0.2, chosen=False, right=True),
            AnswerOption("c", 0.1, chosen=False, right=False),
        ),
        0.7,
        right=False,
    )
    figure = single_answer_figure(result, LIGHT)
    (bars,) = figure["data"]
    assert (bars["x"], bars["text"]) == ([0.7, 0.2, 0.1], ["70.0 %", "20.0 %", "10.0 %"])
    assert bars["marker"]["color"][0] == LIGHT.bar not in bars["marker"]["color"][1:]
    names = [note["text"] for note in figure["layout"]["annotations"]]
    assert names[0] == "<b>a ✗ wrong</b>"
    assert names[1].startswith("&lt;a href=")
    assert names[1].endswith("✓ right")
    assert names[2] == "c"
    assert describe_single_answer(result).startswith("One answer, wrong, confidence 70.0 %. a: 70.0 %; ")


def test_many_options_share_a_bar_and_keep_the_chosen() -> None:
    options = tuple(AnswerOption(f"o{at}", at / 190, chosen=at == 0, right=at == 1) for at in range(20))
    (bars,) = single_answer_figure(SingleAnswer(None, options, 0.0, right=False), LIGHT)["data"]
    assert len(bars["x"]) == MAX_OPTIONS
    assert bars["x"][0] == 0.0
    assert bars["hovertext"][-1].startswith("<b>13 others</b>")
    assert sum(bars["x"]) == pytest.approx(1.0, abs=1e-4)


def test_confidence_and_accuracy_with_its_interval() -> None:
    pairs = (
        ConfidenceAccuracy(HOSTILE, 0.9, 0.6, 0.5, 0.7, 80),
        ConfidenceAccuracy("b", 0.2, 0.3, 0.1, 0.4, 9),
    )
    result = ConfidenceAccuracyPairs(pairs, "answers")
    figure = confidence_accuracy_figure(result, LIGHT)
    said, right, numbers = figure["data"]
    assert (said["x"], right["x"]) == ([0.9, 0.2], [0.6, 0.3])
    assert right["error_x"]["array"] == [0.1, 0.1]
    assert right["error_x"]["arrayminus"] == [0.1, 0.2]
    assert numbers["text"] == ["90.0 %", "20.0 %", "60.0 %", "30.0 %"]
    assert figure["layout"]["annotations"][0]["text"].startswith("<b>&lt;a href")
    assert describe_confidence_accuracy(result).endswith("b: states 20.0 %, right 30.0 % (10.0 % to 40.0 %).")


def test_the_lowest_brier_score_is_on_top_and_many_runs_are_cut() -> None:
    runs = [block_answers((0.9, 30, at), model=f"m{at}") for at in range(14)]
    result = make_step("models", *runs).picture
    drawn: Any = ranking_figure(result, LIGHT)  # pyright: ignore[reportArgumentType]
    right, brier = drawn["data"]
    assert len(brier["x"]) == len(right["x"]) == MAX_RANKED_RUNS
    assert brier["x"] == sorted(brier["x"])
    assert right["x"][0] == round(13 / 30, 7)
    names, beside = drawn["layout"]["yaxis"], drawn["layout"]["yaxis2"]
    assert names["ticktext"][0] == "m13"
    assert names["tickvals"] == beside["tickvals"] == right["y"] == brier["y"] == list(range(MAX_RANKED_RUNS))
    assert beside["showticklabels"] is False
    assert right["marker"]["color"] == brier["marker"]["color"] == LIGHT.bar
    assert describe_ranking(result).endswith("; and 4 more.")  # pyright: ignore[reportArgumentType]


def test_enlarging_leaves_data_and_the_original_alone() -> None:
    small = {
        "data": [
            {"type": "bar", "x": [1, 2], "width": 0.5, "marker": {"line": {"width": 2}}, "showlegend": True},
            {"type": "scatter", "y": [[3]], "marker": {"size": [4, 5]}, "line": {"width": 1}},
        ],
        "layout": {
            "height": 100,
            "font": {"size": 10},
            "margin": {"l": 5},
            "annotations": [{"yshift": 3, "y": 1}],
        },
    }
    large = enlarge_figure(small, 2)
    bar, line = large["data"]
    assert (bar["width"], bar["x"], bar["showlegend"]) == (0.5, [1, 2], True)
    assert bar["marker"]["line"]["width"] == 4
    assert (line["y"], line["line"]["width"]) == ([[3]], 2)
    layout = large["layout"]
    assert (layout["height"], layout["font"]["size"], layout["margin"]["l"]) == (150, 20, 10)
    assert layout["annotations"] == [{"yshift": 6, "y": 1}]
    assert small["layout"]["height"] == 100


def test_a_large_legend_has_one_line_per_entry_and_room_for_it() -> None:
    picture = make_step("whole", block_answers(*OVER)).picture
    small, large = tour_figure(picture, LIGHT), tour_figure(picture, LIGHT, large=True)
    assert small["layout"]["legend"]["entrywidth"] < large["layout"]["legend"]["entrywidth"] == 0.98
    assert large["layout"]["margin"]["t"] >= ENLARGEMENT * (small["layout"]["margin"]["t"] + 2 * 19)


def test_a_line_that_a_shape_explains_is_counted_in_a_large_legend() -> None:
    small = histogram_figure([make_concentration([0.1, 0.5, 0.9])], LIGHT)
    large = enlarge_figure(small)
    assert [shape["name"] for shape in small["layout"]["shapes"]] == ["all bins equally full"]
    assert large["layout"]["legend"]["entrywidth"] == 0.98
    assert large["layout"]["margin"]["t"] == pytest.approx(
        ENLARGEMENT * (small["layout"]["margin"]["t"] + 19)
    )


def test_a_legend_of_one_entry_per_line_needs_no_more_room() -> None:
    drawn = {
        "data": [{"name": "a"}, {"name": "b"}],
        "layout": base_layout(LIGHT, height=300, top=50, one_per_line=True),
    }
    assert enlarge_figure(drawn, 2)["layout"]["margin"]["t"] == 100
