"""How does each point of a comparison look, and what is it called beside it?

Colour says the run, as on every page; the symbol says the method, as on every page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from calib_core.analysis.comparison import Comparison
from calib_core.analysis.comparison_points import Measured
from calib_core.confidence import METHODS
from calib_core.figures.run_look import run_look
from calib_core.figures.theme import Theme, legible
from calib_core.metrics import METRICS
from calib_core.wording import number, percent

NUMBERED: Final = "numbers: rows of the table"
"""What is said in the picture where there is no room for names."""


@dataclass(frozen=True, slots=True)
class PointLook:
    """colour: of the symbol; text: the same tone dark or light enough to read."""

    colour: str
    text: str


def point_looks(result: Comparison, theme: Theme, places: Mapping[str, int]) -> dict[str, PointLook]:
    """Key → the point's look. places: key → place of its run among all at hand; others take theirs here."""
    runs = list(dict.fromkeys(point.run for point in result.points))
    looks: dict[str, PointLook] = {}
    for point in result.points:
        colour = run_look(places.get(point.key, runs.index(point.run)), theme).colour
        looks[point.key] = PointLook(colour, legible(colour, theme))
    return looks


def number_of(one: Measured) -> str:
    """A coordinate with its interval: "70.0 % (68.0 % to 72.0 %)", "0.2000"."""

    def form(value: float) -> str:
        return percent(value) if METRICS[one.metric].percent else number(value)

    if one.low is None or one.high is None:
        return form(one.value)
    return f"{form(one.value)} ({form(one.low)} to {form(one.high)})"


def names_of(result: Comparison) -> list[str]:
    """What each point is called: its run; where all are of one run, its method."""
    one = len({point.run for point in result.points}) == 1 < len(result.points)
    return [METHODS[point.method].title if one else point.name for point in result.points]


def numbers_of(result: Comparison) -> list[str]:
    """The number of each point in the table: the lowest Brier score is the first."""
    order = {point.key: at for at, point in enumerate(result.by_brier, 1)}
    return [str(order[point.key]) for point in result.points]
