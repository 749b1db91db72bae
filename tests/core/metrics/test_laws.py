"""Mathematical laws of the metrics, and counterexamples to what is no law."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.metrics import METRICS
from core.edge_cases import (
    MAX_PAIRS,
    TOLERANCE,
    any_rows,
    class_sums_of,
    distribution_of,
    probability_excess,
    rounded_rows,
    some_pairs,
    sums_of,
    whole_rows,
)
from core.oracle import OF_PAIRS, OF_ROWS, Pair, Row

SEVEN = (5, 10, 20, 50, 100, 200, 500)
nesting = st.tuples(st.integers(1, 100), st.integers(1, 10))
orders = st.permutations(range(MAX_PAIRS))
schemes = st.builds(Scheme, st.sampled_from(("width", "mass", "natural")), st.integers(1, 1000))


Item = TypeVar("Item", Pair, Row)


def in_order(items: Sequence[Item], order: Sequence[int]) -> list[Item]:
    """The same items in another order."""
    return [items[at] for at in order if at < len(items)]


def number(metric_id: str, sums: BinSums, bins: int = 10) -> float:
    """The metric's value, which is there."""
    return defined(metric_id, sums, Scheme("width", bins))


def defined(metric_id: str, sums: BinSums, scheme: Scheme) -> float:
    """The metric's value, which is there."""
    value = METRICS[metric_id].compute(sums, scheme)
    assert value is not None
    return value


def all_numbers(sums: BinSums, ids: Iterable[str], bins: int) -> list[float | None]:
    """Every metric of one need."""
    return [METRICS[metric_id].compute(sums, Scheme("width", bins)) for metric_id in ids]


def mean(values: list[Fraction]) -> float:
    """The mean of exact numbers."""
    return float(sum(values, Fraction(0)) / len(values))


# --- order and parts


@given(some_pairs(), st.integers(1, 1000), orders)
def test_order_of_pairs_changes_nothing(pairs: list[Pair], bins: int, order: list[int]) -> None:
    one, other = sums_of(pairs), sums_of(in_order(pairs, order))
    assert all_numbers(one, OF_PAIRS, bins) == all_numbers(other, OF_PAIRS, bins)


@given(any_rows(), st.integers(1, 1000), orders)
def test_order_of_rows_changes_nothing(rows: list[Row], bins: int, order: list[int]) -> None:
    one, other = class_sums_of(rows), class_sums_of(in_order(rows, order))
    assert all_numbers(one, OF_ROWS, bins) == all_numbers(other, OF_ROWS, bins)


@given(some_pairs(), some_pairs(), st.integers(1, 1000))
def test_merged_pairs_are_the_whole(one: list[Pair], other: list[Pair], bins: int) -> None:
    whole = all_numbers(sums_of(one + other), OF_PAIRS, bins)
    assert all_numbers(sums_of(one).merge(sums_of(other)), OF_PAIRS, bins) == whole
    assert all_numbers(sums_of(other).merge(sums_of(one)), OF_PAIRS, bins) == whole


@given(any_rows(), any_rows(), st.integers(1, 1000))
def test_merged_rows_are_the_whole(one: list[Row], other: list[Row], bins: int) -> None:
    whole = all_numbers(class_sums_of(one + other), OF_ROWS, bins)
    assert all_numbers(class_sums_of(one).merge(class_sums_of(other)), OF_ROWS, bins) == whole
    assert all_numbers(class_sums_of(other).merge(class_sums_of(one)), OF_ROWS, bins) == whole


# --- one confidence a row


@given(some_pairs(), nesting)
def test_finer_nested_bins_never_lower_ece(pairs: list[Pair], nested: tuple[int, int]) -> None:
    bins, factor = nested
    sums = sums_of(pairs)
    assert number("ece", sums, bins) <= number("ece", sums, bins * factor) + TOLERANCE


@given(some_pairs(), schemes)
def test_ece_lies_between_bias_and_mce(pairs: list[Pair], scheme: Scheme) -> None:
    sums = sums_of(pairs)
    ece = defined("ece", sums, scheme)
    assert abs(defined("bias", sums, scheme)) <= ece + TOLERANCE
    assert ece <= defined("mce", sums, scheme) + TOLERANCE <= 1 + TOLERANCE


@given(some_pairs(), schemes)
def test_ece_squared_is_at_most_brier(pairs: list[Pair], scheme: Scheme) -> None:
    sums = sums_of(pairs)
    assert defined("ece", sums, scheme) ** 2 <= defined("brier", sums, scheme) + TOLERANCE


@given(some_pairs())
def test_one_bin_gives_the_size_of_the_bias(pairs: list[Pair]) -> None:
    sums = sums_of(pairs)
    assert number("ece", sums, 1) == pytest.approx(abs(number("bias", sums)), rel=0, abs=TOLERANCE)


# --- every class


@given(any_rows(), nesting)
def test_finer_nested_bins_never_lower_the_metrics_of_all_classes(
    rows: list[Row], nested: tuple[int, int]
) -> None:
    bins, factor = nested
    sums = class_sums_of(rows)
    for metric_id in ("full_ece", "full_ece_mass", "cw_ece", "cw_ece_sum"):
        assert number(metric_id, sums, bins) <= number(metric_id, sums, bins * factor) + TOLERANCE


