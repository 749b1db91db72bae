"""How are numbers and lists of names written in tiles, tables and sentences?"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

ROUNDING_TOLERANCE: Final = 1e-12
"""Sums are exact to this much, so a smaller number is a rounding error."""

NO_VALUE: Final = "–"
"""Shown in place of a missing number."""

NOT_DEFINED: Final = "not defined"
"""Shown in place of a missing number within a sentence."""

_COMMON_FIRST_WORDS: Final = frozenset(
    {"A", "An", "The", "Only", "No", "It", "Its", "Runs", "There", "Sums", "Needs"}
)
"""First words that lose their capital within a sentence; another may be a name."""

SMALLEST_IN_DECIMALS: Final = 0.00095
"""A column whose largest number is below this is written in significant digits, not in four decimals."""

COUNT_UNITS: Final = ((10**12, "T"), (10**9, "B"), (10**6, "M"), (10**3, "k"))
"""What large counts are divided by, and how that is written."""


_JUDGED_MEANINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "greedy answer": "the model's one answer in the file, not a sample",
        "majority answer": "the one that most samples give",
        "first sampled answer": "the first of the samples in the file",
        "its own top label": "the most probable one",
        "event": "whether yes is true",
    }
)
"""What is judged to be right or wrong → what that is."""


def format_number(value: float | None, spec: str = ".4f", *, missing: str = NO_VALUE) -> str:
    """A number with a minus sign instead of a hyphen; `missing` if there is no number.

    Examples
    --------
    >>> format_number(-0.0125), format_number(None)
    ('−0.0125', '–')
    """
    if value is None:
        return missing
    return "∞" if value == float("inf") else format(value, spec).replace("-", "−")


def format_short(value: float) -> str:
    """Four decimals, or three significant digits if the number is too small for that.

    Examples
    --------
    >>> format_short(0.03123), format_short(2.41e-7)
    ('0.0312', '2.41e-07')
    """
    if abs(value) <= ROUNDING_TOLERANCE:
        return "0.0000"
    sign, size = "−" if value < 0 else "", abs(value)
    return f"{sign}{size:.4f}" if size >= 0.00095 else f"{sign}{size:.3g}"


def format_significant(value: float | None) -> str:
    """As `format_short`, also for a missing or infinite number.

    Examples
    --------
    >>> format_significant(0.03123), format_significant(4.8e-12), format_significant(None)
    ('0.0312', '4.8e-12', '–')
    """
    return format_number(value) if value is None or value == float("inf") else format_short(value)


def format_significant_interval(low: float | None, high: float | None) -> str:
    """The ends of an interval, each as by `format_significant`; a dash if there is none."""
    if low is None or high is None:
        return NO_VALUE
    return f"{format_significant(low)} to {format_significant(high)}"


def format_column(values: Sequence[float | None]) -> list[str]:
    """Values of one column with four decimals, or as `format_significant` where those would all be 0.

    Examples
    --------
    >>> format_column([0.0284, 0.000073, None]), format_column([2.41e-7, 3e-6])
    (['0.0284', '0.0001', '–'], ['2.41e-07', '3e-06'])
    """
    largest = max((abs(value) for value in values if value is not None and math.isfinite(value)), default=0.0)
    written = format_number if largest >= SMALLEST_IN_DECIMALS else format_significant
    return [written(value) for value in values]


def format_percent(value: float | None) -> str:
    """A share in percent: 0.7119 → "71.2 %"; a dash for None.

    Sums that differ by a rounding error are written alike.

    Examples
    --------
    >>> format_percent(0.9595), format_percent(0.9595 - 1e-16)
    ('96.0 %', '96.0 %')
    """
    return NO_VALUE if value is None else f"{round(100 * value, 10):.1f} %"


def format_percent_down(value: float | None) -> str:
    """A lower bound in percent, rounded down so that it holds as written: 0.89999 → "89.9 %"."""
    return NO_VALUE if value is None else f"{math.floor(1000 * value + ROUNDING_TOLERANCE) / 10:.1f} %"


def target_text(share: float) -> str:
    """A share that was asked for, as typed: "90 %", "92.5 %"."""
    return f"{100 * share:.6g} %"


def format_points(value: float) -> str:
    """A difference of two shares in percentage points, with a sign: "+2.9", "−0.4".

    Examples
    --------
    >>> format_points(0.029), format_points(-0.0001)
    ('+2.9', '0.0')
    """
    points = f"{100 * value:+.1f}"
    return "0.0" if points in ("+0.0", "-0.0") else points.replace("-", "−")


def threshold_text(threshold: float) -> str:
    """A confidence threshold with as many digits as it needs: "0.9375", "0.5"."""
    return f"{threshold:.15g}"


def format_signed(value: float | None, spec: str = "+.4f") -> str:
    """A difference, always with a sign."""
    return format_number(value, spec)


def format_interval(low: float | None, high: float | None, spec: str = ".4f", scale: float = 1) -> str:
    """The ends of an interval, such as "0.0412 to 0.0620"; a dash if there is none."""
    if low is None or high is None:
        return NO_VALUE
    return f"{format_number(scale * low, spec)} to {format_number(scale * high, spec)}"


def format_p_value(p: float | None, draws: int | None) -> str:
    """A p-value; "≤" marks the smallest one possible with this number of draws.

    Parameters
    ----------
    p : float or None
        The p-value, in (0, 1].
    draws : int or None
        Number of Monte Carlo draws; None for an exact p-value.

    Examples
    --------
    >>> format_p_value(0.02, 199), format_p_value(0.005, 199), format_p_value(1e-9, None)
    ('0.020', '≤ 0.005', '< 0.001')
    """
    if p is None:
        return NO_VALUE
    if p < 0.001 and (draws is None or p < 0.0001):
        return "< 0.001"
    least = draws is not None and p * (1 + draws) <= 1 + ROUNDING_TOLERANCE
    return f"{'≤ ' if least else ''}{format_short(p) if p < 0.001 else f'{p:.3f}'}"


def q_value_phrase(q: float | None) -> str:
    """A q-value in a sentence: "q = 0.042", "q < 0.001"; "" for None."""
    text = format_p_value(q, None)
    return "" if q is None else f"q {text}" if text.startswith("<") else f"q = {text}"


def p_value_phrase(p: float | None, draws: int | None) -> str:
    """A p-value in a sentence or tile: "p = 0.020", "p ≤ 0.005"; "" for None."""
    formatted = format_p_value(p, draws)
    return "" if p is None else f"p {formatted}" if formatted.startswith(("≤", "<")) else f"p = {formatted}"


def compact_count(count: float) -> str:
    """A count in at most four digits, such as tokens or the label of a bar.

    Examples
    --------
    >>> compact_count(9999), compact_count(12_345), compact_count(12_800_000_000_000)
    ('9,999', '12.3k', '12.8T')
    """
    if count < 10_000:
        return format_count(count)
    for unit, suffix in COUNT_UNITS:
        if float(f"{count:.3g}") >= unit:
            return f"{count / unit:.3g}{suffix}"
    raise AssertionError(count)


_UNIT_SPACE: Final = re.compile(
    r"(?<=\d) (?=%)|(?<=[=≤≥<>≈±]) (?=[−+±]?[\d.∞])|(?<=\b[A-Za-z]) (?=[=≤≥<>] [−\d.])"
)
"""Spaces at which no line may end: before %, and around the sign between a letter and its number."""


def keep_units(text: str) -> str:
    r"""Text in which no line break parts a number from its unit or its name: "71.2 %", "M = 10", "p ≤ 0.005".

    Examples
    --------
    >>> keep_units("76.0 % of M = 10 bins").split(" ")
    ['76.0\xa0%', 'of', 'M\xa0=\xa010', 'bins']
    """
    return _UNIT_SPACE.sub("\N{NO-BREAK SPACE}", text)


def with_article(noun: str) -> str:
    """A singular noun with its article: "an accuracy", "a precision"."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def definite(noun: str) -> str:
    """A noun with "the", unless it has a determiner of its own.

    Examples
    --------
    >>> definite("greedy answer"), definite("its own top label")
    ('the greedy answer', 'its own top label')
    """
    return noun if noun.startswith("its ") else f"the {noun}"


