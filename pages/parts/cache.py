"""What was found in the data folder, and what has been computed from it already?

One store for the whole server, and one for the uploads of each session. Files are kept by path with their
time and size and what a person said of them (`listing.Stamp`), never by content: hashing a large frame by
sample gives wrong numbers. Values are frozen, so sessions can share them.
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
from typing import Any, Final, TypeVar, cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calib_core import files
from calib_core.analysis.check import FileReport, RunReport, check
from calib_core.analysis.evidence import Evidence, gather
from calib_core.confidence.method import Options
from calib_core.problems import CalibError
from calib_core.records import Run
from pages.parts import session, waiting
from pages.parts.listing import Listed, Stamp, in_folder, uploaded
from pages.parts.literal import literal
from pages.parts.uploads import Uploads
from pages.parts.wishes import InCache, Wish, Wishes, cache_folder

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
    """One file: its report, or why it could not be read.

    listed: how it was read; unwished: its report without what the person said of it, where that came to
    nothing; stale: whether that was said of other columns than the file has now, and so passed over.
    """

    listed: Listed
    report: FileReport | None
    refusal: str | None
    unwished: FileReport | None = None
    stale: bool = False

    @property
    def name(self) -> str:
        """Its path below the data folder, or what its uploader calls it."""
        return self.listed.name

    @property
    def stamp(self) -> Stamp:
        """What results rest on."""
        return self.listed.stamp

    @property
    def wish(self) -> Wish:
        """What the person said of it."""
        return self.listed.wish

    @property
    def uploaded(self) -> bool:
        """Whether it belongs to one session alone."""
        return bool(self.stamp.session)


@dataclass(eq=False)
class _Store:
    files: dict[Path, File] = field(default_factory=dict)
    results: dict[str, OrderedDict[tuple[Hashable, ...], Any]] = field(default_factory=dict)
    lock: RLock = field(default_factory=RLock)


@st.cache_resource(show_spinner=False)
def _store() -> _Store:
    return _Store()


def found(folder: Path | None) -> tuple[File, ...]:
    """Every prediction file below the folder and those that this session uploaded, read if they are new."""
    store, mine = _store(), session.uploads()
    listed = in_folder(folder, wishes()) if folder else ()
    paths = [one.path for one in listed]
    with store.lock:
        for gone in store.files.keys() - set(paths):
            del store.files[gone]
    own = uploaded(mine, paths)
    fresh = [one for one in listed if _old(one, store)] + [one for one in own if _old(one, mine)]
    bar = st.progress(0.0, "Reading files …") if fresh else None
    order = {one.path: number for number, one in enumerate(fresh)}

    def of(one: Listed, kept_in: _Store | Uploads) -> File:
        with kept_in.lock:
            if _old(one, kept_in):
                kept_in.files[one.path] = _read(one, _reporter(bar, order.get(one.path, 0), len(fresh)))
            return kept_in.files[one.path]

    files_ = (*(of(one, store) for one in listed), *(of(one, mine) for one in own))
    if bar is not None:
        bar.empty()
    return files_


def wishes(file: File | None = None) -> Wishes:
    """Where is kept what people said of this file; without one, of those of the folder."""
    return session.uploads().wishes if file and file.uploaded else InCache(cache_folder() / "wishes")


def _old(one: Listed, kept_in: _Store | Uploads) -> bool:
    before = kept_in.files.get(one.path)
    return before is None or before.stamp != one.stamp


def _reporter(bar: DeltaGenerator | None, number: int, of: int) -> Callable[[float, str], None]:
    def report(fraction: float, text: str) -> None:
        if bar is not None:
            bar.progress(min(1.0, (number + fraction) / of), literal(text))

    return report


def _read(one: Listed, progress: Callable[[float, str], None]) -> File:
    """The file as the person wants it read; said of other columns than it has, the wish is passed over."""
    refusal: str | None = None
    report: FileReport | None = None
    try:
        report = _report(one, one.wish, progress)
        refusal = report.message if report.status == "refused" else None
    except CalibError as refused:
        refusal = str(refused)
    if not one.wish or (report is not None and one.wish.fits(report.columns) and refusal is None):
        return File(one, report, refusal)
    try:
        unwished = _report(one, _less(one.wish), progress)
    except CalibError:
        return File(one, report, refusal)
    if one.wish.fits(unwished.columns):
        return File(one, report, refusal, unwished)
    message = unwished.message if unwished.status == "refused" else None
    return File(one, unwished, message, stale=True)


def _less(wish: Wish) -> Wish:
    """The wish without its last part: what a refused one may still be read by."""
    if wish.columns:
        return Wish(wish.format, gold=wish.gold)
    return Wish(wish.format) if wish.gold else Wish()


def _report(one: Listed, wish: Wish, progress: Callable[[float, str], None]) -> FileReport:
    """Raises CalibError where the file cannot be read so."""
    return check(files.read(
        one.path,
        name=one.name,
        format=wish.format,
        columns=dict(wish.columns),
        gold=one.gold if wish.gold else None,
        within=one.within,
        progress=progress,
    ))


def evidence(run: Run, stamp: Stamp, method: str, options: Options) -> Evidence:
    """What the method says of the run; raises Unavailable as `gather` does."""
    return kept(
        ("evidence", run.file, stamp, run.label, method, options),
        lambda: gather(run, method, options),
        most=LARGE_RESULTS,
    )


def seen(report: RunReport, stamp: Stamp, method: str, options: Options) -> Evidence:
    """What a method of `report.survey.usable` says of the run; raises as `gather` does."""
    if options == Options():
        return report.survey.usable[method]
    return evidence(report.run, stamp, method, options)


def kept(key: tuple[Hashable, ...], compute: Callable[[], T], most: int = RESULTS) -> T:
    """The result under this key, computed now if it is not kept.

    key: begins with the kind of result, a text; most: how many of that kind are kept, the least recently
    used going first.
    """
    store = session.uploads() if _private(key) else _store()
    with store.lock:
        results = store.results.setdefault(str(key[0]), OrderedDict())
        if key in results:
            results.move_to_end(key)
            return results[key]
    with waiting.told(str(key[0])):
        value = compute()
    with store.lock:
        results[key] = value
        while len(results) > most:
            results.popitem(last=False)
    return value


def _private(key: Hashable) -> bool:
    """Whether a result rests on an uploaded file, and so belongs to its session alone."""
    if isinstance(key, tuple):
        return any(map(_private, cast("tuple[Hashable, ...]", key)))
    return isinstance(key, Stamp) and bool(key.session)
