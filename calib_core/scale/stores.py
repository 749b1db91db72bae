"""Files on this machine and in object stores: which ones an address stands for, and their bytes in any order.

An address is a URL that the operator names: `https://…` is read with the standard library, any other by the
library that fsspec names for it (`s3://`, `gs://`, `hf://`, …), with the credentials in its environment.
"""

from __future__ import annotations

import importlib
import io
import re
import tempfile
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from glob import has_magic
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Protocol, cast
from urllib.parse import quote, urlsplit

from calib_core.errors import Refused, shorten
from calib_core.readers.companions import (
    COLUMN_SUMS_SUFFIX,
    HELM_FILES_WITHOUT_PREDICTIONS,
    HELM_SCENARIO_STATE,
    expected_companions,
)
from calib_core.readers.file_access import open_regular_file
from calib_core.readers.folder import is_ignored

if TYPE_CHECKING:
    from calib_core.scale.web import HttpFile

INSTALL_ADVICE: Final = "Install it with: pip install 'calib[scale]'"

MAX_SPOOLED_BYTES: Final = 8 * 2**30
"""Limit on a remote file that can only be read as a whole, and is copied to a temporary folder for it."""

_BUFFER_BYTES: Final = 2**18
_COPIED_BYTES: Final = 2**20
_READ_AHEAD_BYTES: Final = 2**25
"""Bytes that fsspec requests at a time: enough that the time to the first byte does not matter."""

_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://.")
_HTTP_SCHEMES: Final = ("http", "https")

_VERSION_KEYS: Final = (
    "ETag", "etag", "version_id", "generation", "md5Hash", "sha256", "oid", "blob_id",
    "mtime", "LastModified", "last_modified", "updated",
)  # fmt: skip
"""What stores call the mark that tells one version of a file from another; the surest first."""


@dataclass(frozen=True, slots=True)
class FileVersion:
    """One version of a file.

    Attributes
    ----------
    address : str
        An absolute path here, or a URL.
    size : int
        Bytes.
    version : str
        Differs for another version of the file; "" where the store does not tell.
    """

    address: str
    size: int
    version: str


def is_remote(address: str) -> bool:
    """Whether this is a URL rather than a path."""
    return _ADDRESS.match(address) is not None


def path_of_address(address: str) -> Path:
    """The scheme, host and path of an address as a path, by which messages name the file: without its query.

    Examples
    --------
    >>> path_of_address("https://user:secret@example.org/runs/a.npz?signature=1").as_posix()
    'https:/example.org/runs/a.npz'
    """
    parts = urlsplit(address)
    path = parts.path if parts.scheme in _HTTP_SCHEMES else address.partition("://")[2].partition("/")[2]
    return Path(
        f"{parts.scheme}:", parts.netloc.rpartition("@")[2], *PurePosixPath(path).parts[path[:1] == "/" :]
    )


def file_name(address: str) -> str:
    """The last part of an address's path."""
    return path_of_address(address).name if is_remote(address) else Path(address).name


def sibling(address: str, name: str) -> str:
    """The address of a file of this name in the same folder."""
    if not is_remote(address):
        return str(Path(address).with_name(name))
    parts = urlsplit(address)
    if parts.scheme in _HTTP_SCHEMES:
        return parts._replace(path=f"{parts.path.rpartition('/')[0]}/{quote(name)}").geturl()
    return f"{address.rpartition('/')[0]}/{name}"


# --- Which files? -----------------------------------------------------------------------------------------


