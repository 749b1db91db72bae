"""Where do files lie that somebody uploaded, and when do they go?

In a folder of their session, which nobody but the server's user may enter, below one folder of the
server's. The session's folder goes when the session ends, the server's when the server does; what a
killed server left behind goes when the next one starts.
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
from collections.abc import AsyncGenerator, Hashable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import RLock, Timer
from typing import Any, Final

import streamlit as st
from streamlit import config
from streamlit.runtime import exists, get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

from calib_core.errors import Refused, shorten
from calib_core.methods.self_consistency import clear_cluster_cache
from calib_core.readers.companions import is_companion
from pages.state.mappings import SessionMappings

try:
    import fcntl
except ImportError:  # no POSIX: nothing tells a folder in use from one left behind, so none is removed
    fcntl = None

MAX_SESSION_BYTES: Final = 1_000_000_000
"""Bytes that one session may have uploaded at a time."""
FOLDER_PREFIX: Final = "calib-uploads-"
LOCK_FILE: Final = ".in-use"
UNLOCKED_GRACE_SECONDS: Final = 3600.0
"""Seconds for which a folder without its lock is taken for one that a server is just making."""

_UNSAFE_CHARACTERS = re.compile(r"[^A-Za-z0-9._+-]")
_FOLDER_LOCK = RLock()
_server_path: Path | None = None
_owner_pid = 0


class SessionUploads:
    """The uploaded files of one session, and whatever is computed of them.

    token: tells its results from those of any other session; files, results: what `cache` keeps of them.
    The name from the browser is a label; on the disk a file has a name of letters, digits and a few marks,
    as like it as can be, since partner files know each other by their names.
    """

    def __init__(self) -> None:
        self.token = secrets.token_hex(8)
        self.lock = RLock()
        self.wishes = SessionMappings()
        self.files: dict[Path, Any] = {}
        self.results: dict[str, OrderedDict[tuple[Hashable, ...], Any]] = {}
        self._folder: Path | None = None
        self._labels: dict[str, Path] = {}

    @property
    def paths_by_label(self) -> dict[str, Path]:
        """Label → where it lies, of the files that are read for themselves: no partners of others."""
        with self.lock:
            return {label: path for label, path in self._labels.items() if not is_companion(path)}

    def __bool__(self) -> bool:
        return bool(self._labels)

    def add(self, label: str, data: bytes | memoryview) -> None:
        """Keeps a file; one of the same label goes. Raises Refused where there is no room for it."""
        label = shorten(label.encode("utf-8", "replace").decode().replace("\0", "\ufffd"), 200)
        with self.lock:
            others = (path for other, path in self._labels.items() if other != label)
            if sum(path.stat().st_size for path in others) + len(data) > MAX_SESSION_BYTES:
                raise Refused(
                    f"{label} was not taken: a session may have {MAX_SESSION_BYTES // 1_000_000:,} MB of uploaded files. "
                    "Remove some, or put the files into the data folder."
                )
            path = self._labels.get(label) or self._free_path(label)
            try:
                with open(path, "wb", opener=_open_private) as file:
                    file.write(data)
            except OSError as error:
                path.unlink(missing_ok=True)
                self._labels.pop(label, None)
                raise Refused(f"{label} could not be kept ({error.strerror}).") from None
            self._labels[label] = path

    def remove(self, label: str) -> None:
        """One file is gone, with what was computed of it."""
        with self.lock:
            if (path := self._labels.pop(label, None)) is not None:
                path.unlink(missing_ok=True)
                self.files.pop(path, None)
                self.wishes.delete(path)
            self.results.clear()

    def remove_all(self) -> None:
        """Every file is gone, with all that was computed of them."""
        with self.lock:
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
            self._labels.clear()
            self.files.clear()
            self.results.clear()
            self.wishes.kept.clear()
            clear_cluster_cache()

    def _free_path(self, label: str) -> Path:
        """Where a file of this label is to lie."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(dir=_server_folder()))
        taken = set(self._labels.values())
        name = _UNSAFE_CHARACTERS.sub("_", label)[-150:].lstrip(".") or "file"
        path = self._folder / name
        while path in taken:
            path = self._folder / f"{secrets.token_hex(4)}-{name}"
        return path


