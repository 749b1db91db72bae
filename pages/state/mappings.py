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

FORMAT_VERSION: Final = 1
MAX_FILE_BYTES: Final = 4_000_000
"""Bytes of a kept wish; more than a table of many thousand columns needs."""


@dataclass(frozen=True, slots=True)
class FileMapping:
    """How a person wants a file to be read.

    format: an id of `files.FORMATS`, None = as recognised; columns: (file column, the name it is read as, ""
    to leave it out), in the file's order; gold: real path of a table of right answers; seen: `fingerprint`
    of the file's columns when `columns` was said: of a file with other columns it means nothing.
    """

    format: str | None = None
    columns: tuple[tuple[str, str], ...] = ()
    gold: str | None = None
    columns_fingerprint: str = ""

    def __bool__(self) -> bool:
        return self != FileMapping()

    def applies_to(self, columns: Sequence[str]) -> bool:
        """Whether it was said of a file with these columns."""
        return not self.columns or self.columns_fingerprint == fingerprint(columns)


class MappingStore(Protocol):
    """Where wishes are kept."""

    def for_files(self, paths: Iterable[Path]) -> dict[Path, FileMapping]:
        """The wish of each of these files that has one."""
        ...

    def save(self, path: Path, mapping: FileMapping) -> None:
        """Keeps a wish in place of the one before. Raises OSError where it cannot."""
        ...

    def delete(self, path: Path) -> None:
        """The file is read as it says itself. Raises OSError where it cannot be forgotten."""
        ...


def fingerprint(columns: Sequence[str]) -> str:
    """The same for the same columns in the same order, and for no others."""
    return hashlib.sha256(json.dumps(list(columns)).encode()).hexdigest()


def user_cache_folder(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """The user's folder for what programs keep and can make again, by the custom of the platform."""
    try:
        home = Path.home()
    except RuntimeError:  # an account without one, as in some containers: nothing can be kept, which is said
        home = Path(os.sep)
    if platform == "darwin":
        return home / "Library" / "Caches" / "calib"
    named = Path(environment.get("LOCALAPPDATA" if platform == "win32" else "XDG_CACHE_HOME", ""))
    return (named if named.is_absolute() else home / ".cache") / "calib"


class CachedMappings:
    """Wishes as files of `folder`, named by a checksum of the data file's real path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def for_files(self, paths: Iterable[Path]) -> dict[Path, FileMapping]:
        """The wish of each of these files that has one; one that cannot be read counts as none."""
        try:
            names = {place.name for place in self.folder.iterdir()}
        except OSError:  # nothing was ever kept
            return {}
        places = ((path, self._file_of(path)) for path in paths if names)
        found = ((path, self._load(place)) for path, place in places if place.name in names)
        return {path: wish for path, wish in found if wish}

    def save(self, path: Path, mapping: FileMapping) -> None:
        """Written whole or not at all: into another file first, which is then renamed."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept = {
            "version": FORMAT_VERSION,
            "file": os.path.realpath(path),
            "format": mapping.format,
            "columns": [list(pair) for pair in mapping.columns],
            "gold": mapping.gold,
            "seen": mapping.columns_fingerprint,
        }
        handle, name = tempfile.mkstemp(prefix=".wish-", dir=self.folder)
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                json.dump(kept, file)
            Path(name).replace(self._file_of(path))
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def delete(self, path: Path) -> None:
        """Nothing is left of it."""
        self._file_of(path).unlink(missing_ok=True)

    def _file_of(self, path: Path) -> Path:
        real = os.path.realpath(path)
        return self.folder / f"{hashlib.sha256(os.fsencode(real)).hexdigest()}.json"

    def _load(self, file: Path) -> FileMapping | None:
        with suppress(OSError, ValueError, RecursionError):
            if file.stat().st_size <= MAX_FILE_BYTES:
                return _parse_mapping(json.loads(file.read_text(encoding="ascii")))
        return None


class SessionMappings:
    """Wishes of uploaded files: nowhere but in the memory of their session."""

    def __init__(self) -> None:
        self.kept: dict[Path, FileMapping] = {}

    def for_files(self, paths: Iterable[Path]) -> dict[Path, FileMapping]:
        """As `Wishes.of`."""
        return {path: wish for path in paths if (wish := self.kept.get(path))}

    def save(self, path: Path, mapping: FileMapping) -> None:
        """As `Wishes.keep`."""
        self.kept[path] = mapping

    def delete(self, path: Path) -> None:
        """As `Wishes.forget`."""
        self.kept.pop(path, None)


def _parse_mapping(stored: object) -> FileMapping | None:
    """What a file of the cache says; None where it is none of this version."""
    held = cast("dict[str, object]", stored) if isinstance(stored, dict) else {}
    if held.get("version") != FORMAT_VERSION:
        return None
    pairs = held.get("columns")
    columns: list[tuple[str, str]] = []
    for pair in cast("list[object]", pairs) if isinstance(pairs, list) else []:
        match pair:
            case [str(column), str(name)]:
                columns.append((column, name))
            case _:
                return None
    format_, gold, seen = (_string_or_none(held.get(key)) for key in ("format", "gold", "seen"))
    return FileMapping(format_, tuple(columns), gold, seen or "")


def _string_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None
