"""Read the files of the data folder and of the session, and keep what is computed from them.

There is one store for the whole server and one for the uploads of each session. Results are keyed by the
path, time and size of their files and by how the person wants those read (`FileStamp`), never by content,
since Streamlit hashes a large frame by a sample of its rows. Values are frozen, so sessions can share them.

Files of the folder are read in the background (`FolderReader`), and pages show what has been read so far.
What was read from them is also kept on disk, for the next start.
"""

from __future__ import annotations

import argparse
import logging
import os
import re
import sys
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from math import inf
from pathlib import Path
from threading import Condition, Lock, RLock, Thread, current_thread
from typing import Any, Final, TypeVar, cast
from weakref import ref

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calib_core import readers
from calib_core.errors import CalibError
from calib_core.methods.method import MethodOptions
from calib_core.readers.companions import expected_companions
from calib_core.readers.format import AS_IT_LIES, ReadOptions
from calib_core.readers.reading_cache import load_or_read
from calib_core.readers.sandbox.worker_pool import MAX_PARALLEL_READS, end_idle_workers
from calib_core.results.corrections import with_corrections
from calib_core.results.evidence import Evidence, gather_evidence
from calib_core.results.files import FileReport, RunReport, SurveyedFile, survey_file
from calib_core.runs import Run
from calib_core.user_cache import CacheFolder, max_cache_bytes, readings_folder, user_cache_folder
from pages.state.mappings import CachedMappings, FileMapping, MappingStore
from pages.state.markdown import escape_markdown
from pages.state.progress import waiting_spinner
from pages.state.uploads import SessionUploads, session_uploads

FileState = tuple[int, int]
"""Modification time in nanoseconds and size in bytes; (-1, -1) where the file is gone."""

_ResultT = TypeVar("_ResultT")
PROJECT_ROOT: Final = Path(__file__).resolve().parents[2]
MAX_RESULTS: Final = 64
"""Number of small results of one kind that each store keeps."""
MAX_LARGE_RESULTS: Final = 4
"""Number kept of a kind that may be as large as its file."""

FIRST_PAGE_SECONDS: Final = 0.7
"""Start is drawn this long after reading began, with what has been read by then. So are other pages …"""
MAX_AWAITED_FILES: Final = 24
MAX_AWAITED_BYTES: Final = 32_000_000
"""… but of up to so many files, of this size together, they wait for all: what is chosen depends on them."""
ONE_READER_BYTES: Final = 16_000_000
"""One process reads up to `MAX_AWAITED_FILES` files of this total size. A second would take 70 MB of memory,
and have the demo's files read in 8 s instead of 10."""
MAX_PAUSE_SECONDS: Final = 3.0
"""For at most this long, no further file is read while the first page is drawn."""
MAX_SECONDS_TO_FIRST_PAGE: Final = 10.0
"""For at most this long, what can wait gives way to the first page."""
_POLL_SECONDS: Final = 0.1
_RETRY_SECONDS: Final = 0.5
_MISSING_VERSION: Final = (-1, -1)
_LOGGER: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FileStamp:
    """What everything computed from a file depends on: a result is valid until one of these changes.

    Attributes
    ----------
    versions : tuple of FileState
        Of the file, of the files read with it, and of its tables of right answers and of corrections.
    mapping : FileMapping
    session : str
        Token of the session that uploaded the file; empty for a file of the folder.
    part_stamps : tuple of FileStamp
        Of the other files, where several form one evaluation.
    """

    versions: tuple[FileState, ...]
    mapping: FileMapping
    session: str = ""
    part_stamps: tuple[FileStamp, ...] = ()


