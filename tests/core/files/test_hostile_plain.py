"""Are the hostile plain files loaded, asked about and refused as their manifest says?"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from calib_core import files
from calib_core.files.reading import Reading
from calib_core.problems import BadRowsFound, CalibError, Refused
from calib_core.records import AnswerRun

Case = dict[str, Any]

FAMILIES: Final = (
    "numbers",
    "flags",
    "identity",
    "layout",
    "emptiness",
    "encodings",
    "samples",
    "distributions",
    "names",
    "containers",
    "literal",
    "formulas",
)
SHAPES: Final = ("conf", "dist", "logprobs", "samples")
OTHER_NAMES: Final = {"answers": "samples", "probs": "choice_probs", "logprobs": "choice_logprobs"}

ABOVE: Final = "no method has a usable row: judged where methods are known, above this floor"
DECIDED: Final = {
    "layout/tabs.csv": "tabs between plain numbers are read: the header tells them",
    "layout/pipes.csv": "vertical bars between plain numbers are read: the header tells them",
    "layout/no_confidence.csv": ABOVE,
    "numbers/all_blank.csv": ABOVE,
    "samples/n_one_only.jsonl": ABOVE,
    "samples/nothing_parses.jsonl": ABOVE,
    "samples/no_gold_at_all.jsonl": ABOVE,
}
"""Cases that are read here although the manifest refuses them, and why."""

COLUMN_A_CHOICE: Final = 15
"""Cases with one column a choice (p_A, p_B …), which are not read as a distribution yet."""


@pytest.fixture(scope="module")
def cases(shared: Path) -> list[Case]:
    """The cases of plain files whose text stands in the manifest."""
    manifest: list[Case] = json.loads((shared / "hostile" / "manifest.json").read_text())
    return [
        case
        for case in manifest
        if "text" in case
        and case["family"] in FAMILIES
        and (case["shape"] in SHAPES or case["family"] == "emptiness")
    ]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_case_of_a_family(cases: list[Case], family: str, tmp_path: Path) -> None:
    chosen = [case for case in cases if case["family"] == family and not _column_a_choice(case)]
    assert chosen
    wrong = {case["name"]: fault for case in chosen for fault in [*_faults(case, tmp_path)][:1]}
    assert not wrong


def test_the_cases_left_out_are_those_with_a_column_a_choice(cases: list[Case]) -> None:
    assert len([case for case in cases if _column_a_choice(case)]) == COLUMN_A_CHOICE


def test_every_decision_is_about_a_case_that_the_manifest_refuses(cases: list[Case]) -> None:
    refused = {case["name"] for case in cases if case["expect"] == "refused"}
    assert set(DECIDED) <= refused


def _column_a_choice(case: Case) -> bool:
    return "p_A" in case["text"].split("\n")[0].split(",")


def _faults(case: Case, folder: Path) -> Iterator[str]:
    """What differs from the manifest, the first first; nothing where all is as it says."""
    path = folder / case["path"]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(case["text"].encode("utf-8", "surrogatepass"))
    except OSError:
        return  # this system has no such names
    present = {
        name: role for name, role in OTHER_NAMES.items() if f'"{name}"' in case["text"] or _heads(case, name)
    }
    try:
        reading = files.read(path, columns=present)
    except Refused as refusal:
        yield from _refused(case, refusal)
        return
    if case["expect"] == "refused":
        if case["name"] not in DECIDED:
            yield "was read and should be refused"
        return
    yield from _read(case, reading)


def _heads(case: Case, name: str) -> bool:
    return name in case["text"].split("\n")[0].split(",")


def _refused(case: Case, refusal: CalibError) -> Iterator[str]:
    message = str(refusal)
    if case["expect"] != "refused" or case["name"] in DECIDED:
        yield f"was refused: {message}"
    yield from _unmentioned(case, message)


def _unmentioned(case: Case, message: str) -> Iterator[str]:
    missing = [text for text in case.get("error_must_mention", ()) if text not in message.lower()]
    if missing or len(message) > 2000 or "Traceback" in message:
        yield f"message without {missing}: {message}"


def _read(case: Case, reading: Reading) -> Iterator[str]:
    if (reading.rows, reading.bad_rows) != (case["rows"], case.get("bad_rows", 0)):
        yield f"{reading.bad_rows} of {reading.rows} rows are bad"
    rows = sum(run.rows.height for run in reading.good_runs)
    if rows != case.get("good_rows", case["rows"]):
        yield f"{rows} good rows"
    if case["expect"] == "asks":
        with pytest.raises(BadRowsFound) as asked:
            reading.runs(skip_bad_rows=False)
        yield from _unmentioned(case, str(asked.value))
        places = {(cell.row, cell.line) for problem in reading.problems for cell in problem.first}
        if places != {(bad["row"], bad["line"]) for bad in case["bad"]}:
            yield f"bad at {sorted(places)}"
    for run in reading.runs(skip_bad_rows=True):
        for name, value in _values(case["shape"], run).items():
            if name in case["values"] and not math.isclose(value, case["values"][name], abs_tol=1e-9):
                yield f"{name} of {run.label} is {value}"


def _values(shape: str, run: AnswerRun) -> dict[str, float]:
    """The manifest's figures, worked out from the rows."""
    rows = run.rows.to_dicts()
    if shape == "conf":
        pairs = [(row["confidence"], row["correct"]) for row in rows if row["confidence"] is not None]
        pairs = [(confidence, correct) for confidence, correct in pairs if correct is not None]
        return {
            "n": len(pairs),
            "accuracy": _mean([float(correct) for _, correct in pairs]),
            "brier": _mean([(confidence - correct) ** 2 for confidence, correct in pairs]),
        }
    if shape == "dist":
        known = [(row["choice_probs"], row["gold_index"]) for row in rows]
        return _distribution([(probs, gold) for probs, gold in known if probs and gold is not None])
    if shape == "logprobs":
        softmax = [[math.exp(value) for value in row["choice_logprobs"]] for row in rows]
        return _distribution(
            [
                ([value / sum(probs) for value in probs], row["gold_index"])
                for probs, row in zip(softmax, rows, strict=True)
            ]
        )
    return {}


def _distribution(known: list[tuple[list[float], int]]) -> dict[str, float]:
    right = [probs.index(max(probs)) == gold for probs, gold in known]
    return {
        "n": len(known),
        "accuracy": _mean([float(hit) for hit in right]),
        "brier_top": _mean([(max(probs) - hit) ** 2 for (probs, _), hit in zip(known, right, strict=True)]),
        "brier_multi": _mean(
            [sum((value - (at == gold)) ** 2 for at, value in enumerate(probs)) for probs, gold in known]
        ),
    }


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)
