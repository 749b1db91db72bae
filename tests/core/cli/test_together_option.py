"""The option `--together` merges the parts of one evaluation into one run."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.cli_calls import Call
from core.readers.lm_eval_logs import choice_record, name_of, text_record, with_acc, write_log
from predictions import write_csv


def subjects(folder: Path, *, bad: bool = False) -> Path:
    for subject, right in (("art", 0), ("law", 1)):
        doc = {"question": "Q", "subject": subject}
        records = [with_acc(choice_record(0, ["-0.5", "-1.5"], str(right), choices="AB", doc=doc), right)]
        if bad and subject == "law":
            records.append(choice_record(1, ["nan", "-1"], "0", choices="AB", doc=doc))
        write_log(folder, f"mmlu_{subject}", records)
    return folder


@pytest.mark.parametrize("verb", ["score", "sweep", "bins", "compare"])
def test_one_run_named_by_its_first_file(call: Call, tmp_path: Path, verb: str) -> None:
    words = (verb, subjects(tmp_path), "--method", "choice_softmax", "--json")
    alone, whole = call(*words), call(*words, "--together")
    one, other = name_of("mmlu_art"), name_of("mmlu_law")
    assert {element["file"] for element in alone.elements} == {one, other}
    assert {element["file"] for element in whole.elements} == {f"{one} and 1 other"}
    assert {element["n_used"] for element in whole.elements} == {2}
    assert {element["n_used"] for element in alone.elements} == {1}


def test_samples_of_two_subjects(call: Call, tmp_path: Path) -> None:
    texts = [f"The answer is {at % 2}." for at in range(8)]
    for subject in ("art", "law"):
        records = [
            text_record(at, texts, "1", "1", doc={"question": f"{at}", "subject": subject}) for at in range(4)
        ]
        write_log(tmp_path, f"mmlu_{subject}", records)
    answer = call("samples", tmp_path, "--together", "--sizes", "4", "--repeats", "3", "--json")
    assert {element["n_used"] for element in answer.elements} == {8}


def test_a_file_with_bad_rows_joins_only_once_that_is_chosen(call: Call, tmp_path: Path) -> None:
    words = ("score", subjects(tmp_path, bad=True), "--method", "choice_softmax", "--json", "--together")
    answer = call(*words)
    assert answer.code == 3
    assert {element["file"] for element in answer.elements} == {name_of("mmlu_art")}
    assert "--skip-bad-rows" in answer.err


def test_check_says_what_the_tool_counted(call: Call, tmp_path: Path) -> None:
    art, law = call("check", subjects(tmp_path), "--json").elements
    (number,) = art["reported"]
    assert (number["name"], number["theirs"], number["ours"], number["agrees"]) == ("acc", 1.0, 1.0, True)
    assert law["reported"][0]["ours"] == 0.0


def test_one_table_a_subject_is_one_run_in_a_conversion_and_in_a_report(tmp_path: Path, call: Call) -> None:
    paths = [
        write_csv(tmp_path / f"m-{subject}.csv", [{"confidence": 0.9, "correct": at % 2} for at in range(40)])
        for subject in ("law", "art")
    ]
    out, report = tmp_path / "all.answers.parquet", tmp_path / "report.html"
    (whole,) = call("convert", *paths, "--together", "-o", out, "--json").elements
    assert (whole["run"], whole["rows"]) == ("m", 80)
    assert call("convert", *paths, "-o", out, "--json").code == 2  # the runs cannot be told apart
    (run,) = call("report", *paths, "--together", "-o", report, "--page", "files", "--json").elements
    assert (run["run"], run["n_total"]) == ("m", 80)
    assert " --together " in report.read_text("utf-8")


def test_check_reports_files_read_together_as_one(tmp_path: Path, call: Call) -> None:
    """Two models side by side in two files are two runs of both; another file and a bad one stay apart."""
    for subject in ("art", "law"):
        rows = [
            {"id": at, "model": model, "confidence": 0.9, "correct": at % 2}
            for model in "ab"
            for at in range(5)
        ]
        write_csv(tmp_path / f"m-{subject}.csv", rows)
    write_csv(tmp_path / "other.csv", [{"p_true": 0.9, "correct": 1}])
    write_csv(tmp_path / "wrong.csv", [{"confidence": value, "correct": 1} for value in (0.5, "x")])
    words = ("check", tmp_path, "--together")
    answer = call(*words, "--json")
    found = [(element["file"], element["run"], element["rows"]) for element in answer.elements]
    assert ("m-art.csv and 1 other", "a", 10) in found
    assert ("m-art.csv and 1 other", "b", 10) in found
    assert {file for file, *_ in found} == {"m-art.csv and 1 other", "other.csv", "wrong.csv"}
    assert len(found) == 4
    assert answer.code == 3
    said = call(*words).out
    assert "2 files read together (m-art.csv, m-law.csv): 20 rows, 2 runs." in said
    assert "m-law.csv: " not in said


def test_reduce_says_why_it_does_not_take_the_option(tmp_path: Path, call: Call) -> None:
    answer = call("reduce", tmp_path, "--together", "-o", tmp_path / "sums.parquet")
    assert answer.code == 2
    assert "reduce, which always adds up the files of one run" in answer.err
