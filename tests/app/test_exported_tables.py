"""Exported Markdown tables say what the page says, and whether they are complete."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import screens
from export_menus import open_menus
from pages.widgets.export import as_displayed
from predictions import write_csv
from screens import Visit


def test_markdown_reads_as_the_page_does(everything: Path, visit: Visit, offered: dict[str, Any]) -> None:
    assert everything
    at = open_menus(visit("reliability"))
    table = screens.table(at, "Bin", "Gap")
    lines = offered["save_table_bins_md"][1]().decode().splitlines()
    assert lines[2] == "| Says | Bin | n | Confidence | Accuracy | Gap | Part of gap | 95 % |"
    row = table.iloc[-1]
    gap = f"{row['Gap']:+.3f}".replace("-", "−")
    cells = [f"{row['n']:,}", f"{row['Confidence']:.1f} %", f"{row['Accuracy']:.1f} %", gap]
    assert " | ".join(cells) in lines[3 + len(table)]
    assert lines[-1] == f"Recipe: {at.text[0].value.partition(', p over')[0]}  "


def test_a_number_of_other_bins_has_a_column_of_its_own(
    models: Path, visit: Visit, offered: dict[str, Any]
) -> None:
    assert models.exists()
    at = open_menus(visit("comparison", x="ece", m="20", methods="given"))
    table = screens.table(at, "ECE", "ECE, M = 10")
    lines = offered["save_table_points_md"][1]().decode().splitlines()
    head = next(line for line in lines if line.startswith("| No."))
    assert [name for name in head.split(" | ") if "ECE" in name] == ["ECE", "ECE 95 %", "ECE, M = 10"]
    row = table.iloc[0]
    assert row["ECE"] != row["ECE, M = 10"]
    assert {f"{row['ECE']:.4f}", f"{row['ECE, M = 10']:.4f}"} <= {*lines[lines.index(head) + 2].split(" | ")}


def test_two_columns_of_one_heading_are_never_one() -> None:
    frame = pl.DataFrame({"a": [1.0], "b": [2.0]})
    with pytest.raises(pl.exceptions.DuplicateError):
        as_displayed(frame, {"a": {"label": "ECE"}, "b": {"label": "ECE"}})


def test_a_markdown_file_says_that_it_holds_only_the_first_rows(
    data: Path, visit: Visit, offered: dict[str, Any]
) -> None:
    rows = [{"id": f"q{at}", "confidence": 0.85, "correct": at % 2} for at in range(1200)]
    write_csv(data / "long.csv", rows)
    open_menus(visit("reliability", bin="9"))
    told = "(the first 1,000 of 1,200 rows; the CSV has all)"
    markdown, latex, csv = (
        offered[f"save_table_question_rows_{ending}"][1]().decode() for ending in ("md", "tex", "csv")
    )
    assert told in markdown.splitlines()[0].replace("\\", "")
    assert told in latex
    assert (markdown.count("| q"), csv.count("\nq") + csv.count(",q")) == (1000, 1200)
    assert "first" not in offered["save_table_bins_md"][1]().decode().splitlines()[0]


def test_the_table_of_lines_reads_as_the_page_does(
    everything: Path, visit: Visit, offered: dict[str, Any]
) -> None:
    assert everything
    at = open_menus(visit("reliability", lines="red~given,green~given"))
    table = screens.table(at, "Line", "Verdict")
    lines = offered["save_table_line_rows_md"][1]().decode().splitlines()
    assert lines[2].startswith("| Line | ECE | p | Brier score | Accuracy | Mean confidence | Rows used |")
    assert f"| {table['Accuracy'].iloc[0]:.1f} % |" in lines[4]
    assert len(lines[4:]) - 2 == len(table) == 2
