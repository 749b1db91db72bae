"""What was found in the data folder, and what has been computed from it already?

One store for the whole server. Files are kept by path with their time and size, never by content:
hashing a large frame by sample gives wrong numbers. Values in it are frozen, so sessions can share them.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import Any, Final, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calib_core import files
from calib_core.analysis.check import FileReport, RunReport, check
from calib_core.analysis.evidence import Evidence, gather
from calib_core.confidence.method import Options
from calib_core.problems import CalibError
from calib_core.records import Run
from pages.parts.literal import literal

T = TypeVar("T")
ROOT: Final = Path(__file__).resolve().parents[2]
RESULTS: Final = 64
"""How many small results of one kind are kept for the whole server."""
LARGE_RESULTS: Final = 4
"""How many are kept of a kind that may be as large as its file."""


def data_folder() -> Path:
    """The folder named by `-- --data FOLDER`, else by CALIB_DATA, else the demo data."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--data", default=os.environ.get("CALIB_DATA") or str(ROOT / "data"))
    return Path(parser.parse_known_args(sys.argv[1:])[0].data)


def on_demo_data() -> bool:
    """Whether the app shows the data it came with."""
    return data_folder().resolve() == (ROOT / "data").resolve()


@dataclass(frozen=True, slots=True, eq=False)
class File:
    """One file of the data folder: its report, or why it could not be read."""

    name: str
    stamp: tuple[int, int]
    report: FileReport | None
    refusal: str | None


@dataclass(eq=False)
class _Store:
    files: dict[Path, File] = field(default_factory=dict)
    results: dict[str, OrderedDict[tuple[Hashable, ...], Any]] = field(default_factory=dict)
    lock: RLock = field(default_factory=RLock)


@st.cache_resource(show_spinner=False)
def _store() -> _Store:
    return _Store()


def found(folder: Path) -> tuple[File, ...]:
    """Every prediction file below the folder, each read once until it changes, with progress."""
    store, paths = _store(), files.scan(folder)
    fresh = [path for path in paths if path not in store.files or store.files[path].stamp != _stamp(path)]
    if fresh:
        bar = st.progress(0.0, "Reading files …")
        with store.lock:
            for number, path in enumerate(fresh):
                if path not in store.files or store.files[path].stamp != _stamp(path):
                    store.files[path] = _read(path, folder, _reporter(bar, number, len(fresh)))
            for gone in [path for path in store.files if path.is_relative_to(folder) and path not in paths]:
                del store.files[gone]
        bar.empty()
    return tuple(store.files[path] for path in paths)


def _stamp(path: Path) -> tuple[int, int]:
    try:
        stat = path.stat()
    except OSError:  # gone since the folder was listed: reading it says so
        return -1, -1
    return stat.st_mtime_ns, stat.st_size


def _reporter(bar: DeltaGenerator, number: int, of: int) -> Callable[[float, str], None]:
    def report(fraction: float, text: str) -> None:
        bar.progress(min(1.0, (number + fraction) / of), literal(text))

    return report


def _read(path: Path, folder: Path, progress: Callable[[float, str], None]) -> File:
    name, stamp = path.relative_to(folder).as_posix(), _stamp(path)
    try:
        report = check(files.read(path, name=name, progress=progress))
    except CalibError as refusal:
        return File(name, stamp, None, str(refusal))
    return File(name, stamp, report, report.message if report.status == "refused" else None)


def evidence(run: Run, stamp: tuple[int, int], method: str, options: Options) -> Evidence:
    """What the method says of the run; raises Unavailable as `gather` does."""
    return kept(
        ("evidence", run.file, stamp, run.label, method, options),
        lambda: gather(run, method, options),
        most=LARGE_RESULTS,
    )


def seen(report: RunReport, stamp: tuple[int, int], method: str, options: Options) -> Evidence:
    """What a method of `report.survey.usable` says of the run; raises as `gather` does."""
    if options == Options():
        return report.survey.usable[method]
    return evidence(report.run, stamp, method, options)


def kept(key: tuple[Hashable, ...], compute: Callable[[], T], most: int = RESULTS) -> T:
    """The result under this key, computed now if it is not kept.

    key: begins with the kind of result, a text; most: how many of that kind are kept, the least recently
    used going first.
    """
    store = _store()
    with store.lock:
        results = store.results.setdefault(str(key[0]), OrderedDict())
        if key in results:
            results.move_to_end(key)
            return results[key]
    value = compute()
    with store.lock:
        results[key] = value
        while len(results) > most:
            results.popitem(last=False)
    return value