def as_clause(sentence: str) -> str:
    """A sentence as part of another: without its full stop, and without the capital of a common first word.

    Examples
    --------
    >>> as_clause("Only sums are kept."), as_clause("Qwen has no id.")
    ('only sums are kept', 'Qwen has no id')
    """
    text = sentence.rstrip(".")
    first = text.partition(" ")[0]
    return f"{text[0].lower()}{text[1:]}" if first in _COMMON_FIRST_WORDS else text


class BinReading(NamedTuple):
    """One bin, as a newcomer and as a researcher reads it.

    Attributes
    ----------
    percent : str
        "90–100 %".
    interval : str
        "(0.9, 1]".
    """

    percent: str
    interval: str

    def __str__(self) -> str:
        """Both: "90–100 % (0.9, 1]", or "35 % (0.35)" of a single value."""
        if not self.interval.endswith("]"):
            return f"{self.percent} ({self.interval})"
        return f"{self.percent} {self.interval}"


def bin_reading(low: float, high: float, *, equal_width: bool = True) -> BinReading:
    """The two readings of a bin.

    Parameters
    ----------
    low, high : float
        Its edges, or the smallest and largest confidence in it.
    equal_width : bool
        Whether they are edges, of which the lower one belongs to the bin below.

    Examples
    --------
    >>> bin_reading(0.9, 1.0)
    BinReading(percent='90–100 %', interval='(0.9, 1]')
    >>> str(bin_reading(0.9375, 0.9375, equal_width=False))
    '93.75 % (0.9375)'
    """
    if low == high and not equal_width:
        return BinReading(f"{100 * low:.6g} %", f"{low:.6g}")
    # Three digits, or as many more as it takes to tell the two ends apart.
    digits = next((digits for digits in range(3, 17) if f"{low:.{digits}g}" != f"{high:.{digits}g}"), 3)
    opening = "[" if low == 0 or not equal_width else "("
    return BinReading(
        f"{100 * low:.{digits}g}–{100 * high:.{digits}g} %",
        f"{opening}{low:.{digits}g}, {high:.{digits}g}]",
    )


