"""What do the entries that are not listed add up to, class by class?"""

from __future__ import annotations

from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from calib_core.tokens.halves import HALF_LIMIT, UNIT, WordRows, even_lanes, odd_lanes
from calib_core.tokens.positions import Look
from calib_core.tokens.stored import bits

_ROWS_THAT_FIT: Final = (1 << 32) // (int(HALF_LIMIT) + 1) - 1


class Columns(Protocol):
    """Σp by class over the unlisted entries."""

    def add(self, look: Look) -> None:
        """The rows of a look more."""
        ...

    def sums(self) -> NDArray[np.float64]:
        """Of all rows so far, shape (K,)."""
        ...


class WideColumns:
    """For float32 and float64."""

    def __init__(self, classes: int) -> None:
        self._row = np.empty(classes)
        self._sums = np.zeros(classes)

    def add(self, look: Look) -> None:
        """See `Columns`."""
        for at, row in enumerate(look.values):
            np.copyto(self._row, row)
            self._row[look.column[look.start[at] : look.start[at + 1]]] = 0
            self._sums += self._row

    def sums(self) -> NDArray[np.float64]:
        """See `Columns`."""
        return self._sums.copy()


class HalfColumns:
    """For float16, exact; see `halves`."""

    def __init__(self, classes: int) -> None:
        self._classes = classes
        self._rows = WordRows(classes)
        self._lanes = np.empty(self._rows.words, np.uint64)
        self._even, self._odd = np.zeros((2, self._rows.words), np.uint64)
        self._sums = np.zeros(self._rows.words * 4)
        self._waiting = 0

    def add(self, look: Look) -> None:
        """See `Columns`."""
        for row in look.values:
            words = self._rows.of(row)
            even_lanes(words, self._lanes)
            self._even += self._lanes
            odd_lanes(words, self._lanes)
            self._odd += self._lanes
            self._waiting += 1
            if self._waiting == _ROWS_THAT_FIT:
                self._settle()
        low = bits(look.values[look.row, look.column]) & HALF_LIMIT
        np.subtract.at(self._sums, look.column, low.astype(np.float64))

    def sums(self) -> NDArray[np.float64]:
        """See `Columns`."""
        self._settle()
        return self._sums[: self._classes] * UNIT

    def _settle(self) -> None:
        # Whole numbers below 2⁵³ are exact in float64.
        for first, waiting in enumerate((self._even, self._odd)):
            self._sums[first::2] += waiting.view(np.uint32)
            waiting[:] = 0
        self._waiting = 0
