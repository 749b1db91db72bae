"""Outcomes are drawn from each position's own distribution, one class per position."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from calib_core.edges import bin_of
from calib_core.tokens.grid import GRID_CELLS
from calib_core.tokens.null_draws import _draw_entries, compiled_count_draws, count_draws
from calib_core.tokens.sums import N_CLASS_DRAWS, N_DRAWS, NullDraws, TokenSums
from core.tokens.distributions import LONG, WIDTHS, language
from core.tokens.test_dense import reduce_blocks

ROWS, BINS, LOOPS = 120, 10, 600


def null_draws_of(sums: TokenSums) -> NullDraws:
    assert sums.draws is not None
    return sums.draws


def full_ece(outcomes: NDArray[Any], said: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ_b |Y_b − C_b| / T of each draw; outcomes: shape (draws, BINS)."""
    return np.abs(outcomes - said).sum(axis=1) / ROWS


def redraw_in_loop(
    random: np.random.Generator, values: NDArray[Any], *, by_cell: bool
) -> NDArray[np.float64]:
    """Outcomes by bin, shape (LOOPS, BINS), drawn in a loop over rows; by_cell: each pair for itself."""
    outcomes = np.zeros((LOOPS, BINS))
    for row in values:
        index = bin_of(row, BINS)
        probs = row.astype(np.float64) / row.astype(np.float64).sum()
        if by_cell:
            right = random.random((LOOPS, row.size)) < probs
            for at in np.unique(index):
                outcomes[:, at] += right[:, index == at].sum(axis=1)
        else:
            outcomes[np.arange(LOOPS), index[random.choice(row.size, LOOPS, p=probs)]] += 1
    return outcomes


@pytest.fixture(scope="module", params=[(4, np.float64), (4, np.float16), (LONG, np.float16)], ids=str)
def values(request: pytest.FixtureRequest) -> NDArray[Any]:
    """Several classes of a row are in one bin, so what is drawn for one says much about the others."""
    classes, dtype = request.param
    made = language(np.random.default_rng(11), ROWS, classes, np.float64)
    return (made if classes == LONG else 0.15 * made + 0.85 / classes).astype(dtype)


def test_draws_vary_as_rows_drawn_in_a_loop(values: NDArray[Any]) -> None:
    sums = reduce_blocks(values, np.zeros(ROWS, np.int64))
    said = np.zeros(BINS)
    np.add.at(said, bin_of(values.ravel(), BINS), values.ravel().astype(np.float64))
    ours = full_ece(null_draws_of(sums).all_labels.reshape(N_DRAWS, BINS, -1).sum(axis=2), said)
    random = np.random.default_rng(12)
    loop = full_ece(redraw_in_loop(random, values, by_cell=False), said)
    error = loop.std() / N_DRAWS**0.5
    assert abs(ours.mean() - loop.mean()) < 4 * error
    assert abs(ours.std() / loop.std() - 1) < 4 / (2 * N_DRAWS) ** 0.5
    apart = full_ece(redraw_in_loop(random, values, by_cell=True), said)
    assert apart.mean() - loop.mean() > 8 * error


def test_every_draw_is_one_class_per_position(values: NDArray[Any]) -> None:
    sums = reduce_blocks(values, np.zeros(ROWS, np.int64))
    draws = null_draws_of(sums)
    assert draws.all_labels.sum(axis=1).tolist() == [ROWS] * N_DRAWS
    assert (draws.top_label <= draws.all_labels).all()
    assert draws.by_class is not None
    pooled = np.zeros((N_CLASS_DRAWS, GRID_CELLS), np.int64)
    np.add.at(pooled, (draws.by_class[:, 0], draws.by_class[:, 2]), draws.by_class[:, 3])
    np.testing.assert_array_equal(pooled, draws.all_labels[:N_CLASS_DRAWS])
    cells = {(k, cell) for row in values for k, cell in enumerate(bin_of(row, GRID_CELLS).tolist())}
    assert {(k, cell) for _, k, cell, _ in draws.by_class.tolist()} <= cells


@pytest.mark.parametrize("dtype", WIDTHS)
def test_a_class_is_drawn_as_often_as_its_probability(dtype: Any) -> None:
    classes = LONG + 3
    row = np.zeros(classes)
    row[[5, 1030, 1031, classes - 1]] = 0.3, 1e-4, 1e-4, 2e-4  # one is large; three are not
    row[10:30] = 1e-4  # in one group with the large one
    row[2000:3000] = (1 - row.sum()) / 1000
    rows = 4000
    values = np.tile(row.astype(dtype), (rows, 1))
    draws = null_draws_of(reduce_blocks(values, np.zeros(rows, np.int64)))
    assert draws.by_class is not None
    counted = np.bincount(draws.by_class[:, 1], draws.by_class[:, 3], classes)
    expected = values[0].astype(np.float64) / values[0].astype(np.float64).sum() * rows * N_CLASS_DRAWS
    assert (counted[expected == 0] == 0).all()
    parts = ((5, 6), (10, 30), (1030, 1032), (classes - 1, classes), (2000, 2100), (2900, 3000))
    for some in (slice(*part) for part in parts):
        assert abs(counted[some].sum() - expected[some].sum()) < 4.5 * expected[some].sum() ** 0.5
    assert draws.top_label.sum() == draws.all_labels[:, np.flatnonzero(draws.top_label.sum(axis=0))[0]].sum()


