"""The summary: each run's diagram, verdict and numbers, one table, what was left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from calib_core import load
from calib_core.results.evidence import gather_evidence
from calib_core.results.uncertainty import metric_interval
from calib_core.views.inputs import ReportSettings
from calib_core.views.summary import MAX_LARGE_DIAGRAMS, MAX_LEFT_OUT
from core.reporting.test_document import make_report
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
    card, table, left_out, computed = section(document, "summary")
    assert list(card.tiles) == ["ECE", "Accuracy", "Mean confidence"]
    assert card.all("dd", "below")[0].text == f"95 %: {ends}"
    assert card.all("p", "reading")[0].text.startswith("Over-confident")
    assert card.all("figure")
    assert table.rows[0][:4] == ["quiz", "▲ over-confident", table.rows[0][2], card.tiles["ECE"]]
    assert table.rows[0][-1] == "200 / 201"
    assert leads(document) == []
    assert left_out.all("h3")[0].text == "What was left out"
    assert "1 of 201 rows not used" in left_out.text
    assert "ECE-L1, equal width, M=10" in computed.all("pre")[0].text


def test_a_full_report_leads_with_the_diagram_too(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "quiz.csv", quiz(200))
    document = read(make_report(path, pages=("summary", "reliability")).html)
    card, (below,) = section(document, "summary")[0], section(document, "reliability")
    assert card.tiles["ECE"] == below.tiles["ECE"]
    assert (len(card.all("figure")), len(below.all("figure"))) == (1, 1)


def test_every_run_has_its_diagram_its_verdict_and_its_numbers(tmp_path: Path) -> None:
    rows = [row for at in range(3) for row in quiz(120, seed=at, model=f"m{at}", dataset="quiz")]
    document = summary(write_csv(tmp_path / "quiz.csv", [*rows, *quiz(60, model="other", dataset="else")]))
    *cards, table, left_out, computed = section(document, "summary")
    names = ["m0 · quiz", "m1 · quiz", "m2 · quiz", "other · else"]
    assert [card.all("h3")[0].text for card in cards] == names
    assert all(card.all("figure") and len(card.tiles) == 3 and card.all("p", "reading") for card in cards)
    assert [row[0] for row in table.rows] == names
    assert [row[3] for row in table.rows] == [card.tiles["ECE"] for card in cards]
    assert len(leads(document)) == 1
    told = [term.text for term in computed.all("dt")]
    assert told == ["Outcome", *names], "what differs stands under the run's name, what does not stands once"
    chances = [text.text for text in computed.all("dd")][1:]
    assert all("A calibrated model with these rows would score" in text for text in chances)
    assert len(set(chances)) == len(names)
    assert "Nothing: every file is loaded and every row used." in left_out.text


def test_no_run_is_cut_and_many_reasons_are(tmp_path: Path) -> None:
    rows = [row for at in range(20) for row in quiz(40, seed=at, model=f"m{at}", dataset="quiz")]
    rows += [{**rows[40 * at], "id": f"x{at}", "verbal_confidence": ""} for at in range(20)]
    document = summary(write_csv(tmp_path / "quiz.csv", rows))
    *cards, table, left_out, _ = section(document, "summary")
    assert len(cards) == len(table.rows) == len(figures(document)) == 20
    heights = [figure["light"]["layout"]["height"] for figure in figures(document)]
    assert len(left_out.all("li")) == MAX_LEFT_OUT + 1
    assert "And 15 more" in left_out.text
    few = summary(write_csv(tmp_path / "few.csv", [row for row in rows if row["model"] in ("m0", "m1")]))
    assert MAX_LARGE_DIAGRAMS < 20
    assert max(heights) < min(figure["light"]["layout"]["height"] for figure in figures(few))


@pytest.mark.parametrize("kind", ["tokens", "samples"])
def test_other_kinds_of_runs(tmp_path: Path, kind: str) -> None:
    if kind == "tokens":
        path = write_npz(tmp_path / "code.npz", positions(200), model="gpt", tokens_seen=1000)
    else:
        path = write_jsonl(tmp_path / "ten.jsonl", samples(40))
    document = summary(path)
    card, table, _, computed = section(document, "summary")
    assert len(figures(document)) == 1
    assert table.rows
    assert ("95 %:" in card.text) == (kind == "samples")
    assert ("there is no interval" in computed.text) == (kind == "tokens")


def test_nothing_that_can_be_computed(tmp_path: Path) -> None:
    asked = ReportSettings(metrics=("full_ece",))
    document = summary(write_csv(tmp_path / "quiz.csv", quiz(60)), asked=asked)
    assert leads(document) == ["No number can be computed from these files."]
    (block,) = section(document, "summary")
    assert "not a whole distribution" in block.text
    assert figures(document) == []
