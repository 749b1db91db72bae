"""`row_scanner.scan_rows` compiled by Numba: one read of the memory finds entries, sums, and sums by class.

Rows are read tile by tile of classes, so that the sums by class of a tile stay in the cache while every row
is added to them. float32 and float64 are added in the order of `row_scanner.scan_rows`; float16 is added up
in integers, exactly. Every loop over entries is one that LLVM turns into vector instructions.
"""

# Numba has no type information.
# pyright: basic

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from calib_core.compiled import compiled
from calib_core.tokens.float_bits import as_bits
from calib_core.tokens.row_scanner import LANES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from calib_core.tokens.row_scanner import RawScan

CHUNK: Final = 2 * LANES
"""Entries that are added together, and among which large ones are looked for before they are listed."""

TILE_BLOCKS: Final = 4
"""Blocks of classes whose sums by class are kept in the cache."""


# --- Large entries ----------------------------------------------------------------------------------------


@compiled
def _any_large(bits: NDArray[Any], limit: np.unsignedinteger[Any]) -> bool:
    largest = bits[0]
    for at in range(CHUNK):
        largest = max(largest, bits[at])
    return bool(largest > limit)


@compiled
def _append_large(
    bits: NDArray[Any], limit: np.unsignedinteger[Any], first_class: int, found: NDArray[Any], n_found: int
) -> int:
    """Appends class and bits of the large entries; returns the number found so far."""
    for at in range(bits.size):
        if bits[at] > limit:
            found[n_found, 0] = first_class + at
            found[n_found, 1] = np.int64(bits[at])
            n_found += 1
    return n_found


@compiled
def _put_by_row(found: NDArray[Any], count: NDArray[Any], by_row: NDArray[Any]) -> None:
    """Copies what was found, which is ordered by tile, into the order of the rows."""
    n_tiles, n_rows = count.shape
    start = np.zeros((n_tiles, n_rows), np.intp)
    place = 0
    for tile in range(n_tiles):
        for row in range(n_rows):
            start[tile, row] = place
            place += count[tile, row]
    place = 0
    for row in range(n_rows):
        for tile in range(n_tiles):
            for at in range(start[tile, row], start[tile, row] + count[tile, row]):
                by_row[place, 0] = found[at, 0]
                by_row[place, 1] = found[at, 1]
                place += 1


# --- float32 and float64 ----------------------------------------------------------------------------------


@compiled
def _add_chunk(
    values: NDArray[Any],
    bits: NDArray[Any],
    limit: np.unsignedinteger[Any],
    lanes: NDArray[Any],
    squares: NDArray[Any],
    by_class: NDArray[Any],
) -> None:
    zero = values.dtype.type(0)
    for lane in range(LANES):
        first = np.float64(values[lane] if bits[lane] <= limit else zero)
        second = np.float64(values[LANES + lane] if bits[LANES + lane] <= limit else zero)
        lanes[lane] = (lanes[lane] + first) + second
        squares[lane] = (squares[lane] + first * first) + second * second
        by_class[lane] += first
        by_class[LANES + lane] += second


@compiled
def _add_rest(
    values: NDArray[Any],
    bits: NDArray[Any],
    limit: np.unsignedinteger[Any],
    lanes: NDArray[Any],
    squares: NDArray[Any],
    by_class: NDArray[Any],
) -> None:
    """As `_add_chunk`, for fewer entries than a chunk."""
    for at in range(values.size):
        if bits[at] <= limit:
            value, lane = np.float64(values[at]), at & (LANES - 1)
            lanes[lane] += value
            squares[lane] += value * value
            by_class[at] += value


@compiled
def _sum_lanes(lanes: NDArray[Any]) -> float:
    """Σ in halves; overwrites the lanes."""
    half = LANES // 2
    while half > 0:
        for lane in range(half):
            lanes[lane] += lanes[lane + half]
        half //= 2
    return lanes[0]


