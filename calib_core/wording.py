"""How is a number, or a list of names, written where it is read: in a tile, in a cell, in a sentence?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

ROUNDED: Final = 1e-12
"""A number up to here is what rounding left of 0: sums are exact to so much."""

NOTHING: Final = "–"
"""Stands where there is no number."""

UNDEFINED: Final = "not defined"
"""The same within a sentence."""


def number(value: float | None, form: str = ".4f", *, none: str = NOTHING) -> str:
    """A number, with a minus sign and not a hyphen; none: what stands where it is not defined."""
    if value is None:
        return none
    return "∞" if value == float("inf") else format(value, form).replace("-", "−")


def short(value: float) -> str:
    """Four decimals, or three digits of a number that would have none of them: "0.0312", "2.41e-07"."""
    if abs(value) <= ROUNDED:
        return "0.0000"
    sign, size = "−" if value < 0 else "", abs(value)
    return f"{sign}{size:.4f}" if size >= 0.00095 else f"{sign}{size:.3g}"


def percent(value: float | None) -> str:
    """".7119" → "71.2 %"; a dash where it is not defined."""
    return NOTHING if value is None else f"{100 * value:.1f} %"


def signed(value: float | None, form: str = "+.4f") -> str:
    """A difference, always with its sign."""
    return number(value, form)


def span(low: float | None, high: float | None, form: str = ".4f", times: float = 1) -> str:
    """"0.0412 to 0.0620": the ends of an interval; a dash where there is none."""
    if low is None or high is None:
        return NOTHING
    return f"{number(times * low, form)} to {number(times * high, form)}"


def p_value(p: float | None, draws: int | None) -> str:
    """"0.020"; "≤ 0.005" where none of 199 draws was as high, the least that so many can say."""
    if p is None:
        return NOTHING
    least = draws is not None and p * (1 + draws) <= 1 + ROUNDED
    return f"{'≤ ' if least else ''}{short(p) if p < 0.001 else f'{p:.3f}'}"


def chance(p: float | None, draws: int | None) -> str:
    """The same in a sentence or a tile: "p = 0.020", "p ≤ 0.005"; "" where there is none."""
    told = p_value(p, draws)
    return "" if p is None else f"p {told}" if told.startswith("≤") else f"p = {told}"


def count(number_of: int, thing: str) -> str:
    """"1 run", "1,319 rows"."""
    return f"{number_of:,} {thing}{'' if number_of == 1 else 's'}"


def bad_rows(bad: int, of: int) -> str:
    """"1 of 60 rows is bad", "3 of 60 rows are bad"."""
    return f"{bad:,} of {count(of, 'row')} {'is' if bad == 1 else 'are'} bad"


def too_few(number_of: int, thing: str) -> str:
    """"1 row is too few to judge by", "5 rows are too few to judge by"."""
    return f"{count(number_of, thing)} {'is' if number_of == 1 else 'are'} too few to judge by"


def listed(names: Sequence[str]) -> str:
    """"A", "A and B", "A, B and C"; one name or more."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def every(number_of: int) -> str:
    """"both", or of more than two "all 4": before the plural of what is counted."""
    return "both" if number_of == 2 else f"all {number_of:,}"
