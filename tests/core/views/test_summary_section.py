"""The summary: the verdict with its number and interval, one diagram, one table, what was left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from calib_core import load
from calib_core.edges import Scheme
from calib_core.results.evidence import gather_evidence
from calib_core.results.uncertainty import metric_interval
from calib_core.views.inputs import ReportSettings
from calib_core.views.summary import MAX_BIN_ROWS, MAX_LEFT_OUT, MAX_RUN_ROWS
from core.report.test_document import make_report
from predictions import quiz, samples, write_csv, write_jsonl
from report_html import Node, figures, read, section
from token_files import positions, write_npz


def summary(*paths: Path, asked: ReportSettings | None = None) -> Node:
    return read(make_report(*paths, pages=("summary",), asked=asked).html)


def leads(document: Node) -> list[str]:
    return [node.text for node in document.all("header")[0].all("p", "lead")]


def test_one_run_has_its_number_with_the_interval(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "quiz.csv", [*quiz(200), {"id": "none", "correct": 1, "confidence": ""}])
    document = summary(path)
    interval = metric_interval(gather_evidence(load(path)[0], "verbal"), "ece")
    assert interval is not None
    ends = f"{interval.low:.4f} to {interval.high:.4f}"
    block, left_out = section(document, "summary")
    value = block.tiles["ECE"]
    number = f"ECE {value} (95 % interval {ends}), stated confidence, M = 10, n = 200 of 201 rows."
    assert number in leads(document)
    assert block.all("dd", "below")[0].text == f"95 %: {ends}"
    assert len(figures(document)) == 1
    assert len(block.all("table")) == 1
    assert "ECE-L1, equal width, M=10" in block.all("pre")[0].text
    assert left_out.all("h3")[0].text == "What was left out"
    assert "1 of 201 rows not used" in left_out.text


def test_the_diagram_of_one_run_is_in_a_report_once(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "quiz.csv", quiz(200))
    document = read(make_report(path, pages=("summary", "reliability")).html)
    assert len(figures(document)) == 1
    (block, _), (below,) = section(document, "summary"), section(document, "reliability")
    assert block.tiles["ECE"] == below.tiles["ECE"]
    assert (len(block.all("table")), len(below.all("table"))) == (0, 1)


def test_several_runs_have_one_table_and_one_diagram(tmp_path: Path) -> None:
    rows = [row for at in range(3) for row in quiz(120, seed=at, model=f"m{at}", dataset="quiz")]
    document = summary(write_csv(tmp_path / "quiz.csv", [*rows, *quiz(60, model="other", dataset="else")]))
    table, diagram, left_out = section(document, "summary")
    assert [row[0] for row in table.rows] == ["m0 · quiz", "m1 · quiz", "m2 · quiz", "other · else"]
    assert len(figures(document)) == 1
    names = [trace.get("name", "") for trace in figures(document)[0]["light"]["data"]]
    assert sum(name.startswith("m") for name in names) == 3, "the runs of one data set"
    assert not any("other" in name for name in names)
    assert "1 line of the table: a diagram has runs of one data set" in diagram.text
    assert "Nothing: every file is loaded and every row used." in left_out.text


def test_many_runs_bins_and_reasons_are_cut(tmp_path: Path) -> None:
    rows = [row for at in range(20) for row in quiz(40, seed=at, model=f"m{at}", dataset="quiz")]
    rows += [{**rows[40 * at], "id": f"x{at}", "verbal_confidence": ""} for at in range(20)]
    table, _, left_out = section(summary(write_csv(tmp_path / "quiz.csv", rows)), "summary")
    assert len(table.rows) == MAX_RUN_ROWS
    assert "8 further rows" in table.text
    assert len(left_out.all("li")) == MAX_LEFT_OUT + 1
    assert "And 15 more" in left_out.text
    many = ReportSettings(scheme=Scheme(bins=200))
    (block, _) = section(summary(write_csv(tmp_path / "one.csv", quiz(300)), asked=many), "summary")
    assert len(block.rows) <= MAX_BIN_ROWS
    shown = [float(row[1].strip("([").split(",")[0]) for row in block.rows]
    assert shown == sorted(shown)


@pytest.mark.parametrize("kind", ["tokens", "samples"])
def test_other_kinds_of_runs(tmp_path: Path, kind: str) -> None:
    if kind == "tokens":
        path = write_npz(tmp_path / "code.npz", positions(200), model="gpt", tokens_seen=1000)
    else:
        path = write_jsonl(tmp_path / "ten.jsonl", samples(40))
    document = summary(path)
    block = section(document, "summary")[0]
    assert len(figures(document)) == 1
    assert block.rows
    assert ("95 %:" in block.text) == (kind == "samples")
    assert ("there is no interval" in block.text) == (kind == "tokens")


def test_nothing_that_can_be_computed(tmp_path: Path) -> None:
    asked = ReportSettings(metrics=("full_ece",))
    document = summary(write_csv(tmp_path / "quiz.csv", quiz(60)), asked=asked)
    assert leads(document) == ["No number can be computed from these files."]
    (block,) = section(document, "summary")
    assert "not a whole distribution" in block.text
    assert figures(document) == []
