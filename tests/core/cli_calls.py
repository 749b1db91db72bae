"""Calls the command line within a test: exit code, JSON list and messages of one call."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from app_server import ROOT
from calib_core import readers
from calib_core.__main__ import main
from calib_core.cli.json_elements import ELEMENTS
from calib_core.errors import CalibError
from calib_core.readers.format import Reading

GOOD = "id,confidence,correct\nq1,0.9,1\nq2,0.8,0\nq3,0.6,1\nq4,0.3,0\n"
GOOD_TEN_TIMES = "confidence,correct\n" + "0.9,1\n0.8,0\n0.6,1\n0.3,0\n" * 10
BAD = "id,confidence,correct\nq1,0.9,1\nq2,1.8,0\nq3,0.6,1\n"
NOTHING = "id,prediction,gold\nq1,4,4\nq2,5,6\n"
CHOICES = (
    '{"id": "a", "gold": "1", "choice_probs": [0.5, 0.3, 0.2], "confidence": 0.4, "correct": 1}\n'
    '{"id": "b", "gold": "0", "choice_probs": [0.1, 0.2, 0.7], "confidence": 0.8, "correct": 0}\n'
)
VERBS = ("check", "score", "bins", "sweep", "compare", "threshold")


@dataclass(frozen=True)
class Answer:
    """What one call gave back."""

    code: int
    out: str
    err: str

    @property
    def elements(self) -> list[dict[str, Any]]:
        """The JSON list; fails where stdout holds anything else, or NaN or Infinity."""

        def refuse(constant: str) -> None:
            pytest.fail(f"{constant} in the JSON")

        listed = json.loads(self.out, parse_constant=refuse)
        assert isinstance(listed, list)
        return listed

    @property
    def element(self) -> dict[str, Any]:
        """The only element."""
        (only,) = self.elements
        return only


Call = Callable[..., Answer]


def make_caller(capsys: pytest.CaptureFixture[str]) -> Call:
    """A function that takes the words of a command line."""

    def call(*words: str | Path) -> Answer:
        capsys.readouterr()
        code = main([str(word) for word in words])
        out, err = capsys.readouterr()
        answer = Answer(code, out, err)
        if "--json" in words and words[0] in ELEMENTS:
            _check_documented(str(words[0]), answer.elements)
        return answer

    return call


def _check_documented(verb: str, elements: list[dict[str, Any]]) -> None:
    """Fails where the JSON is not as docs/schema says, or has a key that is not there."""
    error = best_match(_validator(verb).iter_errors(elements))
    if error is not None:
        pytest.fail(f"calib {verb} --json is not as docs/schema/{verb}.json says: {error}")


@cache
def _validator(verb: str) -> Draft202012Validator:
    def closed(schema: dict[str, Any]) -> dict[str, Any]:
        return {"additionalProperties": False, **schema} if "properties" in schema else schema

    text = (ROOT / "docs" / "schema" / f"{verb}.json").read_text(encoding="utf-8")
    return Draft202012Validator(json.loads(text, object_hook=closed))


def write(folder: Path, name: str, text: str) -> Path:
    """A file of this text."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


Readings = dict[str, Reading | CalibError]
"""What came of each file that was read, by what it was and how it was read."""


def keep_readings(kept: Readings, patch: pytest.MonkeyPatch) -> None:
    """Has each file read once, for tests of what verbs make of the same files."""
    real = readers.read

    def read(path: Path, **how: Any) -> Reading:
        told = {name: value for name, value in how.items() if name != "progress"}
        files = [file.stat() for file in (path, how.get("gold")) if file is not None and file.is_file()]
        known_by = repr((path, told, [(status.st_mtime_ns, status.st_size) for status in files]))
        if known_by not in kept:
            try:
                kept[known_by] = real(path, **how)
            except CalibError as refusal:
                kept[known_by] = refusal
        found = kept[known_by]
        if isinstance(found, CalibError):
            raise found
        return found

    patch.setattr(readers, "read", read)
