"""How is a number written where it is read: in a tile, in a cell, in a sentence?"""

from __future__ import annotations

NOTHING = "–"
"""Stands where there is no number."""


def number(value: float | None, form: str = ".4f") -> str:
    """A number; a dash where it is not defined."""
    if value is None:
        return NOTHING
    return "∞" if value == float("inf") else format(value, form)


def percent(value: float | None) -> str:
    """A share with one decimal and the sign."""
    return NOTHING if value is None else f"{100 * value:.1f} %"


def signed(value: float | None, form: str = "+.4f") -> str:
    """A difference, with a minus sign and not a hyphen."""
    return number(value, form).replace("-", "−")


def span(low: float | None, high: float | None, form: str = ".4f", times: float = 1) -> str:
    """"0.0412 to 0.0620": the ends of an interval; a dash where there is none."""
    if low is None or high is None:
        return NOTHING
    return f"{times * low:{form}} to {times * high:{form}}".replace("-", "−")


def count(number_of: int, thing: str) -> str:
    """"1 run", "1,319 rows"."""
    return f"{number_of:,} {thing}{'' if number_of == 1 else 's'}"
