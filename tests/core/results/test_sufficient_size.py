"""The sufficient N' is decided by the interval of the paired difference."""

from __future__ import annotations

import numpy as np
import pytest

from calib_core.results.sampling import (
    METHOD_SYMBOLS,
    BrierDifference,
    SamplingPlan,
    SufficientSize,
    brier_differences,
    sample_size_sweep,
    sufficiency_definition,
    sufficient_size,
    sufficient_size_headline,
)
from core.sampled_runs import METHODS, drawn_parts, exact_squares, make_questions, make_run

NAMES = {"a": "F_CN", "b": "F_CS", "c": "F_PC"}


def difference(low: float, high: float) -> BrierDifference:
    return BrierDifference((low + high) / 2, low, high, 100)


def test_the_gap_is_the_mean_of_paired_squared_errors() -> None:
    questions = make_questions(25, 8, lost=0.4)
    result = sample_size_sweep(make_run(questions), SamplingPlan((2, 3, 4), 4, 2))
    assert result.reference_size == 4
    for method in METHODS:
        own = {size: exact_squares(drawn_parts(questions, size, 4, 2), method) for size in (2, 3, 4)}
        for size in (2, 3):
            apart = np.array(own[size]) - np.array(own[4])
            found = result.brier_differences[method][size]
            assert found.value == pytest.approx(np.nanmean(apart), abs=1e-12)
            assert found.n_questions == np.count_nonzero(~np.isnan(apart))
            assert found.low < found.value < found.high


def test_the_interval_covers_as_often_as_it_says() -> None:
    """Basic bootstrap of a mean of 300: 95 % of 200 intervals, within four standard errors."""
    random = np.random.default_rng(8)
    hits = 0
    for seed in range(200):
        squares = {2: random.normal(0.1, 1, (1, 300)), 4: np.zeros((1, 300))}
        (found,) = brier_differences(squares, (2,), 4, seed)
        hits += found[2].low <= 0.1 <= found[2].high
    assert abs(hits / 200 - 0.95) < 4 * (0.95 * 0.05 / 200) ** 0.5


def test_the_interval_is_as_wide_as_that_of_a_mean() -> None:
    random = np.random.default_rng(3)
    squares = {2: random.normal(0, 1, (8, 2000)), 4: np.zeros((8, 2000))}
    found = brier_differences(squares, (2,), 4, 0)
    widths = [each[2].high - each[2].low for each in found]
    assert np.mean(widths) == pytest.approx(2 * 1.96 / 2000**0.5, rel=0.04)


def test_the_interval_is_reflected() -> None:
    """Of a skewed mean the longer side is where the bootstrap's percentiles are not."""
    random = np.random.default_rng(1)
    (found,) = brier_differences({2: random.exponential(1, (1, 30)) ** 2, 4: np.zeros((1, 30))}, (2,), 4, 0)
    assert found[2].value - found[2].low > found[2].high - found[2].value


def test_questions_without_both_are_left_out() -> None:
    squares = {2: np.array([[0.5, np.nan, 0.1]]), 4: np.array([[0.2, 0.2, np.nan]])}
    (found,) = brier_differences(squares, (2,), 4, 0)
    assert found == {}  # one question only: some draws have not one
    many = {size: np.tile(values, 50) for size, values in squares.items()}
    (found,) = brier_differences(many, (2,), 4, 0)
    assert (found[2].value, found[2].n_questions) == (pytest.approx(0.3), 50)
    one = {2: np.array([[0.5]]), 4: np.array([[0.2]])}
    assert brier_differences(one, (2,), 4, 0) == [
        {}
    ]  # every draw is that question: an interval without width
    assert brier_differences({2: np.full((1, 9), np.nan), 4: np.zeros((1, 9))}, (2,), 4, 0) == [{}]


def test_the_smallest_whose_whole_interval_is_inside() -> None:
    gaps = {4: difference(0.004, 0.006), 8: difference(-0.005, 0.005), 16: difference(-0.001, 0.001)}
    assert sufficient_size("a", gaps, 32, 0.005) == SufficientSize("a", 8, 32, 0.005)
    assert sufficient_size("a", gaps, 32, 0.006).size == 4
    assert sufficient_size("a", gaps, 32, 0.0005).size is None
    assert sufficient_size("a", {4: difference(-0.006, 0.001)}, 32, 0.005).size is None


def test_the_paper_s_kind_of_sentence() -> None:
    near, far = difference(-0.001, 0.001), difference(0.01, 0.02)
    gaps = {"a": {4: far, 8: far}, "b": {4: far, 8: near}, "c": {4: far, 8: near}}
    found = [sufficient_size(method, gaps[method], 16, 0.005) for method in gaps]
    assert sufficient_size_headline(found, gaps, NAMES) == (
        "By the Brier score, 8 samples are enough for F_CS and F_PC; no N' below 16 is enough for F_CN."
    )
    assert sufficiency_definition(found, gaps, NAMES, 1319) == (
        "“Enough” means a Brier score within ±0.005 of that at N' = 16 (paired 95 % interval, 1,319 "
        "questions)."
    )


