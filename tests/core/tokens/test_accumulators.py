"""Accumulators of token-level sums: by key, by class, pooled and unlisted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from calib_core.tokens import accumulators
from calib_core.tokens.accumulators import (
    PLAIN_LOOPS,
    KeyedCounts,
    PairsByClass,
    SortedPairs,
    SortedSums,
    TabledCounts,
    TabledPairs,
    compiled_loops,
)
from calib_core.tokens.dense import DenseReducer
from calib_core.tokens.grid import GRID_CELLS, GridSums
from core.tokens.distributions import LONG, ODD, SHORT, WIDTHS, language, targets
from core.tokens.test_dense import drawn_counts, reduce_blocks

WAYS_TO_COUNT: dict[str, Callable[[], KeyedCounts]] = {
    "sorted": SortedSums,
    "tabled": lambda: TabledCounts(40, PLAIN_LOOPS),
    "compiled": lambda: TabledCounts(40, compiled_loops()),
}
WAYS_TO_SUM: dict[str, Callable[[int], PairsByClass]] = {
    "sorted": lambda classes: SortedPairs(classes, PLAIN_LOOPS),
    "sorted, compiled": lambda classes: SortedPairs(classes, compiled_loops()),
    "tabled": lambda classes: TabledPairs(classes, PLAIN_LOOPS),
    "tabled, compiled": lambda classes: TabledPairs(classes, compiled_loops()),
}


@pytest.mark.parametrize("waiting", [1, 7, 10_000])
@pytest.mark.parametrize("way", WAYS_TO_COUNT)
def test_keyed_counts(way: str, waiting: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calib_core.tokens.accumulators.MAX_PENDING", waiting)
    key = np.random.default_rng(1).integers(0, 40, 500)
    tally = WAYS_TO_COUNT[way]()
    for begin in range(0, 500, 9):
        tally.add(key[begin : begin + 9])
    found, count = tally.counts()
    assert found.tolist() == np.unique(key).tolist()
    np.testing.assert_array_equal(count, np.bincount(key)[found])


@pytest.mark.parametrize("way", WAYS_TO_COUNT)
def test_keyed_counts_of_nothing(way: str) -> None:
    tally = WAYS_TO_COUNT[way]()
    tally.add(np.zeros(0, np.int64))
    assert [part.size for part in tally.counts()] == [0, 0]


@pytest.mark.parametrize("waiting", [1, 7, 10_000])
@pytest.mark.parametrize("way", WAYS_TO_SUM)
def test_pairs_by_class_and_cell(way: str, waiting: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calib_core.tokens.accumulators.MAX_PENDING", waiting)
    random = np.random.default_rng(1)
    group, cell, prob = random.integers(0, 5, 900), random.choice([0, 0, 7, 2_999], 900), random.random(900)
    pairs = WAYS_TO_SUM[way](6)
    for begin in range(0, 900, 9):
        part = slice(begin, begin + 9)
        pairs.add(group[part], cell[part], prob[part])
    key, count, confidence, first_confidence = pairs.sums()
    all_keys = group * GRID_CELLS + cell
    others = all_keys[cell > 0]
    assert key.tolist() == np.unique(others).tolist()
    np.testing.assert_array_equal(count, np.bincount(others)[key])
    np.testing.assert_allclose(confidence, np.bincount(all_keys, prob)[key], rtol=1e-13)
    first = cell == 0
    np.testing.assert_allclose(first_confidence, np.bincount(group[first], prob[first], 6), rtol=1e-13)


@pytest.mark.parametrize("way", WAYS_TO_SUM)
def test_no_pairs_by_class_and_cell(way: str) -> None:
    pairs = WAYS_TO_SUM[way](2)
    pairs.add(np.zeros(0, np.int64), np.zeros(0, np.intp), np.zeros(0))
    assert [part.tolist() for part in pairs.sums()] == [[], [], [], [0, 0]]


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("classes", [SHORT, LONG, ODD])
def test_sums_by_class_are_those_of_the_good_rows(classes: int, dtype: Any) -> None:
    """Also where a row is bad, or lists no entry but its top label; compiled code has the same last bits."""
    random = np.random.default_rng(4)
    rows = language(random, 12, classes, dtype)
    rows[5], rows[7, 3], rows[9, 0] = dtype(1 / classes), np.nan, dtype(0.9)
    target = targets(random, np.nan_to_num(rows))
    wide = rows.astype(np.float64)
    good = np.abs(wide.sum(axis=1) - 1) <= 1e-3
    assert good.sum() in (9, 10)
    found: list[tuple[GridSums, ...]] = []
    drawn: list[tuple[NDArray[Any], ...]] = []
    for compiled in (False, True):
        reducer = DenseReducer(classes, compiled=compiled)
        for part in (slice(0, 2), slice(2, 12)):
            reducer.add(rows[part], target[part])
        total = reducer.result()
        by_class = total.by_class
        assert by_class is not None
        assert by_class.n_rows == good.sum()
        sums = np.bincount(by_class.group, by_class.confidence, classes)
        np.testing.assert_allclose(sums, wide[good].sum(axis=0), rtol=1e-13, atol=1e-18)
        found.append((by_class, total.all_labels, total.top_label))
        drawn.append(drawn_counts(total))
    for numpy, compiled in zip(*found, strict=True):
        for name in ("group", "cell", "count", "confidence", "squared_confidence", "correct_confidence"):
            assert getattr(numpy, name).tobytes() == getattr(compiled, name).tobytes()
    for numpy, compiled in zip(*drawn, strict=True):
        np.testing.assert_array_equal(numpy, compiled)


def test_pooled_sums_by_hand() -> None:
    reducer = DenseReducer(3, draws=False)
    reducer.add(np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]]), np.array([1, 2]))
    sums = reducer.result()
    assert sums.top_label.cell.tolist() == [1499, 2999]
    assert sums.top_label.correct.tolist() == [0, 0]
    assert sums.all_labels.cell.tolist() == [0, 749, 1499, 2999]
    assert sums.all_labels.count.tolist() == [2, 2, 1, 1]
    assert sums.all_labels.correct.tolist() == [1, 1, 0, 0]
    assert sums.all_labels.confidence.tolist() == [0, 0.5, 0.5, 1]
    assert sums.all_labels.squared_confidence.tolist() == [0, 0.125, 0.25, 1]
    assert sums.all_labels.correct_confidence.tolist() == [0, 0.25, 0, 0]
    assert (sums.all_labels.log_loss_sum, sums.all_labels.n_infinite_losses) == (pytest.approx(np.log(4)), 1)
    assert (sums.top_label.log_loss_sum, sums.occurrences.tolist(), sums.sum_deviation) == (0, [0, 1, 1], 0)


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("classes", [SHORT, LONG, ODD])
def test_classes_add_up_to_all(classes: int, dtype: Any) -> None:
    random = np.random.default_rng(classes)
    values = language(random, 40, classes, dtype)
    target = targets(random, values)
    sums = reduce_blocks(values, target, draws=False)
    assert sums.by_class is not None
    own = sums.by_class
    for name in ("count", "correct", "confidence", "correct_confidence"):
        pooled = np.bincount(own.cell, getattr(own, name), GRID_CELLS)[sums.all_labels.cell]
        np.testing.assert_allclose(pooled, getattr(sums.all_labels, name), rtol=1e-12, atol=1e-15)
    assert np.isnan(own.squared_confidence).all()
    np.testing.assert_array_equal(np.bincount(own.group, own.count, classes), 40)
    np.testing.assert_array_equal(np.bincount(own.group, own.correct, classes), sums.occurrences)
    np.testing.assert_allclose(
        np.bincount(own.group, own.confidence, classes), values.astype(np.float64).sum(axis=0), rtol=1e-12
    )
    key = own.group * np.int64(GRID_CELLS) + own.cell
    assert (np.diff(key) > 0).all()


@pytest.mark.parametrize("largest", [3, 2**40, 2**62])
def test_keys_are_ordered_as_by_a_stable_argsort(largest: int) -> None:
    keys = np.random.default_rng(largest % 97).integers(0, largest, 1_000)
    keys[::7] = largest
    order, in_order = accumulators._stable_order(keys)
    assert order.tolist() == np.argsort(keys, kind="stable").tolist()
    assert in_order.tolist() == sorted(keys.tolist())
