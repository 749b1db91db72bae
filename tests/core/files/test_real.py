"""Are real prediction files of others read as their notes say, and foreign ones refused by name?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from calib_core import files
from calib_core.problems import Refused

MSP = {"grade": "correct", "confidence_level": "confidence"}
VERBAL = {
    "category": "subject",
    "correct_answer": "gold",
    "extracted_answer": "prediction",
    "verbal_numerical_confidence": "verbal_confidence",
    "logit_perplexity_confidence": "path_mean_prob",
}
SAID = {
    "target": "gold",
    "extracted_prom46_score": "correct",
    "extracted_prob": "verbal_confidence",
    "seq_prob": "path_mean_prob",
    "extracted_seq_prob": "answer_mean_prob",
}


def ece(rows: pl.DataFrame, confidence: str) -> float:
    """ECE in ten right-closed bins, worked out apart from the program."""
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
    shared: Path, model: str, n: int, accuracy: float, expected: float
) -> None:
    paths = sorted((shared / "real" / "msp-mmlu").glob(f"mmlu_{model}-q*.txt"))
    readings = [files.read(path, columns=MSP) for path in paths]
    rows = pl.concat([run.rows for reading in readings for run in reading.runs(skip_bad_rows=False)])
    assert (len(readings), rows.height, rows["correct"].drop_nulls().len()) == (12, 6000, n)
    assert rows["confidence"].null_count() == 0
    assert rows["correct"].mean() == pytest.approx(accuracy, abs=5e-5)
    assert ece(rows, "confidence") == pytest.approx(expected, abs=5e-5)


def test_a_white_space_table_without_known_names_is_refused_with_what_to_type(shared: Path) -> None:
    path = next((shared / "real" / "msp-mmlu").glob("*.txt"))
    with pytest.raises(Refused, match=r"--map confidence_level=confidence --map grade=correct"):
        files.read(path)


@pytest.mark.parametrize(
    ("model", "stated", "path_ece"),
    [
        ("Meta-Llama-3.1-8B-Instruct-Turbo", 11425, 0.3942),
        ("Qwen2.5-7B-Instruct", 12010, 0.3670),
        ("Qwen3-14B-think", 11862, 0.1197),
        ("gpt-4.1-mini", 11861, 0.1417),
    ],
)
def test_tables_with_several_confidences_a_row(
    shared: Path, model: str, stated: int, path_ece: float
) -> None:
    path = shared / "real" / "mmlu-pro-verbal" / f"mmlu_pro_{model}_eval_all_None.csv"
    (run,) = files.read(path, columns=VERBAL).runs(skip_bad_rows=False)
    assert (run.rows.height, run.rows["subject"].n_unique()) == (12032, 14)
    assert run.rows["verbal_confidence"].drop_nulls().len() == stated
    empty_is_wrong = run.rows.with_columns(
        correct=(pl.col("gold") == pl.col("prediction")).fill_null(value=False)
    )
    assert ece(empty_is_wrong, "path_mean_prob") == pytest.approx(path_ece, abs=5e-5)


def test_confidences_above_one_are_bad_rows(shared: Path) -> None:
    path = shared / "real" / "mmlu-pro-verbal" / "mmlu_pro_Qwen2.5-7B-Instruct_eval_all_None.csv"
    reading = files.read(path, columns={"verbal_linguistic_confidence": "confidence", "category": "subject"})
    (problem,) = reading.problems
    assert (problem.kind, problem.count, reading.bad_rows, len(problem.first)) == ("out of range", 20, 20, 20)
    (run,) = reading.runs(skip_bad_rows=True)
    assert (run.rows.height, run.ledger.left_out) == (12012, 20)


def test_the_authors_own_summary_table_is_refused(shared: Path) -> None:
    with pytest.raises(Refused, match=r"none of these is a name this program knows"):
        files.read(shared / "real" / "mmlu-pro-verbal" / "category_df.csv")


def test_stated_sequence_and_answer_probabilities(shared: Path) -> None:
    path = next((shared / "real" / "yuuxii-token-probs").glob("sciq*.csv"))
    reading = files.read(path, columns=SAID)
    (problem,) = reading.problems
    assert [(cell.column, cell.found) for cell in problem.first] == [("extracted_prob", "-1.0")]
    (run,) = reading.runs(skip_bad_rows=True)
    assert run.rows.height == 999
    said = run.rows.filter(pl.col("verbal_confidence").is_not_null())
    assert said["correct"].mean() == pytest.approx(0.6667, abs=5e-5)
    eces = [ece(said, name) for name in ("verbal_confidence", "path_mean_prob", "answer_mean_prob")]
    assert eces == pytest.approx([0.2030, 0.2075, 0.1716], abs=5e-4)


@pytest.mark.parametrize(
    "model", ["gemma9_verb", "gemma9_0_shot", "meta-llama_Meta-Llama-3-70B-Instruct_verb"]
)
def test_what_such_files_hold_is_proposed(shared: Path, model: str) -> None:
    path = shared / "real" / "yuuxii-token-probs" / f"wikiqa_{model}_test.csv"
    reading = files.read(path)
    assert (reading.rows, reading.bad_rows) == (243, 0)
    assert dict(reading.proposals)["seq_prob"] == "path_mean_prob"


def test_votes_are_read_as_they_stand(shared: Path) -> None:
    reading = files.read(
        shared / "real" / "mmlu-redux-votes" / "all.csv", columns={"groundtruth_answer": "gold"}
    )
    (run,) = reading.runs(skip_bad_rows=False)
    assert run.rows.height == 5700
    assert set(run.rows["choices"].list.len()) == {4}
    assert set(run.rows["gold"]) == {"0", "1", "2", "3"}


@pytest.mark.parametrize(
    ("pattern", "title"),
    [
        ("lm-eval-mmlu-0shot/samples_*.jsonl", "an lm-evaluation-harness samples log"),
        ("lm-eval-math-samples/samples_*.jsonl", "an lm-evaluation-harness samples log"),
        ("lm-eval-mmlu-5shot/results_*.json", "an lm-evaluation-harness results file"),
        ("inspect-logs/*.eval", "an Inspect log"),
        ("inspect-logs/*.json", "an Inspect log"),
        ("helm-mmlu-redux/*.json", "a HELM scenario state"),
        ("helm-instances/*/per_instance_stats.json", "HELM per-instance statistics"),
        ("openai-chat-logprobs/*.json", "a raw OpenAI response"),
        ("tgi-top-tokens/test_bloom*.json", "a text-generation-inference response"),
    ],
)
def test_files_of_other_tools_are_refused_by_name(shared: Path, pattern: str, title: str) -> None:
    paths = sorted((shared / "real").glob(pattern))
    assert paths
    for path in paths:
        with pytest.raises(Refused, match=f"looks like {title}.*which this version does not read") as refusal:
            files.read(path)
        assert path.name in str(refusal.value)


@pytest.mark.parametrize(
    "pattern",
    ["tgi-ibm-top-tokens/*.yaml", "tot-game24/*.json", "pot-aqua-sc/*.jsonl", "tgi-top-tokens/*.json"],
)
def test_whatever_else_is_there_ends_in_a_clear_refusal_or_a_reading(shared: Path, pattern: str) -> None:
    for path in sorted((shared / "real").glob(pattern)):
        try:
            files.read(path)
        except Refused as refusal:
            assert path.name in str(refusal)  # noqa: PT017  a reading is as welcome
