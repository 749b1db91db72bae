"""What does a person say of a file that the file does not say itself, and where is that kept?

In the user's cache folder, one small file for each data file: the data folder is never written to. What
was said of an uploaded file is kept with it, for its session alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, cast

VERSION: Final = 1
LARGEST: Final = 4_000_000
"""Bytes of a kept wish; more than a table of many thousand columns needs."""


@dataclass(frozen=True, slots=True)
class Wish:
    """How a person wants a file to be read.

    format: an id of `files.FORMATS`, None = as recognised; columns: (file column, the name it is read as, ""
    to leave it out), in the file's order; gold: real path of a table of right answers; seen: `fingerprint`
    of the file's columns when `columns` was said: of a file with other columns it means nothing.
    """

    format: str | None = None
    columns: tuple[tuple[str, str], ...] = ()
    gold: str | None = None
    seen: str = ""

    def __bool__(self) -> bool:
        return self != Wish()

    def fits(self, columns: Sequence[str]) -> bool:
        """Whether it was said of a file with these columns."""
        return not self.columns or self.seen == fingerprint(columns)


class Wishes(Protocol):
    """Where wishes are kept."""

    def of(self, paths: Iterable[Path]) -> dict[Path, Wish]:
        """The wish of each of these files that has one."""
        ...

    def keep(self, path: Path, wish: Wish) -> None:
        """Keeps a wish in place of the one before. Raises OSError where it cannot."""
        ...

    def forget(self, path: Path) -> None:
        """The file is read as it says itself. Raises OSError where it cannot be forgotten."""
        ...


def fingerprint(columns: Sequence[str]) -> str:
    """The same for the same columns in the same order, and for no others."""
    return hashlib.sha256(json.dumps(list(columns)).encode()).hexdigest()


def cache_folder(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """The user's folder for what programs keep and can make again, by the custom of the platform."""
    try:
        home = Path.home()
    except RuntimeError:  # an account without one, as in some containers: nothing can be kept, which is said
        home = Path(os.sep)
    if platform == "darwin":
        return home / "Library" / "Caches" / "calib"
    named = Path(environment.get("LOCALAPPDATA" if platform == "win32" else "XDG_CACHE_HOME", ""))
    return (named if named.is_absolute() else home / ".cache") / "calib"


class InCache:
    """Wishes as files of `folder`, named by a checksum of the data file's real path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def of(self, paths: Iterable[Path]) -> dict[Path, Wish]:
        """The wish of each of these files that has one; one that cannot be read counts as none."""
        try:
            names = {place.name for place in self.folder.iterdir()}
        except OSError:  # nothing was ever kept
            return {}
        places = ((path, self._place(path)) for path in paths if names)
        found = ((path, self._read(place)) for path, place in places if place.name in names)
        return {path: wish for path, wish in found if wish}

    def keep(self, path: Path, wish: Wish) -> None:
        """Written whole or not at all: into another file first, which is then renamed."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept = {
            "version": VERSION, "file": os.path.realpath(path), "format": wish.format,
            "columns": [list(pair) for pair in wish.columns], "gold": wish.gold, "seen": wish.seen,
        }
        handle, name = tempfile.mkstemp(prefix=".wish-", dir=self.folder)
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                json.dump(kept, file)
            Path(name).replace(self._place(path))
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def forget(self, path: Path) -> None:
        """Nothing is left of it."""
        self._place(path).unlink(missing_ok=True)

    def _place(self, path: Path) -> Path:
        real = os.path.realpath(path)
        return self.folder / f"{hashlib.sha256(os.fsencode(real)).hexdigest()}.json"

    def _read(self, place: Path) -> Wish | None:
        with suppress(OSError, ValueError, RecursionError):
            if place.stat().st_size <= LARGEST:
                return _wish(json.loads(place.read_text(encoding="ascii")))
        return None


class InSession:
    """Wishes of uploaded files: nowhere but in the memory of their session."""

    def __init__(self) -> None:
        self.kept: dict[Path, Wish] = {}

    def of(self, paths: Iterable[Path]) -> dict[Path, Wish]:
        """As `Wishes.of`."""
        return {path: wish for path in paths if (wish := self.kept.get(path))}

    def keep(self, path: Path, wish: Wish) -> None:
        """As `Wishes.keep`."""
        self.kept[path] = wish

    def forget(self, path: Path) -> None:
        """As `Wishes.forget`."""
        self.kept.pop(path, None)


def _wish(kept: object) -> Wish | None:
    """What a file of the cache says; None where it is none of this version."""
    held = cast("dict[str, object]", kept) if isinstance(kept, dict) else {}
    if held.get("version") != VERSION:
        return None
    pairs = held.get("columns")
    columns: list[tuple[str, str]] = []
    for pair in cast("list[object]", pairs) if isinstance(pairs, list) else []:
        match pair:
            case [str(column), str(name)]:
                columns.append((column, name))
            case _:
                return None
    format_, gold, seen = (_text(held.get(key)) for key in ("format", "gold", "seen"))
    return Wish(format_, tuple(columns), gold, seen or "")


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