@dataclass(frozen=True, slots=True)
class ListedFile:
    """One file to be read.

    Attributes
    ----------
    path : Path
    name : str
        Path below the data folder, or the label of an upload.
    mapping : FileMapping
    stamp : FileStamp
    gold : Path or None
        The mapping's table of right answers; None where it names none or the table is gone.
    root : Path
        Folder that no link in `path` may lead out of.
    corrections : Path or None
        The mapping's table of corrections; None where it names none or the table is gone.
    """

    path: Path
    name: str
    mapping: FileMapping
    stamp: FileStamp
    gold: Path | None
    root: Path
    corrections: Path | None = None

    @property
    def tables(self) -> tuple[Path, ...]:
        """The tables that are read with it."""
        return tuple(table for table in (self.gold, self.corrections) if table is not None)


def list_data_folder(folder: Path, mappings: MappingStore) -> tuple[ListedFile, ...]:
    """Return every prediction file below the folder, and unreadable look-alikes, so that their refusal shows.

    Raises
    ------
    Refused
        As `calib_core.readers.list_folder`.
    """
    listing = readers.list_folder(folder)
    names = {path: _display_name(path.relative_to(folder)) for path in (*listing.files, *listing.skipped)}
    return _list_files(names, mappings, frozenset(listing.files), folder, "")


def _display_name(path: Path) -> str:
    """Return the path as valid Unicode, since a browser shows nothing of a message with half a character."""
    return path.as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def list_uploads(uploads: SessionUploads, tables: Collection[Path]) -> tuple[ListedFile, ...]:
    """Return the files of one session.

    Parameters
    ----------
    uploads : SessionUploads
    tables : Collection of Path
        Files of the folder, which may hold right answers for uploads, too.
    """
    names = {path: label for label, path in uploads.paths_by_label.items()}
    root = next((path.parent for path in names), Path())
    return _list_files(names, uploads.mappings, frozenset((*names, *tables)), root, uploads.token)


def _list_files(
    names: Mapping[Path, str], mappings: MappingStore, tables: Collection[Path], root: Path, session: str
) -> tuple[ListedFile, ...]:
    stored = mappings.for_files(names)
    listed: list[ListedFile] = []
    for path, name in names.items():
        mapping = stored.get(path, FileMapping())
        gold = _find_table(tables, mapping.gold) if mapping.gold else None
        corrections = _find_table(tables, mapping.corrections) if mapping.corrections else None
        others = (table for table in (gold, corrections) if table is not None)
        paths = (path, *expected_companions(path), *others)
        stamp = FileStamp(tuple(map(_file_version, paths)), mapping, session)
        listed.append(ListedFile(path, name, mapping, stamp, gold, root, corrections))
    return tuple(listed)


def _find_table(tables: Collection[Path], real_path: str) -> Path | None:
    """Return the listed table at this real path; a mapping can open nothing but listed files."""
    return next((table for table in tables if os.path.realpath(table) == real_path), None)


def _file_version(path: Path) -> FileState:
    try:
        status = path.stat()
    except (OSError, ValueError):  # gone since the folder was listed; reading it reports that
        return _MISSING_VERSION
    return status.st_mtime_ns, status.st_size