@compiled
def _scan_floats(
    values: NDArray[Any],
    bits: NDArray[Any],
    limit: np.unsignedinteger[Any],
    block_size: int,
    class_sums: NDArray[Any],
    block_sums: NDArray[Any],
    found: NDArray[Any],
    count: NDArray[Any],
) -> int:
    """Adds to `class_sums`, and fills the arrays after it; classes are found tile by tile."""
    n_rows, classes = values.shape
    lanes, squares = np.empty(LANES), np.empty(LANES)
    n_found = 0
    for tile, begin in enumerate(range(0, classes, block_size * TILE_BLOCKS)):
        end = min(classes, begin + block_size * TILE_BLOCKS)
        for row in range(n_rows):
            n_before = n_found
            for block in range(begin, end, block_size):
                block_end = min(end, block + block_size)
                rest = block_end - (block_end - block) % CHUNK
                lanes[:] = 0.0
                squares[:] = 0.0
                for at in range(block, rest, CHUNK):
                    chunk_bits = bits[row, at : at + CHUNK]
                    chunk_sums = class_sums[at : at + CHUNK]
                    _add_chunk(values[row, at : at + CHUNK], chunk_bits, limit, lanes, squares, chunk_sums)
                    if _any_large(chunk_bits, limit):
                        n_found = _append_large(chunk_bits, limit, at, found, n_found)
                if rest < block_end:
                    rest_bits, rest_sums = bits[row, rest:block_end], class_sums[rest:block_end]
                    _add_rest(values[row, rest:block_end], rest_bits, limit, lanes, squares, rest_sums)
                    n_found = _append_large(rest_bits, limit, rest, found, n_found)
                block_sums[0, row, block // block_size] = _sum_lanes(lanes)
                block_sums[1, row, block // block_size] = _sum_lanes(squares)
            count[tile, row] = n_found - n_before
    return n_found


# --- float16 ----------------------------------------------------------------------------------------------


@compiled
def _to_units(bits: NDArray[Any], limit: np.unsignedinteger[Any], units: NDArray[Any]) -> bool:
    """As `float_bits.unlisted_values`, with 0 for large entries; returns whether there is one."""
    found = np.uint16(0)
    for at in range(bits.size):
        large = bits[at] > limit
        found = np.uint16(found | np.uint16(large))
        kept = np.int16(0) if large else np.int16(bits[at])
        units[at] = max(kept, np.int16((kept << 1) - 2048), np.int16((kept << 2) - 8192))
    return bool(found > 0)


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
    for at in range(CHUNK):
        total = np.int32(total + np.int32(np.int32(units[at]) * np.int32(units[at])))
    return total


@compiled
def _add_units(units: NDArray[Any], by_class: NDArray[Any]) -> None:
    for at in range(units.size):
        by_class[at] += np.int32(units[at])


@compiled
def _scan_float16(
    bits: NDArray[Any],
    limit: np.unsignedinteger[Any],
    block_size: int,
    class_sums: NDArray[Any],
    block_sums: NDArray[Any],
    found: NDArray[Any],
    count: NDArray[Any],
) -> int:
    """As `_scan_floats`."""
    n_rows, classes = bits.shape
    units, last = np.empty(block_size, np.int16), np.zeros(block_size, np.uint16)
    tile_sums = np.empty(block_size * TILE_BLOCKS, np.int32)
    n_found = 0
    for tile, begin in enumerate(range(0, classes, block_size * TILE_BLOCKS)):
        end = min(classes, begin + block_size * TILE_BLOCKS)
        tile_sums[:] = 0
        for row in range(n_rows):
            n_before = n_found
            for block in range(begin, end, block_size):
                block_bits = bits[row, block : block + block_size]
                if block_bits.size < block_size:
                    last[: block_bits.size] = block_bits
                    block_bits = last
                if _to_units(block_bits, limit, units):
                    for at in range(0, block_size, CHUNK):
                        chunk_bits = block_bits[at : at + CHUNK]
                        if _any_large(chunk_bits, limit):
                            n_found = _append_large(chunk_bits, limit, block + at, found, n_found)
                squares = 0
                for at in range(0, block_size, CHUNK):
                    squares += np.int64(_sum_squared_units(units[at : at + CHUNK])) & 0xFFFF_FFFF
                block_sums[0, row, block // block_size] = _sum_units(units)
                block_sums[1, row, block // block_size] = squares
                _add_units(units, tile_sums[block - begin : block - begin + block_size])
            count[tile, row] = n_found - n_before
        for at in range(begin, end):
            class_sums[at] += tile_sums[at - begin]
    return n_found


def scan_rows(
    rows: NDArray[Any], bits_limit: int, block_size: int, class_sums: NDArray[np.float64] | None
) -> RawScan:
    """Scans rows; see `row_scanner.ScanFunction`."""
    rows = rows.view()
    rows.flags.writeable = False  # Numba would compile a second version for writable arrays
    n_rows, classes = rows.shape
    count = np.empty((-(-classes // (block_size * TILE_BLOCKS)), n_rows), np.intp)
    block_sums = np.empty((2, n_rows, -(-classes // block_size)))
    bits = as_bits(rows)
    found = np.empty((bits.size, 2), np.int64)
    if class_sums is None:
        class_sums = np.zeros(classes)
    scan = bits, bits.dtype.type(bits_limit), block_size, class_sums, block_sums, found, count
    n_found = _scan_float16(*scan) if rows.dtype == np.float16 else _scan_floats(rows, *scan)
    by_row = np.empty((n_found, 2), np.int64)
    _put_by_row(found, count, by_row)
    return count.sum(axis=0), by_row[:, 0].astype(np.intp), by_row[:, 1].astype(bits.dtype), block_sums
