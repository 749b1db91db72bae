"""Trends on the page Comparison, method by method, and the colours and numbers of its points."""

from __future__ import annotations

from pathlib import Path

import screens
from calib_core.figures.palette import LIGHT, run_style
from calib_core.methods import METHODS
from comparison_files import SIZES, compare_file
from screens import Visit, figure, page_text


def test_ranks_and_the_share_of_a_constant_are_told_method_by_method(models: Path, visit: Visit) -> None:
    text = page_text(visit("comparison"))
    trends = compare_file(models).trends
    assert len(trends) == 2
    for trend in trends:
        assert trend.correlation is not None
        assert trend.change is not None
        assert f"Trend: {METHODS[trend.method].heading}: {trend.headline}" in text


def test_the_trend_of_one_method_is_a_sentence(models: Path, visit: Visit) -> None:
    text = page_text(visit("comparison", methods="given"))
    (trend,) = (trend for trend in compare_file(models).trends if trend.method == "given")
    assert trend.headline in text
    assert "over 3 models" in text
    assert "a(1−a) alone would " in text


def test_points_have_the_number_and_the_colour_that_their_run_has_elsewhere(
    models: Path, visit: Visit
) -> None:
    at = visit("comparison")
    assert screens.table(at, "Brier", "Skill")["No."].to_list() == [1, 1, 2, 2, 3, 3]
    assert models.exists()
    places = {model: place for place, model in enumerate(sorted(SIZES))}
    colours = {
        key: colour
        for trace in figure(at, "comparison")["data"]
        if trace.get("customdata")
        for (key, *_), colour in zip(trace["customdata"], trace["marker"]["color"], strict=True)
    }
    assert colours == {
        f"{model}-quiz:{method}": run_style(place, LIGHT).colour
        for model, place in places.items()
        for method in ("verbal", "given")
    }
