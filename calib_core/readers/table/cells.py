"""Is this value a text, or an answer to "was it right?"?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.errors import MAX_CELLS_SHOWN, shorten
from calib_core.readers.table.raw import as_json_text
from calib_core.runs import is_missing

# MERGED judged: What comes of a raw column once its values have been judged?

RowPositions: TypeAlias = NDArray[np.int64]
"""Positions of rows or values within what was judged, ascending."""


def no_positions() -> RowPositions:
    """No position at all."""
    return np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class CellFault:
    """Values of one column that are there and wrong for one reason.

    at: their positions; found: the first `FIRST` of them as text.
    """

    kind: str
    expected: str
    fix: str
    positions: RowPositions
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class JudgedColumn:
    """A column that has been looked at.

    values: what is used, null where missing or wrong; clipped: a position for every value that was
    moved onto the edge of its range; off_sum: rows whose distribution sums to 1 only nearly; unread:
    values that are there, cannot be used and are no fault: columns at (position) and found (text).
    """

    values: pl.Series
    faults: tuple[CellFault, ...] = ()
    clipped_positions: RowPositions = field(default_factory=no_positions)
    inexact_sums: RowPositions = field(default_factory=no_positions)
    unreadable: pl.DataFrame | None = None


ColumnJudge: TypeAlias = Callable[[pl.Series], JudgedColumn]
"""Raw values of one column → those the program works with."""


def true_positions(mask: pl.Series) -> RowPositions:
    """The positions at which a boolean series is true (null is not)."""
    return mask.arg_true().cast(pl.Int64).to_numpy()


def faults_where(
    raw: pl.Series, is_wrong: pl.Series, kind: str, expected: str, fix: str
) -> tuple[CellFault, ...]:
    """The one fault of the values of `raw` that are `wrong`, or none."""
    at = true_positions(is_wrong)
    if not at.size:
        return ()
    return (
        CellFault(
            kind, expected, fix, at, tuple(map(value_text, raw.gather(at[:MAX_CELLS_SHOWN]).to_list()))
        ),
    )


def value_text(value: object, *, limit: int | None = 80) -> str:
    """A raw value as a message shows it, cut to `limit` characters (None: whole)."""
    try:
        shown = as_json_text(value) or ""
    except TypeError:  # a date, bytes or another value that JSON has no word for
        shown = str(value)
    return shown if limit is None else shorten(shown, limit)


def null_where(values: pl.Series, mask: pl.Series) -> pl.Series:
    """The values, null where the mask is true."""
    if not mask.any():
        return values
    return pl.select(pl.when(~mask).then(values).alias(values.name)).to_series()


def null_series(raw: pl.Series, dtype: pl.DataType) -> pl.Series:
    """A column of missing values as long as `raw`."""
    return pl.Series(raw.name, [None], dtype=dtype).new_from_index(0, raw.len())


# MERGED numbers: Is this value a plain number, and does it lie where such a number must lie?
#
# Text is taken as a number only where it is a plain decimal in ASCII digits: Python's own `float` would
# also take "0_1", "nan" and full-width digits.

RANGE_TOLERANCE: Final = 1e-6
"""A value this little outside its range is moved onto the edge and counted."""

OUT_OF_RANGE: Final = "out of range"
"""The kind of fault of a number that lies farther outside."""

PLAIN_NUMBER: Final = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_MINUS_INFINITY: Final = r"^(?i)[-]inf(inity)?$"
_PLAIN_NUMBER_FIX: Final = (
    "Write a plain number with a decimal point (0.87, not 87%, 0,87 or nan); nothing where it is not known."
)


@dataclass(frozen=True, slots=True)
class NumberRange:
    """Where a number must lie, in numbers and in words, and what to do where it does not."""

    low: float
    high: float
    expected: str
    fix: str


PROBABILITY_RANGE: Final = NumberRange(
    0.0,
    1.0,
    "a number from 0 to 1",
    "If these are percentages, divide them by 100; write nothing where it is not known.",
)
STATED_RANGE: Final = NumberRange(0.0, 1.0, "a number from 0 to 1, or a percentage", "Write 0.85 or 85%.")
LOG_PROBABILITY_RANGE: Final = NumberRange(
    float("-inf"),
    0.0,
    "a natural logarithm of a probability, at most 0",
    'Write logarithms, not probabilities or logits; "-inf" stands for probability zero.',
)
AMOUNT_RANGE: Final = NumberRange(
    0.0, 1.7976931348623157e308, "a number, at least 0", "Write the number alone."
)


def parse_numbers(raw: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The values as floats, and which of them are there and no number.

    Stored floats keep their dtype; whole numbers and text become Float64; text beyond the range of
    Float64 becomes infinite; NaN is no number.
    """
    if raw.dtype.is_float():
        wrong = raw.is_nan().fill_null(value=False)
        return null_where(raw, wrong), wrong
    if raw.dtype.is_integer():
        return raw.cast(pl.Float64), pl.repeat(False, raw.len(), eager=True)  # noqa: FBT003
    if raw.dtype == pl.String:
        text = raw.str.strip_chars().fill_null("")
        plain = text.str.contains(PLAIN_NUMBER)
        return null_where(text, ~plain).cast(pl.Float64, strict=False), ~plain & ~is_missing(raw)
    return null_series(raw, pl.Float64()), raw.is_not_null()


