"""What do whole distributions, one a position, add up to?  Blocks of rows in, `TokenSums` out.

Each row is read once and not kept; memory does not grow with the rows, but for the sums by class.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calib_core.tokens.classes import ClassSums
from calib_core.tokens.draws import Drawer
from calib_core.tokens.examples import example
from calib_core.tokens.faults import Fault, FaultLog, Kind
from calib_core.tokens.looking import MANY, SLACK, Looker, looker
from calib_core.tokens.pooled import PooledSums
from calib_core.tokens.positions import Look, Positions
from calib_core.tokens.scales import Scale, probabilities, told
from calib_core.tokens.stored import cell_of, widened
from calib_core.tokens.sums import EXAMPLES, Example, TokenSums

PADDING: Final = -100
"""The target that says: not a position."""

LONG_BLOCK: Final = 64
"""Rows that are looked through before their listed entries are added up together, where few are listed."""

BLOCK_ROWS: Final = 1 << 10
BLOCK_ENTRIES: Final = 1 << 18
"""The same where all are listed or where they are computed: at most so many rows and entries, but one row."""

_NO_CLASSES: Final = "Sums by class were not kept."


class Reducer:
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
        scale: Scale = "probs",
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
        self._scale: Scale = scale
        self._read = 0
        self._bad = FaultLog()
        self._pooled = PooledSums(classes)
        self._keep_classes = by_class
        self._by_class: ClassSums | None = None
        self._drawer = Drawer(seed, classes, by_class=by_class) if draws else None
        self._examples: list[Example] = []
        self._looker: Looker | None = None
        self._dtype = np.dtype(np.float64)
        self._whole_numbers = Kind(
            "target",
            f"a whole number from 0 to {classes - 1} ({PADDING} for padding)",
            "Check that K and the targets come from one vocabulary, or leave these rows out.",
        )

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Bad rows so far, one entry a kind; they are in no sum."""
        return self._bad.faults()

    @property
    def bad_rows(self) -> int:
        """Bad rows so far."""
        return self._bad.rows

    def add(self, values: NDArray[Any], target: NDArray[Any]) -> None:
        """Adds the next rows.

        values: shape (n, K), float16, float32 or float64, one dtype in all calls; target: the right class of
        each, shape (n,), whole numbers.

        Raises ValueError for other shapes or dtypes. Whatever is wrong with a row is in `faults`.
        """
        self._check(values, target)
        few_listed = self._scale == "probs" and self._classes >= MANY
        step = LONG_BLOCK if few_listed else max(1, min(BLOCK_ROWS, BLOCK_ENTRIES // self._classes))
        for begin in range(0, values.shape[0], step):
            block = np.ascontiguousarray(values[begin : begin + step], self._dtype)
            self._block(block, np.asarray(target[begin : begin + step]))

    def result(self) -> TokenSums:
        """The sums of all rows so far that were in order."""
        by_class = None
        if self._keep_classes:
            sums = self._by_class or ClassSums(self._classes, self._dtype)
            by_class = sums.grid(self._pooled.occurrences)
        return TokenSums(
            rows=self._pooled.rows,
            classes=self._classes,
            top=self._pooled.top(),
            all=self._pooled.all(),
            by_class=by_class,
            no_classes=_NO_CLASSES if by_class is None else None,
            occurrences=self._pooled.occurrences.copy(),
            excess=self._pooled.excess,
            draws=None if self._drawer is None else self._drawer.draws(),
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
            self._looker = looker(self._classes, seen)
            if self._keep_classes:
                self._by_class = ClassSums(self._classes, seen)
        if dtype != self._dtype:
            raise ValueError(f"blocks of one run have one dtype, not {self._dtype} and {dtype}")

    def _block(self, values: NDArray[Any], target: NDArray[Any]) -> None:
        number = np.arange(self._read, self._read + target.size)
        self._read += target.size
        fine = self._in_vocabulary(number, target)
        if not fine.all():
            values, number, target = values[fine], number[fine], target[fine]

        def bad(row: int, kind: Kind, found: str) -> None:
            self._bad.add(*told(kind, found, values[row], self._scale), row=int(number[row]))

        assert self._looker is not None  # noqa: S101 - made by the check of the block
        with np.errstate(invalid="ignore"):  # a NaN is found, not warned of
            look = self._looker.look(probabilities(values, self._scale), bad)
        if look.kept.size:
            self._add(look, number[look.kept], target[look.kept].astype(np.int64))

    def _in_vocabulary(self, number: NDArray[np.int64], target: NDArray[Any]) -> NDArray[np.bool_]:
        """Which rows have a target that is a class; padding is counted, the others are bad."""
        padding = target == PADDING
        fine = (target >= 0) & (target < self._classes) & (target == np.floor(target))
        for row in np.flatnonzero(~(fine | padding)).tolist():
            self._bad.add(self._whole_numbers, str(target[row]), row=int(number[row]))
        self.padding += int(np.count_nonzero(padding))
        return fine

    def _add(self, look: Look, number: NDArray[np.int64], target: NDArray[np.int64]) -> None:
        """Rows in order, to every sum."""
        right = look.values[np.arange(target.size), target]
        positions = Positions(
            look=look,
            number=number,
            target=target,
            target_prob=widened(right),
            target_cell=cell_of(right),
            cell=cell_of(look.values[look.row, look.column]),
        )
        self.clipped += look.clipped
        self.off_sum += int(np.count_nonzero(np.abs(look.total - 1) > SLACK))
        self._pooled.add(positions)
        if self._by_class is not None:
            self._by_class.add(positions)
        if self._drawer is not None:
            self._drawer.add(positions)
        for row in range(min(EXAMPLES - len(self._examples), target.size)):
            large = look.column[look.start[row] : look.start[row + 1]]
            self._examples.append(example(int(number[row]), look.values[row], int(target[row]), large))
