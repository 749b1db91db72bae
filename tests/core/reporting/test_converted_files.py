"""Every file that loads, in every format, converts to one that reads back unchanged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app_server import ROOT
from calib_core import readers
from calib_core.errors import CalibError, Refused
from calib_core.readers.format import ReadOptions
from calib_core.reporting.export.canonical import source_record, to_canonical
from calib_core.results.evidence import survey_methods
from calib_core.results.files import check_file, usable_runs
from calib_core.results.reported_metrics import compare_reported_metrics
from calib_core.runs import AnswerRun, TokenRun
from core.reporting.round_trip import KINDS, all_metrics, content, read_again
from fixture_files import FIXTURES

LARGEST = 3_000_000
MOST_ROWS = 10_000
"""Larger files, in bytes and rows, say nothing else, and take long."""

OURS = {"demo": ROOT / "data", "fixtures": FIXTURES}


def files_of(folder: Path) -> list[Path]:
    found = readers.list_files(folder)
    return [path for path in found if path.stat().st_size <= LARGEST]


def reading_of(path: Path) -> readers.Reading | None:
    """What a file gives with the columns that are proposed; None where that is nothing."""
    try:
        reading = readers.read(path)
        if reading.proposed_mapping and not check_file(reading).runs:
            reading = readers.read(path, options=ReadOptions(dict(reading.proposed_mapping)))
        usable_runs(reading, skip_bad_rows=True)
    except CalibError:
        return None
    return reading


@pytest.mark.parametrize(("name", "converted", "tokens"), [("demo", 3, 3), ("fixtures", 20, 5)])
def test_a_converted_file_reads_back_to_the_same(name: str, converted: int, tokens: int) -> None:
    found = converted_files(OURS[name])
    assert found[0] >= converted
    assert found[1] >= tokens


def test_a_converted_real_file_reads_back_to_the_same(extra_files: Path) -> None:
    assert converted_files(extra_files / "real")[0] >= 40


def converted_files(folder: Path) -> tuple[int, int]:
    """How many files read back to the same, and how many token-level ones are refused; asserts both.

    The same content gives the same numbers, which is checked once for each format and set of columns.
    """
    converted = tokens = 0
    compared: set[tuple[str, ...]] = set()
    for path in files_of(folder):
        reading = reading_of(path)
        if reading is None:
            continue
        runs = reading.runs(skip_bad_rows=True)
        source = source_record(path, reading.file, reading.n_rows)
        if any(isinstance(run, TokenRun) for run in runs):
            with pytest.raises(Refused, match="calib_core reduce FILE"):
                to_canonical(runs, [source])
            tokens += 1
            continue
        if reading.n_rows > MOST_ROWS:
            continue
        made = to_canonical(runs, [source], reading.notes)
        answers = [run for run in runs if isinstance(run, AnswerRun)]
        held, told = content_and_accuracy(answers), list(map(metric_audit, answers))
        shape = (
            str(reading.format),
            *(name for name in answers[0].rows.columns if answers[0].has_columns(name)),
        )
        for kind in KINDS:
            again = read_again(made, kind)
            found = [run for run in again.good_runs if isinstance(run, AnswerRun)]
            assert content_and_accuracy(found) == held, path.name
            if shape not in compared:
                compared.add(shape)
                assert all_metrics(found[0], (10,)) == all_metrics(answers[0], (10,)), path.name
            assert list(map(metric_audit, found)) == told, path.name
            assert set(reading.notes) <= set(again.notes), path.name
        converted += 1
    return converted, tokens


def content_and_accuracy(runs: list[AnswerRun]) -> list[tuple[Any, ...]]:
    """Content of the runs, and their numbers of right answers."""
    return [(*content(run), check_accuracy(run)) for run in runs]


def check_accuracy(run: AnswerRun) -> int | None:
    """Right answers of the greedy kind, by their own outcome."""
    return int(run.rows["correct"].sum()) if run.has_columns("correct") else None


def metric_audit(run: AnswerRun) -> list[tuple[Any, ...]]:
    """The tool's own numbers beside ours, without the reasons, which depend on bad rows."""
    if not run.reported_metrics:
        return []
    numbers = compare_reported_metrics(run, survey_methods(run).usable)
    return [
        (
            one.reported.name,
            one.reported.subject,
            one.reported.value,
            one.reported.n_rows,
            one.ours,
            one.n_rows,
            one.ours_description,
            one.agrees,
            bool(one.reason),
        )
        for one in numbers
    ]
