"""Writes `docs/glossary.md`: every term with its sentence and its source (`make glossary`)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from calib_core.reporting.export.table import escape_markdown_cell
from calib_core.views.glossary import GLOSSARY

PAGE: Final = Path(__file__).with_suffix(".md")
INTRODUCTION: Final = (
    "Written by `make glossary` from `calib_core/views/glossary.py`. On the pages, a term has its sentence\n"
    "where the pointer rests on the question mark beside it."
)


def page_text() -> str:
    """The page, as its file holds it."""
    rows = [
        f"| {' | '.join(map(escape_markdown_cell, (term.name, term.meaning, term.source or '–')))} |"
        for term in GLOSSARY.values()
    ]
    head = ["# Glossary", "", INTRODUCTION, "", "| term | meaning | source |", "| --- | --- | --- |"]
    return "\n".join([*head, *rows, ""])


if __name__ == "__main__":
    PAGE.write_text(page_text(), encoding="utf-8")
