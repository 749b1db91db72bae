"""Each threshold answers exactly the rows that reach it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core.errors import Unavailable
from calib_core.inference.intervals import wilson_interval
from calib_core.methods.method import MethodOptions
from calib_core.results.abstention import AbstentionCurve, abstention_curve
from calib_core.results.evidence import gather_evidence
from calib_core.results.score import score
from core.run_builders import choice_evidence, given_evidence, make_answer_run
from core.token_run_builders import dense_evidence, random_rows

PAIRS = st.lists(st.tuples(st.integers(0, 16), st.booleans()), min_size=1, max_size=40)


def curve_of(pairs: list[tuple[int, bool]]) -> AbstentionCurve:
    """Confidences in sixteenths."""
    return abstention_curve(given_evidence([c / 16 for c, _ in pairs], [right for _, right in pairs]))


def count_answered(pairs: list[tuple[int, bool]], least: int) -> tuple[int, int]:
    """Number of rows at or above so many sixteenths, and of right ones among them."""
    reached = [right for c, right in pairs if c >= least]
    return len(reached), sum(reached)


@given(PAIRS)
def test_each_step_is_what_counting_gives(pairs: list[tuple[int, bool]]) -> None:
    curve = curve_of(pairs)
    distinct = sorted({c for c, _ in pairs}, reverse=True)
    assert (curve.threshold * 16).tolist() == distinct
    for at, least in enumerate(distinct):
        assert (curve.n_answered[at], curve.n_correct[at]) == count_answered(pairs, least)
    assert curve.coverage[-1] == 1
    low, high = wilson_interval(curve.n_correct, curve.n_answered)
    assert curve.accuracy_interval[0].tolist() == low.tolist()
    assert curve.accuracy_interval[1].tolist() == high.tolist()


@given(PAIRS)
def test_the_area_is_the_mean_of_the_share_wrong_among_those_as_sure(pairs: list[tuple[int, bool]]) -> None:
    total = Fraction(0)
    for c, _ in pairs:
        answered, right = count_answered(pairs, c)
        total += Fraction(answered - right, answered)
    assert curve_of(pairs).aurc == pytest.approx(float(total / len(pairs)), abs=1e-12)


@given(PAIRS, st.integers(0, 16))
def test_a_target_accuracy_answers_as_many_rows_as_possible(
    pairs: list[tuple[int, bool]], sixteenths: int
) -> None:
    wanted, found = Fraction(sixteenths, 16), curve_of(pairs).for_accuracy(sixteenths / 16)
    sizes = [count_answered(pairs, c) for c, _ in pairs]
    enough = [answered for answered, right in sizes if right >= wanted * answered]
    assert (found.n_answered if found else 0) == max(enough, default=0)
    if found:
        assert curve_of(pairs).at_threshold(found.threshold).n_answered == found.n_answered
        assert found.low is not None
        assert found.accuracy is not None
        assert found.low <= found.accuracy


def test_the_steps_of_a_small_file() -> None:
    curve = curve_of([(16, True), (16, True), (8, False), (8, True), (2, False)])
    assert curve.n_answered.tolist() == [2, 4, 5]
    assert curve.accuracy.tolist() == [1, 0.75, 0.6]
    assert curve.aurc == pytest.approx((0 + 0 + 0.25 + 0.25 + 0.4) / 5)
    assert (curve.answering_all.n_answered, curve.answering_all.coverage, curve.answering_all.accuracy) == (
        5,
        1,
        0.6,
    )
    found = curve.for_accuracy(0.75)
    assert found is not None
    assert (found.threshold, found.n_answered, found.coverage) == (0.5, 4, 0.8)
    assert (curve.n_used, curve.n_total, curve.judged) == (5, 5, "greedy answer")
    assert curve.recipe == "answered when confidence ≥ t, as given, n=5/5"


def test_an_accuracy_that_rounding_alone_would_miss_is_reached() -> None:
    assert 0.07 * 100 > 7
    found = abstention_curve(given_evidence([0.9] * 100, [1] * 7 + [0] * 93)).for_accuracy(0.07)
    assert found is not None
    assert found.n_answered == 100


def test_an_accuracy_that_is_never_reached_is_told_from_one_that_is() -> None:
    curve = curve_of([(16, False), (8, True), (8, True), (2, False)])
    assert curve.for_accuracy(0.7) is None
    assert curve.most_accurate.accuracy == pytest.approx(2 / 3)
    assert curve.most_accurate.n_answered == 3
    found = curve.for_accuracy(2 / 3)
    assert found is not None
    assert found.n_answered == 3


def test_the_best_of_equals_answers_most() -> None:
    assert curve_of([(16, True), (8, True), (2, False)]).most_accurate.n_answered == 2


def test_no_row_reaches_a_threshold_above_all() -> None:
    found = curve_of([(8, True)]).at_threshold(0.6)
    assert (found.n_answered, found.coverage, found.accuracy, found.low) == (0, 0, None, None)
    assert curve_of([(8, True)]).at_threshold(0.5).n_answered == 1
    assert curve_of([(0, True), (8, True)]).at_threshold(0).n_answered == 2


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_stored_seven_tenths_reaches_a_typed_one(dtype: type[np.floating]) -> None:
    confidence = np.array([0.7, 0.65, 0.9], dtype)
    curve = abstention_curve(given_evidence(confidence, [1, 0, 1]))
    assert curve.at_threshold(0.7).n_answered == 2
    found = curve.for_accuracy(1)
    assert found is not None
    assert (found.threshold, found.n_answered) == (0.7, 2)


def test_a_threshold_is_written_with_the_fewest_digits_that_identify_it() -> None:
    curve = abstention_curve(given_evidence([0.9785488, 0.9785412, 0.5], [1, 1, 0]))
    assert [curve.at_step(at).threshold for at in range(3)] == [0.978548, 0.9785, 0.5]
    near = abstention_curve(given_evidence([0.123456789, 0.123456788], [1, 0]))
    assert near.at_threshold(near.at_step(0).threshold).n_answered == 1
    assert near.at_step(0).threshold == 0.123456789


def test_computed_confidences_that_agree_to_twelve_decimals_are_one() -> None:
    probs = [[0.1 + 0.2, 0.7], [0.7000000000000001, 0.3]]
    assert abstention_curve(choice_evidence(probs, [1, 0])).n_answered.size <= 2


def test_it_is_of_the_top_label_whatever_is_pooled() -> None:
    probs, gold = [[0.7, 0.2, 0.1], [0.4, 0.5, 0.1]], [0, 0]
    every = abstention_curve(choice_evidence(probs, gold, MethodOptions(labels="all")))
    assert (
        every.n_answered.tolist()
        == abstention_curve(choice_evidence(probs, gold)).n_answered.tolist()
        == [1, 2]
    )


def test_auroc_is_that_of_the_score() -> None:
    evidence = given_evidence([0.9, 0.8, 0.4, 0.3], [1, 0, 1, 0])
    assert abstention_curve(evidence).auroc == score(evidence, "auroc").value
    assert abstention_curve(given_evidence([0.9], [1])).auroc is None


def test_rows_without_a_confidence_are_counted_and_not_answered() -> None:
    curve = abstention_curve(given_evidence([0.9, None, 0.4], [1, 1, None]))
    assert (curve.n_used, curve.n_total, curve.n_answered.tolist()) == (1, 3, [1])


def test_token_level_sums_are_refused() -> None:
    with pytest.raises(Unavailable, match="token-level runs keep sums only"):
        abstention_curve(dense_evidence(*random_rows(50, 6, seed=4)))


def test_the_frame_has_every_step() -> None:
    frame = curve_of([(16, True), (8, False), (8, True)]).to_frame()
    assert frame["threshold"].to_list() == [1, 0.5]
    assert frame["answered"].to_list() == [1, 3]
    assert frame["share"].to_list() == pytest.approx([1 / 3, 1])
    assert {"run", "method", "accuracy", "accuracy_low", "accuracy_high", "recipe"} < set(frame.columns)


def test_a_million_rows_are_exact() -> None:
    random = np.random.default_rng(1)
    confidence = random.random(1_000_000)
    correct = random.random(1_000_000) < confidence
    run = make_answer_run({"confidence": confidence, "correct": correct})
    curve = abstention_curve(gather_evidence(run, "given"))
    reached = confidence >= 0.75
    found = curve.at_threshold(0.75)
    assert (found.n_answered, found.n_correct) == (reached.sum(), (correct & reached).sum())
    assert curve.n_answered.size > 990_000
