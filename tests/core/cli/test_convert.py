"""The verb `convert`: writes all of what was read or nothing, and says what it leaves out."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from calib_core import readers
from core.cli_calls import BAD, CHOICES, GOOD, NOTHING, Call, write
from core.readers.token.array_files import distributions, npz
from core.reporting.round_trip import all_metrics


def write_file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "JSONL"])
def test_a_table_reads_back_to_the_same_numbers(tmp_path: Path, call: Call, ending: str) -> None:
    source, output = write_file(tmp_path, "quiz.csv", GOOD), tmp_path / f"out.{ending}"
    answer = call("convert", source, "-o", output, "--json")
    assert (answer.code, answer.err) == (0, "")
    assert answer.element == {
        "file": "quiz.csv", "format": "table", "run": "quiz", "rows": 4, "n_total": 4, "output": str(output),
    }  # fmt: skip
    (before,), (after,) = readers.read(source).good_runs, readers.read(output).good_runs
    assert all_metrics(after) == all_metrics(before)
    scores = [call("score", path, "--json").elements for path in (source, output)]
    told = ("method", "metric", "value", "p", "n_used", "n_total")
    before, after = ([{name: each[name] for name in told} for each in one] for one in scores)
    assert after == before
    assert json.loads(call("check", output, "--json").out)[0]["format"] == "canonical"


def test_a_source_and_its_digest_are_in_the_metadata(tmp_path: Path, call: Call) -> None:
    source, output = write_file(tmp_path, "quiz.csv", GOOD), tmp_path / "out.jsonl"
    assert call("convert", source, "-o", output).code == 0
    digest = hashlib.sha256(GOOD.encode()).hexdigest()
    first = json.loads(output.read_text().splitlines()[0])
    assert first["calib"]["sources"] == [{"name": "quiz.csv", "sha256": digest, "rows": 4}]


def test_bad_rows_are_asked_about_and_left_out_by_choice(tmp_path: Path, call: Call) -> None:
    source, output = write_file(tmp_path, "bad.csv", BAD), tmp_path / "out.parquet"
    answer = call("convert", source, "-o", output, "--json")
    assert (answer.code, answer.elements) == (3, [])
    assert "--skip-bad-rows" in answer.err
    assert not output.exists()
    answer = call("convert", source, "-o", output, "--skip-bad-rows")
    assert answer.code == 0
    assert "bad: 2 rows, 1 bad rows left out" in answer.out
    assert "1 of 3 rows were bad and are left out." in answer.out
    assert readers.read(output).n_rows == 2


def test_several_files_become_one(tmp_path: Path, call: Call) -> None:
    one = write_file(tmp_path, "a.jsonl", CHOICES.replace('"gold"', '"model": "m", "gold"'))
    other = write_file(tmp_path, "b.jsonl", CHOICES.replace('"gold"', '"model": "n", "gold"'))
    output = tmp_path / "out.parquet"
    again = tmp_path / ".." / tmp_path.name / "a.jsonl"
    answer = call("convert", one, other, again, "-o", output, "--json")
    assert [element["run"] for element in answer.elements] == ["m", "n"]
    assert "a.jsonl was given twice and is read only once" in answer.err
    before = [all_metrics(run) for path in (one, other) for run in readers.read(path).good_runs]
    assert [all_metrics(run) for run in readers.read(output).good_runs] == before


def test_runs_that_cannot_be_distinguished_are_refused(tmp_path: Path, call: Call) -> None:
    output = write_file(tmp_path, "out.parquet", "precious")
    paths = write_file(tmp_path, "a.csv", GOOD), write_file(tmp_path, "b.csv", GOOD)
    answer = call("convert", *paths, "-o", output, "--json")
    assert (answer.code, answer.elements) == (2, [])
    assert "a.csv and b.csv have the same" in answer.err
    assert output.read_text() == "precious"


def test_one_bad_file_and_nothing_is_written(tmp_path: Path, call: Call) -> None:
    output = tmp_path / "out.parquet"
    answer = call(
        "convert", write_file(tmp_path, "a.csv", GOOD), write_file(tmp_path, "b.csv", NOTHING), "-o", output
    )
    assert answer.code == 2
    assert "Nothing was written to out.parquet: not every file can be used." in answer.err
    assert not output.exists()


def test_token_level_files_are_reduced_instead(tmp_path: Path, call: Call) -> None:
    probs, target = distributions(12, 6)
    source = npz(tmp_path / "a.npz", probs=probs, target=target)
    answer = call("convert", source, "-o", tmp_path / "out.parquet")
    assert answer.code == 2
    assert "python -m calib_core reduce FILE -o SUMS.parquet" in answer.err


def test_columns_that_nothing_is_read_from_are_named(tmp_path: Path, call: Call) -> None:
    text = "remark,confidence,correct\none,0.9,1\ntwo,0.8,0\n"
    answer = call("convert", write_file(tmp_path, "quiz.csv", text), "-o", tmp_path / "out.jsonl")
    assert "quiz.csv: not written, because Calib does not use these columns: remark" in answer.err


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("out.csv", "ends in .parquet or .jsonl"),
        ("no/out.jsonl", "no/out.jsonl cannot be written"),
        ("", "ends in .parq"),
    ],
)
def test_where_nothing_can_be_written(tmp_path: Path, call: Call, name: str, message: str) -> None:
    answer = call("convert", write_file(tmp_path, "quiz.csv", GOOD), "-o", tmp_path / name)
    assert answer.code == 2
    assert message in answer.err


def test_no_file_is_written_over_its_own_source(tmp_path: Path, call: Call) -> None:
    source, link = write_file(tmp_path, "quiz.jsonl", CHOICES), tmp_path / "link.jsonl"
    os.link(source, link)
    gold = write_file(tmp_path, "gold.jsonl", CHOICES)
    for output in (source, link, gold):
        answer = call("convert", source, "-o", output, "--gold", gold)
        assert answer.code == 2
        assert "would be overwritten" in answer.err
    assert source.read_text() == gold.read_text() == CHOICES


def test_a_folder_is_converted_and_the_help_text_is_complete(tmp_path: Path, call: Call) -> None:
    (tmp_path / "data").mkdir()
    write(tmp_path / "data", "quiz.csv", GOOD)
    assert call("convert", tmp_path / "data", "-o", tmp_path / "out.parquet").code == 0
    assert "own format" in call("convert", "--help").out
