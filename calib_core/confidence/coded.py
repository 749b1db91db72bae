"""Which texts are the same?  Many texts → whole numbers, by hashes that are held against the texts."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

WORKERS: Final = min(4, os.cpu_count() or 1)
"""Threads that number, look up and sort: polars and numpy let the others run meanwhile."""

_PART: Final = 1 << 18
"""So many values are worked on at a time: what is between two steps stays in a core's cache."""

_FEW: Final = 1 << 14
"""So many texts tell whether they are mostly different ones, as whole outputs are."""

_BITS: Final = 20
"""Of a hash: 2^20 slots, few of which several of some thousand texts share."""

T = TypeVar("T")


def coded(text: pl.Series) -> tuple[NDArray[np.uint32], pl.Series]:
    """Whole numbers that are equal just where the texts are, and the text of each number.

    text: String, shape (n,). Returns uint32 of shape (n,), from 0 on, and the distinct texts in that order;
    null is one of the texts.
    """
    if text.len() < _FEW or text[:_FEW].n_unique() > _FEW // 2:
        return _by_dictionary(text)
    first, slots = _slots(text)
    used = np.flatnonzero(first >= 0)
    texts = text.gather(first[used])
    first[used] = np.arange(used.size, dtype=np.int32)
    numbers = looked_up(first, slots).view(np.uint32)
    # The slot of several texts names one of them; the others are found by their not being it.
    at = _unlike(text, texts, numbers)
    if at.size:
        more, further = _by_dictionary(text.gather(at))
        numbers[at], texts = more + np.uint32(texts.len()), pl.concat([texts, further])
    return numbers, texts


def _unlike(text: pl.Series, texts: pl.Series, numbers: NDArray[np.uint32]) -> NDArray[np.intp]:
    """Where a text is not the one that its number stands for."""

    def unlike(part: slice) -> NDArray[np.intp]:
        other = texts.gather(pl.Series(numbers[part])).ne_missing(text[part])
        return part.start + np.flatnonzero(other.to_numpy())

    return np.concatenate(in_parts(unlike, text.len()))


def _slots(text: pl.Series) -> tuple[NDArray[np.int32], NDArray[np.uint32]]:
    """Where in `text` one of the texts of each slot stands, −1 = it has none; and the slot of each text.

    A text's slot is the beginning of its hash, so that equal texts have the same.
    """
    first, slots = np.full(1 << _BITS, -1, np.int32), np.empty(text.len(), np.uint32)

    def enter(part: slice) -> None:
        own = text[part].hash().to_numpy() >> np.uint64(64 - _BITS)
        slots[part] = own
        # Where several threads write to a slot, one of their places is in it: any will do.
        first[own.view(np.int64)] = np.arange(part.start, part.stop, dtype=np.int32)

    in_parts(enter, text.len())
    return first, slots


def _by_dictionary(text: pl.Series) -> tuple[NDArray[np.uint32], pl.Series]:
    """The same by polars' own dictionary."""
    categories = pl.Categories.random()
    # The series holds the dictionary: without it the categories are gone.
    held = text.cast(pl.Categorical(categories))
    texts = categories.to_series().alias(text.name)
    missing = pl.Series(text.name, [None], dtype=pl.String) if held.has_nulls() else texts.clear()
    numbers = held.to_physical().fill_null(texts.len()).to_numpy()
    return numbers, pl.concat([texts, missing])


def looked_up(table: NDArray[np.int32], numbers: NDArray[np.uint32]) -> NDArray[np.int32]:
    """What a table has for each of the numbers, the places in it; shape of `numbers`."""
    found = np.empty(numbers.size, np.int32)

    def look_up(part: slice) -> None:
        # Without `mode` numpy would take them to a copy first, in case one of them is no place.
        np.take(table, numbers[part], out=found[part], mode="clip")

    in_parts(look_up, numbers.size)
    return found


def in_parts(work: Callable[[slice], T], size: int) -> list[T]:
    """What comes of some work on 0 … size − 1, a part of them a thread at a time."""
    parts = [slice(low, min(low + _PART, size)) for low in range(0, size, _PART)]
    if len(parts) < 2:
        return list(map(work, parts))
    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(work, parts))
