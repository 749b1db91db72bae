"""`row_scanner.scan_rows` compiled by Numba: one read of the memory finds entries, sums, and sums by class.

Four rows are read side by side, so that the sums by class are loaded and stored once for all of them. Sums by
row and block are sums of integers, which LLVM may add in any order and so turns into vector instructions.
"""

# Numba has no type information, and takes no objects: hence the many parameters.
# pyright: basic
# ruff: noqa: PLR0913, PLR0917

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from calib_core.compiled import compiled
from calib_core.tokens.float_bits import as_bits
from calib_core.tokens.row_scanner import CHUNK, ROWS_AT_ONCE, sum_shifts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from calib_core.tokens.row_scanner import RawScan

_LOWER_HALF: Final = 0xFFFF_FFFF


# --- Large entries ----------------------------------------------------------------------------------------


@compiled
def _any_large(bits: NDArray[Any], limit: np.unsignedinteger[Any]) -> bool:
    largest = bits[0]
    for at in range(bits.size):
        largest = max(largest, bits[at])
    return bool(largest > limit)


@compiled
def _list_large(
    bits: NDArray[Any],
    limit: np.unsignedinteger[Any],
    first_class: int,
    found: NDArray[Any],
    found_bits: NDArray[Any],
    n_found: int,
) -> int:
    """Appends class and bits of a block's large entries; returns the number found so far.

    Unsigned indices spare a look at their sign, and adding a comparison spares a branch that is often
    mispredicted: each halves the time.
    """
    place = np.uintp(n_found)
    for chunk in range(0, bits.size, CHUNK):
        end = min(bits.size, chunk + CHUNK)
        if _any_large(bits[chunk:end], limit):
            for at in range(np.uintp(chunk), np.uintp(end)):
                found[place] = at
                place += np.uintp(bits[at] > limit)
    for at in range(np.uintp(n_found), place):
        found_bits[at] = bits[np.uintp(found[at])]
        found[at] += first_class
    return int(place)


@compiled
def _append_rows(
    n_rows: int,
    n_large: NDArray[Any],
    large: NDArray[Any],
    large_bits: NDArray[Any],
    found: NDArray[Any],
    found_bits: NDArray[Any],
    n_found: int,
) -> int:
    """Appends what was listed of each of the rows; returns the number found so far."""
    for k in range(n_rows):
        for at in range(n_large[k]):
            found[n_found + at] = large[k, at]
            found_bits[n_found + at] = large_bits[k, at]
        n_found += n_large[k]
    return n_found


# --- float32 and float64 ----------------------------------------------------------------------------------


@compiled
def _as_integer(value: float) -> np.int64:
    """The bits of a number."""
    return np.float64(value).view(np.int64)


@compiled
def _add_floats(
    v0: NDArray[Any],
    v1: NDArray[Any],
    v2: NDArray[Any],
    v3: NDArray[Any],
    b0: NDArray[Any],
    b1: NDArray[Any],
    b2: NDArray[Any],
    b3: NDArray[Any],
    limit: np.unsignedinteger[Any],
    shifts: tuple[float, float],
    class_sums: NDArray[Any],
    sums: NDArray[Any],
    has_large: NDArray[Any],
) -> None:
    """Adds a block of four rows to `class_sums`; writes `sums`, shape (2, 4): Σ and Σ of squares of each row.

    has_large: whether each row has a large entry, written too.
    """
    shift, square_shift = shifts
    zero = v0.dtype.type(0)
    m0, m1, m2, m3 = b0[0], b1[0], b2[0], b3[0]
    s0, s1, s2, s3 = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    q0, q1, q2, q3 = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for at in range(v0.size):
        m0, m1, m2, m3 = max(m0, b0[at]), max(m1, b1[at]), max(m2, b2[at]), max(m3, b3[at])
        p0 = np.float64(v0[at] if b0[at] <= limit else zero)
        p1 = np.float64(v1[at] if b1[at] <= limit else zero)
        p2 = np.float64(v2[at] if b2[at] <= limit else zero)
        p3 = np.float64(v3[at] if b3[at] <= limit else zero)
        s0 += _as_integer(p0 + shift)
        s1 += _as_integer(p1 + shift)
        s2 += _as_integer(p2 + shift)
        s3 += _as_integer(p3 + shift)
        q0 += _as_integer(p0 * p0 + square_shift)
        q1 += _as_integer(p1 * p1 + square_shift)
        q2 += _as_integer(p2 * p2 + square_shift)
        q3 += _as_integer(p3 * p3 + square_shift)
        class_sums[at] += (p0 + p1) + (p2 + p3)
    offset, square_offset = v0.size * _as_integer(shift), v0.size * _as_integer(square_shift)
    sums[0, 0], sums[0, 1], sums[0, 2], sums[0, 3] = s0 - offset, s1 - offset, s2 - offset, s3 - offset
    sums[1, 0], sums[1, 1] = q0 - square_offset, q1 - square_offset
    sums[1, 2], sums[1, 3] = q2 - square_offset, q3 - square_offset
    has_large[0], has_large[1], has_large[2], has_large[3] = m0 > limit, m1 > limit, m2 > limit, m3 > limit


