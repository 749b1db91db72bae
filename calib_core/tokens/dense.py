"""What do whole distributions, one a position, add up to?  Blocks of rows in, `TokenSums` out.

Each row is read once and not kept; memory does not grow with the rows, but for the sums by class.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calib_core.tokens.accumulators import ClassSums, PooledSums
from calib_core.tokens.float_bits import grid_cell_of, to_float64
from calib_core.tokens.null_draws import NullSampler
from calib_core.tokens.row_checks import (
    CLIP_TOLERANCE,
    LONG_ROW_CLASSES,
    PositionProblem,
    PositionProblemLog,
    ProblemKind,
    RowChecker,
    row_checker,
)
from calib_core.tokens.row_scanner import PositionBlock, ScannedRows
from calib_core.tokens.scales import ProbabilityScale, problem_in_scale, to_probabilities
from calib_core.tokens.sums import MAX_EXAMPLES, ExamplePosition, TokenSums, example_from_row

PADDING_TARGET: Final = -100
"""The target that says: not a position."""

LONG_BLOCK_ROWS: Final = 64
"""Rows that are looked through before their listed entries are added up together, where few are listed."""

BLOCK_ROWS: Final = 1 << 10
BLOCK_ENTRIES: Final = 1 << 18
"""The same where all are listed or where they are computed: at most so many rows and entries, but one row."""

_NO_CLASS_SUMS: Final = "Sums by class were not kept."


class DenseReducer:
    """Adds up distributions over K classes, block by block.

    classes: K; scale: what the blocks hold; seed: of the draws of the null, which depend on what is stored
    too (`uniform`); by_class, draws: whether these sums are kept.

    clipped: values up to 1e-6 outside [0, 1], in rows used, that were moved onto the edge; off_sum: rows used
    whose sum is off by more than 1e-6; padding: rows whose target is −100, which are no positions.
    """

    def __init__(
        self,
        classes: int,
        *,
        scale: ProbabilityScale = "probs",
        seed: int = 0,
        by_class: bool = True,
        draws: bool = True,
    ) -> None:
        if classes < 1:
            raise ValueError(f"K is a whole number from 1, not {classes}")
        self.clipped = 0
        self.off_sum = 0
        self.padding = 0
        self._classes = classes
        self._scale: ProbabilityScale = scale
        self._read = 0
        self._bad = PositionProblemLog()
        self._pooled = PooledSums(classes)
        self._keep_classes = by_class
        self._by_class: ClassSums | None = None
        self._drawer = NullSampler(seed, classes, by_class=by_class) if draws else None
        self._examples: list[ExamplePosition] = []
        self._looker: RowChecker | None = None
        self._dtype = np.dtype(np.float64)
        self._whole_numbers = ProblemKind(
            "target",
            f"a whole number from 0 to {classes - 1} ({PADDING_TARGET} for padding)",
            "Check that K and the targets come from one vocabulary, or leave these rows out.",
        )

    @property
    def problems(self) -> tuple[PositionProblem, ...]:
        """Bad rows so far, one entry a kind; they are in no sum."""
        return self._bad.problems()

    @property
    def n_bad_rows(self) -> int:
        """Bad rows so far."""
        return self._bad.n_rows

    def add(self, values: NDArray[Any], target: NDArray[Any]) -> None:
        """Adds the next rows.

        values: shape (n, K), float16, float32 or float64, one dtype in all calls; target: the right class of
        each, shape (n,), whole numbers.

        Raises ValueError for other shapes or dtypes. Whatever is wrong with a row is in `faults`.
        """
        self._check(values, target)
        few_listed = self._scale == "probs" and self._classes >= LONG_ROW_CLASSES
        step = LONG_BLOCK_ROWS if few_listed else max(1, min(BLOCK_ROWS, BLOCK_ENTRIES // self._classes))
        for begin in range(0, values.shape[0], step):
            block = np.ascontiguousarray(values[begin : begin + step], self._dtype)
            self._add_block(block, np.asarray(target[begin : begin + step]))

    def result(self) -> TokenSums:
        """The sums of all rows so far that were in order."""
        by_class = None
        if self._keep_classes:
            sums = self._by_class or ClassSums(self._classes, self._dtype)
            by_class = sums.grid(self._pooled.occurrences)
        return TokenSums(
            rows=self._pooled.rows,
            classes=self._classes,
            top_label=self._pooled.top_label(),
            all_labels=self._pooled.all_labels(),
            by_class=by_class,
            no_class_sums_reason=_NO_CLASS_SUMS if by_class is None else None,
            occurrences=self._pooled.occurrences.copy(),
            sum_deviation=self._pooled.excess,
            draws=None if self._drawer is None else self._drawer.result(),
            examples=tuple(self._examples),
        )

    def _check(self, values: NDArray[Any], target: NDArray[Any]) -> None:
        """Shapes and dtypes; the first block decides the dtype."""
        if values.ndim != 2 or values.shape[1] != self._classes or target.shape != values.shape[:1]:
            raise ValueError(
                f"a block is rows × {self._classes} with one target a row, "
                f"not {values.shape} with {target.shape}"
            )
        if values.dtype.kind != "f" or values.dtype.itemsize not in (2, 4, 8):
            raise ValueError(f"a distribution is float16, float32 or float64, not {values.dtype}")
        if target.dtype.kind not in "iuf":
            raise ValueError(f"targets are whole numbers, not {target.dtype}")
        dtype = values.dtype.newbyteorder("=")
        if self._looker is None:
            self._dtype = dtype
            seen = dtype if self._scale == "probs" else np.dtype(np.float64)
            self._looker = row_checker(self._classes, seen)
            if self._keep_classes:
                self._by_class = ClassSums(self._classes, seen)
        if dtype != self._dtype:
            raise ValueError(f"blocks of one run have one dtype, not {self._dtype} and {dtype}")

    def _add_block(self, values: NDArray[Any], target: NDArray[Any]) -> None:
        number = np.arange(self._read, self._read + target.size)
        self._read += target.size
        fine = self._in_vocabulary(number, target)
        if not fine.all():
            values, number, target = values[fine], number[fine], target[fine]

        def bad(row: int, kind: ProblemKind, found: str) -> None:
            self._bad.add(*problem_in_scale(kind, found, values[row], self._scale), row=int(number[row]))

        assert self._looker is not None  # noqa: S101 - made by the check of the block
        with np.errstate(invalid="ignore"):  # a NaN is found, not warned of
            look = self._looker.check(to_probabilities(values, self._scale), bad)
        if look.usable_rows.size:
            self._add_scanned(look, number[look.usable_rows], target[look.usable_rows].astype(np.int64))

    def _in_vocabulary(self, number: NDArray[np.int64], target: NDArray[Any]) -> NDArray[np.bool_]:
        """Which rows have a target that is a class; padding is counted, the others are bad."""
        padding = target == PADDING_TARGET
        fine = (target >= 0) & (target < self._classes) & (target == np.floor(target))
        for row in np.flatnonzero(~(fine | padding)).tolist():
            self._bad.add(self._whole_numbers, str(target[row]), row=int(number[row]))
        self.padding += int(np.count_nonzero(padding))
        return fine

    def _add_scanned(
        self, scanned: ScannedRows, number: NDArray[np.int64], target: NDArray[np.int64]
    ) -> None:
        """Rows in order, to every sum."""
        right = scanned.values[np.arange(target.size), target]
        positions = PositionBlock(
            scanned=scanned,
            row_number=number,
            target=target,
            target_prob=to_float64(right),
            target_cell=grid_cell_of(right),
            entry_cell=grid_cell_of(scanned.values[scanned.entry_row, scanned.class_index]),
        )
        self.clipped += scanned.n_clipped
        self.off_sum += int(np.count_nonzero(np.abs(scanned.row_sum - 1) > CLIP_TOLERANCE))
        self._pooled.add(positions)
        if self._by_class is not None:
            self._by_class.add(positions)
        if self._drawer is not None:
            self._drawer.add(positions)
        for row in range(min(MAX_EXAMPLES - len(self._examples), target.size)):
            large = scanned.class_index[scanned.start[row] : scanned.start[row + 1]]
            self._examples.append(
                example_from_row(int(number[row]), scanned.values[row], int(target[row]), large)
            )
