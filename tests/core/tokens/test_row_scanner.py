"""Every entry of a long row is either listed or in the sums of the others."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from calib_core.edges import bin_of
from calib_core.tokens.float_bits import FLOAT16_UNIT, as_bits, first_cell_max_bits
from calib_core.tokens.grid import GRID_CELLS
from calib_core.tokens.row_scanner import RowScanner, class_block_size, compiled_scan_function, scan_rows
from core.tokens.distributions import LONG, ODD, WIDTHS, language, on_edges


def make_rows(classes: int, dtype: Any) -> NDArray[Any]:
    random = np.random.default_rng(classes)
    rows = [language(random, 3, classes, dtype), on_edges(random, 3, classes, dtype)]
    flat = np.full((1, classes), 2.0**-13 * (1 - 2.0**-11), dtype)  # a float16 of bits 2047, everywhere
    return np.concatenate([*rows, flat])


COMPILED = pytest.mark.parametrize("compiled", [False, True], ids=["numpy", "compiled"])


@COMPILED
@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("classes", [LONG, ODD, 5120])
def test_found_and_rest_are_the_row(classes: int, dtype: Any, *, compiled: bool) -> None:
    rows = make_rows(classes, dtype)
    room = RowScanner(classes, np.dtype(dtype), compiled=compiled)
    found = room.scan(rows)
    starts = np.concatenate([[0], np.cumsum(found.count)])
    size = class_block_size(classes)
    for at, row in enumerate(rows):
        mine = np.s_[starts[at] : starts[at + 1]]
        np.testing.assert_array_equal(found.class_index[mine], np.flatnonzero(as_bits(row) > room.bits_limit))
        np.testing.assert_array_equal(found.bits[mine], as_bits(row)[found.class_index[mine]])
        others = row.astype(np.float64)
        others[found.class_index[mine]] = 0
        groups = [others[begin : begin + size].sum() for begin in range(0, classes, size)]
        np.testing.assert_allclose(found.block_sums[at], groups, rtol=1e-13, atol=1e-18)
        np.testing.assert_allclose(found.square_sum[at], (others**2).sum(), rtol=1e-13, atol=1e-18)
        assert (bin_of(others.astype(dtype), GRID_CELLS) == 0).all()


@pytest.mark.parametrize("dtype", WIDTHS)
def test_what_is_found_is_beyond_the_first_cell(dtype: Any) -> None:
    limit = RowScanner(LONG, np.dtype(dtype)).bits_limit
    value = np.array([limit, limit + 1], as_bits(np.zeros(1, dtype)).dtype).view(dtype)
    assert bin_of(value, GRID_CELLS).tolist() == [0, 1]


@COMPILED
@pytest.mark.parametrize("wrong", [np.nan, -np.nan, np.inf, -np.inf, -1e-7, 1.001, -0.0, 6e4])
@pytest.mark.parametrize("dtype", WIDTHS)
def test_every_suspicious_entry_is_found(dtype: Any, wrong: float, *, compiled: bool) -> None:
    rows = np.zeros((1, LONG), dtype)
    for at in (0, 1, 2, 3, LONG // 2, LONG - 1):
        rows[:] = 0
        rows[0, at] = wrong
        with np.errstate(invalid="ignore"):
            found = RowScanner(LONG, np.dtype(dtype), compiled=compiled).scan(rows)
        assert found.class_index.tolist() == [at]
        assert found.block_sums.sum() == 0


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("classes", [LONG, ODD, 5120, 50_257])
def test_compiled_code_finds_the_same_to_the_last_bit(classes: int, dtype: Any) -> None:
    assert compiled_scan_function(np.dtype(dtype)) is not scan_rows
    random = np.random.default_rng(3)
    rows = np.concatenate([make_rows(classes, dtype), random.random((2, classes)).astype(dtype) / 2500])
    rows[2, 7], rows[3, -1] = np.nan, -1
    whole = random.integers(0, 2**40, classes).astype(np.float64)
    sums = whole if dtype == np.float16 else random.random(classes)
    for before, n_rows in ((None, 9), (sums, 9), (sums, 8), (sums, 7), (sums, 6)):  # four rows at once
        numpy, compiled = (
            RowScanner(classes, np.dtype(dtype), compiled=compiled).scan(rows[:n_rows], before)
            for compiled in (False, True)
        )
        assert (numpy.class_sums is None) == (compiled.class_sums is None) == (before is None)
        for name in ("count", "class_index", "bits", "block_sums", "square_sum", "class_sums"):
            one, other = getattr(numpy, name), getattr(compiled, name)
            assert np.asarray(one).tobytes() == np.asarray(other).tobytes(), name


def test_without_numba_numpy_scans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calib_core.compiled.find_spec", lambda _: None)
    assert compiled_scan_function(np.dtype(np.float32)) is scan_rows


@pytest.mark.parametrize("error", [ImportError, OSError])
def test_where_numba_cannot_compile_numpy_scans(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("calib_core.tokens.compiled_scan.scan_rows", fail)
    assert compiled_scan_function(np.dtype(np.float32)) is scan_rows


@COMPILED
@pytest.mark.parametrize("classes", [50_257, 128_000])
def test_float16_is_added_up_exactly(classes: int, *, compiled: bool) -> None:
    """Each value of the first cell, and a row in which all are the largest of them, more than one can be."""
    largest = first_cell_max_bits(np.dtype(np.float16))
    small = np.arange(largest + 1, dtype=np.uint16).view(np.float16)
    assert small[-1] <= 1 / GRID_CELLS < small[-1] * (1 + 2**-9)
    rows = np.zeros((2, classes), np.float16)
    rows[0, : small.size], rows[1] = small, small[-1]
    scanner = RowScanner(classes, rows.dtype, compiled=compiled)
    found = scanner.scan(rows, np.zeros(classes))
    units = [[int(Fraction(float(value)) / Fraction(FLOAT16_UNIT)) for value in small.tolist()]]
    units.append([units[0][-1]] * classes)
    assert found.count.tolist() == [0, 0]
    for at, whole in enumerate(units):
        assert found.block_sums[at].sum() == sum(whole) * FLOAT16_UNIT
        assert found.square_sum[at] == sum(value * value for value in whole) * FLOAT16_UNIT**2
    assert found.class_sums is not None
    by_class = np.full(classes, units[0][-1])
    by_class[: small.size] += units[0]
    np.testing.assert_array_equal(found.class_sums, by_class)
