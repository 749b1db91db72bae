"""Which texts are equal?  Texts → whole numbers."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray


def encode_texts(text: pl.Series) -> tuple[NDArray[np.uint32], pl.Series]:
    """Whole numbers that are equal just where the texts are, and the text of each number.

    Parameters
    ----------
    text : String series, shape (n,)
        Null is one of the texts.

    Returns
    -------
    numbers : uint32 array, shape (n,)
        From 0 on.
    distinct : String series
        The distinct texts in the order of their numbers; null, if there is one, last.

    Examples
    --------
    >>> numbers, distinct = coded(pl.Series(["a", "b", None, "a"]))
    >>> numbers.tolist(), distinct.to_list()
    ([0, 1, 2, 0], ['a', 'b', None])
    """
    categories = pl.Categories.random()
    # The series holds the dictionary: without it the categories are gone.
    held = text.cast(pl.Categorical(categories))
    texts = categories.to_series().alias(text.name)
    missing = pl.Series(text.name, [None], dtype=pl.String) if held.has_nulls() else texts.clear()
    numbers = held.to_physical().fill_null(texts.len()).to_numpy()
    return numbers, pl.concat([texts, missing])
