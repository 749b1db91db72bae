"""Are the hostile archives and arrays loaded, asked about and refused as their manifest says?"""

from __future__ import annotations

import importlib.util
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from calib_core import files
from calib_core.analysis.check import usable_runs
from calib_core.analysis.evidence import gather
from calib_core.analysis.score import score
from calib_core.files.reading import Reading
from calib_core.problems import BadRowsFound, Refused
from calib_core.records import AnswerRun

Case = dict[str, Any]
Forged = dict[str, str | bytes | Callable[[Path], None]]

FAMILIES: Final = ("npz_files", "emptiness", "containers", "bombs", "zips")
ENDINGS: Final = (".npz", ".eval", ".pt")

DECIDED: Final = {
    "containers/npz.eval": "a file is recognised by its content, never by its name",
}
"""Cases that are read here although the manifest refuses them, and why."""

METRIC: Final = {"accuracy": "accuracy", "brier_top": "brier", "brier_multi": "brier_multi"}


@pytest.fixture(scope="module")
def forged(shared: Path) -> dict[str, Forged]:
    """Family → its files, as the program beside the manifest forges them."""
    path = shared / "hostile" / "make_hostile.py"
    spec = importlib.util.spec_from_file_location("make_hostile", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {family: getattr(module, family)() for family in FAMILIES}


@pytest.fixture(scope="module")
def cases(shared: Path) -> dict[str, Case]:
    manifest: list[Case] = json.loads((shared / "hostile" / "manifest.json").read_text())
    return {case["path"]: case for case in manifest}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_archive_of_a_family(
    forged: dict[str, Forged],
    cases: dict[str, Case],
    family: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    names = [name for name in forged[family] if name.endswith(ENDINGS)]
    assert names
    (tmp_path / "data").mkdir()
    wrong: dict[str, str] = {}
    for name in names:
        path = tmp_path / "data" / name
        made = forged[family][name]
        if callable(made):
            made(path)
        else:
            path.write_bytes(made if isinstance(made, bytes) else made.encode())
        for fault in [*_faults(cases[f"{family}/{name}"], path)][:1]:
            wrong[name] = fault
    assert not wrong
    assert [path.name for path in tmp_path.iterdir()] == ["data"]  # nothing was unpickled, nothing extracted


def test_every_decision_is_about_a_case_that_the_manifest_refuses(cases: dict[str, Case]) -> None:
    assert {cases[name]["expect"] for name in DECIDED} == {"refused"}


def _faults(case: Case, path: Path) -> Iterator[str]:
    """What differs from the manifest; nothing where all is as it says."""
    # Inspect logs are not read yet: what is certain is that they are refused.
    refused = case["shape"] == "inspect" or (case["expect"] == "refused" and case["path"] not in DECIDED)
    try:
        reading = files.read(path)
        message = reading.refusal
    except Refused as refusal:
        reading, message = None, str(refusal)
    if refused and message is None:
        yield "was read and should be refused"
    elif refused:
        yield from _unmentioned(case, message or "") if case["shape"] != "inspect" else ()
    elif reading is None or message is not None:
        yield f"was refused: {message}"
    else:
        yield from _read(case, reading)


def _read(case: Case, reading: Reading) -> Iterator[str]:
    if (reading.rows, reading.bad_rows) != (case.get("rows", reading.rows), case.get("bad_rows", 0)):
        yield f"{reading.bad_rows} of {reading.rows} rows are bad"
    if reading.bad_rows:
        with pytest.raises(BadRowsFound) as asked:
            usable_runs(reading)
        yield from _unmentioned(case, str(asked.value))
    for run in usable_runs(reading, skip_bad_rows=True):
        assert isinstance(run, AnswerRun)
        evidence = gather(run, "choice_softmax")
        for name in case.get("values", {}).keys() & METRIC.keys():
            value = score(evidence, METRIC[name]).value
            if value is None or not math.isclose(value, case["values"][name], abs_tol=1e-9):
                yield f"{name} is {value}"


def _unmentioned(case: Case, message: str) -> Iterator[str]:
    missing = [text for text in case["error_must_mention"] if text not in message.lower()]
    if missing or len(message) > 2000:
        yield f"message without {missing}: {message}"
