"""Which texts are the same?  Many texts → whole numbers, by looking each up in a table of hashes."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

_SLOT_BITS: Final = 20
_AT_ONCE: Final = 1 << 17
_EMPTY: Final = np.iinfo(np.uint32).max


def coded(text: pl.Series) -> tuple[NDArray[np.uint32], pl.Series]:
    """Whole numbers that are equal just where the texts are, and the text of each number.

    text: String, shape (n,). Returns uint32 of shape (n,), from 0 on, and the distinct texts in that order;
    null is one of the texts.
    """
    numbers, distinct, other = _by_slot(text)
    if not other.size:
        return numbers, distinct
    more, texts = _by_dictionary(text.gather(pl.Series(other, dtype=pl.UInt32)))
    numbers[other] = more + np.uint32(distinct.len())
    return numbers, pl.concat([distinct, texts])


def _by_slot(text: pl.Series) -> tuple[NDArray[np.uint32], pl.Series, NDArray[np.intp]]:
    """The slot that each text's hash falls into, numbered as they come, and the first text of each.

    The third value is where another text than the slot's first one has fallen into it.
    """
    table = np.full(1 << _SLOT_BITS, _EMPTY, np.uint32)
    numbers = np.empty(text.len(), np.uint32)
    distinct = text.clear()
    others = [np.empty(0, np.intp)]
    # A part at a time stays in the core's cache, and its memory is used again for the next.
    for low in range(0, text.len(), _AT_ONCE):
        part, here = text.slice(low, _AT_ONCE), numbers[low : low + _AT_ONCE]
        slot = (part.hash().to_numpy() >> np.uint64(64 - _SLOT_BITS)).view(np.int64)
        table.take(slot, out=here, mode="clip")
        if here.max() == _EMPTY:
            new = np.flatnonzero(here == _EMPTY)
            slots, at = np.unique(slot[new], return_index=True)
            table[slots] = np.arange(distinct.len(), distinct.len() + slots.size)
            firsts = part.gather(pl.Series(new[at], dtype=pl.UInt32))
            distinct = pl.concat([distinct, firsts], rechunk=True)
            table.take(slot, out=here, mode="clip")
        same = distinct.gather(pl.Series(here)).eq_missing(part)
        if not same.all():
            others.append(low + (~same).arg_true().to_numpy())
    return numbers, distinct, np.concatenate(others).astype(np.intp)


def _by_dictionary(text: pl.Series) -> tuple[NDArray[np.uint32], pl.Series]:
    """The same for any texts, slower: polars' own dictionary, one of its own for each call."""
    categories = pl.Categories.random()
    # The series holds the dictionary: without it the categories are gone.
    held = text.cast(pl.Categorical(categories))
    texts = categories.to_series().alias(text.name)
    missing = pl.Series(text.name, [None], dtype=pl.String) if held.has_nulls() else texts.clear()
    numbers = held.to_physical().fill_null(texts.len()).to_numpy()
    return numbers, pl.concat([texts, missing])