def data_folder() -> Path:
    """Return the folder named by `-- --data FOLDER`, else by CALIB_DATA, else the demo data."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--data", default=os.environ.get("CALIB_DATA") or str(PROJECT_ROOT / "data"))
    return Path(parser.parse_known_args(sys.argv[1:])[0].data)


def is_demo_data() -> bool:
    """Return whether the app shows the data it came with."""
    return data_folder().resolve() == (PROJECT_ROOT / "data").resolve()


@dataclass(frozen=True, slots=True, eq=False)
class LoadedFile:
    """One file with its report, or why it could not be read.

    Attributes
    ----------
    listing : ListedFile
        How the file was read.
    report : FileReport or None
    refusal : str or None
    report_without_mapping : FileReport or None
        Report without the last part of the mapping, where the file cannot be read with it.
    mapping_is_stale : bool
        Whether the mapping was set for other columns than the file has, and so was ignored.
    """

    listing: ListedFile
    report: FileReport | None
    refusal: str | None
    report_without_mapping: FileReport | None = None
    mapping_is_stale: bool = False

    @property
    def name(self) -> str:
        """Path below the data folder, or the label of an upload."""
        return self.listing.name

    @property
    def stamp(self) -> FileStamp:
        """What results of the file depend on."""
        return self.listing.stamp

    @property
    def mapping(self) -> FileMapping:
        """How the person wants the file to be read."""
        return self.listing.mapping

    @property
    def is_uploaded(self) -> bool:
        """Whether the file belongs to one session."""
        return bool(self.stamp.session)


class FolderReader:
    """Reads the files of the folder in threads of its own, those that are needed first.

    The threads start when there is something to read and end when all is read, as do the processes that read.

    Parameters
    ----------
    read : Callable
        Reads one file; is given a function that notes the share done and a short text.
    """

    def __init__(self, read: Callable[[ListedFile, Callable[[float, str], None]], LoadedFile]) -> None:
        self._read = read
        self._files: dict[Path, LoadedFile] = {}
        self._waiting: dict[Path, ListedFile] = {}
        self._in_progress: dict[Path, ListedFile] = {}
        self._notes: dict[Path, tuple[float, str]] = {}
        self._n_listed = 0
        self._n_threads = 0
        self._started = 0.0
        self._first_page: ref[Thread] | None = None
        self._pause_end = 0.0
        self._changed = Condition()
        self._tasks: deque[Callable[[], object]] = deque()
        self._has_task_thread = False
        self._task_turn = Lock()

    def update(
        self, listed: Sequence[ListedFile], rank: Callable[[ListedFile], float] = lambda _listing: 0.0
    ) -> None:
        """Have new and changed files read, the latter first, and forget those that are gone.

        Parameters
        ----------
        listed : Sequence of ListedFile
        rank : Callable
            Of new files, those with the lowest rank are read first.
        """
        with self._changed:
            if not self._waiting and not self._in_progress:
                self._started = time.monotonic()
                self._first_page = None
            paths = {listing.path for listing in listed}
            self._files = {path: file for path, file in self._files.items() if path in paths}
            outdated = {
                listing.path: listing
                for listing in listed
                if not _is_current(listing, self._files) and not _is_current(listing, self._in_progress)
            }
            order = [*(path for path in self._waiting if path in outdated), *outdated]
            order.sort(key=lambda path: (path not in self._files, rank(outdated[path])))
            self._waiting = {path: outdated[path] for path in order}
            self._n_listed = len(listed)
            unread = [*self._waiting.values(), *self._in_progress.values()]
            is_little = _are_few(unread, ONE_READER_BYTES)
            while self._n_threads < min(1 if is_little else MAX_PARALLEL_READS, len(unread)):
                self._n_threads += 1
                Thread(target=self._read_files, name="calib-reader", daemon=True).start()

    def read_first(self, rank: Callable[[ListedFile], float]) -> None:
        """Read the waiting files with the lowest rank first, those of equal rank in the order they have."""
        with self._changed:
            self._waiting = dict(sorted(self._waiting.items(), key=lambda item: rank(item[1])))

    def contents(self, listed: Sequence[ListedFile]) -> FolderContents:
        """Return which of the files have been read as they are listed."""
        with self._changed:
            return FolderContents(
                tuple(self._files[listing.path] for listing in listed if _is_current(listing, self._files)),
                tuple(
                    LoadedFile(listing, None, None)
                    for listing in listed
                    if not _is_current(listing, self._files)
                ),
            )

    def wait(self, files: Sequence[LoadedFile], seconds: float) -> bool:
        """Wait until these files have been read, but no longer than this.

        Returns
        -------
        bool
            Whether one of these files is still to be read. One that was removed or changed since it was
            listed may be neither read nor going to be.
        """
        paths = [file.listing.path for file in files]

        def is_done() -> bool:
            return not any(path in self._waiting or path in self._in_progress for path in paths)

        with self._changed:
            self._pause_end = 0.0
            return not self._changed.wait_for(is_done, seconds)

    def give_way_to(self, page: Thread) -> None:
        """Read no further file until this thread has drawn its page, if it is the first since reading began.

        What was kept of a file is loaded by this process, which would slow the page down. The pause ends
        early when a page waits for a file, and after `MAX_PAUSE_SECONDS`.
        """
        with self._changed:
            if self._first_page is None or self._first_page() is page:
                self._first_page, self._pause_end = ref(page), time.monotonic() + MAX_PAUSE_SECONDS

    def run_later(self, task: Callable[[], object]) -> None:
        """Run this in a thread of its own, once the first page has been drawn or its time is over."""
        with self._changed:
            self._tasks.append(task)
            if not self._has_task_thread:
                self._has_task_thread = True
                Thread(target=self._run_tasks_later, name="calib-later", daemon=True).start()

    def finish_tasks(self) -> None:
        """Run now what was to run later, and return when all of it is done."""
        while True:
            with self._task_turn:  # another thread may be running one
                with self._changed:
                    if not self._tasks:
                        return
                    task = self._tasks.popleft()
                try:
                    task()
                except Exception:  # what was read must not suffer from it
                    _LOGGER.exception("a task after reading")

    def _run_tasks_later(self) -> None:
        self.wait_for_first_page()
        while True:
            self.finish_tasks()
            with self._changed:
                if not self._tasks:
                    self._has_task_thread = False
                    return

    def wait_for_first_page(self) -> None:
        """Wait until the first page since reading began has been drawn, at most its time."""
        end = time.monotonic() + MAX_SECONDS_TO_FIRST_PAGE
        while time.monotonic() < end:
            if (first := self._first_page) is not None and ((page := first()) is None or not page.is_alive()):
                return
            time.sleep(_POLL_SECONDS)

    def progress(self) -> ReadingProgress:
        """Return how far the reading is."""
        with self._changed:
            # Files of a folder that was shown earlier may still be in progress.
            n_read = max(0, self._n_listed - len(self._waiting.keys() | self._in_progress.keys()))
            done = n_read + sum(share for share, _ in self._notes.values())
            text = next((text for _, text in self._notes.values() if text), "")
            return ReadingProgress(n_read, self._n_listed, min(1.0, done / max(1, self._n_listed)), text)

    @property
    def seconds_since_start(self) -> float:
        """Seconds since there last was nothing to read."""
        return time.monotonic() - self._started

    def _read_files(self) -> None:
        """Read one waiting file after another."""
        while (listing := self._take_next()) is not None:
            try:
                file = self._read(listing, partial(self._note_progress, listing.path))
            except BaseException as error:  # Rust panics are not Exceptions
                _LOGGER.exception("%s", listing.name)
                file = LoadedFile(listing, None, _failure_text(listing, error))
            with self._changed:
                del self._in_progress[listing.path]
                self._notes.pop(listing.path, None)
                self._files[listing.path] = file
                self._changed.notify_all()
        end_idle_workers()

    def _take_next(self) -> ListedFile | None:
        """Return the next file, after the pause for the first page; None ends the thread."""
        while (first := self._first_page) and (page := first()) and page.is_alive():
            if time.monotonic() >= self._pause_end:
                break
            page.join(_POLL_SECONDS)
        with self._changed:
            for path, listing in self._waiting.items():
                if path not in self._in_progress:  # otherwise an older version of it is just being read
                    self._in_progress[path] = self._waiting.pop(path)
                    return listing
            self._n_threads -= 1
            return None

    def _note_progress(self, path: Path, share: float, text: str) -> None:
        with self._changed:
            self._notes[path] = (share, text)


def _is_current(listing: ListedFile, files: Mapping[Path, ListedFile | LoadedFile]) -> bool:
    """Return whether the file is among these, as it is listed."""
    return listing.path in files and files[listing.path].stamp == listing.stamp


def _failure_text(listing: ListedFile, error: BaseException) -> str:
    return (
        f"{listing.name} cannot be read: checking its content failed ({type(error).__name__}). If the file "
        "is intact, please report this as a bug in Calib."
    )


@dataclass(frozen=True, slots=True)
class ReadingProgress:
    """How far the reading of the folder is.

    Attributes
    ----------
    n_read, n_files : int
    share : float
        Finished part, from 0 to 1.
    text : str
        What is being done to one of the files now; text from a file.
    """

    n_read: int
    n_files: int
    share: float
    text: str

    @property
    def is_finished(self) -> bool:
        """Whether every file has been read."""
        return self.n_read == self.n_files


@dataclass(frozen=True, slots=True)
class FolderContents:
    """The files of the folder and the session's uploads.

    Attributes
    ----------
    files : tuple of LoadedFile
        Those that have been read.
    unread : tuple of LoadedFile
        The others, which have neither report nor refusal.
    """

    files: tuple[LoadedFile, ...]
    unread: tuple[LoadedFile, ...] = ()


@dataclass(eq=False)
class _ServerStore:
    reader: FolderReader = field(default_factory=lambda: FolderReader(_read_file))
    results: dict[str, OrderedDict[tuple[Hashable, ...], Any]] = field(default_factory=dict)
    turns: dict[tuple[Hashable, ...], RLock] = field(default_factory=dict)
    lock: RLock = field(default_factory=RLock)


@st.cache_resource(show_spinner=False)
def _server_store() -> _ServerStore:
    return _ServerStore()


def read_ahead() -> None:
    """Begin to read the folder before anybody asks for a page."""
    with suppress(CalibError, OSError):  # the first page will tell
        if (folder := data_folder()).is_dir():
            _server_store().reader.update(list_data_folder(folder, mapping_store()))


def wait_for_first_page() -> None:
    """Wait until the first page that shows files of the folder has been drawn, at most its time."""
    _server_store().reader.wait_for_first_page()


def wait_until_read() -> None:
    """Wait until there is nothing to read, and the processes that read have ended."""
    while not reading_progress().is_finished:
        time.sleep(_POLL_SECONDS)


def finish_tasks() -> None:
    """Run now what was to run once the first page has been drawn."""
    _server_store().reader.finish_tasks()


def load_files(
    folder: Path | None, wanted: str, *, waits: bool, is_enough: Callable[[FolderContents], bool]
) -> FolderContents:
    """Return the files below the folder and the session's uploads, reading only what is new or changed.

    They are waited for until `FIRST_PAGE_SECONDS` after reading began; then those are returned that have
    been read.

    Parameters
    ----------
    folder : Path or None
    wanted : str
        A run's id: files whose names have words in common with it are read first; empty where none is wanted.
    waits : bool
        Whether a few small files are waited for in any case.
    is_enough : Callable
        Whether a page can be drawn with these files; until then more of them are waited for.
    """
    reader, uploads = _server_store().reader, session_uploads()
    listed = list_data_folder(folder, mapping_store()) if folder else ()
    uploaded = _read_uploads(list_uploads(uploads, [listing.path for listing in listed]), uploads)
    words = _words(wanted)
    reader.update(listed, lambda listing: -len(words & _words(listing.name)))
    unread = reader.contents(listed).unread
    seconds = (
        inf
        if waits and _are_few(unread, MAX_AWAITED_BYTES)
        else FIRST_PAGE_SECONDS - reader.seconds_since_start
    )
    while True:
        contents = _wait(listed, seconds)
        all_contents = FolderContents((*contents.files, *uploaded), contents.unread)
        reader.give_way_to(current_thread())  # which ends with the script of the page
        if is_enough(all_contents) or not reader.wait(contents.unread, 0):
            return all_contents
        seconds = _RETRY_SECONDS


def read_now(file: LoadedFile) -> None:
    """Read this file of the folder before all others, and wait for it."""
    _server_store().reader.read_first(lambda listing: listing.path != file.listing.path)
    _wait([file.listing], inf)


def reading_progress() -> ReadingProgress:
    """Return how far the reading of the folder is."""
    return _server_store().reader.progress()


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z0-9]+", text.lower()))


def _are_few(files: Collection[LoadedFile | ListedFile], max_bytes: int) -> bool:
    """Return whether these are at most `MAX_AWAITED_FILES` files, of at most this total size."""
    n_bytes = sum(size for file in files for _, size in file.stamp.versions)
    return len(files) <= MAX_AWAITED_FILES and n_bytes <= max_bytes


def _wait(listed: Sequence[ListedFile], seconds: float) -> FolderContents:
    """Return what of these files has been read once all are or the time is over; show a bar meanwhile."""
    reader, deadline = _server_store().reader, time.monotonic() + seconds
    bar: DeltaGenerator | None = None
    unread = reader.contents(listed).unread
    while unread and (left := deadline - time.monotonic()) > 0:
        progress = reader.progress()
        text = f"Reading files: {progress.n_read:,} of {progress.n_files:,}. {progress.text}"
        bar = (st.progress if bar is None else bar.progress)(progress.share, escape_markdown(text))
        if not reader.wait(unread, min(left, _POLL_SECONDS)):
            break
    if bar is not None:
        bar.empty()
    return reader.contents(listed)


def _read_uploads(listed: Sequence[ListedFile], uploads: SessionUploads) -> tuple[LoadedFile, ...]:
    """Return the session's uploads; their person waits for them, so they are read in this thread."""
    with uploads.lock:
        outdated = [listing for listing in listed if not _is_current(listing, uploads.files)]
        bar = st.progress(0.0, "Reading files …") if outdated else None
        for index, listing in enumerate(outdated):
            report_progress = _progress_reporter(bar, index, len(outdated))
            uploads.files[listing.path] = _read_file(listing, report_progress)
        if bar is not None:
            bar.empty()
        return tuple(uploads.files[listing.path] for listing in listed)