@asynccontextmanager
async def server_lifespan(_app: object) -> AsyncGenerator[None]:
    """From a server's start to its end: no uploaded file outlives it."""
    remove_abandoned_folders()
    yield
    remove_server_folder()


def remove_abandoned_folders() -> None:
    """Removes what servers that are no longer there have left behind."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*"):
        with suppress(OSError):
            if _is_ours(folder) and _is_abandoned(folder):
                shutil.rmtree(folder, ignore_errors=True)


def remove_server_folder() -> None:
    """Removes every uploaded file of this server."""
    global _server_path  # noqa: PLW0603 (one folder a process)
    with _FOLDER_LOCK:
        if _server_path is not None and os.getpid() == _owner_pid:  # a forked child ends as well
            shutil.rmtree(_server_path, ignore_errors=True)
            _server_path = None


def _server_folder() -> Path:
    """This server's folder, made when it is first needed and locked for as long as the server lives."""
    global _server_path, _owner_pid
    with _FOLDER_LOCK:
        if _server_path is None or not _server_path.is_dir():
            _server_path, _owner_pid = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX)), os.getpid()
            handle = os.open(
                _server_path / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600
            )  # open until the process ends
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            atexit.register(remove_server_folder)
        return _server_path


def _is_ours(folder: Path) -> bool:
    """Whether it is a folder, and no link to one, of the server's own user."""
    status = folder.lstat()
    return stat.S_ISDIR(status.st_mode) and fcntl is not None and status.st_uid == os.getuid()


def _is_abandoned(folder: Path) -> bool:
    """Whether the server that made it is gone."""
    try:
        handle = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return time.time() - folder.lstat().st_mtime > UNLOCKED_GRACE_SECONDS
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # pyright: ignore[reportOptionalMemberAccess]
    except OSError:  # the server that holds it lives
        return False
    finally:
        os.close(handle)
    return True


def _open_private(name: str, flags: int) -> int:
    return os.open(name, flags, 0o600)


# MERGED session: What belongs to one person's session alone, and how does it end?
#
# Streamlit empties a session's own caches when its connection ends; that is the one sign of an end that
# comes for certain. A connection may be lost and come back, so what is in there is only given up when
# nobody has come back within the time that Streamlit itself waits.

_UPLOADS_KEY = "_uploads"


@dataclass(frozen=True, slots=True, eq=False)
class _SessionHold:
    """The uploads of a session and the name that Streamlit has for it."""

    uploads: SessionUploads
    session: str


def session_uploads() -> SessionUploads:
    """The uploaded files of this session."""
    if _UPLOADS_KEY not in st.session_state:
        st.session_state[_UPLOADS_KEY] = SessionUploads()
    mine: SessionUploads = st.session_state[_UPLOADS_KEY]
    if mine and (context := get_script_run_ctx()) is not None:
        _hold_session(mine.token, _SessionHold(mine, context.session_id))
    return mine


def drop_from_streamlit(file_id: str) -> None:
    """Takes an uploaded file out of Streamlit's memory, once it is kept elsewhere."""
    context = get_script_run_ctx()
    remove = getattr(context.uploaded_file_mgr, "remove_file", None) if context else None
    if context is not None and remove is not None:
        remove(context.session_id, file_id)


def _on_disconnect(hold: _SessionHold, *, reconnected: bool = False) -> None:
    """The connection ended: everything goes unless somebody is there again in time."""
    wait = Timer(float(config.get_option("server.disconnectedSessionTTL")), _end_session, [hold, reconnected])
    wait.daemon = True
    wait.start()


def _end_session(hold: _SessionHold, reconnected: bool) -> None:  # noqa: FBT001 (the timer passes it so)
    """Gives everything up where nobody is there; of one who came back and left again, after another wait."""
    there = exists() and get_instance().is_active_session(hold.session)
    if there or reconnected:
        _on_disconnect(hold, reconnected=there)
    else:
        hold.uploads.remove_all()


@st.cache_resource(scope="session", show_spinner=False, on_release=_on_disconnect)
def _hold_session(token: str, _hold: _SessionHold) -> _SessionHold:  # noqa: ARG001 (the token is the key)
    return _hold
