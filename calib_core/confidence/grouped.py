"""How many samples of a row say the same?  Codes → groups of equal ones, by sorting."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from calib_core.confidence.answer_codes import UNPARSED_CODE
from calib_core.confidence.sampled import EncodedSamples

SORT_THREADS: Final = min(4, os.cpu_count() or 1)
"""Threads that sort: numpy lets the others run meanwhile."""

BLOCK_CELLS: Final = 1 << 18
"""Samples that are sorted at a time: about what a core's own cache holds."""


class _BlockGroups(NamedTuple):
    """The groups of a block of rows, row by row, each row's ascending in code.

    row, size, first: arrays of one shape, the groups'; unparsed: of each row of the block, as in `Groups`.
    """

    row: NDArray[np.int32]
    size: NDArray[np.int32]
    first: NDArray[np.int32]
    unparsed: NDArray[np.int64]


class _BlockSummary(NamedTuple):
    """The groups of a block of rows, and of each row how many, its largest, where that begins, and ties."""

    groups: _BlockGroups
    n_groups: NDArray[np.int64]
    largest_size: NDArray[np.int64]
    majority_first: NDArray[np.int64]
    is_tied: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class SampleGroups:
    """The groups of equal samples that parse; arrays int64 of shape (rows,) unless said otherwise.

    size, first: int32, number of members and position of the first one, the groups of a row side by side,
    the rows in any order; start: where a row's begin; number: how many it has; largest: size of its
    largest, 0 where it has none; majority: position of the first member of its largest, of equally large
    ones the one sampled first, −1 where it has none; tied: bool, whether another is as large; unparsed:
    samples that do not parse.
    """

    sizes: NDArray[np.int32]
    first_positions: NDArray[np.int32]
    starts: NDArray[np.int64]
    n_groups: NDArray[np.int64]
    largest_size: NDArray[np.int64]
    majority_first: NDArray[np.int64]
    is_tied: NDArray[np.bool_]
    n_unparsed: NDArray[np.int64]

    @classmethod
    def from_samples(cls, samples: EncodedSamples) -> Self:
        """Puts the samples of each row into groups of equal codes."""
        rows = samples.counts.size
        start, number, largest, unparsed = (np.zeros(rows, np.int64) for _ in range(4))
        majority, tied = np.full(rows, -1, np.int64), np.zeros(rows, np.bool_)
        sizes, firsts = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
        begin = 0
        for block, found in _blocks_in_parallel(samples, row_blocks(samples.counts)):
            unparsed[block], number[block] = found.groups.unparsed, found.n_groups
            start[block] = begin + np.cumsum(found.n_groups) - found.n_groups
            largest[block], majority[block], tied[block] = found.largest_size, found.majority_first, found.is_tied
            sizes.append(found.groups.size)
            firsts.append(found.groups.first)
            begin += found.groups.size.size
        flat = (np.concatenate(sizes), np.concatenate(firsts))
        return cls(*flat, start, number, largest, majority, tied, unparsed)

    def size_tables(self, rows: NDArray[np.intp]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.int32]]]:
        """Those of the rows that have equally many groups, and their sizes, ascending: shape (some, groups).

        Rows without groups are left out; as many tables as there are numbers of groups.
        """
        number = self.n_groups[rows]
        order = np.argsort(number, kind="stable")
        for some in np.split(order, np.flatnonzero(np.diff(number[order])) + 1):
            width = int(number[some[0]]) if some.size else 0
            if width:
                sizes = self.sizes.take(self.starts[rows[some], None] + np.arange(width))
                sizes.sort(axis=1)
                yield rows[some], sizes

    def in_row_order(self, values: NDArray[Any]) -> NDArray[Any]:
        """`size` or `first` with the rows in their own order."""
        before = np.cumsum(self.n_groups) - self.n_groups
        shift = np.repeat(self.starts - before, self.n_groups)
        return values[shift + np.arange(shift.size)]


def row_blocks(count: NDArray[np.int64]) -> Iterator[NDArray[np.intp]]:
    """Rows of like length, so many at a time that a table of them has at most `CELLS` cells, or one row.

    count: length of each row, shape (rows,); rows of length 0 are in no block.
    """
    order = np.argsort(count, kind="stable")
    lengths = count[order]
    low = int(np.searchsorted(lengths, 1))
    while low < order.size:
        # The table is as wide as its longest row, the last one: with more rows it may be wider.
        high = min(order.size, low + max(1, BLOCK_CELLS // int(lengths[low])))
        high = low + max(1, min(high - low, BLOCK_CELLS // int(lengths[high - 1])))
        yield order[low:high]
        low = high


def _blocks_in_parallel(
    samples: EncodedSamples, blocks: Iterable[NDArray[np.intp]]
) -> Iterator[tuple[NDArray[np.intp], _BlockSummary]]:
    """Each block of rows with its groups, in order; numpy sorts on as many cores as there are."""
    waiting = deque[tuple[NDArray[np.intp], Future[_BlockSummary]]]()
    with ThreadPoolExecutor(SORT_THREADS) as pool:
        for block in blocks:
            waiting.append((block, pool.submit(_summarise_block, samples, block)))
            if len(waiting) > 2 * SORT_THREADS:
                rows, found = waiting.popleft()
                yield rows, found.result()
        for rows, found in waiting:
            yield rows, found.result()


def _summarise_block(samples: EncodedSamples, rows: NDArray[np.intp]) -> _BlockSummary:
    found = _groups_of_table(samples.code_table(rows))
    number = np.bincount(found.row, minlength=rows.size)
    return _BlockSummary(found, number, *_largest_groups(found, number))


def _groups_of_table(codes: NDArray[np.int32]) -> _BlockGroups:
    """The groups of each row of a table of codes that parse."""
    rows, width = codes.shape
    bits = max(1, (width - 1).bit_length())
    kind = np.int32 if int(codes.max()) < 1 << (31 - bits) else np.int64
    # One sort orders a row by code, and equal codes by position.
    packed = np.left_shift(codes, bits, dtype=kind)
    packed |= np.arange(width, dtype=kind)
    packed.sort(axis=1)
    flat = packed.ravel()
    code = flat >> bits
    begins = np.empty(code.shape, np.bool_)
    np.not_equal(code[1:], code[:-1], out=begins[1:])
    begins[::width] = True
    at = np.flatnonzero(begins).astype(np.int32)
    size = np.diff(at, append=np.int32(code.size))
    row, least = at // np.int32(width), flat.take(at)
    first = (least & ((1 << bits) - 1)).astype(np.int32)
    parsed, unparsed = least >= 0, np.zeros(rows, np.int64)
    if not parsed.all():
        alone = least >> bits == UNPARSED_CODE
        unparsed[row[alone]] = size[alone]
        row, size, first = row[parsed], size[parsed], first[parsed]
    return _BlockGroups(row, size, first, unparsed)


def _largest_groups(
    found: _BlockGroups, number: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Size of each row's largest group, position of its first member, and whether another is as large."""
    largest, first = np.zeros(number.size, np.int64), np.full(number.size, -1, np.int64)
    there = np.flatnonzero(number)
    if not there.size:
        return largest, first, np.zeros(number.size, np.bool_)
    latest = int(found.first.max())
    # One number by which groups are ranked: first their size, then how early they begin.
    rank = found.size.astype(np.int64) * (latest + 1) + (latest - found.first)
    best = np.maximum.reduceat(rank, (np.cumsum(number) - number)[there])
    largest[there], first[there] = best // (latest + 1), latest - best % (latest + 1)
    tied = np.bincount(found.row[found.size == largest[found.row]], minlength=number.size) > 1
    return largest, first, tied
