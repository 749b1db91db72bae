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
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import Any, Final, TypeVar, cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calib_core import readers
from calib_core.errors import CalibError
from calib_core.methods.method import MethodOptions
from calib_core.readers.companions import expected_companions
from calib_core.results.evidence import Evidence, gather_evidence
from calib_core.results.files import FileReport, RunReport, check_file
from calib_core.runs import Run
from pages.state.mappings import CachedMappings, FileMapping, MappingStore, user_cache_folder
from pages.state.markdown import escape_markdown
from pages.state.progress import waiting_spinner
from pages.state.uploads import SessionUploads, session_uploads

# MERGED listing: Which files are there to be read, how is each to be read, and when is it to be read again?

FileVersion = tuple[int, int]
"""When a file was written last, in nanoseconds, and its bytes; (-1, -1) where it is gone."""

_MISSING_VERSION: Final = (-1, -1)


@dataclass(frozen=True, slots=True)
class FileStamp:
    """What everything computed of a file rests on: it holds until one of these changes.

    versions: of the file, of those read with it, and of its table of right answers; session: of the session
    that uploaded it, "" of a file of the folder; others: of the other files, where several are
    one evaluation.
    """

    versions: tuple[FileVersion, ...]
    mapping: FileMapping
    session: str = ""
    part_stamps: tuple[FileStamp, ...] = ()


@dataclass(frozen=True, slots=True)
class ListedFile:
    """One file to be read.

    name: below the data folder, or its label; gold: the table of right answers that its wish names, None
    where it names none or that is not there; within: the folder out of which no link of it may lead.
    """

    path: Path
    name: str
    mapping: FileMapping
    stamp: FileStamp
    gold: Path | None
    root: Path


def list_folder(folder: Path, mappings: MappingStore) -> tuple[ListedFile, ...]:
    """Every prediction file below the folder, and what looks like one: reading that says why it is not read.

    Raises Refused as `files.listing`.
    """
    found = readers.list_folder(folder)
    named = {path: _display_name(path.relative_to(folder)) for path in (*found.files, *found.skipped)}
    return _list_files(named, mappings, frozenset(found.files), folder, "")


def _display_name(path: Path) -> str:
    """The path as text, what is none in it replaced: a page that is sent half a character shows nothing."""
    return path.as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def list_uploads(uploads: SessionUploads, tables: Collection[Path]) -> tuple[ListedFile, ...]:
    """The files of one session; tables: those of the folder, from which right answers may come, too."""
    named = {path: label for label, path in uploads.paths_by_label.items()}
    folder = next((path.parent for path in named), Path())
    return _list_files(named, uploads.wishes, frozenset((*named, *tables)), folder, uploads.token)


def _list_files(
    named: Mapping[Path, str], mappings: MappingStore, tables: Collection[Path], root: Path, session: str
) -> tuple[ListedFile, ...]:
    said = mappings.for_files(named)
    listed: list[ListedFile] = []
    for path, name in named.items():
        wish = said.get(path, FileMapping())
        gold = _find_table(tables, wish.gold) if wish.gold else None
        together = (path, *expected_companions(path), *((gold,) if gold else ()))
        stamp = FileStamp(tuple(map(_file_version, together)), wish, session)
        listed.append(ListedFile(path, name, wish, stamp, gold, root))
    return tuple(listed)


def _find_table(tables: Collection[Path], real_path: str) -> Path | None:
    """The table that lies there; a wish opens nothing but what is listed."""
    return next((table for table in tables if os.path.realpath(table) == real_path), None)


def _file_version(path: Path) -> FileVersion:
    try:
        status = path.stat()
    except (OSError, ValueError):  # gone since the folder was listed: reading it says so
        return _MISSING_VERSION
    return status.st_mtime_ns, status.st_size


ResultT = TypeVar("ResultT")
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
    store, mine = _server_store(), session_uploads()
    listed = list_folder(folder, mapping_store()) if folder else ()
    paths = [one.path for one in listed]
    with store.lock:
        for gone in store.files.keys() - set(paths):
            del store.files[gone]
    own = list_uploads(mine, paths)
    fresh = [one for one in listed if _is_outdated(one, store)] + [
        one for one in own if _is_outdated(one, mine)
    ]
    bar = st.progress(0.0, "Reading files …") if fresh else None
    order = {one.path: number for number, one in enumerate(fresh)}

    def load(listing: ListedFile, owner: _ServerStore | SessionUploads) -> LoadedFile:
        with owner.lock:
            if _is_outdated(listing, owner):
                owner.files[listing.path] = _read_file(
                    listing, _progress_reporter(bar, order.get(listing.path, 0), len(fresh))
                )
            return owner.files[listing.path]

    files_ = (*(load(one, store) for one in listed), *(load(one, mine) for one in own))
    if bar is not None:
        bar.empty()
    return files_


def mapping_store(file: LoadedFile | None = None) -> MappingStore:
    """Where is kept what people said of this file; without one, of those of the folder."""
    return (
        session_uploads().wishes
        if file and file.is_uploaded
        else CachedMappings(user_cache_folder() / "wishes")
    )


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
    if not listing.mapping or (
        report is not None and listing.mapping.applies_to(report.columns) and refusal is None
    ):
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


def _read_report(
    listing: ListedFile, mapping: FileMapping, progress: Callable[[float, str], None]
) -> FileReport:
    """Raises CalibError where the file cannot be read so."""
    return check_file(
        readers.read(
            listing.path,
            name=listing.name,
            format=mapping.format,
            columns=dict(mapping.columns),
            gold=listing.gold if mapping.gold else None,
            root=listing.root,
            progress=progress,
        )
    )


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


def cached_result(
    key: tuple[Hashable, ...], compute: Callable[[], ResultT], max_results: int = MAX_RESULTS
) -> ResultT:
    """The result under this key, computed now if it is not kept.

    key: begins with the kind of result, a text; most: how many of that kind are kept, the least recently
    used going first.
    """
    store = session_uploads() if _is_session_private(key) else _server_store()
    with store.lock:
        results = store.results.setdefault(str(key[0]), OrderedDict())
        if key in results:
            results.move_to_end(key)
            return results[key]
    with waiting_spinner(str(key[0])):
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
