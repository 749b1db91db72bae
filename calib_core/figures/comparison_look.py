"""How does each point of a comparison look, and what is it called beside it?

Colour says the run, as on every page; the symbol says the method, as on every page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from calib_core.analysis.comparison import Comparison
from calib_core.analysis.comparison_points import MetricEstimate
from calib_core.confidence import METHODS
from calib_core.figures.run_look import run_style
from calib_core.figures.theme import Theme, readable_text_colour
from calib_core.metrics import METRICS
from calib_core.wording import format_number, format_percent

NUMBERS_NOTE: Final = "numbers: rows of the table"
"""What is said in the picture where there is no room for names."""


@dataclass(frozen=True, slots=True)
class PointStyle:
    """colour: of the symbol; text: the same tone dark or light enough to read."""

    colour: str
    text_colour: str


def point_styles(result: Comparison, theme: Theme, style_indices: Mapping[str, int]) -> dict[str, PointStyle]:
    """Key → the point's look. places: key → place of its run among all at hand; others take theirs here."""
    runs = list(dict.fromkeys(point.run for point in result.points))
    looks: dict[str, PointStyle] = {}
    for point in result.points:
        colour = run_style(style_indices.get(point.key, runs.index(point.run)), theme).colour
        looks[point.key] = PointStyle(colour, readable_text_colour(colour, theme))
    return looks


def estimate_text(estimate: MetricEstimate) -> str:
    """A coordinate with its interval: "70.0 % (68.0 % to 72.0 %)", "0.2000"."""

    def format_value(value: float) -> str:
        return format_percent(value) if METRICS[estimate.metric].shown_in_percent else format_number(value)

    if estimate.low is None or estimate.high is None:
        return format_value(estimate.value)
    return f"{format_value(estimate.value)} ({format_value(estimate.low)} to {format_value(estimate.high)})"


def point_names(result: Comparison) -> list[str]:
    """What each point is called: its run; where all are of one run, its method."""
    one = len({point.run for point in result.points}) == 1 < len(result.points)
    return [METHODS[point.method].title if one else point.name for point in result.points]


def point_numbers(result: Comparison) -> list[str]:
    """The number of each point in the table: the lowest Brier score is the first."""
    order = {point.key: at for at, point in enumerate(result.points_by_brier, 1)}
    return [str(order[point.key]) for point in result.points]
