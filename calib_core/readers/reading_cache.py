"""Keep what was read from a file for the next start, by the file's content and by how it was read.

It is kept as the plain data in which a reading comes from the process that reads files: nothing in it can
name code, and it is checked against the declared types when it is loaded. It is kept only where the files
were the same before and after they were read.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Final

import polars as pl

from calib_core.advice import current_surface
from calib_core.errors import Refused
from calib_core.readers.companions import existing_companions
from calib_core.readers.file_access import is_settled, open_handle
from calib_core.readers.sandbox.protocol import DataclassT, InvalidReadingError, Json, pack, unpack
from calib_core.user_cache import CacheFolder

REMEMBERED_BYTES: Final = 4_000_000
"""Size from which a file's digest is remembered; a smaller file is hashed as fast as its digest is found."""

_LENGTH: Final = struct.Struct("<Q")


def load_or_read(  # noqa: PLR0913  all that a reading depends on
    cache_folder: CacheFolder,
    kind: type[DataclassT],
    path: Path,
    read: Callable[[], DataclassT],
    *,
    name: str,
    gold: Path | None,
    root: Path | None,
    parameters: Mapping[str, Json],
    corrections: Path | None = None,
    save: Callable[[Callable[[], None]], object] = lambda do_save: do_save(),
) -> DataclassT:
    """Return what is kept of these files, read this way; read them and keep it where there is nothing.

    Parameters
    ----------
    cache_folder
        Where it is kept.
    kind
        A dataclass of plain data, such as `Reading`.
    path
        The file.
    read
        Reads the file and returns an instance of `kind`.
    name, gold, root
        As in `calib_core.readers.read`.
    parameters
        Everything else that the result depends on, such as format and columns.
    corrections
        A table of corrections on which the result depends, too.
    save
        Is given what keeps the result, which for a large one takes a while, and runs it now or later.

    Raises
    ------
    Refused
        As `read`; a refusal is not kept.
    """
    if not cache_folder.max_bytes:
        return read()
    tables = [table for table in (gold, corrections) if table is not None]
    before = _key(cache_folder, path, name, tables, root, parameters)
    if before is not None and (kept := _load(cache_folder, kind, before)) is not None:
        return kept
    result = read()

    def do_save() -> None:
        if before is not None and before == _key(cache_folder, path, name, tables, root, parameters):
            cache_folder.save(before, pack_bytes(result))

    save(do_save)
    return result


def _key(
    cache_folder: CacheFolder,
    path: Path,
    name: str,
    tables: Sequence[Path],
    root: Path | None,
    parameters: Mapping[str, Json],
) -> str | None:
    """Return the key of all that the result depends on; None where a file cannot be opened."""
    try:
        together = [(path.name, path, root)]
        together += [(other, found, root) for other, found in existing_companions(path).items()]
        together += [(table.name, table, None) for table in tables]
        contents = [(file, _content_digest(cache_folder, found, inside)) for file, found, inside in together]
    except (Refused, OSError):
        return None
    parts = [program_digest(), current_surface(), name, contents, dict(parameters)]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode("ascii")).hexdigest()


def _content_digest(cache_folder: CacheFolder, path: Path, root: Path | None) -> str:
    """Return the digest of a file's bytes, which for a large unchanged file is remembered.

    A file counts as unchanged while its path, size and identity on disk are the same and neither its
    modification time nor the time the system notes of any change is another.
    """
    handle = open_handle(path, path.name, root)
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        version = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        is_remembered = is_settled(status) and status.st_size >= REMEMBERED_BYTES
        key = hashlib.sha256(repr((os.path.realpath(path), *version)).encode("utf-8", "surrogateescape"))
        if is_remembered and (known := cache_folder.load(key.hexdigest())) is not None:
            return known.hex()
        digest = hashlib.file_digest(file, "sha256")
        if is_remembered:
            cache_folder.save(key.hexdigest(), [digest.digest()])
        return digest.hexdigest()


@cache
def program_digest() -> str:
    """Return the digest of the code that reads: another version of it may read a file otherwise."""
    package = Path(__file__).resolve().parents[1]
    digest = hashlib.sha256(pl.__version__.encode())
    for module in sorted(package.rglob("*.py")):
        digest.update(module.relative_to(package).as_posix().encode())
        digest.update(module.read_bytes())
    return digest.hexdigest()


def pack_bytes(value: object) -> Iterator[bytes | bytearray | memoryview]:
    """Return a dataclass as bytes, each part after its length: the tree, then the blobs."""
    tree, blobs = pack(value)
    for part in chain([json.dumps(tree).encode("ascii")], blobs):  # each made when its turn has come
        yield _LENGTH.pack(len(part))
        yield part


def _load(cache_folder: CacheFolder, kind: type[DataclassT], key: str) -> DataclassT | None:
    file = cache_folder.open(key)
    if file is None:
        return None
    with file:
        return unpack_file(kind, file)


def unpack_file(kind: type[DataclassT], file: BinaryIO) -> DataclassT | None:
    """Return the dataclass that `pack_bytes` wrote to the file; None where the file holds no such thing.

    Its parts are read one by one: all at once would take as much memory as the dataclass.
    """
    parts = _parts(file)
    try:
        return unpack(kind, json.loads(next(parts)), parts.__next__)
    except (InvalidReadingError, StopIteration, ValueError, OSError, RecursionError):
        return None


def _parts(file: BinaryIO) -> Iterator[bytes]:
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    while len(packed := file.read(_LENGTH.size)) == _LENGTH.size:
        (length,) = _LENGTH.unpack(packed)
        part = file.read(min(length, size))
        if len(part) < length:  # cut off since its checksum was looked at
            return
        yield part
