"""How is something summed by a key that is known only when it is met?"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

MAX_PENDING: Final = 1 << 19
"""Entries that wait before they are sorted in; or as many as are sorted in already, if those are more."""


class KeyedSums:
    """Count and sum by key; grows with the distinct keys."""

    def __init__(self) -> None:
        self._key = np.zeros(0, np.int64)
        self._count = np.zeros(0, np.int64)
        self._sum = np.zeros(0)
        self._waiting: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
        self._size = 0

    def add(self, key: NDArray[np.int64], value: NDArray[np.float64]) -> None:
        """One more entry under each key, both of shape (n,)."""
        self._waiting.append((key, value))
        self._size += key.size
        if self._size > max(MAX_PENDING, self._key.size):
            self._consolidate()

    def sums(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Keys ascending, how many entries each has, and the sum of their values."""
        self._consolidate()
        return self._key, self._count, self._sum

    def _consolidate(self) -> None:
        if not self._waiting:
            return
        key = np.concatenate([self._key, *(key for key, _ in self._waiting)])
        count = np.concatenate([self._count, np.ones(self._size, np.int64)])
        value = np.concatenate([self._sum, *(value for _, value in self._waiting)])
        self._waiting, self._size = [], 0
        order = np.argsort(key, kind="stable")
        key = key[order]
        start = np.flatnonzero(np.diff(key, prepend=-1))
        if start.size:
            self._key = key[start]
            self._count = np.add.reduceat(count[order], start)
            self._sum = np.add.reduceat(value[order], start)