def part_of_rows(part: float, total: float) -> str:
    """A number of rows beside that of all, or a share where these are sums of weights.

    Examples
    --------
    >>> part_of_rows(2, 1000), part_of_rows(0.5, 2.0)
    ('2 of 1,000 rows', '25.0 % of the weight')
    """
    if isinstance(total, int):
        return f"{part:,} of {plural(total, 'row')}"
    return f"{format_percent(part / total)} of the weight"


def plural(n: float, noun: str) -> str:
    """A count with its noun: "1 run", "1,319 rows", "3 classes"; an expected count has a decimal."""
    ending = "es" if noun.endswith("ss") else "s"
    return f"{format_count(n)} {noun}{'' if n == 1 else ending}"


def format_count(n: float) -> str:
    """A count, or an expected count with one decimal.

    Examples
    --------
    >>> format_count(1319), format_count(1318.52)
    ('1,319', '1,318.5')
    """
    return f"{n:,}" if isinstance(n, int) else f"{n:,.1f}"


def bad_rows_phrase(bad: int, total: int) -> str:
    """The number of bad rows: "1 of 60 rows is bad", "3 of 60 rows are bad"."""
    return f"{bad:,} of {plural(total, 'row')} {'is' if bad == 1 else 'are'} bad"


def too_few_phrase(n: int, noun: str) -> str:
    """A remark on a small sample: "1 row is too few for a verdict", "5 rows are too few for a verdict"."""
    return f"{plural(n, noun)} {'is' if n == 1 else 'are'} too few for a verdict"


def judged_phrase(judged: str) -> str:
    """The judged answer with what it is: "majority answer judged (the one that most samples give)"."""
    meaning = _JUDGED_MEANINGS.get(judged)
    return f"{judged} judged{f' ({meaning})' if meaning else ''}"


def shared_remarks(methods: Iterable[tuple[str, str, Sequence[str]]]) -> list[tuple[str, str]]:
    """The judged answer and the remarks of methods, each once, behind the names of those that share it.

    Parameters
    ----------
    methods : iterable of (str, str, sequence of str)
        Name of a method, which answer it judges, and its remarks.
    """
    sharing = names_sharing(
        (method, remark)
        for method, judged, remarks in methods
        for remark in (judged_phrase(judged), *remarks)
    )
    return [(", ".join(names), remark) for remark, names in sharing.items()]


def names_sharing(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """The names that share a text, each once, from pairs of name and text.

    Examples
    --------
    >>> names_sharing([("a", "no id"), ("b", "too few"), ("c", "no id")])
    {'no id': ['a', 'c'], 'too few': ['b']}
    """
    names: dict[str, dict[str, None]] = {}
    for name, text in pairs:
        names.setdefault(text, {})[name] = None
    return {text: list(sharing) for text, sharing in names.items()}


def join_names(names: Sequence[str], conjunction: str = "and") -> str:
    """At least one name, joined as in a sentence: "A", "A and B", "A, B and C"."""
    *others, last = names
    return f"{', '.join(others)} {conjunction} {last}" if others else last


def all_are(n: int, noun: str) -> str:
    """The subject and verb of a sentence on every one of n things.

    Examples
    --------
    >>> all_are(1, "row"), all_are(1200, "row")
    ('the only row is', 'all 1,200 rows are')
    """
    return f"the only {noun} is" if n == 1 else f"all {n:,} {noun}s are"


def both_or_all(n: int) -> str:
    """The word before a plural noun that means all of them: "both" of two, "all 4" of four."""
    return "both" if n == 2 else f"all {n:,}"


def cell_text(value: object, missing: str = NO_VALUE) -> str:
    """Formats the value of any type of column: numbers to four decimals, or four digits if large or tiny.

    Examples
    --------
    >>> cell_text(-1200), cell_text(0.25), cell_text(value=True), cell_text(None, missing="")
    ('−1,200', '0.2500', 'yes', '')
    """
    match value:
        case None | "":
            return missing
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}".replace("-", "−")
        case float():
            return _number_text(value)
        case _:
            return str(value)


def _number_text(value: float) -> str:
    if math.isnan(value):
        return NO_VALUE
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    format_spec = ".4f" if value == 0 or 0.001 <= abs(value) < 1000 else ".4g"
    return f"{'−' if value < 0 else ''}{abs(value):{format_spec}}"