def list_address(address: str) -> tuple[str, ...]:
    """The files that an address stands for: itself, those that match its pattern, or those in its folder.

    In a folder, what a folder here leaves out is left out: hidden files, README and the like, and files that
    are read together with another one.

    Raises
    ------
    Refused
        If the address is none, cannot be listed, or stands for no file.
    """
    if not is_remote(address):
        raise Refused(
            f"--remote: expected an address such as s3://bucket/folder, found {shorten(address)!r}."
        )
    shown = shown_address(address)
    if urlsplit(address).scheme.lower() in _HTTP_SCHEMES:
        if "*" in address or address.endswith("/"):
            raise Refused(f"{shown}: a web server does not list its files: name each file separately.")
        return (address,)
    with _store_errors(shown):
        store, path = _open_store(address, shown)
        if has_magic(path):
            found = store.glob(path)
        elif store.isdir(path):
            found = [name for name in store.find(path) if not _is_ignored_below(name, path)]
        else:
            return (address,)
        found = _without_companions(sorted(found))
        if not found:
            raise Refused(f"{shown}: there is no prediction file.")
        return tuple(str(store.unstrip_protocol(name)) for name in found)


def expand_pattern(path: Path) -> tuple[Path, ...]:
    """The files here that match a pattern such as `runs/*.npz`; the path itself where it is none."""
    if not has_magic(str(path)) or path.exists():
        return (path,)
    first = next(number for number, part in enumerate(path.parts) if has_magic(part))
    fixed = Path(*path.parts[:first])
    pattern = Path(*path.parts[first:])
    found = sorted(
        other for other in fixed.glob(str(pattern)) if other.is_file() and not is_ignored(other.name)
    )
    names = set(_without_companions([str(other) for other in found]))
    if not names:
        raise Refused(f"{path}: there is no prediction file of such a name.")
    return tuple(other for other in found if str(other) in names)


def _is_ignored_below(name: str, folder: str) -> bool:
    return any(map(is_ignored, PurePosixPath(name[len(folder) :]).parts[1:] or (PurePosixPath(name).name,)))


def _without_companions(names: Sequence[str]) -> list[str]:
    """Leaves out the files that are read together with another one in the list."""
    listed, companions = set(names), set[str]()
    for name in names:
        path = PurePosixPath(name)
        if path.name.lower().endswith(f".{COLUMN_SUMS_SUFFIX}"):
            companions.add(name)
        for other in expected_companions(Path(name)):
            mutual = path.name != HELM_SCENARIO_STATE and other.name not in HELM_FILES_WITHOUT_PREDICTIONS
            if not (mutual and Path(name) in expected_companions(other)):
                companions.add(str(other))
    return [name for name in names if name not in companions & listed]


# --- Bytes ------------------------------------------------------------------------------------------------


def version_of(address: str, name: str) -> FileVersion:
    """The present version of a file.

    Raises
    ------
    Refused
        If there is no such file, or it cannot be opened.
    OSError
        If the network fails, which another attempt may not.
    """
    if not is_remote(address):
        path = Path(address)
        with open_regular_file(path, name):
            status = path.stat()
        return FileVersion(address, status.st_size, f"{status.st_dev}-{status.st_ino}-{status.st_mtime_ns}")
    if urlsplit(address).scheme.lower() in _HTTP_SCHEMES:
        with _http_file(address, name) as stream:
            return FileVersion(address, stream.size, stream.version)
    with _store_errors(name):
        store, path = _open_store(address, name)
        store.invalidate_cache()
        info = store.info(path)
        version = next((f"{key} {info[key]}" for key in _VERSION_KEYS if info.get(key)), "")
        return FileVersion(address, int(info["size"]), version)


def can_seek(address: str, name: str) -> bool:
    """Whether parts of the file can be read without what is before them."""
    if not is_remote(address) or urlsplit(address).scheme.lower() not in _HTTP_SCHEMES:
        return True
    with _http_file(address, name) as stream:
        return stream.seekable()


def _http_file(address: str, name: str) -> HttpFile:
    from calib_core.scale.web import HttpFile  # noqa: PLC0415 - slow to import

    return HttpFile(address, name)


