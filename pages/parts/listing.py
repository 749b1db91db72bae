"""Which files are there to be read, how is each to be read, and when is it to be read again?"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from calib_core import files
from calib_core.files import partners
from pages.parts.uploads import SessionUploads
from pages.parts.wishes import FileMapping, MappingStore

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
    found = files.list_folder(folder)
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
        together = (path, *partners.expected_companions(path), *((gold,) if gold else ()))
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
