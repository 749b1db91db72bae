"""Checks rows of probabilities, and decides which of their entries are listed.

A value at most 1e-6 outside [0, 1] is clipped. One farther outside, NaN, or a sum that differs from 1 by more
than 1e-3 makes the row bad. A good row is used as stored, without normalisation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from calib_core.errors import MAX_CELLS_SHOWN, shorten
from calib_core.tokens.float_bits import as_bits, bits_of_one, to_float64
from calib_core.tokens.row_scanner import RowScanner, ScannedRows, ScanResult, class_block_size

# --- Problems of positions ----------------------------------------------------

MAX_FOUND_CHARS: Final = 80
"""Characters kept of a value that was found."""


@dataclass(frozen=True, slots=True)
class PositionProblem:
    """All bad rows of one kind. A row has one kind only, the first that was found.

    Attributes
    ----------
    kind : str
        The fault, as a title.
    expected, fix : str
        As in `BadCell`.
    count : int
        Number of rows.
    first_rows : tuple[tuple[int, str], ...]
        0-based row and value found, for the first `MAX_CELLS_SHOWN` rows.
    """

    kind: str
    expected: str
    fix: str
    count: int
    first_rows: tuple[tuple[int, str], ...]

    def merge(self, other: PositionProblem) -> PositionProblem:
        """The rows of this kind of both parts; those of `other` come later."""
        first_rows = (*self.first_rows, *other.first_rows)[:MAX_CELLS_SHOWN]
        return replace(self, count=self.count + other.count, first_rows=first_rows)


@dataclass(frozen=True, slots=True)
class ProblemKind:
    """A way in which a row can be bad, with the texts of its `PositionProblem`."""

    title: str
    expected: str
    fix: str


class PositionProblemLog:
    """Collects bad rows: counts all, and keeps the first ones of each kind."""

    def __init__(self) -> None:
        self._count: dict[ProblemKind, int] = {}
        self._first: dict[ProblemKind, list[tuple[int, str]]] = {}

    def add(self, kind: ProblemKind, found: str, *, row: int) -> None:
        """Records one bad row."""
        self._count[kind] = self._count.get(kind, 0) + 1
        first = self._first.setdefault(kind, [])
        if len(first) < MAX_CELLS_SHOWN:
            first.append((row, shorten(found, MAX_FOUND_CHARS)))

    @property
    def n_rows(self) -> int:
        """Number of bad rows of all kinds."""
        return sum(self._count.values())

    def problems(self) -> tuple[PositionProblem, ...]:
        """One entry per kind, in the order in which the kinds were first met."""
        return tuple(
            PositionProblem(kind.title, kind.expected, kind.fix, count, tuple(self._first[kind]))
            for kind, count in self._count.items()
        )


# --- Checks of rows -----------------------------------------------------------

CLIP_TOLERANCE: Final = 1e-6
"""How far outside [0, 1] a value is clipped, and how far from 1 a sum is not reported."""

SUM_TOLERANCE: Final = 1e-3
"""How far the sum of a good row may be from 1."""

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
"""Number of classes from which rows are long: only their large entries are listed."""

ReportBadRow = Callable[[int, ProblemKind, str], None]
"""Called for each bad row with its index, its kind of problem and what was found."""


class RowChecker(Protocol):
    """Checks rows that all have the same K and dtype."""

    def check(
        self, rows: NDArray[Any], report: ReportBadRow, class_sums: NDArray[np.float64] | None = None
    ) -> ScannedRows:
        """The good rows, scanned.

        Parameters
        ----------
        rows : NDArray, shape (n, K)
            Probabilities.
        report : ReportBadRow
            Called for each bad row.
        class_sums : NDArray[np.float64], shape (K,), optional
            As for `RowScanner.scan`.
        """
        ...


def row_checker(classes: int, dtype: np.dtype[Any], *, compiled: bool = False) -> RowChecker:
    """The checker for this number of classes and dtype; compiled: as for `RowScanner`."""
    if classes < LONG_ROW_CLASSES:
        return ShortRowChecker(classes)
    return LongRowChecker(RowScanner(classes, dtype, compiled=compiled), dtype)


class ShortRowChecker:
    """Checker for few classes: every entry is listed, and many rows are handled at once."""

    def __init__(self, classes: int) -> None:
        self._classes = classes
        self._class_index = np.zeros(0, np.intp)

    def check(
        self, rows: NDArray[Any], report: ReportBadRow, class_sums: NDArray[np.float64] | None = None
    ) -> ScannedRows:
        """See `RowChecker.check`."""
        del class_sums  # every entry is listed
        usable = np.ones(rows.shape[0], np.bool_)
        clipped = np.zeros(rows.shape[0], np.int64)
        suspicious = np.flatnonzero(as_bits(rows).max(axis=1) > bits_of_one(rows.dtype))
        if suspicious.size:
            rows = rows.copy()
            for row in suspicious.tolist():
                usable[row], clipped[row] = clip_row(rows[row], row, report)
        prob = to_float64(rows)
        total = np.add.reduce(prob, axis=1)
        for row in np.flatnonzero(usable & ~(np.abs(total - 1) <= SUM_TOLERANCE)).tolist():
            usable[row] = False
            report(row, SUM_NOT_ONE, f"{total[row]:.6g}")
        usable_rows = np.flatnonzero(usable)
        if usable_rows.size < rows.shape[0]:
            rows, prob = rows[usable_rows], prob[usable_rows]
        if self._class_index.size < prob.size:  # equal for all blocks
            self._class_index = np.tile(np.arange(self._classes), usable_rows.size)
        return ScannedRows(
            usable_rows=usable_rows,
            values=rows,
            start=np.arange(usable_rows.size + 1) * self._classes,
            class_index=self._class_index[: prob.size],
            prob=prob.ravel(),
            unlisted_sum=np.zeros(usable_rows.size),
            unlisted_square_sum=np.zeros(usable_rows.size),
            unlisted_block_sums=None,
            bits_limit=-1,
            n_clipped=int(clipped[usable_rows].sum()),
        )


class LongRowChecker:
    """Checker for many classes: rows are scanned one by one, and few entries are listed."""

    def __init__(self, scanner: RowScanner, dtype: np.dtype[Any]) -> None:
        self._scanner = scanner
        self._dtype = dtype
        self._bits_of_one = bits_of_one(dtype)

    def check(
        self, rows: NDArray[Any], report: ReportBadRow, class_sums: NDArray[np.float64] | None = None
    ) -> ScannedRows:
        """See `RowChecker.check`."""
        result = self._scanner.scan(rows, class_sums)
        clipped = np.zeros(result.count.size, np.int64)
        usable = np.ones(result.count.size, np.bool_)
        row_of = np.repeat(np.arange(usable.size), result.count)
        suspicious = np.unique(row_of[result.bits > self._bits_of_one])
        if suspicious.size:
            rows = rows.copy()
            for row in suspicious.tolist():
                usable[row], clipped[row] = clip_row(rows[row], row, report)
            rows[~usable] = 0
            result = self._scanner.scan(rows, class_sums)
        scanned = self._with_top_label(rows, result)
        for row in np.flatnonzero(usable & (np.abs(scanned.row_sum - 1) > SUM_TOLERANCE)).tolist():
            usable[row] = False
            report(row, SUM_NOT_ONE, f"{scanned.row_sum[row]:.6g}")
        return scanned if usable.all() and not suspicious.size else _select_rows(scanned, usable, clipped)

    def _with_top_label(self, rows: NDArray[Any], result: ScanResult) -> ScannedRows:
        """The scanned rows, in which a row without large entries lists its top label."""
        start = np.concatenate([np.zeros(1, np.intp), np.cumsum(result.count)])
        without_large = np.flatnonzero(result.count == 0)
        class_index, bits = result.class_index, result.bits
        if without_large.size:
            top = np.argmax(as_bits(rows[without_large]), axis=1)
            bits = np.insert(bits, start[without_large], as_bits(rows)[without_large, top])
            class_index = np.insert(class_index, start[without_large], top)
            prob = to_float64(rows[without_large, top])
            result.block_sums[without_large, top // class_block_size(rows.shape[1])] -= prob
            result.square_sum[without_large] -= prob * prob
            start += np.searchsorted(without_large, np.arange(start.size))
        return ScannedRows(
            usable_rows=np.arange(result.count.size),
            values=rows,
            start=start,
            class_index=class_index,
            prob=to_float64(bits.view(self._dtype)),
            unlisted_sum=np.maximum(0, result.block_sums).sum(axis=1),
            unlisted_square_sum=np.maximum(0, result.square_sum),
            unlisted_block_sums=np.maximum(0, result.block_sums),
            bits_limit=self._scanner.bits_limit,
            n_clipped=0,
            class_sums=None if without_large.size else result.class_sums,
        )


def _select_rows(scanned: ScannedRows, usable: NDArray[np.bool_], clipped: NDArray[np.int64]) -> ScannedRows:
    """The usable rows of a scan."""
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
    """Clips a row in place.

    Parameters
    ----------
    values : NDArray, shape (K,)
        The row.
    row : int
        Its index, for the report.
    report : ReportBadRow
        Called if the row is bad.

    Returns
    -------
    is_usable : bool
        Whether the row is good.
    n_clipped : int
        Number of values that were clipped.
    """
    wide = to_float64(values)
    for kind, is_wrong in (
        (NOT_FINITE, ~np.isfinite(wide)),
        (OUTSIDE_UNIT_INTERVAL, (wide < -CLIP_TOLERANCE) | (wide > 1 + CLIP_TOLERANCE)),
    ):
        if is_wrong.any():
            class_index = int(np.argmax(is_wrong))
            report(row, kind, f"class {class_index}: {values[class_index]!s}")
            return False, 0
    values[wide <= 0] = 0  # -0.0 too
    values[wide > 1] = 1
    return True, int(np.count_nonzero((wide < 0) | (wide > 1)))
