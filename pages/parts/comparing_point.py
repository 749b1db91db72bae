"""What does one point of a comparison look like, bin by bin?"""

from __future__ import annotations

from calib_core.analysis.score import metric_availability
from calib_core.confidence import METHODS
from calib_core.metrics import DEFAULT_METRIC
from pages.parts import bin_by_bin
from pages.parts.choice import RunChoice
from pages.parts.comparing import ComparisonChoice


def show_point_diagram(comparison_choice: ComparisonChoice, key: str, script: str) -> None:
    """The reliability diagram of one point; script: of the page that has more of it.

    By the metric upward if the point can be drawn by it, else by ECE.
    """
    one = comparison_choice.evidence_by_point[key]
    possible = metric_availability(one.evidence, comparison_choice.scheme)
    metric = comparison_choice.y if possible.get(comparison_choice.y) is None else DEFAULT_METRIC
    title = f"{one.run.title}, {METHODS[one.evidence.method.id].title}"
    choice = RunChoice(one.run, one.evidence, metric, comparison_choice.scheme)
    bin_by_bin.show_reliability_diagram(choice, title, "Open this run on the page Reliability", script)
