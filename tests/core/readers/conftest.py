"""Shared fixture of the reader tests: writes and reads a file in one line."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any, Protocol

import pytest

from calib_core import readers
from calib_core.readers.format import Reading, ReadOptions


@pytest.fixture(autouse=True)
def in_words_of_the_command_line(for_command_line: None) -> None:
    """What messages say to name is asserted in the words of the command line."""


READ_OPTIONS = frozenset(field.name for field in fields(ReadOptions))


class ReadText(Protocol):
    """Writes a file and reads it."""

    def __call__(self, content: str | bytes, name: str = "quiz.csv", **options: Any) -> Reading: ...


@pytest.fixture
def read_text(tmp_path: Path) -> ReadText:
    r"""`read_text("id,confidence\n…", "quiz.csv", columns={…})` gives the reading, made in this process."""

    def write_and_read(content: str | bytes, name: str = "quiz.csv", **options: Any) -> Reading:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        wishes = {field: options.pop(field) for field in READ_OPTIONS & options.keys()}
        return readers.read_in_this_process(path, file=name, options=ReadOptions(**wishes), **options)

    return write_and_read
