"""Small sweeps and trainings, put together by hand, for the tests of figures."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from calib_core.figures.layout import Figure
from calib_core.inference.null import NullDistribution
from calib_core.inference.verdict import judge
from calib_core.results.robustness import Sweep, SweepCurve
from calib_core.results.training import Checkpoint, Training, TrainingLine

BINS = (5, 10, 100)


def make_null(values: Sequence[float]) -> NullDistribution:
    """A tenth of the values, from half of that to twice as much."""
    return NullDistribution(
        n_draws=199,
        seed=0,
        median=tuple(value / 10 for value in values),
        low=tuple(value / 20 for value in values),
        high=tuple(value / 5 for value in values),
        p=tuple(0.005 for _ in values),
        rsd_median=0.5,
        rsd_low=0.4,
        rsd_high=0.6,
        rsd_p=1.0,
    )


def make_curve(
    metric: str,
    values: Sequence[float | None] = (0.1, 0.2, 0.3),
    *,
    bounds: dict[int, tuple[float, float]] | None = None,
    ceiling: float | None = None,
    null: bool = True,
) -> SweepCurve:
    """One metric at M = 5, 10 and 100."""
    known = [value for value in values if value is not None]
    whole = len(known) == len(values)
    return SweepCurve(
        metric=metric,
        bins=BINS[: len(values)],
        values=tuple(values),
        bounds=bounds or {},
        unavailable={},
        rsd=statistics.pstdev(known) / statistics.mean(known) if whole else None,
        ddof=0,
        ceiling=ceiling,
        null=make_null(known) if null and whole else None,
        recipe=metric,
    )


def make_sweep(*curves: SweepCurve, run: str = "model-a · text") -> Sweep:
    return Sweep(run, "tokens", BINS, 0, curves, {}, 2000, 2000, "It depends on M.")


def make_line(title: str, *points: tuple[float, float], null: bool = True, rows: int = 2000) -> TrainingLine:
    """Over-confident checkpoints at (step, value); their run is "title@step"."""
    return TrainingLine(
        title,
        tuple(
            Checkpoint(
                run=f"{title}@{at:g}",
                label=f"step{at:g}",
                position=at,
                value=value,
                null_median=0.02 if null else None,
                null_low=0.01 if null else None,
                null_high=0.03 if null else None,
                verdict=judge([0.9] * rows, [0, 1] * (rows // 2)),
                q=1e-4 if null else None,
                n_used=rows,
                recipe="ECE-L1",
            )
            for at, value in points
        ),
    )


def make_training(*lines: TrainingLine, metric: str = "ece", axis: str = "Training step") -> Training:
    return Training(metric, 10, axis, lines, {}, {}, "ECE is 0.3 at step 10.")


def trace_named(figure: Figure, name: str) -> dict[str, Any]:
    """The trace whose entry in the legend begins so."""
    return next(trace for trace in figure["data"] if str(trace.get("name", "")).startswith(name))


def traces_of_metric(figure: Figure, metric: str) -> list[dict[str, Any]]:
    """Traces that draw this metric's values or bounds."""
    return [trace for trace in figure["data"] if trace.get("meta", {}).get("metric") == metric]
