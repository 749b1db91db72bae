"""--run chooses runs of the files, and says which there are where it names none of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.cli_calls import Call
from predictions import samples, write_jsonl

VERBS: dict[str, tuple[str, ...]] = {
    "score": ("--metric", "ece"),
    "bins": (),
    "samples": ("--repeats", "2"),
    "compare": (),
    "threshold": ("--accuracy", "0.5"),
    "gate": ("--max", "ece=1"),
    "sweep": ("--metric", "ece"),
    "audit": (),
}
"""Verb → what else it takes here."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Samples of a red and of a blue model."""
    rows = [{**row, "model": model} for model in ("red", "blue") for row in samples()]
    return write_jsonl(tmp_path / "two.jsonl", rows)


@pytest.mark.parametrize("verb", VERBS)
def test_one_run_of_two(verb: str, call: Call, path: Path) -> None:
    words = (verb, path, *VERBS[verb], "--method", "cluster_size", "--json")
    both, red = call(*words), call(*words, "--run", "red")
    assert (both.code, red.code) == (0, 0), red.err
    assert {element["run"] for element in both.elements} == {"red", "blue"}
    assert red.elements
    assert {element["run"] for element in red.elements} == {"red"}
    none = call(*words, "--run", "red", "--run", "green")
    assert none.code == 2
    assert none.elements == red.elements
    assert "--run: there is no run 'green'. Runs: red; blue" in none.err
