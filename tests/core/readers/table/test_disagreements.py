"""Rows whose lists or spans contradict each other are found."""

from __future__ import annotations

import polars as pl
import pytest

from calib_core.readers.table.rows import disagreements


def faults_by_kind(frame: pl.DataFrame) -> dict[tuple[str, str], list[int]]:
    return {(column, fault.kind): fault.positions.tolist() for column, fault in disagreements(frame)}


def test_lists_about_the_same_choices_are_equally_long() -> None:
    frame = pl.DataFrame(
        {
            "choices": [["a", "b"], ["a", "b"], None, ["a"]],
            "choice_logprobs": [[-1.0, -2.0], [-1.0], [-1.0], None],
            "choice_token_counts": [[1, 1], [1], [1, 1], [1, 2]],
        }
    )
    assert faults_by_kind(frame) == {
        ("choices", "lists of different lengths"): [1],
        ("choice_token_counts", "lists of different lengths"): [2, 3],
    }
    (choices, _) = disagreements(frame)
    assert choices[1].examples == ("2 instead of 1",)
    assert choices[1].expected == "as many entries as choice_logprobs, one per choice"


def test_lists_about_the_same_samples_are_equally_long() -> None:
    frame = pl.DataFrame({"samples": [["a", "b"], ["a"]], "samples_parsed": [["a", None], ["a", "b"]]})
    assert faults_by_kind(frame) == {("samples_parsed", "lists of different lengths"): [1]}


def test_samples_and_choices_need_not_agree() -> None:
    assert not faults_by_kind(pl.DataFrame({"samples": [["a", "b"]], "choices": [["a"]]}))


@pytest.mark.parametrize(
    ("start", "end", "good"), [(0, 3, True), (2, 3, True), (2, 2, False), (1, 4, False), (None, 9, True)]
)
def test_an_answer_lies_within_its_path(*, start: int | None, end: int, good: bool) -> None:
    frame = pl.DataFrame({"path_logprobs": [[-1.0] * 3], "answer_start": [start], "answer_end": [end]})
    good = good or start is None
    assert faults_by_kind(frame) == ({} if good else {("answer_end", "span outside the path"): [0]})
