"""Rows with weights: every page weighs them and says so, or says that it doesn't."""

from __future__ import annotations

from pathlib import Path

import pytest

from predictions import quiz, write_csv
from screens import Visit, page_text


@pytest.fixture
def file(data: Path) -> Path:
    rows = quiz(200, model="red")
    return write_csv(data / "quiz.csv", [row | {"weight": 1 + at % 4} for at, row in enumerate(rows)])


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("reliability", "rows are worth 166.7"),
        ("robustness", "rows have weights"),
        ("abstention", "counts every row alike"),
        ("concentration", "counts every row alike"),
        ("recalibrate", "counts every row alike"),
        ("tour", "counts every row alike"),
        ("files", "without weights"),
        ("start", "weighted (effective n = 166.7)"),
        ("methods", "weighted by column weight"),
        ("comparison", "weighted by the column weight"),
        ("groups", "the scan counts every row alike"),
    ],
)
def test_pages_weigh_rows_or_say_that_they_do_not(page: str, said: str, visit: Visit) -> None:
    at = visit(page)
    assert not at.exception
    assert said in page_text(at).replace("\\", "").replace("\u2060", "")
