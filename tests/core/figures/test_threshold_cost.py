"""The line of costs has that of each threshold, and marks the cheapest and the one believed."""

from __future__ import annotations

import plotly.graph_objects as go

from calib_core.figures.palette import DARK, LIGHT
from calib_core.figures.threshold_cost import describe_threshold_cost, threshold_cost_figure
from calib_core.inference.decision_loss import ErrorCosts
from calib_core.results.threshold_cost import ThresholdCost, threshold_cost
from core.run_builders import block_evidence


def found(wrong: float = 10, handed_on: float = 1) -> ThresholdCost:
    evidence = block_evidence((0.95, 200, 190), (0.8, 100, 77), (0.3, 100, 20))
    return threshold_cost(evidence, ErrorCosts(wrong, handed_on))


def test_the_line_is_the_cost_of_each_threshold() -> None:
    figure = threshold_cost_figure([found()], LIGHT, threshold=0.8)
    line, cheapest, chosen = figure["data"]
    assert line["name"] == "Confidence in the file"
    assert line["x"] == [0, 0.3, 0.8, 0.95]
    costs = found().cost[::-1].round(6).tolist()
    assert line["y"] == [costs[0], *costs]
    assert line["line"]["shape"] == "vh"  # up to a threshold, its own cost holds
    assert (cheapest["x"], cheapest["y"]) == ([0.95], [found().cost[0]])
    assert (chosen["name"], chosen["x"], chosen["y"]) == ("confidence ≥ 0.8", [0.8], [found().cost[1]])
    believed, nothing = figure["layout"]["shapes"]
    assert (believed["x0"], nothing["y0"]) == (0.9, 1)
    texts = [note["text"] for note in figure["layout"]["annotations"]]
    assert texts == ["if calibrated: 90.0 %", "hand everything on: 1"]


def test_plotly_takes_it_whatever_the_costs() -> None:
    for theme in (LIGHT, DARK):
        for costs in ((10, 1), (1, 0), (1, 5)):
            go.Figure(dict(threshold_cost_figure([found(*costs)], theme)))


def test_it_is_described_with_its_numbers() -> None:
    assert "Believing “confidence in the file” means answering from 90.0 % on" in describe_threshold_cost(
        [found()]
    )
