"""How is a number, or a list of names, written where it is read: in a tile, in a cell, in a sentence?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

ROUNDING_TOLERANCE: Final = 1e-12
"""A number up to here is what rounding left of 0: sums are exact to so much."""

NO_VALUE: Final = "–"
"""Stands where there is no number."""

NOT_DEFINED: Final = "not defined"
"""The same within a sentence."""


def format_number(value: float | None, spec: str = ".4f", *, missing: str = NO_VALUE) -> str:
    """A number, with a minus sign and not a hyphen; none: what stands where it is not defined."""
    if value is None:
        return missing
    return "∞" if value == float("inf") else format(value, spec).replace("-", "−")


def format_short(value: float) -> str:
    """Four decimals, or three digits of a number that would have none of them: "0.0312", "2.41e-07"."""
    if abs(value) <= ROUNDING_TOLERANCE:
        return "0.0000"
    sign, size = "−" if value < 0 else "", abs(value)
    return f"{sign}{size:.4f}" if size >= 0.00095 else f"{sign}{size:.3g}"


def format_percent(value: float | None) -> str:
    """ ".7119" → "71.2 %"; a dash where it is not defined."""
    return NO_VALUE if value is None else f"{100 * value:.1f} %"


def format_signed(value: float | None, spec: str = "+.4f") -> str:
    """A difference, always with its sign."""
    return format_number(value, spec)


def format_interval(low: float | None, high: float | None, spec: str = ".4f", scale: float = 1) -> str:
    """ "0.0412 to 0.0620": the ends of an interval; a dash where there is none."""
    if low is None or high is None:
        return NO_VALUE
    return f"{format_number(scale * low, spec)} to {format_number(scale * high, spec)}"


def format_p_value(p: float | None, draws: int | None) -> str:
    """ "0.020"; "≤ 0.005" where none of 199 draws was as high, the least that so many can say."""
    if p is None:
        return NO_VALUE
    least = draws is not None and p * (1 + draws) <= 1 + ROUNDING_TOLERANCE
    return f"{'≤ ' if least else ''}{format_short(p) if p < 0.001 else f'{p:.3f}'}"


def p_value_phrase(p: float | None, draws: int | None) -> str:
    """The same in a sentence or a tile: "p = 0.020", "p ≤ 0.005"; "" where there is none."""
    told = format_p_value(p, draws)
    return "" if p is None else f"p {told}" if told.startswith("≤") else f"p = {told}"


def plural(n: int, noun: str) -> str:
    """ "1 run", "1,319 rows"."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def bad_rows_phrase(bad: int, total: int) -> str:
    """ "1 of 60 rows is bad", "3 of 60 rows are bad"."""
    return f"{bad:,} of {plural(total, 'row')} {'is' if bad == 1 else 'are'} bad"


def too_few_phrase(n: int, noun: str) -> str:
    """ "1 row is too few to judge by", "5 rows are too few to judge by"."""
    return f"{plural(n, noun)} {'is' if n == 1 else 'are'} too few to judge by"


def join_names(names: Sequence[str]) -> str:
    """ "A", "A and B", "A, B and C"; one name or more."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def both_or_all(n: int) -> str:
    """ "both", or of more than two "all 4": before the plural of what is counted."""
    return "both" if n == 2 else f"all {n:,}"
