"""Long names get a line of their own in the legend."""

from __future__ import annotations

import pytest

from calib_core.figures.palette import LIGHT
from calib_core.figures.robustness import run_curves, sweep_layout, sweep_legend
from core.figures.sweep_builders import make_curve, make_sweep


@pytest.mark.parametrize(
    ("metrics", "width"),
    [
        (("ece", "full_ece"), 0.48),
        (("ece", "full_ece", "full_ece_mass"), 0.48),
        (("full_ece_mass", "ece", "full_ece"), 0.98),
    ],
)
def test_a_long_entry_has_no_other_beside_it(metrics: tuple[str, ...], width: float) -> None:
    results = [make_sweep(*map(make_curve, metrics))]
    entries = sweep_legend(list(run_curves(results)), LIGHT, relative=True)
    layout, _ = sweep_layout(LIGHT, results, entries, panels=1)
    assert layout["legend"]["entrywidth"] == width


def test_several_runs_have_one_entry_each_below_the_metrics() -> None:
    results = [make_sweep(make_curve("ece"), run=run) for run in ("a", "b" * 90)]
    entries = sweep_legend(list(run_curves(results)), LIGHT, relative=True)
    assert [entry["mode"] for entry in entries] == ["lines", "markers", "markers"]
    assert len(entries[-1]["name"]) < 50
    layout, stack = sweep_layout(LIGHT, results, entries, panels=2)
    assert layout["legend"]["entrywidth"] > 200, "in pixels: as many to a line as fit"
    assert len(stack.domains) == 2
