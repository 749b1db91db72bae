"""What do the entries that are not listed add up to, class by class?"""

from __future__ import annotations

from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from calib_core.tokens.halves import FLOAT16_BITS_LIMIT, FLOAT16_UNIT, PackedRows, even_lanes, odd_lanes
from calib_core.tokens.positions import ScannedRows
from calib_core.tokens.stored import as_bits

_MAX_PENDING_ROWS: Final = (1 << 32) // (int(FLOAT16_BITS_LIMIT) + 1) - 1


class UnlistedSums(Protocol):
    """Σp by class over the unlisted entries."""

    def add(self, scanned: ScannedRows) -> None:
        """The rows of a look more."""
        ...

    def sums(self) -> NDArray[np.float64]:
        """Of all rows so far, shape (K,)."""
        ...


class WideFloatUnlistedSums:
    """For float32 and float64."""

    def __init__(self, classes: int) -> None:
        self._row = np.empty(classes)
        self._sums = np.zeros(classes)

    def add(self, scanned: ScannedRows) -> None:
        """See `Columns`."""
        for at, row in enumerate(scanned.values):
            np.copyto(self._row, row)
            self._row[scanned.class_index[scanned.start[at] : scanned.start[at + 1]]] = 0
            self._sums += self._row

    def sums(self) -> NDArray[np.float64]:
        """See `Columns`."""
        return self._sums.copy()


class Float16UnlistedSums:
    """For float16, exact; see `halves`."""

    def __init__(self, classes: int) -> None:
        self._classes = classes
        self._rows = PackedRows(classes)
        self._lanes = np.empty(self._rows.words, np.uint64)
        self._even, self._odd = np.zeros((2, self._rows.words), np.uint64)
        self._sums = np.zeros(self._rows.words * 4)
        self._waiting = 0

    def add(self, scanned: ScannedRows) -> None:
        """See `Columns`."""
        for row in scanned.values:
            words = self._rows.pack(row)
            even_lanes(words, self._lanes)
            self._even += self._lanes
            odd_lanes(words, self._lanes)
            self._odd += self._lanes
            self._waiting += 1
            if self._waiting == _MAX_PENDING_ROWS:
                self._flush()
        low = as_bits(scanned.values[scanned.entry_row, scanned.class_index]) & FLOAT16_BITS_LIMIT
        np.subtract.at(self._sums, scanned.class_index, low.astype(np.float64))

    def sums(self) -> NDArray[np.float64]:
        """See `Columns`."""
        self._flush()
        return self._sums[: self._classes] * FLOAT16_UNIT

    def _flush(self) -> None:
        # Whole numbers below 2⁵³ are exact in float64.
        for first, waiting in enumerate((self._even, self._odd)):
            self._sums[first::2] += waiting.view(np.uint32)
            waiting[:] = 0
        self._waiting = 0
