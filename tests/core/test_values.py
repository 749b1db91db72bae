"""Runs and results as values: copies are equal, processes exchange them, and each prints as one line."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calib_core
from calib_core.methods import METHODS
from calib_core.values import have_equal_values
from core.token_run_builders import random_rows

ROWS = [
    {
        "id": f"q{at}",
        "subject": "ab"[at % 2],
        "confidence": (at % 7) / 10 + 0.3,
        "gold": "x",
        "samples": ["x", "x", "y", "x"] if at % 3 else ["y", "y", "x", "y"],
        "correct": int(at % 3 > 0),
    }
    for at in range(60)
]


@cache
def _load() -> calib_core.Run:
    (run,) = calib_core.load(ROWS)
    return run


@cache
def _load_changed() -> calib_core.Run:
    (run,) = calib_core.load([{**row, "confidence": 0.5, "samples": ["x", "y"] * 2} for row in ROWS])
    return run


RESULTS: dict[str, Callable[[calib_core.Run], Any]] = {
    "the run": lambda run: run,
    "score": calib_core.score,
    "verdict": calib_core.verdict,
    "sweep": calib_core.sweep,
    "reliability": calib_core.reliability,
    "concentration": calib_core.concentration,
    "abstention": calib_core.abstention,
    "threshold": calib_core.threshold,
    "audit": calib_core.audit,
    "recalibrate": calib_core.recalibrate,
    "a map": lambda run: calib_core.recalibrate(run, by="isotonic").map,
    "compare": calib_core.compare,
    "compare_methods": calib_core.compare_methods,
    "groups": calib_core.groups,
    "sampling": lambda run: calib_core.sampling(run, sizes=[2, 4], repeats=2),
}


@pytest.mark.parametrize("name", RESULTS)
def test_copies_are_equal_and_printed_as_one_line(name: str) -> None:
    result = RESULTS[name](_load())
    for twin in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result), copy.copy(result)):  # noqa: S301
        assert twin == result
        assert hash(twin) == hash(result)
    assert repr(result).startswith(f"<{type(result).__name__} ")
    assert len(repr(result)) < 220
    assert "\n" not in repr(result)
    other = copy.deepcopy(_load())
    assert RESULTS[name](_load_changed()) != result
    assert RESULTS[name](other) == result


def test_every_method_is_pickled() -> None:
    for method in METHODS.values():
        assert have_equal_values(pickle.loads(pickle.dumps(method)), method)  # noqa: S301


def test_a_token_level_run_is_a_value(tmp_path: Path) -> None:
    probs, target = random_rows(50, 6)
    np.savez(tmp_path / "t.npz", probs=probs, target=target)
    first, again = (calib_core.load(tmp_path / "t.npz")[0] for _ in range(2))
    assert first == again == pickle.loads(pickle.dumps(first))  # noqa: S301
    assert repr(first) == "<TokenRun 't': 50 rows, token-level, 6 classes>"


def _brier(run: calib_core.Run) -> calib_core.Score:
    return calib_core.score(run, metric="brier")


def test_a_process_pool_takes_runs_and_gives_results() -> None:
    runs = [_load(), *calib_core.load(confidence=[0.9, 0.6] * 20, correct=[1, 0] * 20)]
    with ProcessPoolExecutor(2, mp_context=get_context("forkserver")) as pool:
        assert list(pool.map(_brier, runs)) == [_brier(run) for run in runs]


def test_what_differs_is_not_equal() -> None:
    assert have_equal_values(float("nan"), float("nan"))
    assert have_equal_values(np.array([np.nan, 1]), np.array([np.nan, 1]))
    for one, other in (
        (np.array([1.0]), np.array([1])),
        (np.array([1, 2]), np.array([1, 3])),
        ((1, 2), (1,)),
        ((1,), [1]),
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {"b": 1}),
        (1, True),
        (0.5, float("nan")),
    ):
        assert not have_equal_values(one, other)


def test_runs_show_themselves_in_a_notebook_as_a_table() -> None:
    runs = calib_core.load([{"model": m, "confidence": 0.9, "correct": 1} for m in ("<b>a</b>", "b")])
    shown = runs._repr_html_()  # type: ignore[attr-defined]
    assert shown.count("<tr>") == 3
    assert "&lt;b&gt;a&lt;/b&gt;" in shown
    assert "<b>" not in shown
    assert "<td>1</td><td>correct, confidence</td>" in runs[0]._repr_html_()
    assert repr(runs[1]) == "<AnswerRun 'b': 1 row, correct, confidence>"


def test_a_score_is_a_number() -> None:
    score = calib_core.score(_load(), metric="brier")
    assert float(score) == score.value
    assert f"{score:.3f}" == f"{score.value:.3f}"
    assert f"{score}" == repr(score)
    (all_right,) = calib_core.load(confidence=[0.9, 0.8], correct=[1, 1])
    with pytest.raises(ValueError, match="auroc has no single value here"):
        float(calib_core.score(all_right, metric="auroc"))