def mapping_store(file: LoadedFile | None = None) -> MappingStore:
    """Return where the mapping of this file is kept; None stands for the files of the folder."""
    return (
        session_uploads().mappings
        if file and file.is_uploaded
        else CachedMappings(user_cache_folder() / "wishes")
    )


def _progress_reporter(bar: DeltaGenerator | None, index: int, total: int) -> Callable[[float, str], None]:
    def report_progress(fraction: float, text: str) -> None:
        if bar is not None:
            bar.progress(min(1.0, (index + fraction) / total), escape_markdown(text))

    return report_progress


def _read_file(listing: ListedFile, progress: Callable[[float, str], None]) -> LoadedFile:
    """Read the file with its mapping; a mapping set for other columns is ignored."""
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
        fallback = _read_report(listing, _fallback_mapping(listing.mapping), progress)
    except CalibError:
        return LoadedFile(listing, report, refusal)
    if listing.mapping.applies_to(fallback.columns):
        return LoadedFile(listing, report, refusal, fallback)
    message = fallback.message if fallback.status == "refused" else None
    return LoadedFile(listing, fallback, message, mapping_is_stale=True)


def _fallback_mapping(mapping: FileMapping) -> FileMapping:
    """Return the mapping without its last part, with which a file it does not fit may still be read."""
    if mapping.corrections:
        return replace(mapping, corrections=None)
    if mapping.columns or mapping.wide:
        return FileMapping(mapping.format, gold=mapping.gold, rows=mapping.rows, dataset=mapping.dataset)
    return FileMapping(mapping.format if mapping.gold else None, dataset=mapping.dataset)


