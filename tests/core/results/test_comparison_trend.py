"""The trend sentence claims only what ρ, p and the intervals allow."""

from __future__ import annotations

from dataclasses import replace

import pytest

from calib_core.inference.paired_test import PairedTest
from calib_core.results.comparison import ComparisonPoint, MetricEstimate, Trend, comparison_trend
from calib_core.runs import RunInfo
from core.comparison_runs import paired_by_hand

XY = ("accuracy", "brier")


def make_point(
    name: str, x: float, y: float, *, half: float | None = 0.01, metrics: tuple[str, str] = XY
) -> ComparisonPoint:
    def one(metric: str, value: float) -> MetricEstimate:
        if half is None:
            return MetricEstimate(metric, value)
        return MetricEstimate(metric, value, value - half, value + half, "95 %")

    return ComparisonPoint(
        key=name,
        run=f"{name} in full",
        name=name,
        method="given",
        x=one(metrics[0], x),
        y=one(metrics[1], y),
        accuracy=one("accuracy", x),
        accuracy_of_all=one("accuracy", x),
        brier=one("brier", y),
        brier_skill=None,
        ece_10=0.1,
        n_used=100,
        n_total=100,
        judged="greedy answer",
        recipe="Brier",
        missing=None,
    )


def change_of(value: float, half: float) -> PairedTest:
    return PairedTest(value, value - half, value + half, 0.5, 100, 100)


def trend(
    *points: ComparisonPoint,
    models: dict[str, str] | None = None,
    xy: tuple[str, str] = XY,
    change: PairedTest | None = None,
) -> Trend:
    """The trend; `change`: the test of the last point's Brier score minus the first one's."""
    infos = {point.key: RunInfo(model=(models or {}).get(point.key, point.key)) for point in points}
    keys = [point.key for point in points]
    paired = paired_by_hand(keys, {} if change is None else {(keys[-1], keys[0]): change})
    return comparison_trend(*xy, points, infos, paired)


SIX = [make_point(f"m{at}", 0.3 + 0.1 * at, 0.25 - 0.03 * at) for at in range(6)]


def test_six_in_perfect_order_are_more_than_chance() -> None:
    found = trend(*SIX, change=change_of(-0.15, 0.014))
    assert found.correlation is not None
    assert (found.correlation.rho, found.n_models, found.n_points) == (-1, 6, 6)
    assert found.headline == (
        "Brier score falls as accuracy rises: ρ = −1.00 over 6 models (95 % interval −1.00 to "
        f"−{abs(found.correlation.high):.2f}, p = 0.003). Between the least accurate run (m0, 30.0 %) and "
        "the most accurate (m5, 80.0 %) the Brier score falls, −0.150 (95 % interval −0.164 to −0.136 on "
        "100 common questions); a(1−a) alone would lower the score by 0.050."
    )


def test_four_in_perfect_order_are_not() -> None:
    found = trend(*SIX[:4])
    assert found.headline.startswith("No clear relation between Brier score and accuracy: ρ = −1.00")
    assert found.correlation is not None
    assert found.correlation.n_points == 4


@pytest.mark.parametrize(
    ("count", "message"), [(1, "1 model; at least 3 are needed"), (2, "2 models; at least 3 are needed")]
)
def test_one_or_two_models_have_no_trend_and_a_reason(count: int, message: str) -> None:
    found = trend(*SIX[:count])
    assert found.correlation is None
    assert found.no_correlation_reason == message
    assert found.headline.startswith(f"No rank correlation: {message}.")
    assert (found.change is None) == (count == 1)


def test_runs_of_one_model_are_counted_as_such() -> None:
    one = dict.fromkeys((point.key for point in SIX), "red")
    assert trend(*SIX, models=one).no_correlation_reason == "1 model; at least 3 are needed"
    assert trend(*SIX, models=one).change is None
    two = {"m0": "red", "m1": "red"}
    found = trend(*SIX, models=two)
    assert found.headline.startswith(
        "Brier score against accuracy: ρ = −1.00 over 6 runs of 5 models; the runs are not independent, so "
        "there is no interval or p-value. Between the least accurate run"
    )


def test_the_change_is_between_the_ends_on_their_common_questions() -> None:
    test = change_of(-0.14, 0.02)
    change = trend(*SIX, change=test).change
    assert change is not None
    assert (change.least_accurate, change.most_accurate) == ("m0", "m5")
    assert (change.brier_change, change.on_common_questions) == (-0.14, test)
    assert change.constant_brier_change == pytest.approx(0.8 * 0.2 - 0.3 * 0.7)
    turned = trend(*reversed(SIX), change=change_of(0.14, 0.02)).change
    assert turned is not None
    assert turned.on_common_questions == replace(test, p=0.5)


def test_a_change_within_its_interval_counts_as_none() -> None:
    wide = [make_point("a", 0.3, 0.2), make_point("b", 0.5, 0.15)]
    assert trend(*wide, change=change_of(-0.05, 0.141)).headline.endswith(
        "the Brier score does not change clearly: −0.050 (95 % interval −0.191 to +0.091 on 100 common "
        "questions); a(1−a) alone would raise the score by 0.040."
    )


def test_the_sentence_says_where_a_constant_would_change_nothing() -> None:
    mirrored = [make_point("a", 0.4, 0.2), make_point("b", 0.6, 0.2)]
    assert trend(*mirrored).headline.endswith("; a(1−a) alone would leave the score unchanged.")


def test_there_is_no_change_for_a_shared_end_or_a_single_model() -> None:
    level = [make_point("a", 0.3, 0.2), make_point("b", 0.3, 0.1), make_point("c", 0.5, 0.1)]
    assert trend(*level).change is None
    why = "2 points share the lowest accuracy"
    assert trend(*level).no_change_reason == why
    assert trend(*level).headline.endswith(f" The least and the most accurate run are not compared: {why}.")
    assert "Between" not in trend(*level).headline
    above = [make_point("a", 0.1, 0.2), *(make_point(name, 0.5, 0.1) for name in "bcd")]
    assert trend(*above).no_change_reason == "3 points share the highest accuracy"
    alike = [make_point("a", 0.3, 0.2), make_point("b", 0.3, 0.1)]
    assert trend(*alike).no_change_reason == "all points have the same accuracy"
    assert trend(*SIX).no_change_reason is None
    assert (
        trend(*SIX, models=dict.fromkeys((point.key for point in SIX), "red")).no_change_reason == "1 model"
    )


def test_without_common_questions_nothing_is_said_of_chance() -> None:
    apart = [make_point("a", 0.3, 0.2), make_point("b", 0.5, 0.3)]
    assert trend(*apart).headline.endswith(
        "the Brier score differs by +0.100; the two runs share too few questions for a test; a(1−a) alone "
        "would raise the score by 0.040."
    )


def test_for_other_metrics_only_the_ranks_are_described() -> None:
    xy = ("ece", "auroc")
    points = [make_point(f"m{at}", 0.1 * at, 0.1 * at, metrics=xy) for at in range(6)]
    assert trend(*points, xy=xy).change is None
    assert trend(*points, xy=xy).headline.startswith("AUROC rises as ECE rises: ρ = +1.00 over 6 models")
    assert trend(*SIX, xy=("brier", "brier")).no_correlation_reason == "both axes show the same metric"


def test_values_that_do_not_vary_cannot_be_ranked() -> None:
    flat = [make_point(f"m{at}", 0.3 + 0.1 * at, 0.2) for at in range(4)]
    assert trend(*flat).headline.startswith("No rank correlation: all 4 points have the same value on one")
