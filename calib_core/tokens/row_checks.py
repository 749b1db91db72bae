"""Which rows of probabilities are in order, and which of their entries have to be listed?

Spec: a value outside [0, 1] by at most 1e-6 is clipped; one farther out, NaN, or a sum that is off by more
than 1e-3 makes a bad row. A row in order is used as stored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from calib_core.errors import MAX_CELLS_SHOWN, shorten
from calib_core.tokens.float16 import Float16Scanner
from calib_core.tokens.float_bits import as_bits, bits_of_one, to_float64
from calib_core.tokens.row_scanner import (
    RowScanner,
    ScannedRows,
    ScanResult,
    WideFloatScanner,
    class_block_size,
)

# MERGED faults: Which positions cannot be used, what was expected there, and what was found?

MAX_FOUND_CHARS: Final = 80
"""Characters kept of what was found."""


@dataclass(frozen=True, slots=True)
class PositionProblem:
    """All bad rows of one kind.

    kind: what is wrong, as a title; expected, fix: for `problems.BadCell`; count: rows; first: 0-based row
    and what was found there, of the first `problems.FIRST`. A row has one kind, the first that was seen.
    """

    kind: str
    expected: str
    fix: str
    count: int
    first: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class ProblemKind:
    """A way in which a row can be bad: the words of its `Fault`."""

    title: str
    expected: str
    fix: str


class PositionProblemLog:
    """Bad rows as they are met: all counted, the first of each kind kept."""

    def __init__(self) -> None:
        self._count: dict[ProblemKind, int] = {}
        self._first: dict[ProblemKind, list[tuple[int, str]]] = {}

    def add(self, kind: ProblemKind, found: str, *, row: int) -> None:
        """One bad row."""
        self._count[kind] = self._count.get(kind, 0) + 1
        first = self._first.setdefault(kind, [])
        if len(first) < MAX_CELLS_SHOWN:
            first.append((row, shorten(found, MAX_FOUND_CHARS)))

    @property
    def n_rows(self) -> int:
        """Bad rows of every kind."""
        return sum(self._count.values())

    def problems(self) -> tuple[PositionProblem, ...]:
        """One entry a kind, in the order in which the kinds were first met."""
        return tuple(
            PositionProblem(kind.title, kind.expected, kind.fix, count, tuple(self._first[kind]))
            for kind, count in self._count.items()
        )


CLIP_TOLERANCE: Final = 1e-6
"""How far outside [0, 1] a value is clipped, and how far from 1 a sum is not worth a word."""

SUM_TOLERANCE: Final = 1e-3
"""How far from 1 the sum of a row may be."""

NOT_FINITE: Final = ProblemKind(
    "not finite", "finite numbers", "Write the file again, or leave these rows out."
)
OUTSIDE_UNIT_INTERVAL: Final = ProblemKind(
    "outside [0, 1]",
    "probabilities from 0 to 1",
    "Say whether these are log-probabilities or logits, or leave these rows out.",
)
SUM_NOT_ONE: Final = ProblemKind(
    "sum not 1",
    f"probabilities that add up to 1 within {SUM_TOLERANCE}",
    "Store the whole distribution, or leave these rows out.",
)

LONG_ROW_CLASSES: Final = 4096
"""From so many classes on, a row is long: few of its entries are listed."""

ReportBadRow = Callable[[int, ProblemKind, str], None]
"""Is told of a bad row: which one, in what way, what was found."""


class RowChecker(Protocol):
    """Looks rows through, all of one K and dtype."""

    def check(self, rows: NDArray[Any], report: ReportBadRow) -> ScannedRows:
        """What is to be known of the rows in order; the others are reported. rows: shape (n, K)."""
        ...


def row_checker(classes: int, dtype: np.dtype[Any]) -> RowChecker:
    """The way that suits so many classes in that dtype."""
    if classes < LONG_ROW_CLASSES:
        return ShortRowChecker(classes)
    return LongRowChecker(
        Float16Scanner(classes) if dtype == np.float16 else WideFloatScanner(classes, dtype), dtype
    )


class ShortRowChecker:
    """Few classes: every entry is listed, many rows at once."""

    def __init__(self, classes: int) -> None:
        self._classes = classes

    def check(self, rows: NDArray[Any], report: ReportBadRow) -> ScannedRows:
        """See `Looker`."""
        usable = np.ones(rows.shape[0], np.bool_)
        clipped = np.zeros(rows.shape[0], np.int64)
        wrong = np.flatnonzero(as_bits(rows).max(axis=1) > bits_of_one(rows.dtype))
        if wrong.size:
            rows = rows.copy()
            for row in wrong.tolist():
                usable[row], clipped[row] = clip_row(rows[row], row, report)
        total = np.add.reduce(to_float64(rows), axis=1)
        for row in np.flatnonzero(usable & ~(np.abs(total - 1) <= SUM_TOLERANCE)).tolist():
            usable[row] = False
            report(row, SUM_NOT_ONE, f"{total[row]:.6g}")
        kept = np.flatnonzero(usable)
        values = rows if kept.size == rows.shape[0] else rows[kept]
        return ScannedRows(
            usable_rows=kept,
            values=values,
            start=np.arange(kept.size + 1) * self._classes,
            class_index=np.tile(np.arange(self._classes), kept.size),
            prob=to_float64(values).ravel(),
            unlisted_sum=np.zeros(kept.size),
            unlisted_square_sum=np.zeros(kept.size),
            unlisted_block_sums=None,
            bits_limit=-1,
            n_clipped=int(clipped[kept].sum()),
        )


class LongRowChecker:
    """Many classes: row by row in one small scratch, few entries listed."""

    def __init__(self, scanner: RowScanner, dtype: np.dtype[Any]) -> None:
        self._scratch = scanner
        self._dtype = dtype
        self._one = bits_of_one(dtype)

    def check(self, rows: NDArray[Any], report: ReportBadRow) -> ScannedRows:
        """See `Looker`."""
        found = self._scratch.scan(rows)
        clipped = np.zeros(found.count.size, np.int64)
        usable = np.ones(found.count.size, np.bool_)
        row_of = np.repeat(np.arange(usable.size), found.count)
        wrong = np.unique(row_of[found.bits > self._one])
        if wrong.size:
            rows = rows.copy()
            for row in wrong.tolist():
                usable[row], clipped[row] = clip_row(rows[row], row, report)
            rows[~usable] = 0
            found = self._scratch.scan(rows)
        look = self._with_top_label(rows, found)
        for row in np.flatnonzero(usable & (np.abs(look.row_sum - 1) > SUM_TOLERANCE)).tolist():
            usable[row] = False
            report(row, SUM_NOT_ONE, f"{look.row_sum[row]:.6g}")
        return look if usable.all() and not wrong.size else _select_rows(look, usable, clipped)

    def _with_top_label(self, rows: NDArray[Any], found: ScanResult) -> ScannedRows:
        """Every row has a listed entry: where none is large, its top label."""
        start = np.concatenate([np.zeros(1, np.intp), np.cumsum(found.count)])
        none = np.flatnonzero(found.count == 0)
        column, stored = found.class_index, found.bits
        if none.size:
            top = np.argmax(as_bits(rows[none]), axis=1)
            stored = np.insert(stored, start[none], as_bits(rows)[none, top])
            column = np.insert(column, start[none], top)
            prob = to_float64(rows[none, top])
            found.block_sums[none, top // class_block_size(rows.shape[1])] -= prob
            found.square_sum[none] -= prob * prob
            start += np.searchsorted(none, np.arange(start.size))
        return ScannedRows(
            usable_rows=np.arange(found.count.size),
            values=rows,
            start=start,
            class_index=column,
            prob=to_float64(stored.view(self._dtype)),
            unlisted_sum=np.maximum(0, found.block_sums).sum(axis=1),
            unlisted_square_sum=np.maximum(0, found.square_sum),
            unlisted_block_sums=np.maximum(0, found.block_sums),
            bits_limit=self._scratch.bits_limit,
            n_clipped=0,
        )


def _select_rows(scanned: ScannedRows, usable: NDArray[np.bool_], clipped: NDArray[np.int64]) -> ScannedRows:
    """The usable ones of the rows of a look."""
    listed = usable[scanned.entry_row]
    return ScannedRows(
        usable_rows=np.flatnonzero(usable),
        values=scanned.values[usable],
        start=np.concatenate([np.zeros(1, np.intp), np.cumsum(np.diff(scanned.start)[usable])]),
        class_index=scanned.class_index[listed],
        prob=scanned.prob[listed],
        unlisted_sum=scanned.unlisted_sum[usable],
        unlisted_square_sum=scanned.unlisted_square_sum[usable],
        unlisted_block_sums=None
        if scanned.unlisted_block_sums is None
        else scanned.unlisted_block_sums[usable],
        bits_limit=scanned.bits_limit,
        n_clipped=int(clipped[usable].sum()),
    )


def clip_row(values: NDArray[Any], row: int, report: ReportBadRow) -> tuple[bool, int]:
    """Clips a row, shape (K,), in place: whether it can be used, and how many values were moved."""
    wide = to_float64(values)
    for kind, wrong in (
        (NOT_FINITE, ~np.isfinite(wide)),
        (OUTSIDE_UNIT_INTERVAL, (wide < -CLIP_TOLERANCE) | (wide > 1 + CLIP_TOLERANCE)),
    ):
        if wrong.any():
            at = int(np.argmax(wrong))
            report(row, kind, f"class {at}: {values[at]!s}")
            return False, 0
    values[wide <= 0] = 0  # -0.0 too
    values[wide > 1] = 1
    return True, int(np.count_nonzero((wide < 0) | (wide > 1)))
