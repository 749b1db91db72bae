"""Questions without parsed samples count as wrong only where that is chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from calib_core.errors import Unavailable
from calib_core.methods import METHODS
from calib_core.methods.method import MethodOptions
from calib_core.results import methods_table
from calib_core.results.evidence import AnswerEvidence, gather_evidence
from calib_core.results.methods_table import evidence_of_unparsed_run, unparsed_rows, with_unparsed_as_wrong
from calib_core.results.score import score
from core.confidence_runs import run_of

ROWS: list[dict[str, Any]] = [
    {"answer_kind": "number", "gold": "1", "samples": ["1", "1", "2"], "p_true": 0.5, "correct": True},
    {"answer_kind": "number", "gold": "1", "samples": ["no", "idea", "?"], "p_true": 0.5, "correct": False},
    {"answer_kind": "number", "gold": "1", "samples": ["1", "x", "1"], "p_true": 0.5, "correct": True},
    {"answer_kind": "number", "gold": "1", "samples": [], "p_true": 0.5, "correct": True},
    {"answer_kind": "number", "samples": ["no", "idea"], "p_true": 0.5, "correct": True},
    {"answer_kind": "number", "gold": "1", "samples": ["?", "none", "?"], "p_true": 0.5, "correct": False},
]


def evidence_of(method: str) -> AnswerEvidence:
    return gather_evidence(run_of(ROWS), method)


@pytest.mark.parametrize("method", ["cluster_size", "cluster_number", "pairwise"])
def test_the_rows_have_samples_and_a_gold_and_nothing_that_parses(method: str) -> None:
    assert unparsed_rows(evidence_of(method)).tolist() == [1, 5]


def test_unparsed_rows_count_as_wrong_with_confidence_zero() -> None:
    before = evidence_of("cluster_size")
    after = with_unparsed_as_wrong(before)
    assert before.pairs.rows.tolist() == [0, 2]
    assert after.pairs.rows.tolist() == [0, 1, 2, 5]
    assert after.pairs.confidence.tolist() == [2 / 3, 0, 2 / 3, 0]
    assert after.pairs.correct.tolist() == [True, False, True, False]
    assert score(after, "accuracy").value == 1 / 2
    assert after.n_used + sum(after.missing.values()) == len(ROWS)
    assert after.confidences.answers is not None
    assert after.confidences.answers.to_list() == ["1", None, "1", None]


def test_the_recipe_says_so_with_their_number() -> None:
    said = score(with_unparsed_as_wrong(evidence_of("cluster_size")), "ece").recipe
    assert "no sample parses = confidence 0 and wrong (2 rows)" in said
    assert "no sample parses" not in score(evidence_of("cluster_size"), "ece").recipe


def test_other_methods_are_as_they_were() -> None:
    evidence = evidence_of("p_true")
    assert unparsed_rows(evidence).size == 0
    assert with_unparsed_as_wrong(evidence) is evidence


def test_a_status_without_an_answer_is_not_counted_and_sample_correct_is_a_judgement() -> None:
    silent: dict[str, Any] = {"answer_kind": "number", "samples": ["no", "idea"]}
    rows = [
        ROWS[0] | {"status": "ok"},
        silent | {"gold": "1", "status": "error"},
        silent | {"gold": "1", "status": "ok"},
        silent | {"sample_correct": [False, False], "status": "ok"},
        silent | {"gold": "none", "status": "ok"},
    ]
    before = gather_evidence(run_of(rows), "cluster_size")
    assert unparsed_rows(before).tolist() == [2, 3]
    after = with_unparsed_as_wrong(before)
    assert min(after.missing.values()) > 0
    assert after.n_used + sum(after.missing.values()) == len(rows)


def test_nothing_changes_where_every_question_is_answered() -> None:
    evidence = gather_evidence(run_of([ROWS[0], ROWS[2]]), "pairwise")
    assert with_unparsed_as_wrong(evidence) is evidence
    assert np.array_equal(unparsed_rows(evidence), [])


def test_a_run_without_parsed_samples_is_all_wrong() -> None:
    silent: list[dict[str, Any]] = [ROWS[1], ROWS[3], {**ROWS[1], "status": "error"}, ROWS[4], ROWS[5]]
    run = run_of(silent)
    with pytest.raises(Unavailable, match="no sample parses"):
        gather_evidence(run, "cluster_size")
    before = evidence_of_unparsed_run(run, METHODS["cluster_size"], MethodOptions())
    assert before is not None
    assert dict(before.missing) == {
        "no sample parses": 2, "no samples": 1, "status: error": 1, "no gold": 1,
    }  # fmt: skip
    after = with_unparsed_as_wrong(before)
    assert (after.pairs.rows.tolist(), after.pairs.confidence.tolist()) == ([0, 4], [0, 0])
    assert score(after, "brier").value == 0
    assert "no sample parses = confidence 0 and wrong (2 rows)" in score(after, "ece").recipe
    assert after.n_used + sum(after.missing.values()) == len(silent)


def test_nothing_is_looked_for_where_there_are_no_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(
        methods_table, "cluster_samples"
    )  # what takes long: Methods asks each run at every click
    run = run_of([{"gold": "1", "prediction": "1", "confidence": 0.5}])
    assert evidence_of_unparsed_run(run, METHODS["cluster_size"], MethodOptions()) is None


@pytest.mark.parametrize("id_", [id_ for id_, method in METHODS.items() if method.uses_samples])
def test_an_unparsed_run_is_unparsed_by_every_self_consistency_method(id_: str) -> None:
    assert evidence_of_unparsed_run(run_of(ROWS[1:2]), METHODS[id_], MethodOptions()) is not None


def test_a_run_with_a_parsed_sample_is_not_unparsed() -> None:
    assert evidence_of_unparsed_run(run_of(ROWS), METHODS["cluster_size"], MethodOptions()) is None
    assert evidence_of_unparsed_run(run_of(ROWS[1:2]), METHODS["p_true"], MethodOptions()) is None
    assert evidence_of_unparsed_run(run_of(ROWS[4:5]), METHODS["pairwise"], MethodOptions()) is None