@compiled
def _scan_floats(
    values: NDArray[Any],
    bits: NDArray[Any],
    no_values: NDArray[Any],
    no_bits: NDArray[Any],
    limit: np.unsignedinteger[Any],
    block_size: int,
    shifts: tuple[float, float],
    class_sums: NDArray[Any],
    block_sums: NDArray[Any],
    count: NDArray[Any],
    found: NDArray[Any],
    found_bits: NDArray[Any],
) -> int:
    """Adds to `class_sums`, and fills the arrays after it; returns the number of entries found.

    no_values, no_bits: a row of zeros, which stands for those that the last group lacks.
    """
    n_rows, classes = values.shape
    sums, has_large = np.empty((2, ROWS_AT_ONCE), np.int64), np.empty(ROWS_AT_ONCE, np.bool_)
    large = np.empty((ROWS_AT_ONCE, classes), np.intp)
    large_bits = np.empty((ROWS_AT_ONCE, classes), bits.dtype)
    n_found = 0
    for row in range(0, n_rows, ROWS_AT_ONCE):
        n_here = min(ROWS_AT_ONCE, n_rows - row)
        n_large = count[row : row + n_here]
        n_large[:] = 0
        v0, b0 = values[row], bits[row]
        v1, b1 = (values[row + 1], bits[row + 1]) if n_here > 1 else (no_values, no_bits)
        v2, b2 = (values[row + 2], bits[row + 2]) if n_here > 2 else (no_values, no_bits)
        v3, b3 = (values[row + 3], bits[row + 3]) if n_here > 3 else (no_values, no_bits)
        for block in range(block_sums.shape[2]):
            at, end = block * block_size, min(classes, (block + 1) * block_size)
            _add_floats(
                v0[at:end],
                v1[at:end],
                v2[at:end],
                v3[at:end],
                b0[at:end],
                b1[at:end],
                b2[at:end],
                b3[at:end],
                limit,
                shifts,
                class_sums[at:end],
                sums,
                has_large,
            )
            for k in range(n_here):
                block_sums[0, row + k, block] = sums[0, k]
                block_sums[1, row + k, block] = sums[1, k]
                if has_large[k]:
                    block_bits = bits[row + k, at:end]
                    n_large[k] = _list_large(block_bits, limit, at, large[k], large_bits[k], n_large[k])
        n_found = _append_rows(n_here, n_large, large, large_bits, found, found_bits, n_found)
    return n_found


# --- float16 ----------------------------------------------------------------------------------------------


@compiled
def _to_unit(bits: np.unsignedinteger[Any], limit: np.unsignedinteger[Any]) -> np.int16:
    """As `float_bits.unlisted_values`, with 0 for a large entry."""
    kept = np.int16(0) if bits > limit else np.int16(bits)
    return max(kept, np.int16((kept << 1) - 2048), np.int16((kept << 2) - 8192))


@compiled
def _to_units(
    b0: NDArray[Any],
    b1: NDArray[Any],
    b2: NDArray[Any],
    b3: NDArray[Any],
    limit: np.unsignedinteger[Any],
    units: NDArray[Any],
    has_large: NDArray[Any],
) -> None:
    """Writes a block of four rows in units, and below them their sum, which is less than 2¹⁵."""
    m0, m1, m2, m3 = b0[0], b1[0], b2[0], b3[0]
    for at in range(b0.size):
        m0, m1, m2, m3 = max(m0, b0[at]), max(m1, b1[at]), max(m2, b2[at]), max(m3, b3[at])
        u0, u1 = _to_unit(b0[at], limit), _to_unit(b1[at], limit)
        u2, u3 = _to_unit(b2[at], limit), _to_unit(b3[at], limit)
        units[0, at], units[1, at], units[2, at], units[3, at] = u0, u1, u2, u3
        units[4, at] = np.int16(np.int16(u0 + u1) + np.int16(u2 + u3))
    has_large[0], has_large[1], has_large[2], has_large[3] = m0 > limit, m1 > limit, m2 > limit, m3 > limit


