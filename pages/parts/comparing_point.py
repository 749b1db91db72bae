"""What does one point of a comparison look like, bin by bin?"""

from __future__ import annotations

from calib_core.analysis.score import available_metrics
from calib_core.confidence import METHODS
from calib_core.metrics import DEFAULT
from pages.parts import bin_by_bin
from pages.parts.choice import Choice
from pages.parts.comparing import Comparing


def diagram(wanted: Comparing, key: str, script: str) -> None:
    """The reliability diagram of one point; script: of the page that has more of it.

    By the metric upward if the point can be drawn by it, else by ECE.
    """
    one = wanted.seen[key]
    possible = available_metrics(one.evidence, wanted.scheme)
    metric = wanted.y if possible.get(wanted.y) is None else DEFAULT
    title = f"{one.run.title}, {METHODS[one.evidence.method.id].title}"
    choice = Choice(one.run, one.evidence, metric, wanted.scheme)
    bin_by_bin.diagram(choice, title, "Open this run on the page Reliability", script)
