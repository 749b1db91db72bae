"""What each verb prints with `--json` is as docs/schema says; `call` checks each list that a test prints."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from app_server import ROOT
from calib_core.__main__ import VERBS
from calib_core.cli.json_elements import ELEMENTS
from core.cli_calls import Call, Readings, keep_readings
from core.test_docs import script

DATA = ROOT / "data"
FACTS = str(DATA / "facts.answers.parquet")
GAME24 = str(DATA / "game24.answers.jsonl")
JUDGED = str(DATA / "5-mmlu-redux-judge.answers.parquet")
MMLU = (str(DATA / "2-mmlu.answers.parquet"), "--method", "given")
TOP_K = str(DATA / "code-top20.tokens.parquet")
SUMS = str(DATA / "code-gpt.sums.parquet")
ONE = ("--run", "gpt-4-turbo · MMLU")
TWO = ("--run", "facts-0.2M · facts · 0-shot", "--run", "gpt-code-0.5M · stdlib-code · step2816")
"""One run of answers and one of tokens: the others have the same keys with the same types."""

DEMO = (
    ("check", str(DATA)),
    ("score", FACTS, TOP_K, *TWO),
    ("bins", FACTS, SUMS, *TWO),
    ("sweep", FACTS, TOP_K, *TWO),
    ("audit", str(DATA / "3-commonsenseqa.answers.parquet")),
    ("recalibrate", *MMLU, *ONE, "-o", "map.json"),
    ("compare", *MMLU, "--metric", "ece"),
    ("compare", *MMLU, "--pairs"),
    ("samples", GAME24, "--sizes", "4,8,64", "--repeats", "5"),
    ("threshold", FACTS, *MMLU),
    ("gate", *MMLU, "--max", "ece=.1", "--min-n", "500", "--baseline", MMLU[0], "--worse-by", "brier=.01"),
    ("reduce", str(DATA / "code-dense.tokens.npz"), "-o", "sums.parquet"),
    ("convert", GAME24, "-o", "game24.parquet"),
    ("report", GAME24, "-o", "report.html"),
    ("judge", JUDGED),
    ("gate", JUDGED, "--judge", "--min", "kappa=.2"),
)


def test_the_schemas_are_those_of_the_code() -> None:
    schemas = script("schemas")
    written = {path.stem: path.read_text(encoding="utf-8") for path in schemas.FOLDER.iterdir()}
    assert written == {verb: schemas.schema_text(verb) for verb in ELEMENTS}, "make schemas writes them again"
    assert schemas.PAGE.read_text(encoding="utf-8") == schemas.page_text(), "make schemas writes it again"
    assert ELEMENTS.keys() == VERBS.keys() - {"app", "cache"}
    for verb in ELEMENTS:
        Draft202012Validator.check_schema({"items": schemas.schema_of(ELEMENTS[verb])})


def _keys(schema: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every key of a schema, and of the objects in it, with the schema of its value."""
    if isinstance(schema, list):
        for part in schema:
            yield from _keys(part, place)
    elif isinstance(schema, dict):
        for key, value in schema.get("properties", {}).items():
            yield f"{place}.{key}", value
            yield from _keys(value, f"{place}.{key}")
        for keyword in ("anyOf", "items", "additionalProperties"):
            yield from _keys(schema.get(keyword), place)


def test_every_key_is_explained_by_a_sentence() -> None:
    schemas = script("schemas")
    keys = [found for verb, kind in ELEMENTS.items() for found in _keys(schemas.schema_of(kind), verb)]
    assert {"check.problems.first.fix", "score.missing.p", "samples.baselines.recipe"} <= dict(keys).keys()
    lacking = [key for key, value in keys if not re.fullmatch(r".+ .+\.", value.get("description", ""))]
    assert lacking == []


@pytest.fixture(scope="module")
def readings() -> Readings:
    return {}


@pytest.mark.parametrize("words", DEMO, ids=lambda words: words[0])
def test_demo_data(
    words: tuple[str, ...], call: Call, tmp_path: Path, readings: Readings, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_readings(readings, monkeypatch)
    monkeypatch.chdir(tmp_path)
    answer = call(*words, "--json")
    assert answer.elements, answer.err
    if words[0] == "recalibrate":
        apply = ("--apply", "map.json", "-o", "rows.parquet")
        assert call("recalibrate", *MMLU, *ONE, *apply, "--json").elements


def test_every_verb_is_tried_on_the_demo_data() -> None:
    assert {words[0] for words in DEMO} == ELEMENTS.keys()


def test_a_log_with_metrics_of_its_own(call: Call) -> None:
    elements = call("check", ROOT / "tests" / "fixtures" / "lm_eval", "--json").elements
    assert any(element.get("reported") for element in elements)
