"""Downloading a loaded file in the project's own format gives the same runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import streamlit as st

from calib_core import readers
from calib_core.runs import AnswerRun
from core.reporting.round_trip import all_metrics, content
from predictions import choices, quiz, write_csv, write_jsonl
from screens import Visit, page_text
from token_files import positions, write_npz


@pytest.fixture
def converted_files(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """File name → what its button would send."""
    sent: dict[str, Any] = {}
    real = st.download_button

    def button(label: str, **options: Any) -> bool:
        sent[options["file_name"]] = options["data"]
        return real(label, **options)

    monkeypatch.setattr(st, "download_button", button)
    return sent


def test_each_loaded_file_has_a_button(
    data: Path, visit: Visit, converted_files: dict[str, Any], tmp_path: Path
) -> None:
    write_csv(data / "good.csv", [*quiz(40, model="red"), *quiz(50, model="blue")])
    write_jsonl(data / "four.answers.jsonl", choices(30))
    write_csv(data / "bad.csv", [{"confidence": 1.5, "correct": 1}, {"confidence": 0.5, "correct": 0}])
    (data / "colours.csv").write_text("colour,size\nred,1\n")
    visit("files")
    assert sorted(converted_files) == ["four.answers.parquet", "good.answers.parquet"]
    for source in ("four.answers.jsonl", "good.csv"):
        name = f"{source.partition('.')[0]}.answers.parquet"
        (tmp_path / name).write_bytes(converted_files[name]())
        before, after = readers.read(data / source), readers.read(tmp_path / name)
        assert after.format == "canonical"
        for run, again in zip(before.good_runs, after.good_runs, strict=True):
            assert isinstance(run, AnswerRun)
            assert isinstance(again, AnswerRun)
            assert content(again) == content(run)
            assert all_metrics(again, (10,)) == all_metrics(run, (10,))


def test_bad_rows_are_left_out_once_that_is_chosen(
    data: Path, visit: Visit, converted_files: dict[str, Any], tmp_path: Path
) -> None:
    rows = [{"confidence": 1.5, "correct": 1}, {"confidence": 0.5, "correct": 0}]
    write_csv(data / "bad.csv", rows)
    visit("files", good="bad.csv")
    (tmp_path / "out.parquet").write_bytes(converted_files["bad.answers.parquet"]())
    reading = readers.read(tmp_path / "out.parquet")
    assert (reading.n_rows, reading.n_bad_rows) == (1, 0)
    assert "1 of 2 rows were bad and are left out." in reading.notes


def test_a_file_that_is_gone_is_given_as_it_was_read(
    data: Path, visit: Visit, converted_files: dict[str, Any], tmp_path: Path
) -> None:
    write_csv(data / "good.csv", quiz(40))
    visit("files")
    (data / "good.csv").unlink()
    (tmp_path / "out.parquet").write_bytes(converted_files["good.answers.parquet"]())
    assert readers.read(tmp_path / "out.parquet").n_rows == 40


def test_token_level_files_are_reduced_instead(
    data: Path, visit: Visit, converted_files: dict[str, Any]
) -> None:
    write_npz(data / "plays.npz", positions(), model="gpt", dataset="plays")
    assert "calib_core reduce FILE" in page_text(visit("files"))
    assert converted_files == {}
