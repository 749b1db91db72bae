"""The ranked probability score equals its definition over cuts, and is never pooled over different scales."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core.errors import Unavailable
from calib_core.inference.intervals import mean_interval
from calib_core.results.evidence import gather_evidence
from calib_core.results.score import score
from calib_core.results.uncertainty import metric_interval
from calib_core.runs import AnswerRun, RunInfo
from core import oracle
from core.confidence_runs import TOLERANCE, run_of
from core.oracle import Bins, Row

SCALE = RunInfo(choices_are="levels")


@st.composite
def scales(draw: st.DrawFn) -> list[Row]:
    """Rows of one scale, whose probabilities are multiples of 1/64."""
    n_levels = draw(st.integers(2, 6))
    cuts = st.lists(st.integers(0, 64), min_size=n_levels - 1, max_size=n_levels - 1).map(sorted)
    rows: list[Row] = []
    for marks in draw(st.lists(cuts, min_size=1, max_size=6)):
        ends = [0, *marks, 64]
        probs = tuple((high - low) / 64 for low, high in pairwise(ends))
        rows.append(Row(probs, 8, draw(st.integers(0, n_levels - 1))))
    return rows


def scale_run(rows: list[Row], info: RunInfo = SCALE) -> AnswerRun:
    return run_of([{"choice_probs": list(row.probs), "gold_index": row.label} for row in rows], info)


def agrees(metric: str, rows: list[Row]) -> bool:
    found = score(gather_evidence(scale_run(rows), "choice"), metric).value
    expected = oracle.OF_SCALES[metric](rows, Bins())
    return found is not None and expected is not None and abs(Fraction(found) - expected) < TOLERANCE


@given(scales())
def test_it_is_the_mean_over_rows_and_cuts(rows: list[Row]) -> None:
    assert agrees("rps", rows)


@given(scales())
def test_it_is_the_mean_of_the_brier_scores_of_the_cuts(rows: list[Row]) -> None:
    run, n_cuts = scale_run(rows), len(rows[0].probs) - 1
    briers = [score(gather_evidence(run, f"at_least.{cut}"), "brier").value for cut in range(1, n_cuts + 1)]
    found = score(gather_evidence(run, "choice"), "rps").value
    assert found == pytest.approx(sum(value or 0 for value in briers) / n_cuts, abs=TOLERANCE)


@pytest.mark.parametrize("repeats", [1, 3])
def test_intervals_are_of_the_mean_over_rows_or_questions_in_the_unit_of_the_metric(repeats: int) -> None:
    """With one unit of the least and one of the largest possible value."""
    random = np.random.default_rng(5)
    probs, gold = random.dirichlet(np.ones(4), 30), random.integers(0, 4, 30)
    question = np.arange(30) // repeats
    rows = [
        {"choice_probs": p.tolist(), "gold_index": int(level), "trial_of": f"q{of}"}
        for p, level, of in zip(probs, gold, question, strict=True)
    ]
    evidence = gather_evidence(run_of(rows, SCALE), "choice")
    cuts = np.cumsum(probs, axis=1)[:, :-1] - (gold[:, None] < np.arange(1, 4))
    for metric, each, most in (
        ("rps", (cuts**2).mean(axis=1), 1.0),
        ("expectation_error", np.abs(probs @ np.arange(4) - gold), 3.0),
    ):
        found = metric_interval(evidence, metric)
        assert found is not None
        n = np.bincount(question).astype(float)
        ends = mean_interval(np.bincount(question, each).astype(float), n, (0.0, most))
        assert (found.low, found.high) == pytest.approx(ends)
        value = score(evidence, metric).value
        assert value == pytest.approx(each.mean())


@pytest.mark.parametrize("metric", ["rps", "expectation_error"])
def test_scales_of_different_lengths_and_options_without_order_are_refused(metric: str) -> None:
    short, long = Row((0.5, 0.5), 8, 0), Row((0.5, 0.25, 0.25), 8, 1)
    for rows, info, reason in (
        ([short, long], SCALE, "2 to 3 levels"),
        ([long, long], RunInfo(choices_are="options"), "no order"),
    ):
        with pytest.raises(Unavailable, match=reason):
            score(gather_evidence(scale_run(rows, info), "choice"), metric)
