"""Store how the user wants a file to be read: its format, columns and right answers.

A mapping of a file in the data folder is a small file in the user's cache folder, since the data folder is
never written to. A mapping of an uploaded file is kept in memory for its session only.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, cast

from calib_core.readers.format import ReadOptions

MAPPINGS_VERSION: Final = 1
MAX_FILE_BYTES: Final = 4_000_000
"""Bytes of a stored mapping that is read; a table of many thousand columns needs less."""


@dataclass(frozen=True, slots=True)
class FileMapping:
    """How the user wants a file to be read.

    Attributes
    ----------
    format : str or None
        Id in `FORMATS`; None to recognise the format.
    columns : tuple of (str, str)
        File column and the name it is read as ("" to leave it out); the columns of one list are in its order.
    gold : str or None
        Real path of a table of right answers.
    corrections : str or None
        Real path of a table of corrections.
    rows, missing, gold_on
        As in `ReadOptions`.
    dataset : str
        What the data are called, where the file does not say; as in `ReadOptions`.
    wide, gold_columns : tuple of (str, str)
        Pattern of columns, or column of the table of right answers, and the name it is read as.
    run_name : str
        Name of the run that this table is a part of: tables with the same name are read as one run. "" for a
        run of its own.
    columns_fingerprint : str
        `fingerprint` of the file's columns when `columns` was set. A mapping applies only to files with the
        same columns.
    """

    format: str | None = None
    columns: tuple[tuple[str, str], ...] = ()
    gold: str | None = None
    columns_fingerprint: str = ""
    rows: str = ""
    wide: tuple[tuple[str, str], ...] = ()
    missing: tuple[str, ...] = ()
    gold_on: str = ""
    run_name: str = ""
    gold_columns: tuple[tuple[str, str], ...] = ()
    corrections: str | None = None
    dataset: str = ""

    def __bool__(self) -> bool:
        return self != FileMapping()

    @property
    def options(self) -> ReadOptions:
        """The mapping as the readers take it."""
        return ReadOptions(
            dict(self.columns),
            self.rows,
            dict(self.wide),
            self.missing,
            self.gold_on,
            dict(self.gold_columns),
            self.dataset,
        )

    def applies_to(self, columns: Sequence[str]) -> bool:
        """Return whether the mapping was set for a file with these columns."""
        return not (self.columns or self.wide) or self.columns_fingerprint == fingerprint(columns)


class MappingStore(Protocol):
    """Where mappings are kept."""

    def for_files(self, paths: Iterable[Path]) -> dict[Path, FileMapping]:
        """Return the mappings of those of the files that have one."""
        ...

    def save(self, path: Path, mapping: FileMapping) -> None:
        """Keep a mapping in place of the one before; raises OSError where that is not possible."""
        ...

    def delete(self, path: Path) -> None:
        """Remove the mapping of a file; raises OSError where that is not possible."""
        ...


def fingerprint(columns: Sequence[str]) -> str:
    """Return a checksum of the columns and their order."""
    return hashlib.sha256(json.dumps(list(columns)).encode()).hexdigest()


class CachedMappings:
    """Mappings as files of `folder`, each named by a checksum of the data file's real path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def for_files(self, paths: Iterable[Path]) -> dict[Path, FileMapping]:
        """Return the mappings of those of the files that have one; an unreadable mapping counts as none."""
        try:
            names = {stored_path.name for stored_path in self.folder.iterdir()}
        except OSError:  # no mapping was ever saved, so the folder does not exist
            return {}
        stored_paths = ((path, self._file_of(path)) for path in paths if names)
        mappings = (
            (path, self._load(stored_path)) for path, stored_path in stored_paths if stored_path.name in names
        )
        return {path: mapping for path, mapping in mappings if mapping}

    def save(self, path: Path, mapping: FileMapping) -> None:
        """Keep a mapping in place of the one before; raises OSError where that is not possible."""
        record = {
            "version": MAPPINGS_VERSION,
            "file": os.path.realpath(path),
            "format": mapping.format,
            "columns": [list(pair) for pair in mapping.columns],
            "rows": mapping.rows,
            "wide": [list(pair) for pair in mapping.wide],
            "missing": list(mapping.missing),
            "gold": mapping.gold,
            "gold_on": mapping.gold_on,
            "gold_columns": [list(pair) for pair in mapping.gold_columns],
            "corrections": mapping.corrections,
            "run_name": mapping.run_name,
            "dataset": mapping.dataset,
            "seen": mapping.columns_fingerprint,
        }
        write_json(self._file_of(path), record)

    def delete(self, path: Path) -> None:
        """Remove the mapping of a file."""
        self._file_of(path).unlink(missing_ok=True)

    def _file_of(self, path: Path) -> Path:
        return self.folder / json_file_name(path)

    def _load(self, file: Path) -> FileMapping | None:
        return _parse_mapping(read_json(file))


