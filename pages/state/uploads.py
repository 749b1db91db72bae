"""Keep the uploaded files of a session, and remove them with it.

A session's files lie in a folder of their own, readable by the server's user only, below one folder per
server. The session's folder is removed when the session ends, the server's when the server stops; folders
left behind by a killed server are removed when the next one starts.

Streamlit empties a session's own caches when its connection ends, which is the only reliable sign of an
end. As a lost connection may come back, the files are removed only after the time that Streamlit itself waits
for a reconnection.
"""

from __future__ import annotations

import atexit
import os
import re
import secrets
import shutil
import stat
import tempfile
import time
from collections import OrderedDict
from collections.abc import Collection, Hashable
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from threading import RLock, Timer
from typing import Any, Final

import streamlit as st
from streamlit import config
from streamlit.runtime import exists, get_instance
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

from calib_core.errors import Refused, shorten
from calib_core.readers.companions import is_companion
from calib_core.runs import forget_last_run
from pages.state.mappings import SessionMappings

MAX_SESSION_BYTES: Final = 1_000_000_000
"""Total size of the files that one session may keep at a time."""
FOLDER_PREFIX: Final = "calib-uploads-"
LOCK_FILE: Final = ".in-use"
UNLOCKED_GRACE_SECONDS: Final = 3600.0
"""Seconds for which a folder without a lock file may belong to a server that is just starting."""

_UNSAFE_CHARACTERS = re.compile(r"[^A-Za-z0-9._+-]")

_UPLOADS_KEY = "_uploads"

try:
    import fcntl
except ImportError:  # without POSIX locks no folder can be recognised as abandoned, so none is removed
    fcntl = None
_FOLDER_LOCK = RLock()
_server_path: Path | None = None
_owner_pid = 0


