"""Checks the values of one column: numbers in their range, flags, texts.

A judge takes the raw values of a column and returns those that are used, with the faults of the others
(`JudgedColumn`). Text counts as a number only if it is a plain decimal in ASCII digits: Python's own `float`
would also accept "0_1", "nan" and full-width digits.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.errors import MAX_CELLS_SHOWN, shorten
from calib_core.readers.table.raw import as_json_text
from calib_core.runs import is_missing

RANGE_TOLERANCE: Final = 1e-6
"""A value outside its range by at most this is moved onto the edge and counted as clipped."""

OUT_OF_RANGE: Final = "out of range"
"""The kind of fault of a number farther outside."""

NOT_A_NUMBER: Final = "not a number"
"""The kind of fault of what is no number at all."""

PLAIN_NUMBER: Final = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_DECIMAL_COMMA: Final = r"^\s*[+-]?[0-9]*,[0-9]+\s*%?\s*$"
_DECIMAL_POINT: Final = r"^\s*[+-]?[0-9]*\.[0-9]"
_MINUS_INFINITY: Final = r"^(?i)[-]inf(inity)?$"
_PLAIN_NUMBER_FIX: Final = (
    "Write a plain number with a decimal point (0.87, not 87%, 0,87 or nan); leave the cell empty if the "
    "value is not known."
)

MIN_LARGEST_PERCENTAGE: Final = 20
"""Percentages have one above this: 2.6, 5.5 and 7.0 may be a rating or a loss."""
RATING_TOPS: Final = (3, 4, 5, 7, 10)
"""Tops of the usual scales of ratings, which may be taken for a confidence where a person says so."""

MAX_WORDS: Final = 20
"""A column of more different words is prose, and not a scale."""

RIGHT_WORDS: Final = ("true", "yes", "y", "correct", "right", "c")
WRONG_WORDS: Final = ("false", "no", "n", "incorrect", "wrong", "i")
UNJUDGED_WORDS: Final = ("unparseable",)
"""Written where a grader could not read the answer: not an outcome, so missing."""

RowPositions: TypeAlias = NDArray[np.int64]
"""0-based positions of rows or values, ascending."""


def no_positions() -> RowPositions:
    """Return an empty array of positions."""
    return np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class CellFault:
    """Values of one column that are wrong for the same reason.

    Attributes
    ----------
    kind
        The kind of fault, under which problems are counted.
    expected, fix
        What was expected and how to fix it, for messages.
    positions
        Positions of the values.
    examples
        The first `MAX_CELLS_SHOWN` values as text.
    """

    kind: str
    expected: str
    fix: str
    positions: RowPositions
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class JudgedColumn:
    """A checked column.

    Attributes
    ----------
    values
        The values that are used; null where missing or wrong.
    faults
        The wrong values, by reason.
    clipped_positions
        One position for every value that was moved onto the edge of its range.
    inexact_sums
        Rows whose distribution sums to 1 only approximately.
    unreadable
        Values that cannot be used but are no fault, with the columns `at` (position) and `found` (text).
    """

    values: pl.Series
    faults: tuple[CellFault, ...] = ()
    clipped_positions: RowPositions = field(default_factory=no_positions)
    inexact_sums: RowPositions = field(default_factory=no_positions)
    unreadable: pl.DataFrame | None = None


ColumnJudge: TypeAlias = Callable[[pl.Series], JudgedColumn]
"""Raw values of one column → checked values."""


@dataclass(frozen=True, slots=True)
class NumberRange:
    """The closed range that a number must lie in.

    Attributes
    ----------
    low, high
        The bounds.
    expected, fix
        The range in words, and what to do about a number outside.
    fix_below
        What to do about a number below, if that is something else.
    """

    low: float
    high: float
    expected: str
    fix: str
    fix_below: str = ""


_FIX_BELOW_ZERO: Final = (
    "Natural logarithms of probabilities are read with :log, as in confidence:log; leave the cell empty if "
    "the value is not known."
)
PROBABILITY_RANGE: Final = NumberRange(
    0.0,
    1.0,
    "a number from 0 to 1",
    "If these are percentages, divide them by 100; leave the cell empty if the value is not known.",
    _FIX_BELOW_ZERO,
)
ELEMENT_RANGE: Final = NumberRange(
    0.0,
    1.0,
    "a number from 0 to 1",
    "If these are percentages, divide them by 100; logarithms belong in choice_logprobs.",
)
STATED_RANGE: Final = NumberRange(
    0.0,
    1.0,
    "a number from 0 to 1, or a percentage with its sign",
    "Write 0.85 or 85%; leave the cell empty if the value is not known.",
    _FIX_BELOW_ZERO,
)
LOG_PROBABILITY_RANGE: Final = NumberRange(
    float("-inf"),
    0.0,
    "a natural logarithm of a probability, at most 0",
    'Write logarithms; logits of choices belong in choice_logits; "-inf" stands for probability zero.',
)
NEGATIVE_LOG_RANGE: Final = NumberRange(
    0.0,
    float("inf"),
    "a negative log-likelihood, at least 0",
    "Logarithms of probabilities, which are below 0, are read with :log, as in confidence:log.",
)
LOGIT_RANGE: Final = NumberRange(
    float("-inf"),
    sys.float_info.max,
    "a finite number",
    'Write numbers; "-inf" stands for a choice that is impossible.',
)
FINITE_RANGE: Final = NumberRange(
    -sys.float_info.max, sys.float_info.max, "a number", "Write the number alone."
)
AMOUNT_RANGE: Final = NumberRange(0.0, sys.float_info.max, "a number, at least 0", "Write the number alone.")

# --- Faults and nulls -------------------------------------------------------------------------------------


def true_positions(mask: pl.Series) -> RowPositions:
    """Return the positions at which a boolean series is true; null counts as false."""
    return mask.arg_true().cast(pl.Int64).to_numpy()


def faults_where(
    raw: pl.Series, is_wrong: pl.Series, kind: str, expected: str, fix: str
) -> tuple[CellFault, ...]:
    """Return one fault for the values of `raw` that are wrong, or () if none is."""
    positions = true_positions(is_wrong)
    if not positions.size:
        return ()
    examples = tuple(map(value_text, raw.gather(positions[:MAX_CELLS_SHOWN]).to_list()))
    return (CellFault(kind, expected, fix, positions, examples),)


def value_text(value: object, *, limit: int | None = 80) -> str:
    """Return a raw value as a message shows it, cut to `limit` characters; uncut if that is None."""
    try:
        text = as_json_text(value) or ""
    except TypeError:  # a date, bytes or another value that JSON cannot represent
        text = str(value)
    return text if limit is None else shorten(text, limit)


def null_where(values: pl.Series, mask: pl.Series) -> pl.Series:
    """Return the values, with null where the mask is true."""
    if not mask.any():
        return values
    return pl.select(pl.when(~mask).then(values).alias(values.name)).to_series()


def null_series(raw: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Return a column of nulls as long as `raw`."""
    return pl.Series(raw.name, [None], dtype=dtype).new_from_index(0, raw.len())


