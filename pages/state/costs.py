"""What wrong answers and handed-on questions cost, as typed on Abstention and kept in the address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from calib_core.inference.decision_loss import ErrorCosts

DEFAULT_COSTS: Final = ErrorCosts(10, 1)
"""Worth answering from 90 % on, the default target accuracy."""

MAX_COST: Final = 1e12
"""Largest cost of a question that can be typed."""


def parse_cost(text: str) -> float | None:
    """Return the cost that the text holds, from 0 to `MAX_COST`; None where it holds none."""
    try:
        cost = float(text.replace(",", "."))
    except ValueError:
        return None
    return cost if 0 <= cost <= MAX_COST else None


def costs_in_address(held: Mapping[str, str]) -> ErrorCosts | None:
    """Return the costs that an address holds, each its default where invalid; None where it holds none."""
    if not {"wrong", "handed_on"} & held.keys():
        return None
    wrong, handed_on = (parse_cost(held.get(key, "")) for key in ("wrong", "handed_on"))
    return ErrorCosts(
        wrong or DEFAULT_COSTS.wrong, DEFAULT_COSTS.handed_on if handed_on is None else handed_on
    )
