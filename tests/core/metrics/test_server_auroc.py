"""Is it the AUROC of the order of what a server calls its confidence, and of nothing else?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calib_core
from calib_core.errors import Unavailable
from calib_core.methods.method import MethodOptions
from calib_core.results.evidence import gather_evidence
from calib_core.results.score import Score
from calib_core.results.uncertainty import paired_difference, score_with_interval
from calib_core.runs import AnswerRun, RunInfo
from core import oracle
from core.confidence_runs import TOLERANCE, run_of
from core.oracle import Bins, Pair

DECISIONS = RunInfo(choices_are="options")


def decisions(of_server: list[float | None], right: list[bool]) -> AnswerRun:
    rows: list[dict[str, Any]] = [
        {"choice_probs": [0.75, 0.25], "gold_index": int(not y), "server_confidence": value}
        | {"confidence": 0.75, "correct": y}
        for value, y in zip(of_server, right, strict=True)
    ]
    return run_of(rows, DECISIONS)


def found_in(run: AnswerRun, method: str = "choice", metric: str = "server_auroc") -> Score:
    return score_with_interval(gather_evidence(run, method), metric)


@given(st.lists(st.tuples(st.integers(0, 8), st.booleans()), min_size=1, max_size=30))
def test_it_is_the_auroc_of_any_numbers_in_that_order(drawn: list[tuple[int, bool]]) -> None:
    right = [y for _, y in drawn]
    expected = oracle.OF_RANKS["server_auroc"]([Pair(at / 8, 8, y) for at, y in drawn], Bins())
    for value in (lambda at: at / 8, lambda at: 1e-14 * at, lambda at: 700.0 * at):
        found = found_in(decisions([value(at) for at, _ in drawn], right)).value
        assert (found is None) == (expected is None)
        assert found is None or expected is None or abs(found - expected) < TOLERANCE


def test_its_interval_is_that_of_the_auroc() -> None:
    random = np.random.default_rng(2)
    values, right = random.integers(1, 9, 60) / 8, random.random(60) < 0.6
    as_probability = run_of(
        [{"confidence": float(value), "correct": bool(y)} for value, y in zip(values, right, strict=True)]
    )
    of_server, own = (
        found_in(decisions(values.tolist(), right.tolist())),
        found_in(as_probability, "given", "auroc"),
    )
    assert of_server.interval is not None
    assert own.interval is not None
    ends = (own.interval.low, own.interval.high)
    assert (of_server.interval.low, of_server.interval.high) == pytest.approx(ends, abs=TOLERANCE)


def test_it_is_of_the_top_label_whichever_labels_are_pooled() -> None:
    run = decisions([0.1, 0.2, 0.3, 0.4] * 5, [False, True, False, True] * 5)
    found = score_with_interval(gather_evidence(run, "choice", MethodOptions(labels="all")), "server_auroc")
    assert (found.value, found.interval) == (found_in(run).value, found_in(run).interval)
    assert "top label" in found_in(run).recipe


def test_a_difference_of_two_runs_is_that_of_their_values() -> None:
    right, ids = [at % 3 > 0 for at in range(40)], pl.Series([f"q{at}" for at in range(40)])
    made = (decisions([(at * step % 11) / 8 for at in range(40)], right) for step in (3, 7))
    runs = [replace(run, rows=run.rows.with_columns(id=ids)) for run in made]
    first, second = (gather_evidence(run, "choice") for run in runs)
    values = [found_in(run).value or 0.0 for run in runs]
    assert values[0] != values[1]
    found = paired_difference([(first, second)], "server_auroc")
    assert found.value == pytest.approx(values[1] - values[0], abs=TOLERANCE)


@pytest.mark.parametrize(
    ("of_server", "method", "reason"),
    [
        ([0.5, None, None], "choice", "2 rows without server_confidence"),
        ([None] * 3, "choice", "no row has a number as server_confidence"),
        ([0.5, 0.6, 0.7], "given", "ranks decisions as “top label of the decision”"),
    ],
)
def test_it_says_what_it_lacks(of_server: list[float | None], method: str, reason: str) -> None:
    with pytest.raises(Unavailable, match=reason):
        found_in(decisions(of_server, [True, False, True]), method)


def test_numbers_below_0_rank_as_well(tmp_path: Path) -> None:
    path = tmp_path / "decisions.csv"
    rows = [f'"[0.{9 - at}, 0.{at + 1}]",0,options,{-at / 10}' for at in range(4)]
    lines = ["choice_probs,gold_index,choices_are,server_confidence", *rows, '"[0.3, 0.7]",0,options,-5']
    path.write_text("\n".join(lines) + "\n")
    (run,) = calib_core.load(path)
    assert isinstance(run, AnswerRun)
    assert run.rows["server_confidence"].to_list() == [0.0, -0.1, -0.2, -0.3, -5.0]
    assert found_in(run).value == 1.0