def test_the_top_label_is_drawn_though_no_entry_is_large() -> None:
    row = np.full(LONG, 1 / LONG)
    row[7] *= 1.2
    values = np.tile(row / row.sum(), (3000, 1))
    draws = null_draws_of(reduce_blocks(values, np.zeros(3000, np.int64)))
    expected = 3000 * N_DRAWS * row[7] / row.sum()
    assert abs(draws.top_label.sum() - expected) < 4.5 * expected**0.5
    assert draws.by_class is not None
    counted = np.bincount(draws.by_class[:, 1], draws.by_class[:, 3], LONG)
    expected = 3000 * N_CLASS_DRAWS / LONG
    assert abs(counted[1024:2048].sum() - 1024 * expected) < 4.5 * (1024 * expected) ** 0.5
    assert (counted > 0).mean() > 0.99


def test_parts_and_seeds_do_not_share_draws() -> None:
    values = language(np.random.default_rng(3), 200, 2, np.float64)
    other = values[::-1].copy()
    target = np.zeros(200, np.int64)
    one, same = null_draws_of(reduce_blocks(values, target)), null_draws_of(reduce_blocks(values, target))
    np.testing.assert_array_equal(one.all_labels, same.all_labels)
    split = np.stack([values[:, 0], 0.4 * values[:, 1], 0.6 * values[:, 1]], axis=1)
    others = (reduce_blocks(other, target), reduce_blocks(values, 1 - target), reduce_blocks(split, target))
    for another in (*others, reduce_blocks(values, target, seed=1)):
        changed = null_draws_of(another)
        together = np.corrcoef(one.top_label.sum(axis=1), changed.top_label.sum(axis=1))[0, 1]
        assert abs(together) < 0.3
        assert (one.all_labels != changed.all_labels).any()


def test_draws_kept_in_sixteen_bits_are_added_in_more() -> None:
    many = np.full((1, GRID_CELLS), 30_000, np.int16)
    both = (one := NullDraws(0, many, many, None)).merge(one)
    assert (both.top_label == 60_000).all()
    assert (both.all_labels == 60_000).all()


def test_draws_of_parts_are_added_draw_for_draw() -> None:
    values = language(np.random.default_rng(3), 60, 5, np.float32)
    target = np.arange(60) % 5
    one, other = (
        null_draws_of(reduce_blocks(values[:20], target[:20])),
        null_draws_of(reduce_blocks(values[20:], target[20:])),
    )
    both = one.merge(other)
    np.testing.assert_array_equal(both.all_labels, one.all_labels + other.all_labels)
    assert both.by_class is not None
    assert one.by_class is not None
    assert other.by_class is not None
    assert both.by_class[:, 3].sum() == 60 * N_CLASS_DRAWS
    keys = both.by_class[:, :3].tolist()
    assert keys == sorted(keys)
    assert len(set(map(tuple, keys))) == len(keys)
    np.testing.assert_array_equal(both.by_class, other.merge(one).by_class)


def test_three_thirds_leave_nothing_beyond_them() -> None:
    """In units of 2⁻⁴⁶ each third is rounded down, so together they are one short of the row's sum."""
    third = np.full(3, 1 / 3)
    row_sum, has_unlisted = third.sum(keepdims=True), np.zeros(1, np.bool_)
    uniforms = np.array([[0.0, 0.5, 1 - 2.0**-53]])
    entry, beyond = _draw_entries(third, np.array([0, 3]), row_sum, has_unlisted, uniforms)
    assert (entry.tolist(), beyond.tolist()) == ([[0, 1, 2]], [[-1, -1, -1]])


@pytest.mark.parametrize("n_entries", [[3], [1, 40, 700, 2]])
@pytest.mark.parametrize("unlisted", [0, 0.25])
def test_compiled_code_draws_the_same(n_entries: list[int], unlisted: float) -> None:
    """Also where the last unit is drawn that rounding has left beyond all entries."""
    random = np.random.default_rng(sum(n_entries))
    start = np.concatenate([[0], np.cumsum(n_entries)])
    prob = random.random(start[-1]) ** 5
    prob[1::5] = 0
    prob /= np.repeat(np.add.reduceat(prob, start[:-1]), n_entries)
    row_sum = np.add.reduceat(prob, start[:-1]) * (1 + unlisted)
    group, cell = np.arange(prob.size) % 7, random.integers(0, GRID_CELLS, prob.size)
    top = np.array([begin + prob[begin:end].argmax() for begin, end in pairwise(start)])
    found: list[list[NDArray[Any]]] = []
    for draw in (count_draws, compiled_count_draws()):
        counts = [np.zeros((GRID_CELLS, 5_003), np.int32) for _ in range(2)]
        listed = np.full(top.size, unlisted > 0)
        state = np.arange(top.size, dtype=np.uint64)
        key, beyond = draw(state, prob, start, row_sum, listed, group, cell, top, counts[0], counts[1], 4_000)
        assert (beyond >= 0).any() == (unlisted > 0)
        found.append([key, beyond, *counts])
    for plain, compiled in zip(*found, strict=True):
        np.testing.assert_array_equal(plain, compiled)
