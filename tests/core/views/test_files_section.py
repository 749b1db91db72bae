"""The table of files names each file once, with its numbers and methods."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from calib_core import readers as files_of
from calib_core.results.files import check_file
from calib_core.runs import AnswerRun, ReportedMetric
from calib_core.views import files
from calib_core.views.inputs import FileChecksum, ReportFile, ReportInput, ReportSettings
from calib_core.views.view import ViewTable
from predictions import write_csv

WITH = FileChecksum("results.json", 7, "b" * 64)


def file_states(*names: str) -> list[tuple[str, str]]:
    here = tuple(ReportFile(name, None, None, (FileChecksum(name, 5, "a" * 64), WITH)) for name in names)
    frame = files.section(ReportInput((), here, ReportSettings()), lambda *_: None).views[0].tables[0].frame
    return list(zip(frame["File"], frame["State"], strict=True))


def test_a_companion_file_names_the_file_it_is_read_with() -> None:
    assert file_states("a.jsonl") == [("a.jsonl", "loaded"), ("results.json", "read with a.jsonl")]


def test_a_file_read_with_several_others_is_listed_once() -> None:
    assert file_states("a.jsonl", "b.jsonl") == [
        ("a.jsonl", "loaded"),
        ("b.jsonl", "loaded"),
        ("results.json", "read with 2 of these files"),
    ]


def note_and_tables(tmp_path: Path, *reported: ReportedMetric) -> tuple[str, list[ViewTable]]:
    """The section of a file of four questions: the note below its methods, and its tables."""
    rows = [{"id": f"q{at}", "confidence": 0.6, "correct": at % 2} for at in range(4)]
    report = check_file(files_of.read(write_csv(tmp_path / "four.csv", rows)))
    (own,) = report.runs
    assert isinstance(own.run, AnswerRun)
    report = replace(report, runs=(replace(own, run=replace(own.run, reported_metrics=reported)),))
    here = ReportFile("four.csv", report, None, (FileChecksum("four.csv", 5, "a" * 64),))
    _, block = files.section(ReportInput((), (here,), ReportSettings()), lambda *_: None).views
    return block.tables[0].note, list(block.tables)


def test_the_tools_own_numbers_are_shown_beside_ours_without_columns_that_say_nothing(tmp_path: Path) -> None:
    _, tables = note_and_tables(tmp_path, ReportedMetric("acc", 0.5, 4, ""), ReportedMetric("f1", 0.7))
    audit = tables[1]
    assert audit.title.startswith("The tool's own numbers and Calib's: ")
    assert audit.frame.columns == [
        "Number",
        "Theirs",
        "Their rows",
        "Ours",
        "Our rows",
        "Equal",
        "Ours is",
        "Why",
    ]
    first, second = audit.frame.rows(named=True)
    assert (first["Number"], first["Theirs"], first["Ours"], first["Equal"]) == ("acc", "0.5", "0.5", "equal")
    assert (second["Theirs"], second["Ours"], second["Equal"]) == ("0.7", "", "–")
    assert second["Why"]
    assert len(note_and_tables(tmp_path)[1]) == 1


def test_unavailable_methods_are_grouped_by_reason(tmp_path: Path) -> None:
    note, _ = note_and_tables(tmp_path)
    told = note.partition("Not available: ")[2]
    assert "self-consistency, F_CN, self-consistency, F_CS, self-consistency, F_PC (" in told
    assert told.count("several sampled answers per question are needed") == 1