def _read_report(
    listing: ListedFile, mapping: FileMapping, progress: Callable[[float, str], None]
) -> FileReport:
    """Return the report of the file under this mapping; raises CalibError where it cannot be read."""
    gold = listing.gold if mapping.gold else None
    corrections = listing.corrections if mapping.corrections else None

    def read(further: ReadOptions = AS_IT_LIES) -> readers.Reading:
        options = mapping.options.adding(further)
        reading = readers.read(
            listing.path,
            name=listing.name,
            format=mapping.format,
            options=options,
            gold=gold,
            root=listing.root,
            progress=progress,
        )
        return with_corrections(reading, corrections, options)

    def survey() -> SurveyedFile:
        return survey_file(read(), read)

    if listing.stamp.session:  # an upload is its session's alone
        return survey().report()
    return load_or_read(
        _reading_cache(readings_folder(), max_cache_bytes()),
        SurveyedFile,
        listing.path,
        survey,
        name=listing.name,
        gold=gold,
        corrections=corrections,
        root=listing.root,
        parameters=asdict(mapping),
        save=_server_store().reader.run_later,
    ).report()


def tried_report(file: LoadedFile, mapping: FileMapping) -> FileReport:
    """Return the report of the file under a mapping that nobody has accepted yet; kept for the session.

    Raises
    ------
    CalibError
        The file cannot be read with this mapping.
    """
    stamp = replace(file.stamp, mapping=mapping)
    return cached_result(
        ("tried", file.listing.path, stamp),
        lambda: _read_report(file.listing, mapping, lambda _share, _text: None),
        max_results=MAX_LARGE_RESULTS,
    )


