"""Is this value a text, or an answer to "was it right?"?"""

from __future__ import annotations

from typing import Final

import polars as pl

from calib_core.files.tables.judged import Judged, faults, found, null, without
from calib_core.files.tables.numbers import parsed
from calib_core.records import is_missing

RIGHT: Final = ("true", "yes", "y", "correct", "right", "c")
WRONG: Final = ("false", "no", "n", "incorrect", "wrong", "i")
UNJUDGED: Final = ("unparseable",)
"""What stands where a grader could not read the answer: no outcome, so missing."""


def text(raw: pl.Series) -> Judged:
    """Text as it stands, white space included; numbers and booleans as they would stand in JSON.

    Text that is empty or white space alone is missing.
    """
    judged = sample(raw)
    return Judged(without(judged.values, is_missing(judged.values)), judged.faults)


def prose(raw: pl.Series) -> Judged:
    """Text that is only shown: what is no text (a chat's messages) is shown as JSON."""
    if raw.dtype.is_nested():
        shown = [None if value is None else found(value, limit=None) for value in raw.to_list()]
        return Judged(pl.Series(raw.name, shown, dtype=pl.String))
    return text(raw)


def sample(raw: pl.Series) -> Judged:
    """Text as it stands, even where it is empty: an empty answer was given all the same."""
    if raw.dtype == pl.String:
        return Judged(raw)
    if raw.dtype.is_numeric() or raw.dtype.is_temporal() or isinstance(raw.dtype, pl.Boolean | pl.Null):
        return Judged(raw.cast(pl.String))
    fix = "Write one value, not several."
    return Judged(
        null(raw, pl.String()), faults(raw, raw.is_not_null(), "not a text", "one text or number", fix)
    )


def flag(raw: pl.Series) -> Judged:
    """True or false, however it is commonly written; anything between is wrong, never rounded."""
    if raw.dtype == pl.Boolean:
        return Judged(raw)
    numbers, _ = parsed(raw)
    right, wrong = (numbers == 1).fill_null(value=False), (numbers == 0).fill_null(value=False)
    missing = is_missing(raw)
    if raw.dtype == pl.String:
        word = raw.str.strip_chars().str.to_lowercase().fill_null("")
        right, wrong = right | word.is_in(RIGHT), wrong | word.is_in(WRONG)
        missing = missing | word.is_in(UNJUDGED)
    known = right | wrong
    expected = "right or wrong: 1 or 0, true or false, yes or no"
    fix = "Write nothing where the outcome is not known; a partial credit is no outcome."
    problem = faults(raw, ~known & ~missing, "neither right nor wrong", expected, fix)
    return Judged(without(right, ~known).alias(raw.name), problem)
