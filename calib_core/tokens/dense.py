"""Reduces whole distributions, one per position, to `TokenSums`, block by block.

Each row is read once. Memory does not grow with the number of rows, except for the sums by class.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calib_core.compiled import load
from calib_core.tokens.accumulators import PLAIN_LOOPS, ClassSums, PooledSums, compiled_loops
from calib_core.tokens.float_bits import grid_cell_of, to_float64
from calib_core.tokens.null_draws import NullSampler, compiled_count_draws, count_draws
from calib_core.tokens.row_checks import (
    CLIP_TOLERANCE,
    LONG_ROW_CLASSES,
    PositionProblem,
    PositionProblemLog,
    ProblemKind,
    RowChecker,
    row_checker,
)
from calib_core.tokens.row_scanner import (
    PositionBlock,
    ScannedRows,
    compiled_scan_function,
    scan_rows,
)
from calib_core.tokens.scales import ProbabilityScale, problem_in_scale, to_probabilities
from calib_core.tokens.sums import MAX_EXAMPLES, ExamplePosition, TokenSums, example_from_row
from calib_core.tokens.texts import TextCellSums

PADDING_TARGET: Final = -100
"""Target of a row that is not a position."""

LONG_BLOCK_ROWS: Final = 64
"""Rows per block where few entries of a row are listed."""

BLOCK_ROWS: Final = 1 << 10
BLOCK_ENTRIES: Final = 1 << 18
"""Most rows and entries per block (at least one row) where all entries are listed or computed."""

_NO_CLASS_SUMS: Final = "Sums by class were not kept."


def scanned_dtype(dtype: np.dtype[Any], scale: ProbabilityScale) -> np.dtype[Any]:
    """The dtype of the probabilities that stored values become, in the byte order of this machine."""
    return dtype.newbyteorder("=") if scale == "probs" else np.dtype(np.float64)


def load_compiled(dtype: np.dtype[Any]) -> bool:
    """Loads the compiled code for distributions of a dtype, and compiles what is missing, at its first use.

    Returns
    -------
    bool
        Whether it is at hand; otherwise NumPy does the same, several times as slowly.
    """

    def is_loaded() -> bool:
        return (
            compiled_scan_function(dtype) is not scan_rows
            and compiled_count_draws() is not count_draws
            and compiled_loops() != PLAIN_LOOPS
        )

    return load(dtype.name, is_loaded)


class DenseReducer:
    """Adds up distributions over K classes, block by block.

    Parameters
    ----------
    classes : int
        Number of classes, K.
    scale : ProbabilityScale, default="probs"
        What the blocks hold.
    seed : int, default=0
        Seed of the null draws, which also depend on the stored values.
    by_class, draws : bool, default=True
        Whether to keep sums by class, and null draws.
    sampler : NullSampler, optional
        What makes the null draws instead, of several parts of a run together; the sums then have none.
    first_row : int, default=0
        Number of rows of the run before the first one added here: what makes the draws of a part, and the row
        numbers in its problems, those of the whole.
    compiled : bool, default=False
        Whether to use compiled code if Numba is installed; the sums are the same.

    Attributes
    ----------
    n_clipped : int
        Number of values in used rows that were clipped, being at most 1e-6 outside [0, 1].
    n_inexact_sums : int
        Number of used rows whose sum differs from 1 by more than 1e-6.
    n_padding : int
        Number of rows with target −100, which are not positions.
    """

    def __init__(
        self,
        classes: int,
        *,
        scale: ProbabilityScale = "probs",
        seed: int = 0,
        by_class: bool = True,
        draws: bool = True,
        sampler: NullSampler | None = None,
        first_row: int = 0,
        compiled: bool = False,
    ) -> None:
        if classes < 1:
            raise ValueError(f"K must be a whole number from 1, not {classes}")
        self.n_clipped = 0
        self.n_inexact_sums = 0
        self.n_padding = 0
        self._classes = classes
        self._scale: ProbabilityScale = scale
        self._n_read = first_row
        self._problem_log = PositionProblemLog()
        self._loops = compiled_loops() if compiled else PLAIN_LOOPS
        self._pooled = PooledSums(classes, self._loops)
        self._keep_classes = by_class
        self._compiled = compiled
        self._by_class: ClassSums | None = None
        self._own_sampler = None
        if draws and sampler is None:
            self._own_sampler = NullSampler(seed, classes, by_class=by_class, compiled=compiled)
        self._sampler = sampler or self._own_sampler
        self._texts: TextCellSums | None = TextCellSums()
        self._examples: list[ExamplePosition] = []
        self._checker: RowChecker | None = None
        self._dtype = np.dtype(np.float64)
        self._target_problem = ProblemKind(
            "target",
            f"a whole number from 0 to {classes - 1} ({PADDING_TARGET} for padding)",
            "Check that K and the targets come from one vocabulary, or leave these rows out.",
        )

    @property
    def problems(self) -> tuple[PositionProblem, ...]:
        """Bad rows so far, one entry per kind; bad rows are in no sum."""
        return self._problem_log.problems()

    @property
    def n_bad_rows(self) -> int:
        """Number of bad rows so far."""
        return self._problem_log.n_rows

    def add(self, values: NDArray[Any], target: NDArray[Any], text: NDArray[np.int64] | None = None) -> None:
        """Adds the next rows; rows with a fault are left out and recorded in `problems`.

        Parameters
        ----------
        values : NDArray, shape (n, K)
            Distributions as float16, float32 or float64, with the same dtype in all calls.
        target : NDArray, shape (n,)
            Right class of each row, an integer.
        text : NDArray[np.int64] or None, shape (n,)
            Number of each row's text; sums by text are kept if every row has one.

        Raises
        ------
        ValueError
            If a shape or the dtype does not match.
        """
        self._check(values, target)
        if text is None:
            self._texts = None
        elif text.shape != target.shape:
            raise ValueError(f"expected one text per row, not {text.shape} for {target.shape}")
        few_listed = self._scale == "probs" and self._classes >= LONG_ROW_CLASSES
        step = LONG_BLOCK_ROWS if few_listed else max(1, min(BLOCK_ROWS, BLOCK_ENTRIES // self._classes))
        for begin in range(0, values.shape[0], step):
            block = np.ascontiguousarray(values[begin : begin + step], self._dtype)
            block_text = None if text is None else text[begin : begin + step]
            self._add_block(block, np.asarray(target[begin : begin + step]), block_text)

    def result(self) -> TokenSums:
        """The sums of all good rows so far."""
        by_class = None
        if self._keep_classes:
            sums = self._by_class or ClassSums(self._classes, self._dtype)
            by_class = sums.grid(self._pooled.occurrences)
        return TokenSums(
            n_rows=self._pooled.n_rows,
            n_classes=self._classes,
            top_label=self._pooled.top_label(),
            all_labels=self._pooled.all_labels(),
            by_class=by_class,
            no_class_sums_reason=_NO_CLASS_SUMS if by_class is None else None,
            occurrences=self._pooled.occurrences.copy(),
            sum_deviation=self._pooled.sum_deviation,
            draws=None if self._own_sampler is None else self._own_sampler.result(),
            examples=tuple(self._examples),
            texts=None if self._texts is None else self._texts.sums(),
        )

    def _check(self, values: NDArray[Any], target: NDArray[Any]) -> None:
        """Checks shapes and dtypes; the first block sets the dtype."""
        if values.ndim != 2 or values.shape[1] != self._classes or target.shape != values.shape[:1]:
            raise ValueError(
                f"a block must be rows × {self._classes} with one target per row, not {values.shape} with "
                f"{target.shape}"
            )
        if values.dtype.kind != "f" or values.dtype.itemsize not in (2, 4, 8):
            raise ValueError(f"a distribution must be float16, float32 or float64, not {values.dtype}")
        if target.dtype.kind not in "iuf":
            raise ValueError(f"targets must be whole numbers, not {target.dtype}")
        dtype = values.dtype.newbyteorder("=")
        if self._checker is None:
            self._dtype = dtype
            scanned = scanned_dtype(dtype, self._scale)
            self._checker = row_checker(self._classes, scanned, compiled=self._compiled)
            if self._keep_classes:
                self._by_class = ClassSums(self._classes, scanned, self._loops)
        if dtype != self._dtype:
            raise ValueError(f"blocks of one run must have one dtype, not {self._dtype} and {dtype}")

    def _add_block(self, values: NDArray[Any], target: NDArray[Any], text: NDArray[np.int64] | None) -> None:
        row_number = np.arange(self._n_read, self._n_read + target.size)
        self._n_read += target.size
        is_class = self._in_vocabulary(row_number, target)
        if not is_class.all():
            values, row_number, target = values[is_class], row_number[is_class], target[is_class]
            text = None if text is None else text[is_class]

        def report(row: int, kind: ProblemKind, found: str) -> None:
            self._problem_log.add(
                *problem_in_scale(kind, found, values[row], self._scale), row=int(row_number[row])
            )

        assert self._checker is not None  # noqa: S101 - set by _check
        with np.errstate(invalid="ignore"):  # the row checker reports NaN
            scanned = self._checker.check(
                to_probabilities(values, self._scale),
                report,
                None if self._by_class is None else self._by_class.unlisted,
            )
        usable = scanned.usable_rows
        if usable.size:
            target = target[usable].astype(np.int64)
            self._add_scanned(scanned, row_number[usable], target, None if text is None else text[usable])

    def _in_vocabulary(self, row_number: NDArray[np.int64], target: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether each target is a class; padding is counted, any other target is recorded as a problem."""
        is_padding = target == PADDING_TARGET
        is_class = (target >= 0) & (target < self._classes) & (target == np.floor(target))
        for row in np.flatnonzero(~(is_class | is_padding)).tolist():
            self._problem_log.add(self._target_problem, str(target[row]), row=int(row_number[row]))
        self.n_padding += int(np.count_nonzero(is_padding))
        return is_class

    def _add_scanned(
        self,
        scanned: ScannedRows,
        row_number: NDArray[np.int64],
        target: NDArray[np.int64],
        text: NDArray[np.int64] | None,
    ) -> None:
        """Adds valid rows to every sum."""
        target_values = scanned.values[np.arange(target.size), target]
        positions = PositionBlock(
            scanned=scanned,
            row_number=row_number,
            target=target,
            target_prob=to_float64(target_values),
            target_cell=grid_cell_of(target_values),
            entry_cell=grid_cell_of(scanned.entry_values),
        )
        self.n_clipped += scanned.n_clipped
        self.n_inexact_sums += int(np.count_nonzero(np.abs(scanned.row_sum - 1) > CLIP_TOLERANCE))
        self._pooled.add(positions)
        if self._by_class is not None:
            self._by_class.add(positions)
        if self._sampler is not None:
            self._sampler.add(positions)
        if self._texts is not None and text is not None:
            top = scanned.top_entry
            is_right = scanned.class_index[top] == target
            self._texts.add(text, positions.entry_cell[top], scanned.prob[top], is_right)
        for row in range(min(MAX_EXAMPLES - len(self._examples), target.size)):
            large = scanned.class_index[scanned.start[row] : scanned.start[row + 1]]
            self._examples.append(
                example_from_row(int(row_number[row]), scanned.values[row], int(target[row]), large)
            )