class SessionUploads:
    """The uploaded files of one session and all that is computed from them.

    A file's name from the browser serves as its label only. On disk a file gets a name of letters, digits and
    a few marks, as close to the label as possible, since companion files are found by their names.

    Attributes
    ----------
    token : str
        Distinguishes the session's results from those of any other.
    lock : threading.RLock
    mappings : SessionMappings
        How the person wants uploaded files to be read.
    files : dict of Path to LoadedFile
        What `pages.state.cache` has read.
    results : dict of str to OrderedDict
        What `pages.state.cache` has computed, by kind of result.
    turns : dict of tuple to threading.RLock
        Held while `pages.state.cache` computes the result of this key.
    field : str
        Distinguishes the upload field from an earlier one that still lists files which were removed. It stays
        the same while files come: one that is on its way when the browser drops its field comes unannounced.
    newest : list of str
        Labels of the files that came since a page last showed what had come.
    replaced : list of str
        Those of them that took the place of an earlier file of the same name.
    errors : list of str
        Why files that came since then were not kept.
    is_shown : bool
        Whether no file has come since then.
    """

    def __init__(self) -> None:
        self.token = secrets.token_hex(8)
        self.lock = RLock()
        self.mappings = SessionMappings()
        self.files: dict[Path, Any] = {}
        self.results: dict[str, OrderedDict[tuple[Hashable, ...], Any]] = {}
        self.turns: dict[tuple[Hashable, ...], Any] = {}
        self.field = secrets.token_hex(4)
        self.newest: list[str] = []
        self.replaced: list[str] = []
        self.errors: list[str] = []
        self.is_shown = True
        self._folder: Path | None = None
        self._labels: dict[str, Path] = {}
        self._sizes: dict[Path, int] = {}
        self._n_bytes = 0
        self._taken: set[str] = set()

    @property
    def paths_by_label(self) -> dict[str, Path]:
        """Label → path of the files that are read on their own, without companions of other files.

        They are in order of their labels, as it is chance which of several files comes first.
        """
        with self.lock:
            return {label: path for label, path in sorted(self._labels.items()) if not is_companion(path)}

    def __bool__(self) -> bool:
        return bool(self._labels)

    def take(self, file_id: str, label: str, data: bytes) -> None:
        """Keep a file that a browser sent, once: one that was removed since does not come back.

        Of the files that come together, two may have the same name, as they lay in two folders: the second
        gets a number. Otherwise a file takes the place of an earlier one of its name.
        """
        if file_id in self._taken:
            return
        self._taken.add(file_id)
        if self.is_shown:
            self.newest, self.is_shown = [], False
        label = _numbered(_as_label(label), self.newest)
        is_known = label in self._labels
        try:
            self.newest.append(self.add(label, data))
        except Refused as refusal:
            self.errors.append(str(refusal))
        else:
            self.replaced += [label] * is_known

    def note_shown(self) -> None:
        """Note that a page has shown what came."""
        self.errors, self.replaced, self.is_shown = [], [], True

    def add(self, label: str, data: bytes) -> str:
        """Keep a file in place of any other with the same label, and return the label as it is kept.

        Raises
        ------
        Refused
            Where the file would exceed `MAX_SESSION_BYTES` or cannot be written.
        """
        label = _as_label(label)
        with self.lock:
            n_bytes = self._n_bytes - self._sizes.get(self._labels.get(label, Path()), 0) + len(data)
            if n_bytes > MAX_SESSION_BYTES:
                raise Refused(
                    f"{label} was not uploaded: the limit is {MAX_SESSION_BYTES // 1_000_000:,} MB per "
                    "session. Remove some files, or put them into the data folder."
                )
            path = self._labels.get(label) or self._free_path(label)
            try:
                with open(path, "wb", opener=_open_private) as file:
                    file.write(data)
            except OSError as error:
                self._forget(label, path)
                raise Refused(f"{label} could not be saved ({error.strerror}).") from None
            self._labels[label], self._sizes[path], self._n_bytes = path, len(data), n_bytes
            return label

    def remove(self, label: str) -> None:
        """Remove one file with everything computed from it."""
        with self.lock:
            if (path := self._labels.get(label)) is not None:
                self._forget(label, path)
                self.files.pop(path, None)
            self.results.clear()
            self.field = secrets.token_hex(4)

    def remove_all(self) -> None:
        """Remove every file with everything computed from it."""
        with self.lock:
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
            self._labels.clear()
            self._sizes.clear()
            self._n_bytes = 0
            self.files.clear()
            self.results.clear()
            self.mappings.by_path.clear()
            forget_last_run()
            self.field = secrets.token_hex(4)

    def _forget(self, label: str, path: Path) -> None:
        """Delete a file, of which nothing may have been written."""
        path.unlink(missing_ok=True)
        self._labels.pop(label, None)
        self._n_bytes -= self._sizes.pop(path, 0)

    def _free_path(self, label: str) -> Path:
        """Return an unused path for a file with this label."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(dir=_server_folder()))
        name = _UNSAFE_CHARACTERS.sub("_", label)[-150:].lstrip(".") or "file"
        path = self._folder / name
        while path in self._sizes:
            path = self._folder / f"{secrets.token_hex(4)}-{name}"
        self.mappings.delete(path)  # that of a removed file, which a late click may have set after all
        return path


def _as_label(name: str) -> str:
    """Return a file's name as it can be shown."""
    return shorten(name.encode("utf-8", "replace").decode().replace("\0", "\ufffd"), 200)


def _numbered(label: str, used: Collection[str]) -> str:
    """Return the label, or one with a number that is not among those used: "run.csv" → "run (2).csv"."""
    folder, slash, name = label.rpartition("/")
    stem, dot, suffixes = name.partition(".")
    candidates = (f"{folder}{slash}{stem} ({number}){dot}{suffixes}" for number in count(2))
    return next(one for one in chain([label], candidates) if one not in used)


