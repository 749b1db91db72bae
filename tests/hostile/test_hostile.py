"""Is every hostile file refused, asked about or loaded as the manifest says, within its bounds?"""

from __future__ import annotations

import csv
import io
import os
import re
from pathlib import Path

import psutil
import pytest

from calib_core import readers
from calib_core.runs import AnswerRun
from hostile.importer import Importer, Result
from hostile.manifest import CASES, LOADS, OTHERWISE, Case, cases
from hostile.watch import NOBODY, Port, Watch

NEVER: list[str] = ["CANARY-7f3a", "root:", "Traceback"]


def listing(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file below the folder: path → size, time of its last change."""
    found: dict[str, tuple[int, int]] = {}
    for at, folders, names in os.walk(folder):
        for name in (*folders, *names):
            seen = os.lstat(path := os.path.join(at, name))
            found[path] = seen.st_size, seen.st_mtime_ns
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: ascii(case["name"]))
def test_hostile(
    case: Case, hostile: Path, importer: Importer, port: Port, tmp_path: Path
) -> None:
    typed, path = case.get("kind") == "typed", case["path"].replace(NOBODY, port.address)
    if not typed and not os.path.lexists(hostile / "data" / path):
        pytest.skip(f"not made here: needs {case.get('needs')}")
    born, before = psutil.Process(importer.pid).create_time(), listing(hostile)
    expect = case["expect"]
    with Watch(importer.pid, importer.idle, port) as watch:
        result = importer.load(path, case["shape"])
    assert watch.seconds <= 10
    assert watch.extra_bytes <= 2**30
    assert watch.requests == 0
    assert psutil.Process(importer.pid).create_time() == born
    assert listing(hostile) == before
    assert not any(never in text for never in NEVER for text in (result.message, *result.texts))
    if expect in ("refused", "asks"):
        assert result.message
        assert not result.loaded, "was loaded and should not be"
        unsaid = [text for text in case["error_must_mention"] if text not in result.message.lower()]
        assert not unsaid, result.message
        assert len(result.message) <= 2000
        assert str(hostile) not in result.message
    if expect == "asks":
        assert result.bad_rows == case["bad_rows"]
        assert list(result.bad) == sorted({bad["row"] for bad in case["bad"]})[:20]
        lines = {bad["row"]: bad["line"] for bad in case["bad"] if "line" in bad}
        assert {row: line for row, line in result.places if row in lines} == lines
        result = importer.load(path, case["shape"], good_only=True)
    if expect != "refused":
        assert result.loaded, result.message
        assert result.rows == case.get("good_rows", case["rows"])
        assert result.missing == case.get("missing", 0)
        assert not set(case.get("unusable", ())) & set(result.usable)
        for key, value in case.get("values", {}).items():
            for values in result.values:
                assert values[key] == pytest.approx(value, abs=1e-9), key
    assert not [text for text in case.get("literal", ()) if not _is_told(text, result)]
    if case["family"] == "formulas":
        assert _ids_of_exports(result, tmp_path) == result.ids
    again = importer.load("parquet_files/plain.parquet", "conf")
    assert [(values["n"], values["brier"]) for values in again.values] == [(4, pytest.approx(0.225))]


def _is_told(text: str, result: Result) -> bool:
    """Whether the text is among what the app has to show of the file, character for character.

    Half a character and, in the texts of a file, a line end may have been replaced.
    """
    whole = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return any(whole in told for told in (*result.ids, *result.texts, *result.questions))


def _ids_of_exports(result: Result, folder: Path) -> tuple[str, ...]:
    """The ids of an export that is read again; no text in it may be taken for a formula."""
    ids: list[str] = []
    for number, table in enumerate(result.exported):
        rows = list(csv.reader(io.StringIO(table, newline="")))
        texts = [cell for row in rows for cell in row if not re.fullmatch(r"-?[\d.]+", cell)]
        assert not [text for text in texts if text[:1] in tuple("=+-@\t\r＝")]
        path = folder / f"{number}.csv"
        path.write_text(table, encoding="utf-8", newline="")
        for run in readers.read_in_this_process(path, file=path.name, columns={"right": "correct"}).good_runs:
            assert isinstance(run, AnswerRun)
            ids += run.rows["id"].to_list()
    return tuple(ids)


def test_every_decision_of_ours_is_about_a_case() -> None:
    if not CASES:
        pytest.skip("needs the folder 'hostile' in 'shared'")
    told = {case["name"]: case for case in cases()}
    assert {told[name]["expect"] for name in LOADS} == {"refused"}
    assert OTHERWISE.keys() <= told.keys()
    assert len(told) == len(CASES) == 544
