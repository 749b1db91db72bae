"""Logs written by the tool give what their notes and an independent reader say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calib_core import readers
from calib_core.edges import Scheme
from calib_core.readers.merged_runs import merge_runs
from calib_core.results.evidence import AnswerEvidence, gather_evidence
from calib_core.results.files import FileReport, check_file
from calib_core.results.reported_metrics import compare_reported_metrics
from calib_core.results.score import score
from calib_core.runs import AnswerRun, Run
from fixture_files import FIXTURES, expected

TASKS = (
    "hf_tiny_random/tiny-random/fx_gen",
    "hf_tiny_random/tiny-random/fx_mcq",
    "hf_tiny_random/tiny-random/fx_mmlu_alpha",
    "hf_tiny_random/tiny-random/fx_mmlu_beta",
    "shots0/fixture__tiny-7b/fx_cloze",
    "shots0/fixture__tiny-7b/fx_edge",
    "shots0/fixture__tiny-7b/fx_gen",
    "shots0/fixture__tiny-7b/fx_mcq",
    "shots0/fixture__tiny-7b/fx_mmlu_alpha",
    "shots0/fixture__tiny-7b/fx_mmlu_beta",
    "shots0/fixture__tiny-7b/fx_multi",
    "shots0/fixture__tiny-7b/fx_number",
    "shots0/fixture__tiny-7b/fx_pmi",
    "shots5/fixture__tiny-7b/fx_mcq",
    "shots5/fixture__tiny-7b/fx_mmlu_alpha",
    "shots5/fixture__tiny-7b/fx_mmlu_beta",
)


def log_of(task: str) -> Path:
    folder, name = task.rsplit("/", 1)
    (path,) = (FIXTURES / "lm_eval" / folder).glob(f"samples_{name}_*.jsonl")
    return path


def report_of(path: Path) -> FileReport:
    return check_file(readers.read(path))


def evidence_of(report: FileReport, method: str) -> AnswerEvidence:
    evidence = report.runs[0].survey.usable[method]
    assert isinstance(evidence, AnswerEvidence)
    return evidence


@pytest.mark.parametrize("task", TASKS)
def test_every_log_of_the_tool(task: str) -> None:
    wanted, report = expected(f"lm_eval/{task}"), report_of(log_of(task))
    assert (report.n_rows, report.runs[0].run.n_total) == (wanted["lines"], wanted["questions"])
    if "majority_accuracy_ours" in wanted:
        _check_samples(wanted, report)
    else:
        _check_choices(wanted, report)
    metrics = {
        key.partition(",")[0] if len(wanted["filters"]) == 1 else key: value
        for key, value in wanted["metrics"].items()
    }
    run = report.runs[0].run
    assert isinstance(run, AnswerRun)
    told = {one.name: round(one.value, 6) for one in run.reported_metrics}
    assert {name: told[name] for name in metrics} == metrics


def _check_choices(wanted: dict[str, Any], report: FileReport) -> None:
    several = "given" in report.runs[0].survey.usable
    evidence = evidence_of(report, "given" if several else "choice_softmax")
    rows = evidence.run.rows
    pairs = {rows["id"][int(row)]: at for at, row in enumerate(evidence.confidences.pairs.rows)}
    bad = {str(id_) for id_ in wanted["rows_without_distribution"]}
    assert report.n_bad_rows == len(bad)
    assert not bad & set(rows["id"])
    lengths = report.runs[0].survey.usable.get("choice_length_normalised")
    for one in [one for one in wanted.get("all", wanted["first_two"]) if one is not None]:
        at = pairs[str(one["doc_id"])]
        pair = evidence.confidences.pairs
        assert pair.confidence[at] == pytest.approx(one["choice_softmax"], abs=1e-6)
        assert bool(pair.correct[at]) == bool(one["acc"])
        if not several and one["length_normalised_pred"] is not None:
            assert isinstance(lengths, AnswerEvidence)
            distribution = lengths.confidences.distribution
            assert distribution is not None
            assert distribution.top_index[at] == one["length_normalised_pred"]
            assert distribution.max_prob[at] == pytest.approx(one["choice_length_normalised_chars"], abs=1e-6)
    assert (lengths is None) == (several or wanted["first_two"][0]["length_normalised_pred"] is None)


def _check_samples(wanted: dict[str, Any], report: FileReport) -> None:
    if wanted["majority_accuracy_ours"] is None:
        assert report.status == "refused"
        assert "no sample parses" in report.message
        return
    for method in ("cluster_number", "cluster_size", "pairwise"):
        pairs = evidence_of(report, method).confidences.pairs
        assert pairs.n == wanted["questions"] - wanted["no_confidence_rows"]
        assert np.mean(pairs.correct) == pytest.approx(wanted["majority_accuracy_ours"])
        for at, one in enumerate(wanted["first_two"]):
            assert pairs.confidence[at] == pytest.approx(one[method], abs=1e-6)
            assert bool(pairs.correct[at]) == one["majority_correct"]


def test_a_question_of_which_most_samples_do_not_parse() -> None:
    report = report_of(log_of("shots0/fixture__tiny-7b/fx_gen"))
    methods = ("cluster_number", "cluster_size", "pairwise")
    pairs = [evidence_of(report, method).confidences.pairs for method in methods]
    assert [float(of.confidence[7]) for of in pairs] == [0.0, 0.125, 0.0078125]
    assert not any(of.correct[7] for of in pairs)


def test_what_the_tool_says_is_equal_or_explained() -> None:
    for task in TASKS:
        report = report_of(log_of(task))
        for one in compare_reported_metrics(report.runs[0].run, report.runs[0].survey.usable):
            assert one.agrees or one.reason, (task, one)
            if task.endswith(("mcq", "number", "pmi", "alpha", "beta", "cloze", "multi")):
                assert one.agrees is not False, (task, one)


def test_the_edge_log_differs_by_its_bad_rows_and_says_so() -> None:
    report = report_of(log_of("shots0/fixture__tiny-7b/fx_edge"))
    first = compare_reported_metrics(report.runs[0].run, report.runs[0].survey.usable)[0]
    assert (first.agrees, first.reported.value, first.n_rows) == (False, 0.6, 3)
    assert first.ours == pytest.approx(2 / 3)
    assert first.reason == "The tool used 5 rows, Calib 3, as 2 bad rows are left out."


def test_the_brier_score_of_all_choices_is_the_tools() -> None:
    evidence = evidence_of(report_of(log_of("shots0/fixture__tiny-7b/fx_mcq")), "choice_softmax")
    assert score(evidence, "brier_multi", Scheme()).value == pytest.approx(0.37294553152198423, abs=1e-9)


def test_older_logs_say_the_same() -> None:
    folder = FIXTURES / "lm_eval" / "legacy_hand_made"
    old = report_of(folder / "pretrained__fixture__tiny-7b_fx_mcq.jsonl")
    new = report_of(log_of("shots0/fixture__tiny-7b/fx_mcq"))
    pairs = [evidence_of(report, "choice_softmax").confidences.pairs for report in (old, new)]
    assert np.array_equal(pairs[0].confidence, pairs[1].confidence)
    assert np.array_equal(pairs[0].correct, pairs[1].correct)
    generated = report_of(folder / "pretrained__fixture__tiny-7b_fx_gen.jsonl")
    assert (generated.n_rows, generated.n_bad_rows, generated.runs[0].usable["pairwise"]) == (20, 0, 10)


def _runs(folder: Path) -> tuple[Run, ...]:
    return tuple(run for path in readers.list_files(folder) for run in readers.read(path).good_runs)


@pytest.mark.parametrize(("shots", "accuracy"), [(0, 0.75), (5, 0.5625)])
def test_a_group_is_one_run_with_the_tools_accuracy(shots: int, accuracy: float) -> None:
    runs = merge_runs(_runs(FIXTURES / "lm_eval" / f"shots{shots}"))
    wholes = [run for run in runs if isinstance(run, AnswerRun) and run.evaluation is not None]
    (whole,) = wholes
    assert whole.rows.group_by("subject").len().sort("subject").rows() == [("alpha", 10), ("beta", 6)]
    evidence = gather_evidence(whole, "choice_softmax")
    assert float(np.mean(evidence.pairs.correct)) == pytest.approx(accuracy)
    first = compare_reported_metrics(whole, {"choice_softmax": evidence})[0]
    assert (first.reported.value, first.agrees, first.n_rows) == (pytest.approx(accuracy), True, 16)


@pytest.mark.parametrize(
    ("shots", "accuracy", "ece", "full", "classwise"),
    [(0, 0.4150, 0.2386, 0.5698, 0.1440), (5, 0.4700, 0.2154, 0.4785, 0.1281)],
)
def test_the_real_mmlu_logs_are_one_run_of_400(
    extra_files: Path, shots: int, accuracy: float, ece: float, full: float, classwise: float
) -> None:
    (run,) = merge_runs(_runs(extra_files / "real" / f"lm-eval-mmlu-{shots}shot"))
    assert isinstance(run, AnswerRun)
    assert (run.label, run.n_total) == (f"Qwen/Qwen2.5-1.5B-Instruct · mmlu · {shots}-shot", 400)
    assert run.rows["subject"].n_unique() == 4
    evidence = gather_evidence(run, "choice_softmax")
    wanted = {"accuracy": accuracy, "ece": ece, "full_ece": full, "cw_ece": classwise}
    found = {metric: round(score(evidence, metric, Scheme()).value or 0.0, 4) for metric in wanted}
    assert found == wanted
    numbers = compare_reported_metrics(run, {"choice_softmax": evidence})
    assert len(numbers) == 5
    assert all(one.agrees for one in numbers)


def test_the_real_log_of_greedy_answers_is_refused_with_its_accuracy(extra_files: Path) -> None:
    (path,) = (extra_files / "real" / "lm-eval-math-samples").glob("samples_*.jsonl")
    report = report_of(path)
    assert report.status == "refused"
    assert [part for part in (path.name, "10 rows", "0 of 10") if part not in report.message] == []
