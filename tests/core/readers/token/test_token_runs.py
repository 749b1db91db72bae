"""The positions of a file are assigned to their runs."""

from __future__ import annotations

import pytest

from calib_core.errors import Refused
from calib_core.runs import TokenRun
from core.readers.topk_files import GOOD, METADATA, ReadText, lines, only_run


def test_rows_of_several_runs_are_distinguished(read_text: ReadText) -> None:
    records = [{**GOOD, "checkpoint": f"step{step}", "tokens_seen": step * 10} for step in (1, 2, 1)]
    first, second = read_text(lines(*records)).runs(skip_bad_rows=False)
    assert isinstance(first, TokenRun)
    assert isinstance(second, TokenRun)
    assert (first.label, first.n_total, first.sums.n_rows, first.info.tokens_seen) == ("step1", 2, 2, 10)
    assert (second.label, second.n_total, second.sums.n_rows, second.info.tokens_seen) == ("step2", 1, 1, 20)
    assert [example.row for example in first.sums.examples] == [0, 2]
    assert first.sums.draws is not None
    assert second.sums.draws is not None
    assert first.sums.draws.seed != second.sums.draws.seed


def test_a_row_overrides_the_metadata(read_text: ReadText) -> None:
    reading = read_text(lines({"calib": METADATA}, GOOD, {**GOOD, "model": "n"}, {**GOOD, "model": "m"}))
    assert [(run.label, run.n_total) for run in reading.good_runs] == [("m · d", 2), ("n · d", 1)]


def test_a_bad_row_of_unknown_run_belongs_to_the_only_run_or_to_none(read_text: ReadText) -> None:
    lost = {**GOOD, "shots": "few"}
    run = only_run(read_text(lines({**GOOD, "shots": 5}, lost)), skip_bad_rows=True)
    assert (run.n_total, run.row_counts.n_left_out) == (2, 1)
    reading = read_text(lines({**GOOD, "shots": 5}, lost, {**GOOD, "shots": 0}))
    assert [run.n_total for run in reading.good_runs] == [1, 1]
    assert "1 bad row belongs to none of the runs" in reading.notes[0]


def test_a_run_has_one_vocabulary(read_text: ReadText) -> None:
    reading = read_text(lines(GOOD, {**GOOD, "vocab_size": 10}))
    (cell,) = reading.problems[0].first_cells
    assert (reading.problems[0].kind, cell.row, cell.found) == ("another size of the vocabulary", 2, "10")
    assert "expected 9, as in the run's first row" in str(cell)
    first_bad = read_text(lines({**GOOD, "target": "x", "vocab_size": 10}, GOOD))
    assert [problem.kind for problem in first_bad.problems] == ["not a class"]
    named = read_text(lines({**GOOD, "model": "a"}, {**GOOD, "model": "b", "vocab_size": 10}))
    assert [run.sums.n_classes for run in named.good_runs if isinstance(run, TokenRun)] == [9, 10]


def test_one_place_of_a_document_is_one_position(read_text: ReadText) -> None:
    places = [("a", 1), ("a", 2), ("b", 1), ("a", 1), (None, 1), (None, 1)]
    records = [{**GOOD, "doc": doc, "position": position} for doc, position in places]
    reading = read_text(lines(*records))
    assert [(p.kind, p.first_cells[0].row, p.first_cells[0].found) for p in reading.problems] == [
        ("repeated position", 4, "a, 1")
    ]
    assert only_run(reading, skip_bad_rows=True).sums.n_rows == 5
    taken = {**records[1], "target": 77}, {**records[1], "vocab_size": 3}
    reading = read_text(lines(records[0], *taken, records[1]))
    assert [problem.kind for problem in reading.problems] == [
        "target outside the vocabulary",
        "another size of the vocabulary",
    ]
    steps = [{**record, "checkpoint": str(at)} for at, record in enumerate(records)]
    assert read_text(lines(*steps)).n_bad_rows == 0


def test_too_many_runs_are_refused(read_text: ReadText) -> None:
    with pytest.raises(Refused, match="more than 100 runs"):
        read_text(lines(*({**GOOD, "dataset": f"d{at}"} for at in range(101))))


def test_what_describes_a_run_and_cannot_be_read_is_noted(read_text: ReadText) -> None:
    reading = read_text(lines({**GOOD, "params_b": "8x7B"}))
    assert reading.notes == ("params_b cannot be read as a number in 1 row (8x7B) and is unknown there.",)
