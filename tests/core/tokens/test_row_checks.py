"""Checks of single rows: top label, sum, clipping and limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from calib_core.tokens.row_checks import (
    OUTSIDE_UNIT_INTERVAL,
    SUM_NOT_ONE,
    ProblemKind,
    clip_row,
    row_checker,
)
from calib_core.tokens.row_scanner import CHUNK, class_block_size
from core.tokens.distributions import LONG, ODD, SHORT, WIDTHS, language


@pytest.mark.parametrize("classes", [4096, 4112, 32_000, 50_257, 128_000, 128_256, 151_936, 256_000])
def test_blocks_are_multiples_of_a_chunk_near_1000_classes(classes: int) -> None:
    size = class_block_size(classes)
    assert size % CHUNK == 0
    assert 512 <= size <= 2048
    divides = any(classes % other == 0 for other in range(512, 2049, CHUNK))
    assert (classes % size == 0) == divides


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("classes", [SHORT, LONG, ODD])
def test_top_and_total(classes: int, dtype: type[np.floating]) -> None:
    rows = language(np.random.default_rng(9), 20, classes, dtype)
    rows[3, [4, 6]] = rows[3].max()
    rows[5] = dtype(1 / classes)
    rows = np.delete(rows, np.flatnonzero(np.abs(rows.astype(np.float64).sum(axis=1) - 1) > 1e-3), axis=0)
    look = row_checker(classes, np.dtype(dtype)).check(rows, lambda *_: pytest.fail("bad"))
    assert look.class_index[look.top_entry].tolist() == rows.argmax(axis=1).tolist()
    wide = rows.astype(np.float64)
    np.testing.assert_allclose(look.row_sum, wide.sum(axis=1), rtol=1e-13)
    squares = look.unlisted_square_sum + np.bincount(look.entry_row, look.prob**2)
    np.testing.assert_allclose(squares, (wide**2).sum(axis=1), rtol=1e-13)


@pytest.mark.parametrize("classes", [SHORT, LONG])
@pytest.mark.parametrize(
    ("total", "fine"), [(1.00099, True), (1.00101, False), (0.99901, True), (0.99899, False)]
)
def test_a_sum_may_be_off_by_a_thousandth(classes: int, total: float, *, fine: bool) -> None:
    rows = np.zeros((3, classes))
    rows[:, 1] = 0.5
    rows[:, 0] = [0.5, total - 0.5, 0.5]
    told: list[tuple[int, ProblemKind]] = []
    look = row_checker(classes, rows.dtype).check(rows, lambda row, kind, _: told.append((row, kind)))
    assert look.usable_rows.tolist() == ([0, 1, 2] if fine else [0, 2])
    assert told == ([] if fine else [(1, SUM_NOT_ONE)])
    assert look.values.shape[0] == look.start.size - 1 == look.unlisted_sum.size == look.usable_rows.size


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_clipping(dtype: Any) -> None:
    told: list[ProblemKind] = []

    def bad(_row: int, kind: ProblemKind, _found: str) -> None:
        told.append(kind)

    row = np.array([-0.0, -5e-7, 1, 0.5], dtype)
    assert clip_row(row, 0, bad) == (True, 1)
    assert row.tolist() == [0, 0, 1, 0.5]
    assert not np.signbit(row).any()
    assert clip_row(np.array([0, -2e-6], dtype), 0, bad) == (False, 0)
    assert clip_row(np.array([0, np.nan], dtype), 0, bad) == (False, 0)
    assert [kind.title for kind in told] == [OUTSIDE_UNIT_INTERVAL.title, "not finite"]
