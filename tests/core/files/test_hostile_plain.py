"""Are the hostile plain files loaded, asked about and refused as their manifest says?"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from calib_core import files
from calib_core.analysis.check import FileReport, check, usable_runs
from calib_core.analysis.evidence import gather
from calib_core.analysis.score import score
from calib_core.files.reading import Reading
from calib_core.problems import BadRowsFound, Refused, Unavailable
from calib_core.records import AnswerRun
from core.files.answer_runs import of_answers

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

DECIDED: Final = {
    "layout/tabs.csv": "tabs between plain numbers are read: the header tells them",
    "layout/pipes.csv": "vertical bars between plain numbers are read: the header tells them",
}
"""Cases that are read here although the manifest refuses them, and why."""

METHOD: Final = {
    "conf": "given",
    "dist": "choice_softmax",
    "logprobs": "choice_softmax",
    "samples": "cluster_size",
}
METRIC: Final = {"accuracy": "accuracy", "brier": "brier", "brier_top": "brier", "brier_multi": "brier_multi"}
"""The manifest's figures of one method → metric."""


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
    chosen = [case for case in cases if case["family"] == family]
    assert chosen
    wrong = {case["name"]: fault for case in chosen for fault in [*_faults(case, tmp_path)][:1]}
    assert not wrong


def test_every_decision_is_about_a_case_that_the_manifest_refuses(cases: list[Case]) -> None:
    refused = {case["name"] for case in cases if case["expect"] == "refused"}
    assert set(DECIDED) <= refused


def test_columns_of_one_choice_each_are_among_the_cases(cases: list[Case]) -> None:
    assert len([case for case in cases if "p_A" in _mapping(case)]) == 15


def _faults(case: Case, folder: Path) -> Iterator[str]:
    """What differs from the manifest, the first first; nothing where all is as it says."""
    path = folder / case["path"]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(case["text"].encode("utf-8", "surrogatepass"))
    except OSError:
        return  # this system has no such names
    try:
        report = check(reading := files.read(path, columns=_mapping(case)))
    except Refused as refusal:
        yield from _refused(case, str(refusal))
        return
    if report.status == "refused":
        yield from _refused(case, report.message)
        with pytest.raises(Refused) as raised:
            usable_runs(reading, skip_bad_rows=True)
        if str(raised.value) != report.message:
            yield f"another message is raised: {raised.value}"
    elif case["expect"] != "refused":
        yield from _read(case, report, reading)
    elif case["name"] not in DECIDED:
        yield "was read and should be refused"


def _mapping(case: Case) -> dict[str, str]:
    """What a person would say of the columns that have no name of this program."""
    header = case["text"].split("\n")[0].split(",")
    there = [name for name in OTHER_NAMES if f'"{name}"' in case["text"] or name in header]
    spread = [name for name in header if re.fullmatch("p_[A-Z]", name)]
    return {name: OTHER_NAMES[name] for name in there} | dict.fromkeys(spread, "choice_probs")


def _refused(case: Case, message: str) -> Iterator[str]:
    if case["expect"] != "refused" or case["name"] in DECIDED:
        yield f"was refused: {message}"
    yield from _unmentioned(case, message)


def _unmentioned(case: Case, message: str) -> Iterator[str]:
    missing = [text for text in case.get("error_must_mention", ()) if text not in message.lower()]
    if missing or len(message) > 2000 or "Traceback" in message:
        yield f"message without {missing}: {message}"


def _read(case: Case, report: FileReport, reading: Reading) -> Iterator[str]:
    if (report.rows, report.bad_rows) != (case["rows"], case.get("bad_rows", 0)):
        yield f"{report.bad_rows} of {report.rows} rows are bad"
    rows = sum(run.rows.height for run in of_answers([each.run for each in report.runs]))
    if rows != case.get("good_rows", case["rows"]):
        yield f"{rows} good rows"
    if report.status != ("asks" if case["expect"] == "asks" else "loads"):
        yield f"status {report.status}"
    if report.status == "asks":
        with pytest.raises(BadRowsFound) as asked:
            usable_runs(reading)
        yield from _unmentioned(case, str(asked.value))
        places = {(cell.row, cell.line) for problem in report.problems for cell in problem.first}
        if places != {(bad["row"], bad["line"]) for bad in case["bad"]}:
            yield f"bad at {sorted(places)}"
    for run in of_answers(usable_runs(reading, skip_bad_rows=True)):
        yield from _scored(case, run)


def _scored(case: Case, run: AnswerRun) -> Iterator[str]:
    """What the analysis says of one run, against the manifest's figures."""
    if case["shape"] not in METHOD:
        return
    for method in case.get("unusable", ()):
        with pytest.raises(Unavailable):
            gather(run, method)
    evidence = gather(run, METHOD[case["shape"]])
    missing = run.rows.height - evidence.n_used
    if missing != case.get("missing", 0):
        yield f"{missing} rows of {run.label} are missing"
    if evidence.n_used != case["values"].get("n", evidence.n_used):
        yield f"n of {run.label} is {evidence.n_used}"
    for name in case["values"].keys() & METRIC.keys():
        value = score(evidence, METRIC[name]).value
        if value is None or not math.isclose(value, case["values"][name], abs_tol=1e-9):
            yield f"{name} of {run.label} is {value}"
