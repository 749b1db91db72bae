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
from calib_core.analysis.check import FileReport, RunReport, check_file
from calib_core.analysis.evidence import Evidence, gather_evidence
from calib_core.confidence.method import MethodOptions
from calib_core.problems import CalibError
from calib_core.records import Run
from pages.parts import session, waiting
from pages.parts.listing import ListedFile, FileStamp, list_folder, list_uploads
from pages.parts.literal import escape_markdown
from pages.parts.uploads import SessionUploads
from pages.parts.wishes import CachedMappings, FileMapping, MappingStore, user_cache_folder

ResultT = TypeVar("T")
PROJECT_ROOT: Final = Path(__file__).resolve().parents[2]
MAX_RESULTS: Final = 64
"""How many small results of one kind are kept for the whole server."""
MAX_LARGE_RESULTS: Final = 4
"""How many are kept of a kind that may be as large as its file."""


def data_folder() -> Path:
    """The folder named by `-- --data FOLDER`, else by CALIB_DATA, else the demo data."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--data", default=os.environ.get("CALIB_DATA") or str(PROJECT_ROOT / "data"))
    return Path(parser.parse_known_args(sys.argv[1:])[0].data)


def is_demo_data() -> bool:
    """Whether the app shows the data it came with."""
    return data_folder().resolve() == (PROJECT_ROOT / "data").resolve()


@dataclass(frozen=True, slots=True, eq=False)
class LoadedFile:
    """One file: its report, or why it could not be read.

    listed: how it was read; unwished: its report without what the person said of it, where that came to
    nothing; stale: whether that was said of other columns than the file has now, and so passed over.
    """

    listing: ListedFile
    report: FileReport | None
    refusal: str | None
    report_without_mapping: FileReport | None = None
    mapping_is_stale: bool = False

    @property
    def name(self) -> str:
        """Its path below the data folder, or what its uploader calls it."""
        return self.listing.name

    @property
    def stamp(self) -> FileStamp:
        """What results rest on."""
        return self.listing.stamp

    @property
    def mapping(self) -> FileMapping:
        """What the person said of it."""
        return self.listing.mapping

    @property
    def is_uploaded(self) -> bool:
        """Whether it belongs to one session alone."""
        return bool(self.stamp.session)


@dataclass(eq=False)
class _ServerStore:
    files: dict[Path, LoadedFile] = field(default_factory=dict)
    results: dict[str, OrderedDict[tuple[Hashable, ...], Any]] = field(default_factory=dict)
    lock: RLock = field(default_factory=RLock)


@st.cache_resource(show_spinner=False)
def _server_store() -> _ServerStore:
    return _ServerStore()


def load_files(folder: Path | None) -> tuple[LoadedFile, ...]:
    """Every prediction file below the folder and those that this session uploaded, read if they are new."""
    store, mine = _server_store(), session.session_uploads()
    listed = list_folder(folder, mapping_store()) if folder else ()
    paths = [one.path for one in listed]
    with store.lock:
        for gone in store.files.keys() - set(paths):
            del store.files[gone]
    own = list_uploads(mine, paths)
    fresh = [one for one in listed if _is_outdated(one, store)] + [one for one in own if _is_outdated(one, mine)]
    bar = st.progress(0.0, "Reading files …") if fresh else None
    order = {one.path: number for number, one in enumerate(fresh)}

    def load(listing: ListedFile, owner: _ServerStore | SessionUploads) -> LoadedFile:
        with owner.lock:
            if _is_outdated(listing, owner):
                owner.files[listing.path] = _read_file(listing, _progress_reporter(bar, order.get(listing.path, 0), len(fresh)))
            return owner.files[listing.path]

    files_ = (*(load(one, store) for one in listed), *(load(one, mine) for one in own))
    if bar is not None:
        bar.empty()
    return files_


def mapping_store(file: LoadedFile | None = None) -> MappingStore:
    """Where is kept what people said of this file; without one, of those of the folder."""
    return session.session_uploads().wishes if file and file.is_uploaded else CachedMappings(user_cache_folder() / "wishes")


def _is_outdated(listing: ListedFile, owner: _ServerStore | SessionUploads) -> bool:
    before = owner.files.get(listing.path)
    return before is None or before.stamp != listing.stamp


def _progress_reporter(bar: DeltaGenerator | None, index: int, total: int) -> Callable[[float, str], None]:
    def report_progress(fraction: float, text: str) -> None:
        if bar is not None:
            bar.progress(min(1.0, (index + fraction) / total), escape_markdown(text))

    return report_progress


def _read_file(listing: ListedFile, progress: Callable[[float, str], None]) -> LoadedFile:
    """The file as the person wants it read; said of other columns than it has, the wish is passed over."""
    refusal: str | None = None
    report: FileReport | None = None
    try:
        report = _read_report(listing, listing.mapping, progress)
        refusal = report.message if report.status == "refused" else None
    except CalibError as refused:
        refusal = str(refused)
    if not listing.mapping or (report is not None and listing.mapping.applies_to(report.columns) and refusal is None):
        return LoadedFile(listing, report, refusal)
    try:
        unwished = _read_report(listing, _fallback_mapping(listing.mapping), progress)
    except CalibError:
        return LoadedFile(listing, report, refusal)
    if listing.mapping.applies_to(unwished.columns):
        return LoadedFile(listing, report, refusal, unwished)
    message = unwished.message if unwished.status == "refused" else None
    return LoadedFile(listing, unwished, message, mapping_is_stale=True)


def _fallback_mapping(mapping: FileMapping) -> FileMapping:
    """The wish without its last part: what a refused one may still be read by."""
    if mapping.columns:
        return FileMapping(mapping.format, gold=mapping.gold)
    return FileMapping(mapping.format) if mapping.gold else FileMapping()


def _read_report(listing: ListedFile, mapping: FileMapping, progress: Callable[[float, str], None]) -> FileReport:
    """Raises CalibError where the file cannot be read so."""
    return check_file(files.read(
        listing.path,
        name=listing.name,
        format=mapping.format,
        columns=dict(mapping.columns),
        gold=listing.gold if mapping.gold else None,
        root=listing.root,
        progress=progress,
    ))


def cached_evidence(run: Run, stamp: FileStamp, method: str, options: MethodOptions) -> Evidence:
    """What the method says of the run; raises Unavailable as `gather` does."""
    return cached_result(
        ("evidence", run.file, stamp, run.label, method, options),
        lambda: gather_evidence(run, method, options),
        max_results=MAX_LARGE_RESULTS,
    )


def run_evidence(report: RunReport, stamp: FileStamp, method: str, options: MethodOptions) -> Evidence:
    """What a method of `report.survey.usable` says of the run; raises as `gather` does."""
    if options == MethodOptions():
        return report.survey.usable[method]
    return cached_evidence(report.run, stamp, method, options)


def cached_result(key: tuple[Hashable, ...], compute: Callable[[], ResultT], max_results: int = MAX_RESULTS) -> ResultT:
    """The result under this key, computed now if it is not kept.

    key: begins with the kind of result, a text; most: how many of that kind are kept, the least recently
    used going first.
    """
    store = session.session_uploads() if _is_session_private(key) else _server_store()
    with store.lock:
        results = store.results.setdefault(str(key[0]), OrderedDict())
        if key in results:
            results.move_to_end(key)
            return results[key]
    with waiting.waiting_spinner(str(key[0])):
        value = compute()
    with store.lock:
        results[key] = value
        while len(results) > max_results:
            results.popitem(last=False)
    return value


def _is_session_private(key: Hashable) -> bool:
    """Whether a result rests on an uploaded file, and so belongs to its session alone."""
    if isinstance(key, tuple):
        return any(map(_is_session_private, cast("tuple[Hashable, ...]", key)))
    return isinstance(key, FileStamp) and bool(key.session)
