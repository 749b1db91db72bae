"""Every hostile file is refused, asked about or loaded as the manifest says, within the limits."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from calib_core import readers
from calib_core.runs import AnswerRun
from hostile import importer as importers
from hostile.importer import Importer, Result
from hostile.manifest import CASES, Case
from hostile.resource_watch import NOBODY, Port, Watch, resident

NEVER: list[str] = ["CANARY-7f3a", "root:", "Traceback"]


Listing = dict[str, tuple[int, int]]


def listing(folder: Path) -> Listing:
    """Every file below the folder: path → size, time of its last change."""
    found: Listing = {}
    for at, folders, names in os.walk(folder):
        for name in (*folders, *names):
            seen = os.lstat(path := os.path.join(at, name))  # noqa: PTH118  half the time, at each case
            found[path] = seen.st_size, seen.st_mtime_ns
    return found


@pytest.fixture(scope="module", autouse=True)
def whole_set_unchanged(hostile: Path) -> Iterator[None]:
    """After each import only the folder of its file is looked at."""
    before = listing(hostile)
    yield
    assert listing(hostile) == before


@pytest.mark.parametrize("case", CASES, ids=lambda case: ascii(case["name"]))
def test_hostile(case: Case, hostile: Path, importer: Importer, port: Port, tmp_path: Path) -> None:
    _is_held(case, hostile, importer, port, tmp_path)


def test_further_hostile_files(
    extra_files: Path, port: Port, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The cases of a folder `hostile` among the further files that are not in the project's own set."""
    folder, known = extra_files / "hostile", {case["name"] for case in CASES}
    manifest = folder / "manifest.json"
    told: list[Case] = json.loads(manifest.read_text(encoding="utf-8")) if manifest.is_file() else []
    further = [case for case in told if case["name"] not in known]
    if not further:
        return
    made = tmp_path_factory.mktemp("further")
    program = [sys.executable, str(folder / "make_hostile.py"), str(made)]
    subprocess.run(program, check=True, stdout=subprocess.DEVNULL)
    before = listing(made)
    importer = importers.start(made / "data", tmp_path_factory.mktemp("importer"))
    try:
        for case in further:
            _is_held(case, made, importer, port, tmp_path)
        assert listing(made) == before
    finally:
        importer.stop()


def _is_held(case: Case, hostile: Path, importer: Importer, port: Port, tmp_path: Path) -> None:
    """One case is refused, asked about or loaded as its entry says, within the bounds of every import."""
    typed, path = case.get("kind") == "typed", case["path"].replace(NOBODY, port.address)
    if not typed and not os.path.lexists(hostile / "data" / path):
        pytest.skip(f"not made here: needs {case.get('needs')}")
    born = psutil.Process(importer.pid).create_time()
    around = (hostile / "data" / path).parent if not typed else hostile / "outside"
    expect, before = case["expect"], listing(around)
    with Watch(importer.pid, importer.idle, port) as watch:
        result = importer.load(path, case["shape"])
    assert watch.seconds <= 10
    assert watch.extra_bytes <= 2**30
    assert watch.requests == 0
    assert psutil.Process(importer.pid).create_time() == born
    assert listing(around) == before
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
    if expect == "refused":  # what is loaded has shown already that the process reads on
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
        for run in readers.read_in_this_process(
            path, file=path.name, options=readers.ReadOptions({"right": "correct"})
        ).good_runs:
            assert isinstance(run, AnswerRun)
            ids += run.rows["id"].to_list()
    return tuple(ids)


def test_the_memory_of_a_grandchild_is_seen() -> None:
    hold = "held = bytearray(80_000_000); print(1, flush=True); input()"
    start = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {hold!r}])"
    words = [sys.executable, "-c", start]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        assert psutil.Process(process.pid).memory_info().rss < 80_000_000 < resident(process.pid)
        process.communicate(b"\n")


KEYS: dict[str, set[str]] = {
    "refused": {"error_must_mention"},
    "asks": {"rows", "good_rows", "bad_rows", "bad", "values"},
    "loads": {"rows", "values"},
    "literal": {"rows", "values", "literal"},
}
"""What an entry has to say besides its name, by what is expected."""


def test_the_manifest_says_what_is_checked() -> None:
    assert len({case["name"] for case in CASES}) == len(CASES) == 595
    assert {case["expect"] for case in CASES} == set(KEYS)
    assert [case["name"] for case in CASES if KEYS[case["expect"]] - case.keys()] == []
    assert [
        case["name"]
        for case in CASES
        if case["expect"] == "asks" and case["rows"] - case["bad_rows"] != case["good_rows"]
    ] == []