def remove_abandoned_folders() -> None:
    """Remove the folders of servers that no longer run."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*"):
        with suppress(OSError):
            if _is_ours(folder) and _is_abandoned(folder):
                shutil.rmtree(folder, ignore_errors=True)


def remove_server_folder() -> None:
    """Remove every uploaded file of this server."""
    global _server_path  # noqa: PLW0603 (one folder a process)
    with _FOLDER_LOCK:
        if _server_path is not None and os.getpid() == _owner_pid:  # a forked child must not remove it
            shutil.rmtree(_server_path, ignore_errors=True)
            _server_path = None


def _server_folder() -> Path:
    """Return this server's folder, created on first use and locked for as long as the server lives."""
    global _server_path, _owner_pid
    with _FOLDER_LOCK:
        if _server_path is None or not _server_path.is_dir():
            _server_path, _owner_pid = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX)), os.getpid()
            # Stays open until the process ends, and with it the lock.
            handle = os.open(_server_path / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            atexit.register(remove_server_folder)
        return _server_path


def _is_ours(folder: Path) -> bool:
    """Return whether the path is a folder, not a link, and belongs to the server's own user."""
    status = folder.lstat()
    return stat.S_ISDIR(status.st_mode) and fcntl is not None and status.st_uid == os.getuid()


def _is_abandoned(folder: Path) -> bool:
    """Return whether the server that created the folder is gone."""
    try:
        handle = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return time.time() - folder.lstat().st_mtime > UNLOCKED_GRACE_SECONDS
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # pyright: ignore[reportOptionalMemberAccess]
    except OSError:  # locked by a server that still runs
        return False
    finally:
        os.close(handle)
    return True


def _open_private(name: str, flags: int) -> int:
    return os.open(name, flags, 0o600)


@dataclass(frozen=True, slots=True, eq=False)
class _SessionHold:
    """A session's uploads and the id that Streamlit has for the session."""

    uploads: SessionUploads
    session: str


def session_uploads() -> SessionUploads:
    """Return the uploaded files of this session."""
    if _UPLOADS_KEY not in st.session_state:
        st.session_state[_UPLOADS_KEY] = SessionUploads()
    uploads: SessionUploads = st.session_state[_UPLOADS_KEY]
    if uploads and (context := get_script_run_ctx()) is not None:
        _hold_session(uploads.token, _SessionHold(uploads, context.session_id))
    return uploads


def take_uploads() -> bool:
    """Move the files that the browser has sent from Streamlit's memory to those of the session, if any.

    What the upload field says of them does not matter: its message is late, or never comes, where the page
    was changed or drawn anew while a file was on its way.
    """
    context, uploads = get_script_run_ctx(), session_uploads()
    if context is None or not isinstance(manager := context.uploaded_file_mgr, MemoryUploadedFileManager):
        return False
    sent = list(manager.file_storage.get(context.session_id, {}).values())
    for file in sorted(sent, key=lambda file: (file.name, file.data)):  # they come as the network has them
        uploads.take(file.file_id, file.name, file.data)
        manager.remove_file(context.session_id, file.file_id)
    return bool(sent)


def _on_disconnect(hold: _SessionHold, *, reconnected: bool = False) -> None:
    """Remove the session's files unless its person reconnects in time."""
    timer = Timer(
        float(config.get_option("server.disconnectedSessionTTL")), _end_session, [hold, reconnected]
    )
    timer.daemon = True
    timer.start()


def _end_session(hold: _SessionHold, reconnected: bool) -> None:  # noqa: FBT001 (the timer passes it so)
    """Remove the files of a session that ended; if its user reconnected, wait for the next end."""
    is_active = exists() and get_instance().is_active_session(hold.session)
    if is_active or reconnected:
        _on_disconnect(hold, reconnected=is_active)
    else:
        hold.uploads.remove_all()


@st.cache_resource(scope="session", show_spinner=False, on_release=_on_disconnect)
def _hold_session(token: str, _hold: _SessionHold) -> _SessionHold:  # noqa: ARG001 (the token is the key)
    """Keep the session's uploads in a cache that Streamlit empties when the connection ends."""
    return _hold
