"""Every verb that computes stands hostile files: an exit code, no traceback, and nothing a terminal obeys."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Final

import pytest

from core.cli_calls import Readings, keep_readings, make_caller
from hostile.manifest import CASES

VERBS: Final[dict[str, tuple[str, ...]]] = {
    "check": (),
    "score": (),
    "bins": (),
    "sweep": (),
    "audit": (),
    "recalibrate": (),
    "compare": (),
    "samples": (),
    "threshold": (),
    "gate": ("--min-n", "1"),
    "report": ("-o", "report.html"),
}
"""Verb → what it needs beside files."""

TAKEN: Final = [case for case in CASES if case["expect"] == "literal"][::8] + [
    case for case in CASES if case["expect"] in ("refused", "asks") and case["family"] in ("names", "samples")
][::6]
"""Texts of every kind that terminals and markup interpret, and files that are refused or have bad rows."""

OBEYED: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories of what a terminal may obey: controls, formats, surrogates, line separators."""


@pytest.fixture(scope="module")
def readings() -> Readings:
    return {}


@pytest.fixture
def read_once(readings: Readings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is the same for every verb."""
    keep_readings(readings, monkeypatch)


@pytest.mark.usefixtures("read_once")
@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_ends_and_prints_texts_as_they_are(
    verb: str,
    hostile: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    files = [path for case in TAKEN if (path := hostile / "data" / case["path"]).is_file()]
    assert len(files) > 15
    answer = make_caller(capsys)(verb, *files, *VERBS[verb])
    printed = answer.out + answer.err
    assert answer.code in (0, 1, 2)
    assert "Traceback" not in printed
    assert {mark for mark in printed if unicodedata.category(mark) in OBEYED} <= {"\n"}
    if verb == "report":
        assert (tmp_path / "report.html").stat().st_size > 0