def json_file_name(path: Path) -> str:
    """Return the name under which something is kept about a file or folder, by its real path."""
    return f"{hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()}.json"


def write_json(file: Path, record: object) -> None:
    """Write a record; under another name first, and then renamed, so that the file is always whole."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".mapping-", dir=file.parent)
    try:
        with os.fdopen(handle, "w", encoding="ascii") as stream:
            json.dump(record, stream)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def read_json(file: Path) -> object:
    """Return what a file holds; None where it is missing, malformed or larger than `MAX_FILE_BYTES`."""
    with suppress(OSError, ValueError, RecursionError):
        if file.stat().st_size <= MAX_FILE_BYTES:
            return json.loads(file.read_text(encoding="ascii"))
    return None


class SessionMappings:
    """Mappings of uploaded files, kept in the memory of their session."""

    def __init__(self) -> None:
        self.by_path: dict[Path, FileMapping] = {}

    def for_files(self, paths: Iterable[Path]) -> dict[Path, FileMapping]:
        """Return the mappings of those of the files that have one."""
        return {path: mapping for path in paths if (mapping := self.by_path.get(path))}

    def save(self, path: Path, mapping: FileMapping) -> None:
        """Keep a mapping in place of the one before."""
        self.by_path[path] = mapping

    def delete(self, path: Path) -> None:
        """Remove the mapping of a file."""
        self.by_path.pop(path, None)


def _parse_mapping(stored: object) -> FileMapping | None:
    """Return a stored mapping; None where it is of another version or malformed."""
    record = cast("dict[str, object]", stored) if isinstance(stored, dict) else {}
    if record.get("version") != MAPPINGS_VERSION:
        return None
    columns, wide = _pairs(record.get("columns")), _pairs(record.get("wide", []))
    gold_columns = _pairs(record.get("gold_columns", []))
    missing = record.get("missing", [])
    texts = cast("list[object]", missing) if isinstance(missing, list) else [None]
    if columns is None or wide is None or gold_columns is None:
        return None
    if not all(isinstance(text, str) for text in texts):
        return None
    return FileMapping(
        _string_or_none(record.get("format")),
        columns,
        _string_or_none(record.get("gold")),
        _string_or_none(record.get("seen")) or "",
        _string_or_none(record.get("rows")) or "",
        wide,
        cast("tuple[str, ...]", tuple(texts)),
        _string_or_none(record.get("gold_on")) or "",
        _string_or_none(record.get("run_name")) or "",
        gold_columns,
        _string_or_none(record.get("corrections")),
        _string_or_none(record.get("dataset")) or "",
    )


def _pairs(stored: object) -> tuple[tuple[str, str], ...] | None:
    """Return stored pairs of texts; None where they are malformed."""
    pairs: list[tuple[str, str]] = []
    for pair in cast("list[object]", stored) if isinstance(stored, list) else [None]:
        match pair:
            case [str(column), str(name)]:
                pairs.append((column, name))
            case _:
                return None
    return tuple(pairs)


def _string_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None