_reading_cache: Final = cache(CacheFolder)
"""Returns the cache of a folder and size, one for all threads."""


def cached_evidence(run: Run, stamp: FileStamp, method: str, options: MethodOptions) -> Evidence:
    """Return the method's evidence of the run, gathered once; raises Unavailable as `gather_evidence`."""
    return cached_result(
        ("evidence", run.file, stamp, run.label, method, options),
        lambda: gather_evidence(run, method, options),
        max_results=MAX_LARGE_RESULTS,
    )


def run_evidence(report: RunReport, stamp: FileStamp, method: str, options: MethodOptions) -> Evidence:
    """Return the evidence of a usable method, judged with the tolerance of the report's own.

    The survey already holds it for default options.
    """
    given = report.survey.usable[method]
    options = replace(options, tolerance=given.options.tolerance)
    if options == given.options:
        return given
    return cached_evidence(report.run, stamp, method, options)


def cached_result(
    key: tuple[Hashable, ...], compute: Callable[[], _ResultT], max_results: int = MAX_RESULTS
) -> _ResultT:
    """Return the result under this key, computed now where it is not kept.

    Sessions that ask for it while one of them computes it wait for that one.

    Parameters
    ----------
    key : tuple of Hashable
        Begins with the kind of result, a string. A `FileStamp` of an upload anywhere in it makes the result
        private to the session.
    compute : Callable
    max_results : int
        How many results of the kind are kept; the least recently used are dropped.
    """
    store = session_uploads() if _is_session_private(key) else _server_store()
    with store.lock:
        results = store.results.setdefault(str(key[0]), OrderedDict())
        if key in results:
            results.move_to_end(key)
            return results[key]
        turn = store.turns.setdefault(key, RLock())
    with waiting_spinner(str(key[0])), turn:
        try:
            with store.lock:
                if key in results:
                    return results[key]
            value = compute()
            with store.lock:
                results[key] = value
                while len(results) > max_results:
                    results.popitem(last=False)
            return value
        finally:
            with store.lock:
                store.turns.pop(key, None)


def _is_session_private(key: Hashable) -> bool:
    """Return whether a result depends on an uploaded file, and so belongs to its session."""
    if isinstance(key, tuple):
        return any(map(_is_session_private, cast("tuple[Hashable, ...]", key)))
    return isinstance(key, FileStamp) and bool(key.session)
