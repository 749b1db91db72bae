"""Real prediction files by others are read as their notes say, and unsupported ones are named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from calib_core import readers
from calib_core.errors import Refused
from calib_core.methods.method import MethodOptions
from calib_core.readers.format import ReadOptions
from calib_core.readers.merged_runs import merge_runs
from calib_core.results.evidence import gather_evidence
from calib_core.results.files import check_file, usable_runs
from calib_core.results.score import score
from core.readers.answer_run_checks import answer_runs
from core.readers.proposed_mappings import Figures, figures, proposed_mapping, tried_report


def ece(rows: pl.DataFrame, confidence: str) -> float:
    """ECE in ten right-closed bins, computed independently of the program."""
    known = rows.select(confidence, "correct").drop_nulls()
    value, correct = known[confidence].to_numpy(), known["correct"].to_numpy().astype(float)
    bins = np.clip(np.ceil(value * 10 - 1e-11), 1, 10).astype(int)
    return float(np.abs(np.bincount(bins, correct - value)).sum() / value.size)


@pytest.mark.parametrize(
    ("model", "n", "accuracy", "expected"),
    [
        ("Llama3-8b", 5997, 0.5676, 0.2024),
        ("Llama3-70b", 5995, 0.7540, 0.1916),
        ("Mistral", 5949, 0.5263, 0.4286),
        ("gpt-4-turbo", 5999, 0.8096, 0.1553),
    ],
)
def test_white_space_tables_with_unparseable_rows(
    extra_files: Path, model: str, n: int, accuracy: float, expected: float
) -> None:
    paths = sorted((extra_files / "real" / "msp-mmlu").glob(f"mmlu_{model}-q*.txt"))
    readings = [readers.read(path, options=ReadOptions(proposed_mapping(path))) for path in paths]
    assert {check_file(reading).status for reading in readings} == {"loads"}
    runs = [run for reading in readings for run in answer_runs(usable_runs(reading))]
    rows = pl.concat([run.rows for run in runs])
    assert (len(runs), rows.height, rows["correct"].drop_nulls().len()) == (12, 6000, n)
    assert rows["confidence"].null_count() == 0
    assert figures(replace(runs[0], rows=rows), "given") == pytest.approx((n, accuracy, expected), abs=5e-5)


def test_a_white_space_table_without_known_names_is_refused_with_what_to_type(extra_files: Path) -> None:
    report = tried_report(next((extra_files / "real" / "msp-mmlu").glob("*.txt")))
    assert (report.status, report.format) == ("refused", "table")
    assert report.proposal is not None
    assert "--map confidence_level=confidence --map grade=correct" in report.proposal.summary


@pytest.mark.parametrize(
    ("model", "stated", "whole_answer"),
    [
        ("Meta-Llama-3.1-8B-Instruct-Turbo", (11424, 0.4493, 0.3608), (11427, 0.4493, 0.3664)),
        ("Qwen2.5-7B-Instruct", (11974, 0.5079, 0.3891), (11974, 0.5079, 0.3643)),
        ("Qwen3-14B-think", (11857, 0.7660, 0.1292), (11919, 0.7637, 0.1273)),
        ("gpt-4.1-mini", (11847, 0.7610, 0.1679), (11852, 0.7608, 0.1303)),
    ],
)
def test_tables_with_several_confidences_a_row(
    extra_files: Path, model: str, stated: Figures, whole_answer: Figures
) -> None:
    """The note counts an empty answer as wrong; here it is missing, and so is its row."""
    path = extra_files / "real" / "mmlu-pro-verbal" / f"mmlu_pro_{model}_eval_all_None.csv"
    reading = readers.read(path, options=ReadOptions(proposed_mapping(path)))
    assert check_file(reading).status == "loads"
    (run,) = answer_runs(usable_runs(reading))
    assert (run.rows.height, run.rows["subject"].n_unique()) == (12032, 14)
    answered = run.rows.filter(pl.col("prediction").is_not_null())
    answered = answered.with_columns(correct=pl.col("gold") == pl.col("prediction"))
    for method, column, expected in (
        ("verbal", "verbal_confidence", stated),
        ("logit_path", "path_mean_prob", whole_answer),
    ):
        assert figures(run, method) == pytest.approx(expected, abs=5e-5)
        assert expected[0] == answered[column].drop_nulls().len()
        assert ece(answered, column) == pytest.approx(expected[2], abs=5e-5)


def test_confidences_above_one_are_bad_rows(extra_files: Path) -> None:
    path = extra_files / "real" / "mmlu-pro-verbal" / "mmlu_pro_Qwen2.5-7B-Instruct_eval_all_None.csv"
    reading = readers.read(
        path,
        options=ReadOptions({"verbal_linguistic_confidence": "confidence", "category": "subject"}),
    )
    (problem,) = reading.problems
    assert (problem.kind, problem.count, reading.n_bad_rows, len(problem.first_cells)) == (
        "out of range",
        20,
        20,
        20,
    )
    (run,) = answer_runs(reading.runs(skip_bad_rows=True))
    assert (run.rows.height, run.row_counts.n_left_out) == (12012, 20)


def test_the_authors_own_summary_table_is_refused(extra_files: Path) -> None:
    report = check_file(readers.read(extra_files / "real" / "mmlu-pro-verbal" / "category_df.csv"))
    assert report.status == "refused"
    assert "has no column that Calib recognises" in report.message


@pytest.mark.parametrize(
    ("name", "bad", "expected"),
    [
        (
            "sciq_meta-llama_Meta-Llama-3-70B-Instruct_verb",
            1,
            {
                "verbal": (999, 0.6667, 0.2030),
                "logit_path": (999, 0.6667, 0.2076),
                "logit_answer": (999, 0.6667, 0.1716),
            },
        ),
        ("wikiqa_gemma9_verb", 0, {"verbal": (243, 0.3539, 0.5317), "logit_path": (243, 0.3539, 0.4193)}),
        ("wikiqa_gemma9_0_shot", 0, {"logit_path": (243, 0.3374, 0.3419)}),
        ("wikiqa_meta-llama_Meta-Llama-3-70B-Instruct_verb", 0, {"verbal": (243, 0.3992, 0.4412)}),
    ],
)
def test_stated_sequence_and_answer_probabilities(
    extra_files: Path, name: str, bad: int, expected: dict[str, Figures]
) -> None:
    path = extra_files / "real" / "yuuxii-token-probs" / f"{name}_test.csv"
    reading = readers.read(path, options=ReadOptions(proposed_mapping(path)))
    report = check_file(reading)
    assert (report.status, report.n_bad_rows) == ("asks" if bad else "loads", bad)
    found = [(cell.column, cell.found) for problem in report.problems for cell in problem.first_cells]
    assert found == [("extracted_prob", "-1.0")] * bad
    (run,) = answer_runs(usable_runs(reading, skip_bad_rows=True))
    for method, of_method in expected.items():
        assert figures(run, method) == pytest.approx(of_method, abs=5e-5)
    for column in ("path_mean_prob", "answer_mean_prob"):
        assert ece(run.rows, column) == pytest.approx(figures(run, f"logit_{column.split('_')[0]}")[2])


def test_votes_of_several_columns(extra_files: Path) -> None:
    path = extra_files / "real" / "mmlu-redux-votes" / "all.csv"
    columns = readers.read(path).columns
    first = columns.index("error_type") + 1
    samples = dict.fromkeys(columns[first : first + 14], "samples")
    reading = readers.read(path, options=ReadOptions({"groundtruth_answer": "gold", **samples}))
    report = check_file(reading)
    assert (report.status, report.n_rows, report.n_bad_rows) == ("loads", 5700, 0)
    (run,) = answer_runs(usable_runs(reading))
    assert set(run.rows["samples"].list.len()) == {14}
    # All golds are positions, so they are that also where a choice of the row reads "2".
    assert "In 51 rows gold is one choice's position or letter, as in all others" in report.message
    # The votes are letters, also where another choice of the row reads "A".
    assert figures(run, "cluster_size")[:2] == pytest.approx((5700, 0.8644), abs=5e-5)
    as_noted = readers.read(
        path, options=ReadOptions({"groundtruth_answer": "gold_index", "choices": "", **samples})
    )
    (run,) = answer_runs(usable_runs(as_noted))
    assert figures(run, "cluster_size")[:2] == pytest.approx((5700, 0.8644), abs=5e-5)
    # The note leaves unparseable letters out of N; here each counts in N by default.
    # A "2" among the letters is read as the third choice here, and is unparseable in the note.
    briers = [
        score(gather_evidence(run, method, MethodOptions(unparseable="drop")), "brier").value
        for method in ("cluster_size", "cluster_number", "pairwise")
    ]
    assert briers == pytest.approx([0.0890, 0.1025, 0.0887], abs=1.5e-4)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        (
            "gsm8k-model-solutions/*.jsonl",
            ("read as table, 1,319 rows", "samples, samples_parsed, "),
        ),
        ("pot-aqua-sc/aqua*.jsonl", ("read as table, 256 rows", "samples, samples_parsed, ")),
        (
            "pot-aqua-sc/gsm8K*.jsonl",
            ("read as table, 1,317 rows", "samples, samples_parsed, "),
        ),
        ("tot-game24/*.json", ("'ys'", "(samples, gold)")),
    ],
)
def test_what_cannot_be_used_as_it_is_is_told_what_would_be(
    extra_files: Path, pattern: str, said: tuple[str, ...]
) -> None:
    paths = sorted((extra_files / "real").glob(pattern))
    assert paths
    for path in paths:
        report = check_file(readers.read(path))
        assert report.status == "refused"
        assert [part for part in (path.name, *said) if part not in report.message] == []


@pytest.mark.parametrize(
    ("pattern", "title"),
    [
        ("lm-eval-mmlu-5shot/results_*.json", "an lm-evaluation-harness results file"),
        ("tgi-ibm-top-tokens/*.yaml", "a YAML file"),
    ],
)
def test_files_of_other_tools_are_refused_by_name(extra_files: Path, pattern: str, title: str) -> None:
    paths = sorted((extra_files / "real").glob(pattern))
    assert paths
    for path in paths:
        with pytest.raises(Refused, match=f"looks like {title}.*which this version does not read") as refusal:
            readers.read(path)
        assert path.name in str(refusal.value)


@pytest.mark.parametrize(
    "name", ["rlcr-commonsenseqa/metrics.json", "mmlu-redux-votes/all.csv", "mmlu-pro-verbal/category_df.csv"]
)
def test_nothing_is_proposed_where_every_guess_would_be_wrong(extra_files: Path, name: str) -> None:
    """A table of metrics has no rows of predictions, and shares of agreement with the gold no confidence."""
    report = tried_report(extra_files / "real" / name)
    assert (report.status, report.proposal) == ("refused", None)


def test_a_data_set_as_hugging_face_saves_it(extra_files: Path) -> None:
    paths = readers.list_files(extra_files / "real" / "rlcr-commonsenseqa")
    assert [path.name for path in paths] == ["data-00000-of-00001.arrow", "metrics.json"]
    reading = readers.read(paths[0])
    assert (reading.format, reading.n_rows, reading.problems) == ("table", 1221, ())
    assert (len(reading.columns), reading.columns[0], reading.columns[-1]) == (
        31, "id", "RLCR-conf_format_adherence",
    )  # fmt: skip


# --- With the options that a note leads to ----------------------------------------------------------------

SYSTEMS = {
    "Base": (0.8862, 0.0987, 0.0252, 0.6205),
    "RLVR": (0.9083, 0.0917, 0.0917, 0.5),
    "RLVR-Classifier": (0.9083, 0.1184, 0.1827, 0.6533),
    "Answer-Prob": (0.9083, 0.0826, 0.0311, 0.6034),
    "RLCR": (0.9132, 0.1673, 0.3024, 0.7280),
}
"""Accuracy, Brier, ECE and AUROC by the authors; the ECE of Base is that of right-closed bins."""


def test_five_systems_side_by_side_have_their_authors_figures(extra_files: Path) -> None:
    path = extra_files / "real" / "rlcr-commonsenseqa" / "data-00000-of-00001.arrow"
    proposal = tried_report(path).proposal
    assert proposal is not None
    assert dict(proposal.wide) == {"*-confidence_levels": "confidence", "*-evals": "correct"}
    reading = readers.read(path, options=ReadOptions(wide=proposal.wide))
    runs = answer_runs(usable_runs(reading))
    assert [run.info.model for run in runs] == list(SYSTEMS)
    for run in runs:
        evidence = gather_evidence(run, "given")
        assert evidence.n_used == 1221
        values = [score(evidence, metric).value for metric in ("accuracy", "brier", "ece", "auroc")]
        assert values == pytest.approx(SYSTEMS[run.info.model or ""], abs=5e-5)


def test_nested_outcomes_of_four_systems(extra_files: Path) -> None:
    reading = readers.read(
        extra_files / "real" / "gsm8k-model-solutions" / "example_model_solutions.jsonl",
        options=ReadOptions(wide={"*.is_correct": "correct", "*.solution": "prediction"}),
    )
    accuracies = [run.rows["correct"].mean() for run in answer_runs(reading.good_runs)]
    assert accuracies == pytest.approx([0.2168, 0.3904, 0.3472, 0.5625], abs=5e-5)


def test_four_systems_taken_as_four_samples(extra_files: Path) -> None:
    systems = ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification")
    solutions = {f"{system}.solution": "samples" for system in systems}
    reading = readers.read(
        extra_files / "real" / "gsm8k-model-solutions" / "example_model_solutions.jsonl",
        options=ReadOptions({**solutions, "ground_truth": "gold"}),
    )
    (run,) = answer_runs(usable_runs(reading))
    evidences = [gather_evidence(run, method) for method in ("cluster_size", "cluster_number", "pairwise")]
    assert [score(evidence, "accuracy").value for evidence in evidences] == pytest.approx(
        [0.4435] * 3, abs=5e-5
    )
    briers = [score(evidence, "brier").value for evidence in evidences]
    # The note finds 15 answers without a number; 12 do not parse here.
    assert briers == pytest.approx([0.1389, 0.1659, 0.1249], abs=6e-4)


@pytest.mark.parametrize(
    ("prompt", "outcomes", "vote"), [("cot", "infos.r", 0.08), ("standard", "accs", 0.09)]
)
def test_samples_with_their_own_outcomes(extra_files: Path, prompt: str, outcomes: str, vote: float) -> None:
    (path,) = (extra_files / "real" / "tot-game24").glob(f"*_{prompt}_*")
    reading = readers.read(
        path, options=ReadOptions({"idx": "id", "ys": "samples", outcomes: "sample_correct"})
    )
    (run,) = answer_runs(usable_runs(reading))
    evidence = gather_evidence(run, "cluster_size", MethodOptions(unparseable="drop"))
    assert (evidence.n_used, score(evidence, "accuracy").value) == (100, pytest.approx(vote))
    if prompt == "cot":
        # The note compares the expression before "=" and counts the 2,780 samples without one not at all
        # (.1232; test_demo_game24 has that). Here "None" and "= 7.2" belong to the answer as written.
        assert score(evidence, "brier").value == pytest.approx(0.0896, abs=5e-5)


def test_twelve_tables_of_one_model_are_one_run(extra_files: Path) -> None:
    paths = sorted((extra_files / "real" / "msp-mmlu").glob("mmlu_gpt-4-turbo-q*.txt"))
    columns = {"grade": "correct:Correct", "confidence_level": "confidence"}
    runs = [
        run
        for path in paths
        for run in readers.read(path, options=ReadOptions(columns, missing=("Unparseable",))).good_runs
    ]
    (run,) = answer_runs(merge_runs(runs, with_tables=True))
    assert figures(run, "given") == pytest.approx((5999, 0.8096, 0.1553), abs=5e-5)