def judge_range(raw: pl.Series, limits: NumberRange, shown: pl.Series | None = None) -> JudgedColumn:
    """Numbers within their range; those outside by at most `TOLERANCE` are moved onto the edge.

    shown: the values as messages show them, where `raw` is already a reading of them.
    """
    if _all_within(raw, limits):
        return JudgedColumn(raw)
    shown = raw if shown is None else shown
    numbers, no_number = parse_numbers(raw)
    exact = numbers.cast(pl.Float64)
    below, above = (exact < limits.low).fill_null(value=False), (exact > limits.high).fill_null(value=False)
    far = (exact < limits.low - RANGE_TOLERANCE) | (exact > limits.high + RANGE_TOLERANCE)
    outside = far.fill_null(value=False)
    clipped = (below | above) & ~outside
    kept = null_where(numbers, outside)
    for moved, edge in ((below & clipped, limits.low), (above & clipped, limits.high), (exact == 0, 0.0)):
        if moved.any():  # the last also turns minus zero into zero
            kept = pl.select(pl.when(moved).then(pl.lit(edge, kept.dtype)).otherwise(kept)).to_series()
    wrong = faults_where(shown, no_number, "not a number", limits.expected, _PLAIN_NUMBER_FIX)
    far_off = faults_where(shown, outside, OUT_OF_RANGE, limits.expected, limits.fix)
    return JudgedColumn(kept.alias(raw.name), wrong + far_off, true_positions(clipped))


def _all_within(raw: pl.Series, limits: NumberRange) -> bool:
    """Whether these are stored floats, all inside their range and none of them a zero, which has a sign."""
    if not raw.dtype.is_float() or raw.is_nan().any():
        return False
    low, high = cast("float | None", raw.min()), cast("float | None", raw.max())
    if low is None or high is None:
        return False
    return limits.low <= low and high <= limits.high and (low > 0 or high < 0)


def judge_probability(raw: pl.Series) -> JudgedColumn:
    """A number in [0, 1]. Float dtypes are kept."""
    return judge_range(raw, PROBABILITY_RANGE)


def judge_stated_probability(raw: pl.Series) -> JudgedColumn:
    """A probability as a model states it: a number in [0, 1], or text with a percent sign ("85%")."""
    if raw.dtype != pl.String:
        return judge_range(raw, STATED_RANGE)
    text = raw.str.strip_chars()
    bare = text.str.strip_suffix("%").str.strip_chars_end()
    percent = (text.str.ends_with("%") & bare.str.contains(PLAIN_NUMBER)).fill_null(value=False)
    share = (null_where(bare, ~percent).cast(pl.Float64, strict=False) / 100).cast(pl.String)
    return judge_range(text.zip_with(~percent, share), STATED_RANGE, shown=raw)


def judge_log_probability(raw: pl.Series) -> JudgedColumn:
    """A natural logarithm of a probability: at most 0, minus infinity allowed (also as text "-inf")."""
    if raw.dtype != pl.String:
        return judge_range(raw, LOG_PROBABILITY_RANGE)
    infinite = raw.str.strip_chars().str.contains(_MINUS_INFINITY).fill_null(value=False)
    plain = raw.zip_with(~infinite, pl.repeat("-1e999", raw.len(), eager=True)) if infinite.any() else raw
    return judge_range(plain, LOG_PROBABILITY_RANGE, shown=raw)


def judge_amount(raw: pl.Series) -> JudgedColumn:
    """Any finite number, at least 0."""
    return judge_range(raw, AMOUNT_RANGE)


def judge_billions(raw: pl.Series) -> JudgedColumn:
    """A number of parameters in billions: "7B" and "7000M" are read as 7."""
    if raw.dtype != pl.String:
        return judge_range(raw, AMOUNT_RANGE)
    text = raw.str.strip_chars()
    judged = judge_range(text.str.replace(r"^([0-9.]+) ?[bBmM]$", "${1}"), AMOUNT_RANGE, shown=raw)
    millions = text.str.contains(r"^[0-9.]+ ?[mM]$").fill_null(value=False)
    return replace(judged, values=judged.values.zip_with(~millions, judged.values / 1000))


def lenient_judge(judge: ColumnJudge) -> ColumnJudge:
    """Makes a judge lenient: a value that it finds wrong is not known, which is noted, and no fault.

    For what describes a run and enters no number ("8x7B", "greedy").
    """

    def judge_leniently(raw: pl.Series) -> JudgedColumn:
        values = judge(raw).values
        at = true_positions(values.is_null() & ~is_missing(raw))
        texts = [value_text(value) for value in raw.gather(at).to_list()]
        return JudgedColumn(
            values, unreadable=pl.DataFrame({"at": at, "found": pl.Series(texts, dtype=pl.String)})
        )

    return judge_leniently


def judge_shots(raw: pl.Series) -> JudgedColumn:
    """A whole number of examples in the prompt; "5-shot" is read as 5."""
    if raw.dtype == pl.String:
        raw = raw.str.strip_chars().str.replace(r"^([0-9]+)[ _-]?(?i:shots?)$", "${1}")
    return integer_judge(0, pl.Int32())(raw)


def integer_judge(low: int, dtype: pl.DataType) -> ColumnJudge:
    """Judges whole numbers from `low` up to what `dtype` (or a float64, without a gap) holds."""
    high = 2**31 - 1 if dtype == pl.Int32 else 2**53

    def judge(raw: pl.Series) -> JudgedColumn:
        numbers, no_number = parse_numbers(raw)
        exact = numbers.cast(pl.Float64)
        good = ((exact >= low) & (exact <= high) & (exact.floor() == exact)).fill_null(value=False)
        wrong = no_number | (numbers.is_not_null() & ~good)
        expected = f"a whole number, at least {low}"
        problem = faults_where(raw, wrong, "not a whole number", expected, "Write the whole number alone.")
        return JudgedColumn(null_where(exact, ~good).cast(dtype), problem)

    return judge


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
        null_series(raw, pl.String()),
        faults_where(raw, raw.is_not_null(), "not a text", "one text or number", fix),
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