def with_decimal_points(raw: pl.Series, *, is_certain: bool = False) -> pl.Series:
    """Write the decimal commas of numbers as points; all else stays.

    Unless it is certain that the commas are decimal, all stay if some numbers have points.

    Examples
    --------
    >>> with_decimal_points(pl.Series(["0,87", "87,5 %", "1", "a, b"])).to_list()
    ['0.87', '87.5 %', '1', 'a, b']
    >>> with_decimal_points(pl.Series(["0,87", "0.5"])).to_list()
    ['0,87', '0.5']
    """
    if raw.dtype != pl.String:
        return raw
    is_number = raw.str.contains(_DECIMAL_COMMA).fill_null(value=False)
    if not is_number.any() or (not is_certain and raw.str.contains(_DECIMAL_POINT).any()):
        return raw
    return raw.zip_with(~is_number, raw.str.replace(",", ".", literal=True))


# --- Numbers ----------------------------------------------------------------------------------------------


def parse_numbers(raw: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Parse values as floats.

    Stored floats keep their dtype; integers and text become Float64. Text beyond the range of Float64
    becomes infinite.

    Returns
    -------
    tuple of Series
        The numbers, and a mask of values that are present and not numbers; NaN is not a number.
    """
    if raw.dtype.is_float():
        is_nan = raw.is_nan().fill_null(value=False)
        return null_where(raw, is_nan), is_nan
    if raw.dtype.is_integer():
        return raw.cast(pl.Float64), pl.repeat(False, raw.len(), eager=True)  # noqa: FBT003
    if raw.dtype == pl.String:
        text = raw.str.strip_chars().fill_null("")
        is_plain = text.str.contains(PLAIN_NUMBER)
        return null_where(text, ~is_plain).cast(pl.Float64, strict=False), ~is_plain & ~is_missing(raw)
    return null_series(raw, pl.Float64()), raw.is_not_null()


def judge_range(raw: pl.Series, limits: NumberRange, shown: pl.Series | None = None) -> JudgedColumn:
    """Check numbers against their range; those outside by at most `RANGE_TOLERANCE` are clipped.

    Parameters
    ----------
    raw
        The values.
    limits
        The range.
    shown
        The values as messages show them, if they differ from `raw`.
    """
    if _all_within(raw, limits):
        return JudgedColumn(raw)
    shown = raw if shown is None else shown
    numbers, not_number = parse_numbers(raw)
    exact = numbers.cast(pl.Float64)
    is_below, is_above = (
        (exact < limits.low).fill_null(value=False),
        (exact > limits.high).fill_null(value=False),
    )
    is_far = (exact < limits.low - RANGE_TOLERANCE) | (exact > limits.high + RANGE_TOLERANCE)
    is_outside = is_far.fill_null(value=False)
    is_clipped = (is_below | is_above) & ~is_outside
    values = null_where(numbers, is_outside)
    for mask, edge in (
        (is_below & is_clipped, limits.low),
        (is_above & is_clipped, limits.high),
        (exact == 0, 0.0),
    ):
        if mask.any():  # the last pair turns -0.0 into 0.0
            values = pl.select(pl.when(mask).then(pl.lit(edge, values.dtype)).otherwise(values)).to_series()
    not_number_fix = limits.fix if limits is STATED_RANGE else _PLAIN_NUMBER_FIX
    faults = faults_where(shown, not_number, NOT_A_NUMBER, limits.expected, not_number_fix)
    below = is_outside & is_below & bool(limits.fix_below)
    for mask, fix in ((is_outside & ~below, limits.fix), (below, limits.fix_below)):
        faults += faults_where(shown, mask, OUT_OF_RANGE, limits.expected, fix)
    return JudgedColumn(values.alias(raw.name), faults, true_positions(is_clipped))


def _all_within(raw: pl.Series, limits: NumberRange) -> bool:
    """Return whether these are floats inside their range that need no change: no NaN, and no -0.0."""
    if not raw.dtype.is_float() or raw.is_nan().any():
        return False
    low, high = cast("float | None", raw.min()), cast("float | None", raw.max())
    if low is None or high is None:
        return False
    return limits.low <= low and high <= limits.high and (low > 0 or high < 0)


def judge_probability(raw: pl.Series) -> JudgedColumn:
    """Check numbers in [0, 1]; float dtypes are kept."""
    return judge_range(raw, PROBABILITY_RANGE)


def judge_element_probability(raw: pl.Series) -> JudgedColumn:
    """Check the probabilities of a list, as `judge_probability`."""
    return judge_range(raw, ELEMENT_RANGE)


def judge_stated_probability(raw: pl.Series) -> JudgedColumn:
    """Check probabilities as a model states them: numbers in [0, 1], or text with a percent sign ("85%")."""
    if raw.dtype != pl.String:
        return judge_range(raw, STATED_RANGE)
    text = raw.str.strip_chars()
    without_sign = without_percent_sign(raw)
    is_percent = (text.str.ends_with("%") & without_sign.str.contains(PLAIN_NUMBER)).fill_null(value=False)
    shares = _divide(null_where(without_sign, ~is_percent).cast(pl.Float64, strict=False), 100).cast(
        pl.String
    )
    return judge_range(text.zip_with(~is_percent, shares), STATED_RANGE, shown=raw)


def judge_quotient(raw: pl.Series, divisor: int) -> JudgedColumn:
    """Check numbers that are probabilities once they are divided; "85%" or "8/10" are numbers, too."""
    bare = without_percent_sign(raw)
    if bare.dtype == pl.String:
        bare = bare.str.replace(rf" *(?:/|out of) *{divisor}$", "")
    numbers, not_number = parse_numbers(bare)
    quotients = _divide(numbers.cast(pl.Float64), divisor)
    limits = NumberRange(
        0.0, 1.0, f"a number from 0 to {divisor}", "Leave the cell empty if the value is not known."
    )
    if not_number.any():
        quotients = quotients.cast(pl.String).zip_with(~not_number, bare.cast(pl.String, strict=False))
    return judge_range(quotients, limits, shown=raw)


def _divide(numbers: pl.Series, divisor: int) -> pl.Series:
    """The nearest Float64 to each quotient; polars multiplies by the reciprocal, which is not always that."""
    return pl.Series(numbers.name, numbers.to_numpy() / divisor, nan_to_null=True)


def without_percent_sign(raw: pl.Series) -> pl.Series:
    """Texts without a percent sign at their end; other values unchanged."""
    if raw.dtype != pl.String:
        return raw
    return raw.str.strip_chars().str.strip_suffix("%").str.strip_chars_end()


def are_shares(raw: pl.Series) -> bool:
    """Return whether all values present are numbers from 0 to 1, and some lie between.

    Examples
    --------
    >>> are_shares(pl.Series(["0.1", None, "1"])), are_shares(pl.Series([0, 1])), are_shares(pl.Series([1.1]))
    (True, False, False)
    """
    return all(range_and_fractions(raw))


def range_and_fractions(raw: pl.Series) -> tuple[bool, bool]:
    """Return whether all values present are numbers from 0 to 1, and whether some of them lie between."""
    text = str(raw.first() or "").strip() if raw.dtype == pl.String else ""
    if text and not re.fullmatch(PLAIN_NUMBER, text):  # as most ids, which takes no look at the others
        return False, False
    present = raw.filter(~is_missing(raw))
    first, _ = parse_numbers(present.head(1))
    if not first.is_between(0, 1).all(ignore_nulls=False):
        return False, False
    numbers, not_number = parse_numbers(present)
    are_in_range = bool((numbers.is_between(0, 1) & ~not_number).all())
    return are_in_range, bool((numbers != numbers.floor()).any())


def rating_top(largest: float) -> int | None:
    """The top of the smallest usual scale on which this is a rating; None where it is above all.

    Examples
    --------
    >>> rating_top(5), rating_top(8), rating_top(11)
    (5, 10, None)
    """
    return next((top for top in RATING_TOPS if largest <= top), None)


def judge_log_probability(raw: pl.Series) -> JudgedColumn:
    """Check natural logarithms of probabilities: at most 0, minus infinity allowed (also as "-inf")."""
    return _judge_with_minus_infinity(raw, LOG_PROBABILITY_RANGE)


def judge_logit(raw: pl.Series) -> JudgedColumn:
    """Check unnormalised scores: any finite number, minus infinity allowed (also as "-inf")."""
    return _judge_with_minus_infinity(raw, LOGIT_RANGE)


def judge_exponential(raw: pl.Series) -> JudgedColumn:
    """Check natural logarithms of probabilities, as `judge_log_probability`, and return the probabilities."""
    judged = judge_log_probability(raw)
    return replace(judged, values=judged.values.cast(pl.Float64).exp())


def judge_negative_log(raw: pl.Series) -> JudgedColumn:
    """Check negative natural logarithms of probabilities: at least 0; and return the probabilities."""
    judged = judge_range(raw, NEGATIVE_LOG_RANGE)
    return replace(judged, values=(-parse_numbers(judged.values)[0].cast(pl.Float64)).exp())


def _judge_with_minus_infinity(raw: pl.Series, limits: NumberRange) -> JudgedColumn:
    if raw.dtype != pl.String:
        return judge_range(raw, limits)
    is_infinite = raw.str.strip_chars().str.contains(_MINUS_INFINITY).fill_null(value=False)
    texts = (
        raw.zip_with(~is_infinite, pl.repeat("-1e999", raw.len(), eager=True)) if is_infinite.any() else raw
    )
    return judge_range(texts, limits, shown=raw)


def judge_amount(raw: pl.Series) -> JudgedColumn:
    """Check finite numbers of at least 0."""
    return judge_range(raw, AMOUNT_RANGE)


def judge_finite(raw: pl.Series) -> JudgedColumn:
    """Check finite numbers."""
    return judge_range(raw, FINITE_RANGE)


def judge_billions(raw: pl.Series) -> JudgedColumn:
    """Check numbers of parameters in billions; "7B" and "7000M" are read as 7."""
    if raw.dtype != pl.String:
        return judge_range(raw, AMOUNT_RANGE)
    text = raw.str.strip_chars()
    judged = judge_range(text.str.replace(r"^([0-9.]+) ?[bBmM]$", "${1}"), AMOUNT_RANGE, shown=raw)
    in_millions = text.str.contains(r"^[0-9.]+ ?[mM]$").fill_null(value=False)
    return replace(judged, values=judged.values.zip_with(~in_millions, judged.values / 1000))


def lenient_judge(judge: ColumnJudge) -> ColumnJudge:
    """Make a judge lenient: a wrong value becomes null and is listed as unreadable instead of a fault.

    For values that describe a run and enter no computation ("8x7B", "greedy").
    """

    def judge_leniently(raw: pl.Series) -> JudgedColumn:
        values = judge(raw).values
        positions = true_positions(values.is_null() & ~is_missing(raw))
        texts = [value_text(value) for value in raw.gather(positions).to_list()]
        return JudgedColumn(
            values, unreadable=pl.DataFrame({"at": positions, "found": pl.Series(texts, dtype=pl.String)})
        )

    return judge_leniently


def judge_shots(raw: pl.Series) -> JudgedColumn:
    """Check numbers of examples in the prompt; "5-shot" is read as 5."""
    if raw.dtype == pl.String:
        raw = raw.str.strip_chars().str.replace(r"^([0-9]+)[ _-]?(?i:shots?)$", "${1}")
    return integer_judge(0, pl.Int32())(raw)


def integer_judge(low: int, dtype: pl.DataType) -> ColumnJudge:
    """Make a judge of integers from `low` to the largest that `dtype` and float64 hold exactly."""
    high = 2**31 - 1 if dtype == pl.Int32 else 2**53

    def judge(raw: pl.Series) -> JudgedColumn:
        numbers, not_number = parse_numbers(raw)
        exact = numbers.cast(pl.Float64)
        is_valid = ((exact >= low) & (exact <= high) & (exact.floor() == exact)).fill_null(value=False)
        is_wrong = not_number | (numbers.is_not_null() & ~is_valid)
        expected = f"a whole number, at least {low}"
        faults = faults_where(raw, is_wrong, "not a whole number", expected, "Write the whole number alone.")
        return JudgedColumn(null_where(exact, ~is_valid).cast(dtype), faults)

    return judge


# --- Texts and flags --------------------------------------------------------------------------------------


ONE_VALUE: Final = "Write one value, not several."
"""The fix of a list or an object in place of a text."""


def judge_text(raw: pl.Series) -> JudgedColumn:
    """Check texts; numbers and booleans become text, and text that is empty or all white space is missing."""
    judged = judge_sample_text(raw)
    return JudgedColumn(null_where(judged.values, is_missing(judged.values)), judged.faults)


def judge_display_text(raw: pl.Series) -> JudgedColumn:
    """Check text that is only displayed; anything else (such as the messages of a chat) becomes JSON."""
    if raw.dtype.is_nested():
        shown = [None if value is None else value_text(value, limit=None) for value in raw.to_list()]
        return JudgedColumn(pl.Series(raw.name, shown, dtype=pl.String))
    return judge_text(raw)


def judge_sample_text(raw: pl.Series) -> JudgedColumn:
    """Check texts of sampled answers, which may be empty: an empty answer is still an answer."""
    if raw.dtype == pl.String:
        return JudgedColumn(raw)
    if isinstance(raw.dtype, pl.Duration):
        return JudgedColumn(raw.dt.to_string("iso"))
    if raw.dtype.is_float():
        is_nan = raw.is_nan().fill_null(value=False)
        fix = "Write the text itself; leave the cell empty if there is none."
        faults = faults_where(raw, is_nan, "not a text", "one text or number", fix)
        return JudgedColumn(null_where(raw.cast(pl.String), is_nan), faults)
    if raw.dtype.is_numeric() or raw.dtype.is_temporal() or isinstance(raw.dtype, pl.Boolean | pl.Null):
        return JudgedColumn(raw.cast(pl.String))
    return JudgedColumn(
        null_series(raw, pl.String()),
        faults_where(raw, raw.is_not_null(), "not a text", "one text or number", ONE_VALUE),
    )


def judge_event(raw: pl.Series) -> JudgedColumn:
    """Check whether an event came true, as `judge_flag` does an outcome."""
    return judge_flag(raw, ("yes", "no"))


def judge_flag(raw: pl.Series, outcomes: tuple[str, str] = ("right", "wrong")) -> JudgedColumn:
    """Check outcomes in any common spelling of true and false; a value in between is a fault."""
    if raw.dtype == pl.Boolean:
        return JudgedColumn(raw)
    numbers, _ = parse_numbers(raw)
    is_right, is_wrong = (numbers == 1).fill_null(value=False), (numbers == 0).fill_null(value=False)
    is_absent = is_missing(raw)
    if raw.dtype == pl.String:
        word = raw.str.strip_chars().str.to_lowercase().fill_null("")
        is_right, is_wrong = is_right | word.is_in(RIGHT_WORDS), is_wrong | word.is_in(WRONG_WORDS)
        is_absent = is_absent | word.is_in(UNJUDGED_WORDS)
    is_known = is_right | is_wrong
    expected = f"{' or '.join(outcomes)}: 1 or 0, true or false" + (", yes or no" * ("yes" not in outcomes))
    fix = "Leave the cell empty if the outcome is not known; partial credit is not an outcome."
    faults = faults_where(raw, ~is_known & ~is_absent, f"neither {' nor '.join(outcomes)}", expected, fix)
    return JudgedColumn(null_where(is_right, ~is_known).alias(raw.name), faults)


def judge_right_values(raw: pl.Series, right: Collection[str]) -> JudgedColumn:
    """Judge outcomes by the values that mean right; any other value means wrong, an empty cell is unknown.

    Numbers are compared as numbers: 1 is 1.0.
    """
    if raw.dtype.is_nested() or raw.dtype == pl.Binary:
        return judge_flag(raw)  # a fault in each row
    right_forms = number_or_text(pl.Series(sorted(right), dtype=pl.String))
    is_right = number_or_text(raw.cast(pl.String)).is_in(right_forms.implode())
    return JudgedColumn(null_where(is_right, is_missing(raw)).alias(raw.name))


def word_judge(words: Collection[str]) -> ColumnJudge:
    """Make a judge of a column that holds one of these words, in any case."""

    def judge(raw: pl.Series) -> JudgedColumn:
        judged = judge_text(raw)
        values = judged.values.str.to_lowercase()
        is_other = ~values.is_in(list(words)).fill_null(value=True)
        expected = f"{' or '.join(words)}"
        fix = "Leave the cell empty if neither is meant."
        faults = faults_where(raw, is_other, "unknown word", expected, fix)
        return JudgedColumn(null_where(values, is_other), (*judged.faults, *faults))

    return judge


def judge_words(raw: pl.Series, numbers: Mapping[str, float]) -> JudgedColumn:
    """Read the numbers that words stand for, in any case; any other value is a fault.

    Words that are numbers are compared as numbers: 1 is 1.0.
    """
    if raw.dtype.is_nested() or raw.dtype == pl.Binary:
        return judge_probability(raw)  # a fault in each row
    words = number_or_text(pl.Series(list(numbers), dtype=pl.String)).str.to_lowercase()
    values = (
        number_or_text(raw.cast(pl.String))
        .str.to_lowercase()
        .replace_strict(words, list(numbers.values()), default=None, return_dtype=pl.Float64)
    )
    expected = f"one of the words {', '.join(map(repr, numbers))}"
    fix = "Give the word a number, too; leave the cell empty if the value is not known."
    faults = faults_where(raw, values.is_null() & ~is_missing(raw), "unknown word", expected, fix)
    return JudgedColumn(values.alias(raw.name), faults)


def opposite(judged: JudgedColumn) -> JudgedColumn:
    """Return 1 − x for each probability of a checked column, and wrong for right for each outcome."""
    values = judged.values
    turned = ~values if values.dtype == pl.Boolean else 1 - values.cast(pl.Float64)
    return replace(judged, values=turned.alias(values.name))


def number_or_text(raw: pl.Series) -> pl.Series:
    """Write equal numbers alike, and strip other texts.

    Examples
    --------
    >>> number_or_text(pl.Series(["1", "1.0", "0.80", " yes "])).to_list()
    ['1.0', '1.0', '0.8', 'yes']
    """
    text = raw.str.strip_chars()
    is_number = text.str.contains(PLAIN_NUMBER).fill_null(value=False)
    numbers = null_where(text, ~is_number).cast(pl.Float64, strict=False).cast(pl.String)
    return numbers.zip_with(is_number, text).alias(raw.name)
