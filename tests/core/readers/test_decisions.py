"""Every shape of a decision server's response gives the numbers that were worked out from it by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from calib_core.readers import Reading, ReadOptions, read_in_this_process
from calib_core.readers.merged_runs import merge_runs
from calib_core.results.evidence import AnswerEvidence, gather_evidence, survey_methods
from calib_core.results.score import score
from calib_core.runs import AnswerRun, Run
from fixture_files import FIXTURES

SHAPES = sorted(path.name for path in (FIXTURES / "decisions").iterdir() if path.is_dir())


def reading_of(path: Path, gold: Path | None = None, **options: Any) -> Reading:
    return read_in_this_process(path, file=path.name, gold=gold, options=ReadOptions(**options))


def runs_of(reading: Reading) -> dict[str, AnswerRun]:
    """Question → its run."""
    runs = [run for run in reading.runs(skip_bad_rows=False) if isinstance(run, AnswerRun)]
    return {str(run.info.dataset): run for run in runs}


def shape(name: str) -> tuple[Reading, dict[str, Any]]:
    folder = FIXTURES / "decisions" / name
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    return reading_of(folder / "responses.jsonl", folder / "gold.csv"), expected


def value(run: Run, method: str, metric: str) -> float:
    found = score(gather_evidence(run, method), metric).value
    assert found is not None
    return found


def top_label_numbers(run: Run) -> dict[str, float]:
    evidence = gather_evidence(run, "choice")
    assert isinstance(evidence, AnswerEvidence)
    names = {"accuracy": "accuracy", "ece": "ece", "brier_top": "brier", "brier_all": "brier_multi"}
    numbers = {name: value(run, "choice", metric) for name, metric in names.items()}
    return {"n": evidence.n_used, "mean_top": evidence.mean_confidence or 0.0, **numbers}


def as_expected(found: dict[str, float], expected: dict[str, float]) -> bool:
    return all(math.isclose(found[name], expected[name], rel_tol=0, abs_tol=1e-9) for name in found)


@pytest.mark.parametrize("name", SHAPES)
def test_every_question_has_its_numbers(name: str) -> None:
    reading, expected = shape(name)
    assert reading.format == "decisions"
    runs = runs_of(reading)
    assert runs.keys() == expected["by_question"].keys()
    for question, numbers in expected["by_question"].items():
        assert as_expected(top_label_numbers(runs[question]), numbers), question
    assert math.isclose(value(runs["refund"], "event", "ece"), expected["p_true_ece"], abs_tol=1e-9)


@pytest.mark.parametrize("name", SHAPES)
def test_a_scale_has_its_score_its_error_and_a_calibration_for_each_cut(name: str) -> None:
    reading, expected = shape(name)
    run, numbers = runs_of(reading)["mood"], expected["by_question"]["mood"]
    assert math.isclose(value(run, "choice", "rps"), numbers["rps"], abs_tol=1e-9)
    assert math.isclose(value(run, "choice", "expectation_error"), numbers["mean_abs_error"], abs_tol=1e-9)
    cuts = {cut: value(run, f"at_least.{cut}", "ece") for cut in numbers["ece_at_least"]}
    assert as_expected(cuts, numbers["ece_at_least"])
    usable = survey_methods(run).usable
    assert list(usable) == ["choice", "at_least.1", "at_least.2", "at_least.3"]


@pytest.mark.parametrize("name", SHAPES)
def test_all_questions_together_have_the_pooled_numbers_and_are_resampled_by_request(name: str) -> None:
    reading, expected = shape(name)
    (run,) = merge_runs(runs_of(reading).values(), with_tables=True)
    assert as_expected(top_label_numbers(run), expected["pooled"])
    evidence = gather_evidence(run, "choice")
    assert isinstance(evidence, AnswerEvidence)
    assert evidence.cluster is not None
    assert int(evidence.cluster.max()) + 1 <= expected["rows"]
    n_missing = sum(evidence.missing.values())
    assert evidence.n_used + n_missing == expected["answers"] + expected["not_answered"]
