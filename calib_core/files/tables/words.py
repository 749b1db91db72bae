"""Is this value a text, or an answer to "was it right?"?"""

from __future__ import annotations

from typing import Final

import polars as pl

from calib_core.files.tables.judged import JudgedColumn, faults_where, value_text, null_series, null_where
from calib_core.files.tables.numbers import parse_numbers
from calib_core.records import is_missing

RIGHT_WORDS: Final = ("true", "yes", "y", "correct", "right", "c")
WRONG_WORDS: Final = ("false", "no", "n", "incorrect", "wrong", "i")
UNJUDGED_WORDS: Final = ("unparseable",)
"""What stands where a grader could not read the answer: no outcome, so missing."""


def judge_text(raw: pl.Series) -> JudgedColumn:
    """Text as it stands, white space included; numbers and booleans as they would stand in JSON.

    Text that is empty or white space alone is missing.
    """
    judged = judge_sample_text(raw)
    return JudgedColumn(null_where(judged.values, is_missing(judged.values)), judged.faults)


def judge_display_text(raw: pl.Series) -> JudgedColumn:
    """Text that is only shown: what is no text (a chat's messages) is shown as JSON."""
    if raw.dtype.is_nested():
        shown = [None if value is None else value_text(value, limit=None) for value in raw.to_list()]
        return JudgedColumn(pl.Series(raw.name, shown, dtype=pl.String))
    return judge_text(raw)


def judge_sample_text(raw: pl.Series) -> JudgedColumn:
    """Text as it stands, even where it is empty: an empty answer was given all the same."""
    if raw.dtype == pl.String:
        return JudgedColumn(raw)
    if raw.dtype.is_numeric() or raw.dtype.is_temporal() or isinstance(raw.dtype, pl.Boolean | pl.Null):
        return JudgedColumn(raw.cast(pl.String))
    fix = "Write one value, not several."
    return JudgedColumn(
        null_series(raw, pl.String()), faults_where(raw, raw.is_not_null(), "not a text", "one text or number", fix)
    )


def judge_flag(raw: pl.Series) -> JudgedColumn:
    """True or false, however it is commonly written; anything between is wrong, never rounded."""
    if raw.dtype == pl.Boolean:
        return JudgedColumn(raw)
    numbers, _ = parse_numbers(raw)
    right, wrong = (numbers == 1).fill_null(value=False), (numbers == 0).fill_null(value=False)
    missing = is_missing(raw)
    if raw.dtype == pl.String:
        word = raw.str.strip_chars().str.to_lowercase().fill_null("")
        right, wrong = right | word.is_in(RIGHT_WORDS), wrong | word.is_in(WRONG_WORDS)
        missing = missing | word.is_in(UNJUDGED_WORDS)
    known = right | wrong
    expected = "right or wrong: 1 or 0, true or false, yes or no"
    fix = "Write nothing where the outcome is not known; a partial credit is no outcome."
    problem = faults_where(raw, ~known & ~missing, "neither right nor wrong", expected, fix)
    return JudgedColumn(null_where(right, ~known).alias(raw.name), problem)
