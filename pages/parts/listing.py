"""Which files are there to be read, how is each to be read, and when is it to be read again?"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from calib_core import files
from calib_core.files import partners
from pages.parts.uploads import Uploads
from pages.parts.wishes import Wish, Wishes

Version = tuple[int, int]
"""When a file was written last, in nanoseconds, and its bytes; (-1, -1) where it is gone."""

_GONE: Final = (-1, -1)


@dataclass(frozen=True, slots=True)
class Stamp:
    """What everything computed of a file rests on: it holds until one of these changes.

    versions: of the file, of those read with it, and of its table of right answers; session: of the session
    that uploaded it, "" of a file of the folder; others: of the other files, where several are
    one evaluation.
    """

    versions: tuple[Version, ...]
    wish: Wish
    session: str = ""
    others: tuple[Stamp, ...] = ()


@dataclass(frozen=True, slots=True)
class Listed:
    """One file to be read.

    name: below the data folder, or its label; gold: the table of right answers that its wish names, None
    where it names none or that is not there; within: the folder out of which no link of it may lead.
    """

    path: Path
    name: str
    wish: Wish
    stamp: Stamp
    gold: Path | None
    within: Path


def in_folder(folder: Path, wishes: Wishes) -> tuple[Listed, ...]:
    """Every prediction file below the folder, and what looks like one: reading that says why it is not read.

    Raises Refused as `files.listing`.
    """
    found = files.listing(folder)
    named = {path: _readable(path.relative_to(folder)) for path in (*found.files, *found.passed_over)}
    return _listed(named, wishes, frozenset(found.files), folder, "")


def _readable(path: Path) -> str:
    """The path as text, what is none in it replaced: a page that is sent half a character shows nothing."""
    return path.as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def uploaded(uploads: Uploads, tables: Collection[Path]) -> tuple[Listed, ...]:
    """The files of one session; tables: those of the folder, from which right answers may come, too."""
    named = {path: label for label, path in uploads.labels.items()}
    folder = next((path.parent for path in named), Path())
    return _listed(named, uploads.wishes, frozenset((*named, *tables)), folder, uploads.token)


def _listed(
    named: Mapping[Path, str], wishes: Wishes, tables: Collection[Path], within: Path, session: str
) -> tuple[Listed, ...]:
    said = wishes.of(named)
    listed: list[Listed] = []
    for path, name in named.items():
        wish = said.get(path, Wish())
        gold = _among(tables, wish.gold) if wish.gold else None
        together = (path, *partners.companions(path), *((gold,) if gold else ()))
        stamp = Stamp(tuple(map(_version, together)), wish, session)
        listed.append(Listed(path, name, wish, stamp, gold, within))
    return tuple(listed)


def _among(tables: Collection[Path], real: str) -> Path | None:
    """The table that lies there; a wish opens nothing but what is listed."""
    return next((table for table in tables if os.path.realpath(table) == real), None)


def _version(path: Path) -> Version:
    try:
        status = path.stat()
    except (OSError, ValueError):  # gone since the folder was listed: reading it says so
        return _GONE
    return status.st_mtime_ns, status.st_size