@given(st.one_of(whole_rows(), whole_rows(ragged=True)), st.integers(1, 1000))
def test_full_ece_then_classwise_then_twice_the_missing_mass(rows: list[Row], bins: int) -> None:
    sums = class_sums_of(rows)
    classwise = number("cw_ece_sum", sums, bins)
    assert number("full_ece", sums, bins) <= classwise + TOLERANCE
    assert classwise <= mean([2 * (1 - Fraction(row.probs[row.label])) for row in rows]) + TOLERANCE


@given(any_rows(), st.integers(1, 1000))
def test_rows_off_by_epsilon_keep_the_chain_with_their_own_mass(rows: list[Row], bins: int) -> None:
    sums = class_sums_of(rows)
    most = mean([2 + probability_excess(row) - 2 * Fraction(row.probs[row.label]) for row in rows])
    classwise = number("cw_ece_sum", sums, bins)
    assert number("full_ece", sums, bins) <= classwise + TOLERANCE <= most + 2 * TOLERANCE


@given(any_rows(), st.integers(1, 1000))
def test_the_summed_classwise_ece_is_k_times_the_mean_one(rows: list[Row], bins: int) -> None:
    sums = class_sums_of(rows)
    summed = number("cw_ece_sum", sums, bins)
    assert summed == pytest.approx(sums.n_groups * number("cw_ece", sums, bins), rel=0, abs=TOLERANCE)


@given(st.one_of(whole_rows(), whole_rows(ragged=True)))
def test_full_ece_of_one_bin_is_nothing(rows: list[Row]) -> None:
    assert number("full_ece", class_sums_of(rows), 1) <= TOLERANCE


@given(rounded_rows())
def test_full_ece_of_one_bin_is_at_most_the_mean_epsilon(rows: list[Row]) -> None:
    most = mean([abs(probability_excess(row)) for row in rows])
    assert number("full_ece", class_sums_of(rows), 1) <= most + TOLERANCE


@given(any_rows(), st.integers(1, 1000))
def test_signed_bin_sums_add_to_minus_the_mean_epsilon(rows: list[Row], bins: int) -> None:
    """Which is 0 for rows that add to 1."""
    binned = class_sums_of(rows).pooled().binned(Scheme("width", bins))
    signed = float((binned.correct - binned.confidence).sum()) / len(rows)
    assert signed == pytest.approx(-mean([probability_excess(row) for row in rows]), rel=0, abs=TOLERANCE)


@given(any_rows(), st.integers(1, 1000))
def test_mass_weighted_full_ece_is_at_most_the_mean_mass(rows: list[Row], bins: int) -> None:
    """Which is 1 for rows that add to 1."""
    most = mean([1 + probability_excess(row) for row in rows])
    assert number("full_ece_mass", class_sums_of(rows), bins) <= most + TOLERANCE


@given(st.one_of(whole_rows(), rounded_rows()), st.integers(1, 1000))
def test_ece_of_all_labels_is_full_ece_over_k(rows: list[Row], bins: int) -> None:
    sums = class_sums_of(rows)
    all_labels = number("ece", sums.pooled(), bins)
    full = number("full_ece", sums, bins)
    assert all_labels == pytest.approx(full / len(rows[0].probs), rel=0, abs=TOLERANCE)


@given(st.one_of(whole_rows(), rounded_rows()), st.integers(1, 1000))
def test_all_labels_by_way_of_pairs_are_those_by_way_of_classes(rows: list[Row], bins: int) -> None:
    narrow = [Row(row.probs, 8, row.label) for row in rows]
    by_pairs = distribution_of(narrow).all_label_pairs().sums()
    assert number("ece", by_pairs, bins) == number("ece", class_sums_of(narrow).pooled(), bins)


@given(any_rows())
def test_two_brier_scores_agree_on_what_they_sum(rows: list[Row]) -> None:
    sums = class_sums_of(rows)
    total = number("brier", sums.pooled()) * sums.n_pairs
    assert total == pytest.approx(number("brier_multi", sums) * sums.n_rows, rel=0, abs=TOLERANCE)


# --- what is no law


def test_ece_may_fall_when_m_grows() -> None:
    sums = BinSums.from_pairs([0.5, 0.625], [0, 1])
    assert number("ece", sums, 2) > number("ece", sums, 3) + 0.1


def test_full_ece_may_pass_one() -> None:
    assert number("full_ece", class_sums_of([Row((1.0, 0.0), 8, 1)])) == 2.0


def test_full_ece_need_not_be_steadier_than_classwise_ece() -> None:
    """RSD over the paper's seven M: population standard deviation over mean."""

    def rsd(metric_id: str, sums: BinSums) -> float:
        values = [number(metric_id, sums, bins) for bins in SEVEN]
        return float(np.std(values) / np.mean(values))

    sums = class_sums_of([Row((0.5625, 0.4375), 8, 0)])  # one bin for both at M = 5, two from M = 10 on
    assert rsd("full_ece", sums) > 0.4 > rsd("cw_ece", sums)
