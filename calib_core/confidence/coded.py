"""Which texts are the same?  Many texts → whole numbers, by dictionaries that several threads fill."""

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

_ALONE: Final = 1 << 16
"""So few values are not worth a thread."""

T = TypeVar("T")


def coded(text: pl.Series) -> tuple[NDArray[np.uint32], pl.Series]:
    """Whole numbers that are equal just where the texts are, and the text of each number.

    text: String, shape (n,). Returns uint32 of shape (n,), from 0 on, and the distinct texts in that order;
    null is one of the texts.
    """
    parts = in_parts(lambda part: _by_dictionary(text[part]), text.len())
    if len(parts) < 2:
        return parts[0] if parts else (np.empty(0, np.uint32), text.clear())
    # A dictionary a part, and one of the texts in them: threads that share one wait for each other.
    places, texts = _by_dictionary(pl.concat([distinct for _, distinct in parts]))
    ends = np.cumsum([distinct.len() for _, distinct in parts])
    of_parts = np.split(places.view(np.int32), ends[:-1])
    found = [looked_up(of_part, own) for of_part, (own, _) in zip(of_parts, parts, strict=True)]
    return np.concatenate(found).view(np.uint32), texts


def _by_dictionary(text: pl.Series) -> tuple[NDArray[np.uint32], pl.Series]:
    """The same by polars' own dictionary, one of its own for each call."""
    categories = pl.Categories.random()
    # The series holds the dictionary: without it the categories are gone.
    held = text.cast(pl.Categorical(categories))
    texts = categories.to_series().alias(text.name)
    missing = pl.Series(text.name, [None], dtype=pl.String) if held.has_nulls() else texts.clear()
    numbers = held.to_physical().fill_null(texts.len()).to_numpy()
    return numbers, pl.concat([texts, missing])


def looked_up(table: NDArray[np.int32], numbers: NDArray[np.uint32]) -> NDArray[np.int32]:
    """What a table has for each of the numbers, the places in it; shape of `numbers`."""
    values, found = pl.Series(table), np.empty(numbers.size, np.int32)

    def look_up(part: slice) -> None:
        # Not numpy's take, which would first copy the numbers as 64-bit ones.
        found[part] = values.gather(pl.Series(numbers[part])).to_numpy()

    in_parts(look_up, numbers.size)
    return found


def in_parts(work: Callable[[slice], T], size: int) -> list[T]:
    """What comes of some work on 0 … size − 1, a part of them a thread."""
    step = max(_ALONE, -(-size // WORKERS))
    parts = [slice(low, min(low + step, size)) for low in range(0, size, step)]
    if len(parts) < 2:
        return list(map(work, parts))
    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(work, parts))