@compiled
def _sum_units(units: NDArray[Any]) -> np.int32:
    total = np.int32(0)
    for at in range(units.size):
        total = np.int32(total + np.int32(units[at]))
    return total


@compiled
def _sum_squared_units(units: NDArray[Any]) -> np.int32:
    """The lower 32 bits of Σ of squares of a chunk, which is less than 2³²."""
    total = np.int32(0)
    for at in range(units.size):
        total = np.int32(total + np.int32(np.int32(units[at]) * np.int32(units[at])))
    return total


@compiled
def _add_units(units: NDArray[Any], class_sums: NDArray[Any]) -> None:
    for at in range(units.size):
        class_sums[at] += np.int32(units[at])


@compiled
def _scan_float16(
    bits: NDArray[Any],
    no_bits: NDArray[Any],
    limit: np.unsignedinteger[Any],
    block_size: int,
    class_sums: NDArray[Any],
    block_sums: NDArray[Any],
    count: NDArray[Any],
    found: NDArray[Any],
    found_bits: NDArray[Any],
) -> int:
    """As `_scan_floats`."""
    n_rows, classes = bits.shape
    units, has_large = np.zeros((ROWS_AT_ONCE + 1, block_size), np.int16), np.empty(ROWS_AT_ONCE, np.bool_)
    large = np.empty((ROWS_AT_ONCE, classes), np.intp)
    large_bits = np.empty((ROWS_AT_ONCE, classes), bits.dtype)
    n_found = 0
    for row in range(0, n_rows, ROWS_AT_ONCE):
        n_here = min(ROWS_AT_ONCE, n_rows - row)
        n_large = count[row : row + n_here]
        n_large[:] = 0
        b0 = bits[row]
        b1 = bits[row + 1] if n_here > 1 else no_bits
        b2 = bits[row + 2] if n_here > 2 else no_bits
        b3 = bits[row + 3] if n_here > 3 else no_bits
        for block in range(block_sums.shape[2]):
            at, end = block * block_size, min(classes, (block + 1) * block_size)
            size = end - at
            _to_units(b0[at:end], b1[at:end], b2[at:end], b3[at:end], limit, units, has_large)
            _add_units(units[ROWS_AT_ONCE, :size], class_sums[at:end])
            for k in range(n_here):
                squares = 0
                for begin in range(0, size, CHUNK):
                    chunk = units[k, begin : min(size, begin + CHUNK)]
                    squares += np.int64(_sum_squared_units(chunk)) & _LOWER_HALF
                block_sums[0, row + k, block] = _sum_units(units[k, :size])
                block_sums[1, row + k, block] = squares
                if has_large[k]:
                    block_bits = bits[row + k, at:end]
                    n_large[k] = _list_large(block_bits, limit, at, large[k], large_bits[k], n_large[k])
        n_found = _append_rows(n_here, n_large, large, large_bits, found, found_bits, n_found)
    return n_found


def scan_rows(
    rows: NDArray[Any], bits_limit: int, block_size: int, class_sums: NDArray[np.float64] | None
) -> RawScan:
    """Scans rows; see `row_scanner.ScanFunction`."""
    rows, nothing = rows.view(), np.zeros(rows.shape[1], rows.dtype)
    # Numba would compile a second version for writable arrays.
    rows.flags.writeable = nothing.flags.writeable = False
    n_rows, classes = rows.shape
    bits, limit = as_bits(rows), as_bits(rows).dtype.type(bits_limit)
    count = np.empty(n_rows, np.intp)
    block_sums = np.empty((2, n_rows, -(-classes // block_size)), np.int64)
    found, found_bits = np.empty(bits.size, np.intp), np.empty(bits.size, bits.dtype)
    filled = block_sums, count, found, found_bits
    if rows.dtype == np.float16:
        units = np.zeros(classes, np.int32)
        n_found = _scan_float16(bits, as_bits(nothing), limit, block_size, units, *filled)
        if class_sums is not None:
            class_sums += units
    else:
        if class_sums is None:
            class_sums = np.zeros(classes)
        shifts = sum_shifts(rows.dtype)
        n_found = _scan_floats(
            rows, bits, nothing, as_bits(nothing), limit, block_size, shifts, class_sums, *filled
        )
    return count, found[:n_found].copy(), found_bits[:n_found].copy(), block_sums
