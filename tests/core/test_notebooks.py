"""The example notebooks of the documentation: their code runs, and ends in what a reader is promised."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import calib_core
from app_server import ROOT

FOLDER = ROOT / "docs" / "notebooks"
CELL = re.compile(r"^```\{code-cell\} ipython3\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOTEBOOKS = sorted(path for path in FOLDER.glob("*.md") if path.stem != "index")


def cells(notebook: Path) -> list[str]:
    return CELL.findall(notebook.read_text(encoding="utf-8"))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_code_of_a_notebook_runs(notebook: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    names: dict[str, Any] = {}
    for number, code in enumerate(cells(notebook)):
        exec(compile(code, f"{notebook.name}, cell {number + 1}", "exec"), names)  # noqa: S102  our own examples


def test_every_question_of_the_interface_has_a_notebook() -> None:
    text = "".join(notebook.read_text(encoding="utf-8") for notebook in NOTEBOOKS)
    names = [name for name in calib_core.__all__ if name.islower() and not name.startswith("_")]
    functions = {name for name in names if callable(getattr(calib_core, name))}
    assert functions - set(re.findall(r"calib\.(\w+)\(", text)) == set()


def test_every_notebook_is_in_the_table_of_contents() -> None:
    listed = (FOLDER / "index.md").read_text(encoding="utf-8").splitlines()
    assert {notebook.stem for notebook in NOTEBOOKS} <= set(listed)