def test_no_sufficient_size_and_better_smaller_sizes_are_reported() -> None:
    gaps = {"a": {4: difference(-0.03, -0.02)}, "b": {4: difference(-0.03, 0.03)}}
    found = [sufficient_size(method, gaps[method], 8, 0.005) for method in gaps]
    assert sufficient_size_headline(found, gaps, NAMES) == (
        "By the Brier score, F_CN does better with 4 than with 8; no N' below 8 is enough for F_CS."
    )
    definition = sufficiency_definition(found, gaps, NAMES, 10)
    assert definition.endswith(" At N' = 4, the Brier score of F_CN is lower (better).")


def test_fewer_do_better_only_where_the_whole_interval_is_below() -> None:
    gaps = {"a": {4: difference(-0.03, 0.01)}}
    found = [sufficient_size("a", gaps["a"], 8, 0.005)]
    assert (
        sufficient_size_headline(found, gaps, NAMES)
        == "By the Brier score, no N' below 8 is enough for F_CN."
    )
    assert "lower" not in sufficiency_definition(found, gaps, NAMES, 99)


def test_fewer_may_do_better_at_any_size() -> None:
    worse, better = difference(0.01, 0.02), difference(-0.03, -0.02)
    gaps = {"a": {4: worse, 8: better}, "b": {4: better, 8: better}, "c": {4: worse, 8: worse}}
    found = [sufficient_size(method, gaps[method], 16, 0.005) for method in gaps]
    assert sufficient_size_headline(found, gaps, NAMES) == (
        "By the Brier score, F_CS does better with 4 than with 16; F_CN does better with 8 than with 16; "
        "no N' below 16 is "
        "enough for F_PC."
    )
    assert sufficiency_definition(found, gaps, NAMES, 10).endswith(
        "10 questions, too few to be reliable). At N' = 4, the Brier score of F_CS is lower (better). "
        "At N' = 8, the Brier score of F_CN is lower (better)."
    )


def test_what_is_enough_may_do_better_with_fewer_too() -> None:
    gaps = {"a": {4: difference(-0.03, -0.02), 8: difference(-0.001, 0.001)}}
    found = [sufficient_size("a", gaps["a"], 16, 0.005)]
    assert (
        sufficient_size_headline(found, gaps, NAMES) == "By the Brier score, 8 samples are enough for F_CN."
    )
    assert sufficiency_definition(found, gaps, NAMES, 99).endswith(
        "At N' = 4, the Brier score of F_CN is lower (better)."
    )


def test_having_nothing_to_compare_is_reported() -> None:
    assert "more than half" in sufficient_size_headline([], {}, NAMES)
    assert sufficiency_definition([], {}, NAMES, 10) == ""
    assert sufficiency_definition([SufficientSize("a", None, 4, 0.005)], {"a": {}}, NAMES, 10) == ""
    assert sufficient_size_headline([SufficientSize("a", None, 4, 0.005)], {"a": {}}, NAMES) == (
        "Only N' = 4 is at most half of the samples, so there is no smaller N' to compare with it."
    )


def test_another_measure_needs_no_other_draws() -> None:
    result = sample_size_sweep(make_run(make_questions(40, 16)), SamplingPlan((2, 4, 8), 5), tolerance=1e-9)
    assert [each.size for each in result.sufficient_sizes] == [None] * 3
    wide = result.with_tolerance(0.9)
    assert [each.size for each in wide.sufficient_sizes] == [2] * 3
    assert wide.headline == "By the Brier score, 2 samples are enough for F_CN, F_CS and F_PC."
    assert "within ±0.9 of that at N' = 8" in wide.sufficiency_definition
    assert wide.curves is result.curves
    assert wide.to_frame()["enough"][0] == 2


def test_the_headline_says_the_answer_of_each_method() -> None:
    for seed in range(2):
        made = make_run(make_questions(40, 16, seed=seed, lost=0.3))
        result = sample_size_sweep(made, SamplingPlan((2, 4, 8), 10, 0), tolerance=0.01)
        for found in result.sufficient_sizes:
            name = METHOD_SYMBOLS[found.method]
            clauses = [clause for clause in result.headline.rstrip(".").split("; ") if name in clause]
            assert len(clauses) == 1
            assert found.answer_text.casefold() in clauses[0].casefold()


def test_a_better_size_is_the_answer_where_none_is_as_good() -> None:
    better = sufficient_size("a", {4: difference(-0.03, -0.02), 8: difference(0.01, 0.02)}, 16, 0.005)
    assert (better.answer, better.answer_size, better.answer_text) == ("better", 4, "4")
    none = sufficient_size("a", {4: difference(0.01, 0.02)}, 16, 0.005)
    assert (none.answer, none.answer_size, none.answer_text) == ("none", None, "no N' below 16")
    both = sufficient_size("a", {4: difference(-0.03, -0.02), 8: difference(-0.001, 0.001)}, 16, 0.005)
    assert (both.answer, both.answer_text, both.better_size) == ("enough", "8", 4)
