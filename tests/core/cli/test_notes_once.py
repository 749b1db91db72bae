"""What is noted on a file is printed once, however many runs it has."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.cli_calls import Call, make_caller
from fixture_files import FIXTURES

NOTE = "have a field confidence, which the server derives"


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    return make_caller(capsys)


@pytest.mark.parametrize(
    "verb", [("check",), ("score", "--metric", "ece"), ("bins",)], ids=lambda verb: verb[0]
)
def test_a_note_on_the_file_is_printed_once(verb: tuple[str, ...], call: Call, tmp_path: Path) -> None:
    folder = FIXTURES / "decisions" / "systemone"
    options = ("--gold", folder / "gold.csv")
    printed = call(*verb, folder / "responses.jsonl", *options).out
    assert printed.count("m-1 · ") >= 3
    assert printed.count(NOTE) == 1
    again = tmp_path / "again.jsonl"
    again.write_bytes((folder / "responses.jsonl").read_bytes())
    if verb != ("check",):  # which says of several files what it can in a line
        assert call(*verb, folder / "responses.jsonl", again, *options).out.count(NOTE) == 2