@contextmanager
def open_file(file: FileVersion, name: str) -> Generator[BinaryIO]:
    """Opens a file as a seekable stream.

    Raises
    ------
    Refused
        If there is no such file any more, or another version of it.
    OSError
        If the network fails, which another attempt may not.
    """
    if version_of(file.address, name) != file:
        raise Refused(f"{name} has changed since it was first looked at. Run the command again.")
    if not is_remote(file.address):
        with open_regular_file(Path(file.address), name) as stream:
            yield stream
    elif urlsplit(file.address).scheme.lower() in _HTTP_SCHEMES:
        with io.BufferedReader(_http_file(file.address, name), _BUFFER_BYTES) as stream:
            yield cast("BinaryIO", stream)
    else:
        with _store_errors(name):
            store, path = _open_store(file.address, name)
            with store.open(path, "rb", block_size=_READ_AHEAD_BYTES) as stream:
                yield stream


@contextmanager
def on_disk(files: Iterable[FileVersion], name: str) -> Generator[Path]:
    """Copies remote files into a temporary folder, and yields the path of the first; others stay in place.

    Raises
    ------
    Refused
        If they are larger than `MAX_SPOOLED_BYTES`, or cannot be read.
    """
    first, *others = files
    if not is_remote(first.address):
        yield Path(first.address)
        return
    with tempfile.TemporaryDirectory(prefix="calib-") as folder:
        for file in (first, *others):
            _copy(file, Path(folder) / file_name(file.address), name)
        yield Path(folder) / file_name(first.address)


def _copy(file: FileVersion, target: Path, name: str) -> None:
    left = MAX_SPOOLED_BYTES
    with open_file(file, name) as stream, target.open("xb") as copy:
        while chunk := stream.read(_COPIED_BYTES):
            left -= len(chunk)
            if left < 0:
                raise Refused(
                    f"{name} can only be read as a whole, and at most {MAX_SPOOLED_BYTES // 2**30} GiB of "
                    "such a file are copied here. Split it, or save arrays uncompressed (.npy, numpy.savez)."
                )
            copy.write(chunk)
    if (found := target.stat().st_size) != file.size:
        raise OSError(f"{found:,} of {file.size:,} bytes of {name} arrived")


# --- Object stores, by fsspec -----------------------------------------------------------------------------


class _Store(Protocol):
    """What is used of a file system of fsspec, which has no types."""

    def glob(self, path: str) -> list[str]: ...
    def find(self, path: str) -> list[str]: ...
    def isdir(self, path: str) -> bool: ...
    def info(self, path: str) -> Mapping[str, Any]: ...
    def invalidate_cache(self) -> None: ...
    def unstrip_protocol(self, name: str) -> str: ...
    def open(self, path: str, mode: str, *, block_size: int) -> BinaryIO: ...


def _open_store(address: str, name: str) -> tuple[_Store, str]:
    """The file system of an address, and the path in it."""
    try:
        fsspec: Any = importlib.import_module("fsspec.core")
    except ImportError:
        raise Refused(
            f"{name}: addresses such as {address.partition('://')[0]}:// need fsspec. {INSTALL_ADVICE}"
        ) from None
    try:
        return cast("tuple[_Store, str]", fsspec.url_to_fs(address))
    except ImportError as error:
        raise Refused(f"{name} cannot be opened: {shorten(str(error), 200)}.") from None
    except ValueError as error:
        raise Refused(f"{name} cannot be opened: {shorten(str(error), 200)}.") from None


@contextmanager
def _store_errors(name: str) -> Generator[None]:
    """Turns the errors of a store that another attempt cannot mend into `Refused`."""
    try:
        yield
    except (FileNotFoundError, PermissionError, IsADirectoryError) as error:
        reason = error.strerror or ("no access" if isinstance(error, PermissionError) else "no such file")
        raise Refused(f"{name} cannot be opened ({reason}).") from None


def shown_address(address: str) -> str:
    """An address for a message: without credentials and query."""
    path = path_of_address(address)
    return f"{path.parts[0]}//{'/'.join(path.parts[1:])}"
