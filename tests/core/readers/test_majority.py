"""The majority of the samples is judged where a method needs an answer and the file has none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from calib_core import api, readers
from calib_core.errors import Unavailable
from calib_core.readers.format import ReadOptions
from core.readers.proposed_mappings import tried_report

ROWS = [
    {"samples": ["a", "a", "b"], "gold": "a", "p_true": 0.8},
    {"samples": ["a", "c", "c"], "gold": "a", "p_true": 0.4},
    {"samples": ["b", "b", "b"], "gold": "b", "p_true": 0.9},
]
MAJORITY = {"majority": "prediction"}


def sampled(folder: Path) -> Path:
    path = folder / "sampled.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)))
    return path


def test_a_confidence_beside_samples_is_offered_to_be_judged_by_the_majority(tmp_path: Path) -> None:
    report = tried_report(sampled(tmp_path))
    (unused,) = report.columns_not_used
    assert (unused.column, unused.could_be, unused.mappings) == ("p_true", "p_true", (MAJORITY,))
    assert unused.line.endswith("To judge it by the majority of the samples: --map majority=prediction")


def test_the_majority_is_judged(tmp_path: Path) -> None:
    """The majorities are a (right), c (wrong) and b (right)."""
    (plain,) = api.load(sampled(tmp_path))
    with pytest.raises(Unavailable, match="no greedy answer can be judged"):
        api.score(plain, method="p_true", metric="brier")
    (run,) = api.load(sampled(tmp_path), columns=MAJORITY)
    assert api.score(run, method="p_true", metric="accuracy").value == pytest.approx(2 / 3)
    brier = ((0.8 - 1) ** 2 + 0.4**2 + (0.9 - 1) ** 2) / 3
    assert api.score(run, method="p_true", metric="brier").value == pytest.approx(brier)
    notes = readers.read(sampled(tmp_path), options=ReadOptions(MAJORITY)).notes
    assert "The majority of the samples is judged where a method needs an answer." in notes


def test_a_column_called_majority_comes_first(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text("\n".join(json.dumps({**row, "majority": "a"}) for row in ROWS))
    (run,) = api.load(path, columns=MAJORITY)
    assert run.info.judged == "greedy"
    assert api.score(run, method="p_true", metric="accuracy").value == pytest.approx(2 / 3)
