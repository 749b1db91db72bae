"""A folder of bytes by key in the user's cache folder, where they can be made again if they are lost.

Several processes may use it at once: an entry is written under another name and then renamed, and one that
is missing, cut off or damaged counts as absent.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import BinaryIO, Final

SIZE_VARIABLE: Final = "CALIB_CACHE_MIB"
"""The environment variable that sets how many MiB of readings are kept; 0 keeps none."""

DEFAULT_MIB: Final = 2048

_CHECKSUM_BYTES: Final = hashlib.sha256().digest_size
_PART_BYTES: Final = 2**20
"""How much of an entry is read at once to check it."""
_BLOCK_BYTES: Final = 4096
"""What the smallest file takes on most disks."""
_LOOKS: Final = 32
"""How often the folder is looked at while as much is written as it may hold: other processes write, too."""


def user_cache_folder(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """Return this program's cache folder, as is usual on the platform."""
    try:
        home = Path.home()
    except RuntimeError:  # no home, as in some containers: saving fails with a message
        home = Path(os.sep)
    if platform == "darwin":
        return home / "Library" / "Caches" / "calib"
    configured = Path(environment.get("LOCALAPPDATA" if platform == "win32" else "XDG_CACHE_HOME", ""))
    return (configured if configured.is_absolute() else home / ".cache") / "calib"


def readings_folder() -> Path:
    """Return the folder of what was read from files."""
    return user_cache_folder() / "readings"


def max_cache_bytes(environment: Mapping[str, str] = os.environ) -> int:
    """Return how many bytes of readings are kept; a setting that is no whole number counts as none."""
    setting = environment.get(SIZE_VARIABLE, "")
    mib = int(setting) if setting.isascii() and setting.isdecimal() and len(setting) < 12 else DEFAULT_MIB
    return mib * 2**20


class CacheFolder:
    """Bytes by key, up to a total size; the least recently used go first.

    Nothing here raises because of the disk: what cannot be written is not kept, and what cannot be read is
    absent.

    Parameters
    ----------
    folder : Path
        Readable by its owner only; created with the first entry.
    max_bytes : int
    """

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self.folder = folder
        self.max_bytes = max_bytes
        self._room = 0  # bytes that may be written before the next look at what is there

    def open(self, key: str) -> BinaryIO | None:
        """Open what is kept under the key, with a checksum after it; None where it is absent or damaged."""
        path = self.folder / key
        with suppress(OSError), ExitStack() as stack:
            file = stack.enter_context(path.open("rb"))
            if _checksum_holds(file):
                with suppress(OSError):  # removed by another process meanwhile
                    os.utime(path)
                stack.pop_all()
                return file
            file.close()
            path.unlink()
        return None

    def load(self, key: str) -> bytes | None:
        """Return the bytes kept under the key, None where there are none or they are damaged."""
        file = self.open(key)
        if file is not None:
            with suppress(OSError), file:
                data = file.read()
                body = data[:-_CHECKSUM_BYTES]
                if hashlib.sha256(body).digest() == data[len(body) :]:  # it may have been cut off since
                    return body
        return None

    def save(self, key: str, parts: Iterable[bytes | bytearray | memoryview]) -> None:
        """Keep the bytes, given in parts, in place of those before."""
        with suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.folder.chmod(0o700)
            self._save(key, parts)

    def size(self) -> tuple[int, int]:
        """Return how many files there are, and how many bytes they take."""
        sizes = [size for _, _, size in self._files()]
        return len(sizes), sum(sizes)

    def clear(self) -> int:
        """Remove every entry; return how many bytes that frees."""
        sizes = {path: size for path, _, size in self._files()}
        for path in sizes:
            path.unlink(missing_ok=True)
        return sum(sizes.values())

    def _save(self, key: str, parts: Iterable[bytes | bytearray | memoryview]) -> None:
        handle, name = tempfile.mkstemp(prefix=".unfinished-", dir=self.folder)
        unfinished = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                checksum, size = hashlib.sha256(), _CHECKSUM_BYTES
                for part in parts:
                    size += len(part)
                    if size > self.max_bytes:
                        return
                    checksum.update(part)
                    file.write(part)
                file.write(checksum.digest())
            if size > self._room:
                self._make_room(unfinished)
            self._room -= size
            unfinished.replace(self.folder / key)
        finally:
            unfinished.unlink(missing_ok=True)

    def _make_room(self, new: Path) -> None:
        """Remove the entries used longest ago, until the rest and the new one fit.

        Those of a time that is still to come go first: they were kept while the clock was wrong, and would
        outlast all that is kept from now on.
        """
        now = time.time_ns()
        files = sorted(self._files(), key=lambda file: (file[0] == new, file[1] <= now, file[1]))
        total = sum(size for _, _, size in files)
        for path, _, size in files:
            if total <= self.max_bytes:
                break
            with suppress(OSError):  # on Windows, one that a process reads stays
                path.unlink(missing_ok=True)
                total -= size
        self._room = min(self.max_bytes - total, self.max_bytes // _LOOKS)

    def _files(self) -> list[tuple[Path, int, int]]:
        """Return path, time of last use and size of each file, also of those left unfinished."""
        files: list[tuple[Path, int, int]] = []
        with suppress(OSError), os.scandir(self.folder) as entries:
            for entry in entries:
                with suppress(OSError):  # removed by another process meanwhile
                    status = entry.stat(follow_symlinks=False)
                    blocks = -(-status.st_size // _BLOCK_BYTES)
                    files.append((Path(entry.path), status.st_mtime_ns, blocks * _BLOCK_BYTES))
        return files


def _checksum_holds(file: BinaryIO) -> bool:
    """Whether the bytes are those that were written; leaves the file at its start."""
    left = os.fstat(file.fileno()).st_size - _CHECKSUM_BYTES
    checksum = hashlib.sha256()
    while left > 0 and (part := file.read(min(left, _PART_BYTES))):
        checksum.update(part)
        left -= len(part)
    holds = file.read() == checksum.digest()
    file.seek(0)
    return holds
