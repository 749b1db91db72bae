"""What do the app tests share: a data folder of their own, and the app opened on it?"""

from __future__ import annotations

from pathlib import Path

import pytest

import screens
from predictions import choices, quiz, samples, write_csv, write_jsonl
from screens import Visit


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that the app takes for its data, and a cache folder that is not the person's."""
    folder = tmp_path / "predictions"
    folder.mkdir()
    monkeypatch.setenv("CALIB_DATA", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


@pytest.fixture
def visit(data: Path) -> Visit:
    """`visit("reliability", m="20")`: that page in a fresh session on the folder `data`."""

    def open_page(page: str, **params: str) -> screens.AppTest:
        assert data.parent.is_dir()
        return screens.visit(page, params)

    return open_page


@pytest.fixture
def folder(data: Path) -> Path:
    """Three files: four.jsonl with choices, quiz.csv with a red and a green model, ten.jsonl with samples."""
    write_jsonl(data / "four.jsonl", choices(120))
    write_csv(data / "quiz.csv", [*quiz(150, model="red"), *quiz(160, seed=6, model="green")])
    write_jsonl(data / "ten.jsonl", samples())
    return data
