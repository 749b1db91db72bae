"""A value of a tool's log that has the wrong type makes its record a bad row, named by its path."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

from calib_core import readers
from calib_core.readers.table.raw import as_json_text
from fixture_files import FIXTURES

OBJECT: Final = {"a": 1}
BATCH, ECHO, DUMP = (
    "openai_batch/batch_output.jsonl",
    "vllm/completions_echo.jsonl",
    "vllm/offline_request_output.jsonl",
)
TGI, INSPECT = "tgi/generate_details.jsonl", "inspect/v0.3.285/choice_json.json"
HELM, HELM_STATS = "helm/with_logprobs/scenario_state.json", "helm/with_logprobs/per_instance_stats.json"
PPL = "opencompass/ppl.json"
CHOICE: Final = "response.body.choices.0"
LIKELY: Final = f"{CHOICE}.logprobs.content.0"

WRONG: Final = [
    (BATCH, "1", "custom_id", OBJECT),
    (BATCH, "1", "response.body.model", ["x"]),
    (BATCH, "1", f"{CHOICE}.message", None),
    (BATCH, "1", f"{CHOICE}.message.content", 1),
    (BATCH, "1", f"{CHOICE}.logprobs", "x"),
    (BATCH, "1", f"{LIKELY}.token", True),
    (BATCH, "1", f"{LIKELY}.top_logprobs", "x"),
    (BATCH, "1", f"{LIKELY}.top_logprobs.0.token", OBJECT),
    (ECHO, "1", f"{CHOICE}.text", OBJECT),
    (ECHO, "1", f"{CHOICE}.logprobs.tokens.1", 1),
    (ECHO, "1", f"{CHOICE}.logprobs.top_logprobs.1", [1]),
    (DUMP, "1", "outputs.0.text", 1),
    (DUMP, "1", "outputs.0.logprobs.0", "x"),
    (TGI, "1", "generated_text", OBJECT),
    (TGI, "1", "details.tokens.0.text", 1),
    (TGI, "1", "details.tokens.0.special", math.nan),
    (TGI, "1", "details.top_tokens.0.0.text", False),
    (INSPECT, "samples.1", "id", OBJECT),
    (INSPECT, "samples.1", "epoch", "x"),
    (INSPECT, "samples.1", "choices.0", 1),
    (INSPECT, "samples.1", "target", True),
    (INSPECT, "samples.1", "output.completion", OBJECT),
    (INSPECT, "samples.1", "output.choices.0.message.content", 1),
    (INSPECT, "samples.1", "scores.choice", "x"),
    (INSPECT, "samples.1", "scores.choice.answer", ["x"]),
    (HELM, "request_states.1", "instance.id", OBJECT),
    (HELM, "request_states.1", "instance.references.0.output.text", 1),
    (HELM, "request_states.1", "instance.references.0.tags.0", 1),
    (HELM, "request_states.1", "output_mapping.A", 1),
    (HELM, "request_states.1", "train_trial_index", "x"),
    (HELM, "request_states.1", "result.success", "x"),
    (HELM, "request_states.1", "result.completions.0.text", OBJECT),
    (HELM, "request_states.1", "result.completions.0.tokens.0.text", 1),
    (HELM_STATS, "1", "instance_id", OBJECT),
    (HELM_STATS, "1", "stats", "x"),
    (HELM_STATS, "1", "stats.0.name", "x"),
    (PPL, "1", "gold", ["x"]),
    (PPL, "1", "prediction", True),
    (PPL, "1", "label: A", "x"),
    (PPL, "1", "label: A.BPB", True),
    (PPL, "1", "label: A.testing input", 1),
]
"""File, the record, the path in it, and what stands there."""


def changed(fixture: Path, folder: Path, path: str, value: object) -> Path:
    """A copy of the fixture, and of what lies beside it, with one value exchanged."""
    shutil.copytree(fixture.parent, folder)
    text = fixture.read_text(encoding="utf-8")
    is_lines = fixture.suffix == ".jsonl"
    whole: Any = [json.loads(line) for line in text.splitlines()] if is_lines else json.loads(text)
    holder: Any = whole
    *steps, last = path.split(".")
    for step in steps:
        holder = holder[int(step)] if isinstance(holder, list) else holder[step]
    if not isinstance(holder, list):
        holder[last] = value
    elif int(last) == len(holder):
        holder.append(value)
    else:
        holder[int(last)] = value
    copied = folder / fixture.name
    copied.write_text("\n".join(map(json.dumps, whole)) if is_lines else json.dumps(whole), encoding="utf-8")
    return copied


@pytest.mark.parametrize(("file", "record", "path", "value"), WRONG)
def test_a_value_of_the_wrong_type_is_named_by_its_path(
    tmp_path: Path, file: str, record: str, path: str, value: object
) -> None:
    copied = changed(FIXTURES / file, tmp_path / "log", f"{record}.{path}", value)
    before, reading = (
        readers.read(log, gold=gold if (gold := log.parent / "gold.csv").is_file() else None)
        for log in (FIXTURES / file, copied)
    )
    (cell,) = [cell for problem in reading.problems for cell in problem.first_cells if cell.column == path]
    assert (cell.row, reading.n_bad_rows) == (2, before.n_bad_rows + 1)
    assert cell.expected
    assert cell.found == ("null" if value is None else as_json_text(value))


@pytest.mark.parametrize(
    ("file", "path"),
    [
        (ECHO, f"{CHOICE}.logprobs.token_logprobs"),
        (DUMP, "outputs.0.logprobs"),
        (TGI, "details.top_tokens"),
    ],
)
def test_lists_of_tokens_that_are_not_of_one_length(tmp_path: Path, file: str, path: str) -> None:
    stored = json.loads((FIXTURES / file).read_text(encoding="utf-8").splitlines()[1])
    for step in path.split("."):
        stored = stored[int(step) if isinstance(stored, list) else step]
    copied = changed(FIXTURES / file, tmp_path / "log", f"1.{path}.{len(stored)}", None)
    (cell,) = [cell for problem in readers.read(copied).problems for cell in problem.first_cells]
    assert (cell.row, cell.column, cell.found) == (2, path, str(len(stored) + 1))
