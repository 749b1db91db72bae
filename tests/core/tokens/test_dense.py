"""Blocks of distributions add up to the exact result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from calib_core.edges import Scheme
from calib_core.tokens.dense import DenseReducer
from calib_core.tokens.grid import GRID_CELLS, GridSums
from calib_core.tokens.sums import TokenSums
from core.tokens import token_oracle
from core.tokens.distributions import LONG, ODD, PAPER, SHORT, WIDTHS, language, on_edges, targets

CLOSE = 1e-12
Made = Callable[[np.random.Generator, int, int, Any], NDArray[Any]]


def reduce_blocks(values: NDArray[Any], target: NDArray[Any], *cuts: int, **options: Any) -> TokenSums:
    """The sums of an array read in blocks that end at `cuts`; no row of it is bad."""
    reducer = DenseReducer(values.shape[1], **options)
    for begin, end in zip([0, *cuts], [*cuts, target.size], strict=True):
        reducer.add(values[begin:end], target[begin:end])
    assert reducer.problems == ()
    return reducer.result()


def full_ece(grid: GridSums, bins: int) -> float:
    return float(grid.binned(Scheme("width", bins)).absolute_gap.sum()) / grid.n_rows


def full_ece_mass(grid: GridSums, bins: int) -> float:
    binned = grid.binned(Scheme("width", bins))
    return float(np.abs(binned.correct_confidence - binned.squared_confidence).sum()) / grid.n_rows


def agrees(sums: TokenSums, rows: list[token_oracle.Distribution]) -> None:
    """Every number that is read off the sums is the exact one."""
    assert sums.by_class is not None
    for bins in (1, *PAPER, 15, 1000):
        assert abs(full_ece(sums.top_label, bins) - token_oracle.ece(rows, bins)) <= CLOSE
        assert abs(full_ece(sums.all_labels, bins) - token_oracle.full_ece(rows, bins)) <= CLOSE
        assert abs(full_ece_mass(sums.all_labels, bins) - token_oracle.full_ece_mass(rows, bins)) <= CLOSE
        assert abs(full_ece(sums.by_class, bins) - token_oracle.cw_ece_sum(rows, bins)) <= CLOSE
    assert abs(sums.all_labels.squared_error_sum / sums.n_rows - token_oracle.brier_multi(rows)) <= CLOSE
    assert abs(sums.all_labels.log_loss_sum - token_oracle.log_loss(rows)) <= CLOSE * max(
        1, sums.all_labels.log_loss_sum
    )
    assert sums.all_labels.n_infinite_losses == sum(row.label not in row.probs for row in rows)
    excess = sum(abs(token_oracle.ONE - sum(units for _, _, units in row.entries)) for row in rows)
    assert abs(sums.sum_deviation - Fraction(excess, token_oracle.ONE)) <= CLOSE * len(rows)
    grid = sums.by_class
    found = zip(grid.group.tolist(), grid.cell.tolist(), strict=True)
    assert dict(zip(found, grid.count.tolist(), strict=True)) == token_oracle.counts(rows, GRID_CELLS)


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("classes", [SHORT, LONG, ODD])
@pytest.mark.parametrize("made", [language, on_edges])
def test_sums_are_exact(dtype: Any, classes: int, made: Made) -> None:
    random = np.random.default_rng(classes)
    values = made(random, 5, classes, dtype)
    target = targets(random, values)
    agrees(reduce_blocks(values, target, 2, 3), token_oracle.distributions(values, target))


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("classes", [SHORT, LONG, ODD])
def test_blocks_change_nothing(dtype: Any, classes: int) -> None:
    random = np.random.default_rng(5)
    values = language(random, 150, classes, dtype)
    target = targets(random, values)
    one = reduce_blocks(values, target)
    cuts = sorted(random.integers(0, 150, 6).tolist())
    other = reduce_blocks(values, target, *cuts)
    for name in ("top_label", "all_labels", "by_class"):
        same_sums(getattr(one, name), getattr(other, name))
    assert one.draws is not None
    assert other.draws is not None
    for drawn, again in zip(drawn_counts(one), drawn_counts(other), strict=True):
        np.testing.assert_array_equal(drawn, again)
    assert [asdict(example) for example in one.examples] == [asdict(example) for example in other.examples]


def drawn_counts(sums: TokenSums) -> tuple[NDArray[Any], ...]:
    assert sums.draws is not None
    assert sums.draws.by_class is not None
    return sums.draws.top_label, sums.draws.all_labels, sums.draws.by_class


def same_sums(one: GridSums, other: GridSums) -> None:
    for name in ("group", "cell", "count", "correct"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for name in ("confidence", "squared_confidence", "correct_confidence", "log_loss_sum"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-12, atol=1e-15)
    assert (one.n_rows, one.n_groups, one.n_infinite_losses) == (
        other.n_rows,
        other.n_groups,
        other.n_infinite_losses,
    )


@pytest.mark.parametrize("classes", [SHORT, LONG])
def test_parts_merge_in_any_order(classes: int) -> None:
    random = np.random.default_rng(6)
    values = language(random, 6, classes, np.float16)
    target = targets(random, values)
    parts = [reduce_blocks(values[a : a + 2], target[a : a + 2]) for a in (0, 2, 4)]
    rows = token_oracle.distributions(values, target)
    for order in ([0, 1, 2], [2, 0, 1]):
        agrees(reduce(TokenSums.merge, [parts[part] for part in order]), rows)


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("classes", [SHORT, LONG])
def test_first_of_equal_maxima_is_the_top_label(dtype: Any, classes: int) -> None:
    values = np.zeros((3, classes), dtype)
    values[0, [2, 5]] = 0.5
    values[1, [1, 3, 4, 6]] = 0.25
    values[2] = 1 / classes  # none is large where there are many
    sums = reduce_blocks(values, np.array([2, 3, 0]))
    assert sums.top_label.n_correct == 2
    assert sums.examples[0].ids[:2] == (2, 5)
    assert sums.examples[2].ids == tuple(range(min(20, classes)))


@pytest.mark.parametrize("classes", [SHORT, LONG])
@pytest.mark.parametrize("dtype", WIDTHS)
def test_logits_are_normalised_in_float64(classes: int, dtype: Any) -> None:
    random = np.random.default_rng(8)
    logits = (random.normal(size=(3, classes)) * 4).astype(dtype)
    logits[0, 1] = -np.inf
    wide = logits.astype(np.float64)
    probs = np.exp(wide - wide.max(axis=1, keepdims=True))
    probs /= probs.sum(axis=1, keepdims=True)
    target = targets(random, probs)
    rows = token_oracle.distributions(probs, target)
    agrees(reduce_blocks(logits, target, 2, scale="logits"), rows)
    with np.errstate(divide="ignore"):
        logprobs = np.log(probs)
    sums = reduce_blocks(logprobs, target, scale="logprobs")
    agrees(sums, token_oracle.distributions(np.exp(logprobs), target))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), classes=st.sampled_from([2, 3, 12, 4100]), rows=st.integers(1, 12))
def test_laws(seed: int, classes: int, rows: int) -> None:
    random = np.random.default_rng(seed)
    values = language(random, rows, classes, np.float64)
    target = targets(random, values)
    sums = reduce_blocks(values, target, by_class=True, draws=False)
    assert sums.by_class is not None
    ceiling = 2 * float((1 - values[np.arange(rows), target]).mean())
    assert full_ece(sums.all_labels, 1) <= CLOSE
    for bins in (*PAPER, 15):
        full, by_class = full_ece(sums.all_labels, bins), full_ece(sums.by_class, bins)
        assert full <= by_class + CLOSE
        assert by_class <= ceiling + CLOSE
        assert full_ece_mass(sums.all_labels, bins) <= 1 + CLOSE
        assert full_ece(sums.top_label, bins) <= 1 + CLOSE
        if 1000 % bins == 0:
            assert full <= full_ece(sums.all_labels, 1000) + CLOSE
    signed = sums.all_labels.binned(Scheme("width", 10))
    assert abs(float((signed.correct - signed.confidence).sum())) <= CLOSE * rows


def test_rows_that_do_not_add_up_to_one_are_used_as_stored() -> None:
    values = np.full((4, SHORT), 1 / SHORT)
    values[:, 0] += [5e-4, -9e-4, 5e-7, 0]
    reducer = DenseReducer(SHORT)
    reducer.add(values, np.zeros(4, np.int64))
    sums = reducer.result()
    agrees(sums, token_oracle.distributions(values, [0, 0, 0, 0]))
    assert (reducer.n_inexact_sums, reducer.n_bad_rows) == (2, 0)
    assert full_ece(sums.all_labels, 1) == pytest.approx(abs(5e-4 - 9e-4 + 5e-7) / 4)
    assert sums.sum_deviation == pytest.approx(5e-4 + 9e-4 + 5e-7)


def test_by_class_and_draws_can_be_left_out() -> None:
    values = language(np.random.default_rng(1), 4, LONG, np.float16)
    sums = reduce_blocks(values, np.zeros(4, np.int64), by_class=False, draws=False)
    assert (sums.by_class, sums.draws) == (None, None)
    assert sums.no_class_sums_reason
    drawn = reduce_blocks(values, np.zeros(4, np.int64), by_class=False).draws
    assert drawn is not None
    assert drawn.by_class is None


def test_nothing_added_is_nothing() -> None:
    sums = DenseReducer(5).result()
    assert (sums.n_rows, sums.top_label.n_pairs, sums.all_labels.n_pairs, sums.examples) == (0, 0, 0, ())
    assert sums.merge(sums).n_rows == 0


@pytest.mark.parametrize(
    ("values", "target", "reason"),
    [
        (np.ones((2, 4)), np.zeros(2, np.int64), r"rows × 3 .*, not \(2, 4\)"),
        (np.ones((2, 3)), np.zeros(3, np.int64), r"one target per row, not \(2, 3\) with \(3,\)"),
        (np.ones(3), np.zeros(1, np.int64), r"rows × 3 .*, not \(3,\)"),
        (np.ones((2, 3), np.int64), np.zeros(2, np.int64), "must be float16, float32 or float64, not int64"),
        (np.ones((2, 3)), np.array(["a", "b"]), "targets must be whole numbers, not <U1"),
    ],
)
def test_other_shapes_and_dtypes_are_refused(values: NDArray[Any], target: NDArray[Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        DenseReducer(3).add(values, target)


def test_one_run_has_one_dtype() -> None:
    reducer = DenseReducer(3)
    reducer.add(np.eye(3, dtype=np.float16), np.arange(3))
    with pytest.raises(ValueError, match="one dtype"):
        reducer.add(np.eye(3), np.arange(3))


def test_byte_order_and_layout_do_not_matter() -> None:
    values = language(np.random.default_rng(3), 20, LONG, np.float32)
    target = np.arange(20)
    rows = reduce_blocks(values, target)
    same_sums(rows.all_labels, reduce_blocks(values.astype(">f4"), target).all_labels)
    same_sums(rows.all_labels, reduce_blocks(np.asfortranarray(values), target.astype(np.uint16)).all_labels)
    same_sums(rows.all_labels, reduce_blocks(values, target.astype(np.float64)).all_labels)
