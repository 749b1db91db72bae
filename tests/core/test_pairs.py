"""The right pairs are pooled: the top label's, or every label's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from calib_core.pairs import Distribution, Pairs
from core.edge_cases import any_rows, class_sums_of, distribution_of
from core.oracle import Row, all_pairs


def small_distribution(dtype: str = "f8") -> Distribution:
    """Three rows of three, two and one choices."""
    return Distribution(
        probs=np.array([0.25, 0.375, 0.375, 0.5, 0.5, 1.0], dtype),
        sizes=np.array([3, 2, 1], np.int64),
        target=np.array([1, 1, 0], np.int64),
        rows=np.array([4, 7, 9]),
        computed=True,
        normalised=True,
    )


def empty_distribution() -> Distribution:
    """No row at all."""
    nothing = np.zeros(0, np.int64)
    return Distribution(np.zeros(0), nothing, nothing, np.zeros(0, np.intp), computed=False, normalised=True)


def test_rows_of_differing_length_lie_end_to_end() -> None:
    distribution = small_distribution()
    assert (distribution.n, distribution.n_classes) == (3, 3)
    assert distribution.row_starts.tolist() == [0, 3, 5]
    assert distribution.class_index.tolist() == [0, 1, 2, 0, 1, 0]
    assert distribution.is_correct.tolist() == [False, True, False, False, True, True]


def test_the_top_label_is_the_first_of_equal_maxima() -> None:
    top = small_distribution().top_label_pairs()
    assert small_distribution().top_index.tolist() == [1, 0, 0]
    assert top.confidence.tolist() == [0.375, 0.5, 1.0]
    assert top.correct.tolist() == [True, False, True]
    assert top.rows.tolist() == [4, 7, 9]
    assert top.computed


def test_every_label_gives_one_pair_per_choice() -> None:
    pairs = small_distribution().all_label_pairs()
    assert pairs.n == 6
    assert pairs.rows.tolist() == [4, 4, 4, 7, 7, 9]
    assert pairs.correct.tolist() == [False, True, False, False, True, True]
    assert pairs.sums().n_rows == 6


def test_sums_are_kept_by_class_and_know_their_rows() -> None:
    sums = small_distribution().sums()
    assert (sums.n_rows, sums.n_groups, sums.n_pairs, sums.computed) == (3, 3, 6, True)
    assert sums.group.tolist() == [0, 0, 0, 1, 1, 2]
    assert sums.value.tolist() == [0.25, 0.5, 1.0, 0.375, 0.5, 0.375]
    assert sums.correct.tolist() == [0, 0, 1, 1, 1, 0]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_the_stored_dtype_is_kept(dtype: str) -> None:
    distribution = small_distribution(dtype)
    assert distribution.top_label_pairs().confidence.dtype == np.dtype(dtype)
    assert distribution.all_label_pairs().confidence.dtype == np.dtype(dtype)
    assert set(distribution.sums().itemsize.tolist()) == {np.dtype(dtype).itemsize}


@given(any_rows())
def test_the_top_label_is_what_a_loop_over_the_rows_finds(rows: list[Row]) -> None:
    top = distribution_of(rows).top_label_pairs()
    assert top.confidence.tolist() == [max(row.probs) for row in rows]
    assert top.correct.tolist() == [row.probs.index(max(row.probs)) == row.label for row in rows]


@given(any_rows())
def test_sums_by_class_hold_every_pair_once(rows: list[Row]) -> None:
    sums = class_sums_of(rows)
    pairs = all_pairs(rows)
    assert sums.n_rows == len(rows)
    assert sums.n_pairs == len(pairs)
    assert int(sums.correct.sum()) == len(rows)  # one right class a row
    pooled = sums.pooled()
    keys = sorted({(pair.width, pair.confidence) for pair in pairs})
    assert list(zip(pooled.itemsize.tolist(), pooled.value.tolist(), strict=True)) == keys


def test_no_rows_give_no_pairs() -> None:
    distribution = empty_distribution()
    assert (distribution.n, distribution.n_classes) == (0, 0)
    assert distribution.max_prob.size == distribution.top_index.size == 0
    assert (
        distribution.top_label_pairs().n
        == distribution.all_label_pairs().n
        == distribution.sums().n_pairs
        == 0
    )
    assert distribution.sums().n_groups == 1


def test_sums_of_pairs_say_whether_the_confidence_was_computed() -> None:
    pairs = Pairs(np.array([0.5, 0.5 + 1e-14]), np.array([True, False]), np.arange(2), computed=True)
    assert pairs.n == 2
    assert pairs.sums().natural_bins().n_bins == 1


def test_pairs_of_all_rows_need_no_list_of_rows() -> None:
    every = Pairs(np.array([0.5, 0.7, 0.9]), np.array([True, False, True]), None, computed=False)
    listed = Pairs(every.confidence, every.correct, np.arange(3), computed=False)
    for pairs in (every, listed):
        assert pairs.rows.tolist() == [0, 1, 2]
        assert pairs.take(np.array([2, 0])).rows.tolist() == [2, 0]
