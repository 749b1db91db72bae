"""Every point is at its values with its intervals, distinguishable and clickable."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from calib_core.figures.comparison import (
    CONSTANT_CONFIDENCE_LABEL,
    FULL_CONFIDENCE_LABEL,
    MAX_NAMED_POINTS,
    MAX_NUMBERED_POINTS,
    MAX_REPEATED_NAMES,
    NAME_SET_WIDTHS,
    NUMBERS_NOTE,
    comparison_figure,
    describe_comparison,
)
from calib_core.figures.label_placement import text_width
from calib_core.figures.layout import Figure
from calib_core.figures.palette import DARK, LIGHT, Theme, readable_text_colour, run_style
from core.figures.comparison_builders import labels, make_comparison, make_point

RED, GREEN = make_point("red", 0.5, 0.2), make_point("green", 0.8, 0.1)
OTHER = make_point("red", 0.55, 0.15, method="cluster_size")


def clickable(figure: Figure) -> list[dict[str, Any]]:
    return [trace for trace in figure["data"] if trace.get("customdata")]


def test_points_stand_at_their_numbers_and_carry_their_key() -> None:
    given, sampled = clickable(comparison_figure(make_comparison(RED, GREEN, OTHER), LIGHT))
    assert (given["x"], given["y"]) == ([0.5, 0.8], [0.2, 0.1])
    assert given["customdata"] == [["red:given"], ["green:given"]]
    assert sampled["customdata"] == [["red:cluster_size"]]
    assert given["error_y"]["array"] == pytest.approx([0.02, 0.02])
    assert given["error_x"]["arrayminus"] == pytest.approx([0.02, 0.02])
    assert given["marker"]["symbol"] != sampled["marker"]["symbol"]
    red, green = given["marker"]["color"]
    assert sampled["marker"]["color"] == [red] != [green]
    assert given["hovertext"][0] == (
        "<b>red in full</b><br>confidence in the file<br>Accuracy 50.0 % (48.0 % to 52.0 %)"
        "<br>Brier score 0.2000 (0.1800 to 0.2200)<br>skill 0.100<br>n = 1,000, greedy answer judged"
    )


def test_confidences_that_a_file_names_have_a_symbol_each_as_in_the_legend() -> None:
    points = [make_point("m", 0.4 + at / 10, 0.2, method=f"given.{name}") for at, name in enumerate("abcd")]
    figure = comparison_figure(make_comparison(*points), LIGHT)
    symbols = [trace["marker"]["symbol"] for trace in clickable(figure)]
    assert len(set(symbols)) == 4
    legend = {
        trace["name"]: trace["marker"]["symbol"]
        for trace in figure["data"]
        if "given" in trace.get("name", "")
    }
    assert list(legend.values()) == symbols


def test_a_point_without_an_interval_has_no_bars() -> None:
    bare = make_point("bare", 0.5, 0.2, half=None)
    (trace,) = clickable(comparison_figure(make_comparison(bare), LIGHT))
    assert (trace["error_x"]["array"], trace["error_y"]["arrayminus"]) == ([0], [0])
    assert "to" not in trace["hovertext"][0].split("<br>")[2]


def curves_of(figure: Figure) -> list[dict[str, Any]]:
    return [trace for trace in figure["data"] if trace.get("line", {}).get("dash")]


def test_both_curves_are_those_of_constant_confidences() -> None:
    constant, certain = curves_of(comparison_figure(make_comparison(RED, GREEN), LIGHT))
    assert constant["y"] == pytest.approx([a * (1 - a) for a in constant["x"]], abs=1e-5)
    assert certain["y"] == pytest.approx([1 - a for a in certain["x"]], abs=1e-5)
    assert constant["line"]["dash"] != certain["line"]["dash"]
    assert constant["fill"] == "tozeroy"


def test_curves_and_their_labels_appear_only_for_accuracy_against_brier() -> None:
    figure = comparison_figure(make_comparison(RED, GREEN), LIGHT)
    assert {CONSTANT_CONFIDENCE_LABEL, FULL_CONFIDENCE_LABEL} <= set(labels(figure, 1080))
    swapped = ("brier", "accuracy")
    points = [make_point("red", 0.2, 0.5, metrics=swapped), make_point("green", 0.1, 0.8, metrics=swapped)]
    other = comparison_figure(make_comparison(*points, metrics=swapped), LIGHT)
    assert curves_of(other) == []
    assert labels(other, 1080) == ["red", "green"]
    assert other["layout"]["xaxis"]["title"]["text"] == "Brier score (lower is better)"
    assert other["layout"]["yaxis"]["tickformat"] == ".0%"


def test_all_of_a_point_is_in_view_and_so_is_the_curve_over_it() -> None:
    layout = comparison_figure(make_comparison(RED, GREEN), LIGHT)["layout"]
    left, right = layout["xaxis"]["range"]
    low, high = layout["yaxis"]["range"]
    assert left < 0.48
    assert right > 0.82
    assert low < 0.08
    assert high > 0.25


def test_a_metric_axis_does_not_extend_far_beyond_its_range() -> None:
    edge = make_comparison(make_point("a", 1.0, 0.0, half=None), make_point("b", 0.5, 0.4))
    layout = comparison_figure(edge, LIGHT)["layout"]
    assert layout["xaxis"]["range"][1] == pytest.approx(1 + 0.02 * (1 - 0.48))
    assert layout["yaxis"]["range"][0] == pytest.approx(-0.02 * 0.42)


def test_every_width_has_its_own_names_on_an_axis_of_its_own() -> None:
    figure = comparison_figure(make_comparison(RED, GREEN, OTHER), LIGHT)
    for width in NAME_SET_WIDTHS:
        assert sorted(set(labels(figure, width)) - {CONSTANT_CONFIDENCE_LABEL, FULL_CONFIDENCE_LABEL}) == [
            "green",
            "red",
        ]
        unseen = figure["layout"][f"xaxis{width}"]
        assert unseen["overlaying"] == "x"
        assert unseen["range"] == figure["layout"]["xaxis"]["range"]
        assert unseen["visible"] is False


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_point_and_name_have_the_colour_of_their_run_on_every_page(theme: Theme) -> None:
    figure = comparison_figure(
        make_comparison(RED, GREEN, OTHER),
        theme,
        style_indices={"red:given": 4, "red:cluster_size": 4, "green:given": 11},
    )
    red, green = run_style(4, theme).colour, run_style(11, theme).colour
    assert [trace["marker"]["color"] for trace in clickable(figure)] == [[red, green], [red]]
    tones = {
        trace["textfont"]["color"]: trace["text"]
        for trace in figure["data"]
        if trace.get("xaxis") == "x1080"
        and trace["mode"] == "text"
        and FULL_CONFIDENCE_LABEL not in trace["text"]
    }
    assert tones == {
        readable_text_colour(red, theme): ["red", "red"],
        readable_text_colour(green, theme): ["green"],
    }


def test_points_of_one_run_are_called_by_their_method() -> None:
    figure = comparison_figure(make_comparison(RED, OTHER), LIGHT)
    assert {*labels(figure, 1080)} - {CONSTANT_CONFIDENCE_LABEL, FULL_CONFIDENCE_LABEL} == {
        "confidence in the file",
        "self-consistency, F_CS",
    }


def test_where_not_all_names_have_room_all_points_have_the_number_of_their_row() -> None:
    crowd = [make_point(f"a rather long name {at}", 0.3 + at / 50, 0.3 - at / 200) for at in range(20)]
    figure = comparison_figure(make_comparison(*crowd), LIGHT)
    words = {*labels(figure, 300)} - {CONSTANT_CONFIDENCE_LABEL, FULL_CONFIDENCE_LABEL}
    assert words == {NUMBERS_NOTE, *(str(at) for at in range(1, 21))}
    (first,) = [
        (x, y)
        for trace in figure["data"]
        if trace.get("xaxis") == "x300" and trace["mode"] == "text"
        for x, y, words in zip(trace["x"], trace["y"], trace["text"], strict=True)
        if words == "1"
    ]
    assert first == pytest.approx((crowd[-1].x.value, crowd[-1].y.value), abs=0.05)
    assert {point.name for point in crowd} <= set(labels(figure, 1320))


def test_the_picture_says_which_texts_were_cut() -> None:
    crowd = [make_point(f"a rather long name {at}", 0.5 + at / 50000, 0.2) for at in range(90)]
    figure = comparison_figure(make_comparison(*crowd), LIGHT)
    told = [words for words in labels(figure, 300) if "unlabelled" in words]
    assert len(told) == 1
    numbered = sum(words.isdecimal() for words in labels(figure, 300))
    assert told[0] == f"{90 - numbered} of 90 unlabelled: hover for names"


def test_names_that_repeat_too_often_become_numbers() -> None:
    for count in (MAX_REPEATED_NAMES, MAX_REPEATED_NAMES + 3):
        crowd = [
            make_point(
                f"m{at % (count // 3)}",
                0.1 + 0.8 * (at % 6) / 5,
                0.05 + 0.4 * (at // 6) / 6,
                method=("given", "verbal", "p_true")[3 * at // count],
            )
            for at in range(count)
        ]
        words = labels(comparison_figure(make_comparison(*crowd), LIGHT), 1320)
        assert any(map(str.isdecimal, words)) == (count > MAX_REPEATED_NAMES)


def test_of_many_points_none_has_a_name_and_of_very_many_none_a_number() -> None:
    for count in (MAX_NAMED_POINTS, MAX_NAMED_POINTS + 1, MAX_NUMBERED_POINTS + 1):
        crowd = [
            make_point(f"m{at}", 0.1 + 0.8 * (at % 12) / 11, 0.05 + 0.4 * (at // 12) / 11)
            for at in range(count)
        ]
        words = labels(comparison_figure(make_comparison(*crowd), LIGHT), 1320)
        named, numbered = (sum(map(text, words)) for text in (lambda word: word[:1] == "m", str.isdecimal))
        assert (named > 0) == (count <= MAX_NAMED_POINTS)
        assert (numbered > 0) == (MAX_NAMED_POINTS < count <= MAX_NUMBERED_POINTS)
    assert f"{count} of {count} unlabelled: hover for names" in words


@pytest.mark.parametrize("seed", range(2))
def test_declared_missing_values_are_missing_and_their_text_stays_inside(seed: int) -> None:
    """The words take room themselves, so that a number may be missing for them alone."""
    draw, crowd = np.random.default_rng(seed), []
    for at in range(60):
        spot = draw.uniform(0.4, 0.6), draw.uniform(0.1, 0.3)
        crowd.append(make_point(f"a rather long name {at}", *spot, half=None))
    figure = comparison_figure(make_comparison(*crowd), LIGHT)
    for width in NAME_SET_WIDTHS:
        words = labels(figure, width)
        numbered = sum(word.isdecimal() for word in words)
        if numbered:
            lost = 60 - numbered
            assert (f"{lost} of 60 unlabelled: hover for names" if lost else NUMBERS_NOTE) in words, width
    assert text_width("150 of 150 unlabelled: hover for names", 12) + 8 < NAME_SET_WIDTHS[0] - 70


def test_a_point_label_does_not_cover_a_curve_label() -> None:
    draw, crowd = np.random.default_rng(6), []
    for at in range(40):
        right = min(0.95, max(0.08, 0.2 + 0.7 * at / 39 + draw.normal(0, 0.05)))
        brier = right * (1 - right) + 0.03 + draw.random() * 0.05
        crowd.append(make_point(f"model-{at:02d}-with-a-name", right, brier, half=0.06))
    figure = comparison_figure(make_comparison(*crowd), LIGHT)
    heights = {
        words: y
        for trace in figure["data"]
        if trace.get("xaxis") == "x300" and trace["mode"] == "text"
        for words, y in zip(trace["text"], trace["y"], strict=True)
    }
    (told,) = [y for words, y in heights.items() if words == NUMBERS_NOTE]
    low, high = figure["layout"]["yaxis"]["range"]
    for words in (CONSTANT_CONFIDENCE_LABEL, FULL_CONFIDENCE_LABEL):
        assert abs(heights[words] - told) / (high - low) * 400 > 10, words


def test_sizes_of_one_model_are_joined_in_order() -> None:
    result = make_comparison(GREEN, RED, families=(("red:given", "green:given"),))
    figure = comparison_figure(result, LIGHT)
    (line,) = [trace for trace in figure["data"] if "family" in trace.get("meta", {})]
    assert (line["x"], line["y"]) == ([0.5, 0.8], [0.2, 0.1])
    assert "lines: one model family by size" in [trace.get("name") for trace in figure["data"]]
    alone = comparison_figure(make_comparison(GREEN, RED), LIGHT)
    assert "lines: one model family by size" not in [trace.get("name") for trace in alone["data"]]


def test_the_chosen_point_has_a_ring() -> None:
    def rings(selected: str | None) -> list[tuple[Any, Any]]:
        figure = comparison_figure(make_comparison(RED, GREEN), LIGHT, selected=selected)
        return [
            (t["x"], t["y"]) for t in figure["data"] if t.get("marker", {}).get("symbol") == "circle-open"
        ]

    assert (rings("green:given"), rings("nobody"), rings(None)) == ([([0.8], [0.1])], [], [])


def test_a_name_with_markup_is_drawn_as_text() -> None:
    hostile = make_point('<a href="https://x.test">x</a>', 0.5, 0.2)
    drawn = comparison_figure(make_comparison(hostile), LIGHT)["data"]
    for trace in drawn:
        trace.pop("customdata", None)  # never drawn
    assert "<a" not in json.dumps(drawn)


def test_without_a_point_it_says_so() -> None:
    figure = comparison_figure(make_comparison(), LIGHT)
    (words,) = figure["layout"]["annotations"]
    assert words["text"] == "No run has both numbers."
    go.Figure(figure)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_plotly_knows_every_key(theme: Theme) -> None:
    result = make_comparison(RED, GREEN, OTHER, families=(("red:given", "green:given"),))
    figure = comparison_figure(result, theme, selected="red:given")
    go.Figure(figure)
    json.dumps(figure, allow_nan=False)


def test_the_sentence_has_the_main_numbers() -> None:
    assert describe_comparison(make_comparison(RED)) == (
        "Brier score against accuracy, 1 point. red by confidence in the file: Accuracy 50.0 % (48.0 % "
        "to 52.0 %), Brier score 0.2000 (0.1800 to 0.2200)."
    )
    many = [make_point(f"m{at}", 0.5, 0.2) for at in range(10)]
    assert describe_comparison(make_comparison(*many)).endswith("; and 2 more.")
