"""Which files are meant, what are they called, and what is in them?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from calib_core import readers
from calib_core.cli.terminal import progress_bar
from calib_core.errors import CalibError, Refused
from calib_core.readers.format import Reading


@dataclass(frozen=True, slots=True)
class InputFiles:
    """Files, and how all of them are to be read.

    format: an id of FORMATS, None = recognised by content; columns: file column → the name it is read
    as, "" = it is not read; gold: a table of right answers, for files that hold none.
    """

    paths: tuple[Path, ...]
    format: str | None
    column_mappings: Mapping[str, str]
    skip_bad_rows: bool
    gold: Path | None = None

    @classmethod
    def from_options(
        cls,
        paths: Sequence[Path],
        format_id: str | None,
        column_mappings: Sequence[str] | None,
        *,
        skip_bad_rows: bool,
        gold: Path | None = None,
    ) -> InputFiles:
        """From the options as typed; raises typer.BadParameter for a --map that is not COLUMN=NAME."""
        return cls(
            tuple(paths), format_id, _parse_column_mappings(column_mappings or ()), skip_bad_rows, gold
        )

    def read(self, path: Path, name: str) -> Reading:
        """What is in the file, with progress on stderr if a person looks; raises Refused."""
        with progress_bar(name) as progress:
            return readers.read(
                path,
                name=name,
                format=self.format,
                columns=self.column_mappings or None,
                gold=self.gold,
                progress=progress,
            )


def files_of_path(path: Path) -> dict[Path, int]:
    """The files that a path means, and how many parts of each one's path tell it from the others.

    A file is meant as it is, whether it is there or not; a folder means the files in it. Raises
    Refused for a folder that cannot be opened or holds no file to read.
    """
    try:
        folder = path.is_dir()
    except OSError:  # no name that a file can have
        folder = False
    if not folder:
        return {path: 1}
    found = readers.list_files(path)
    if not found:
        raise Refused(f"{path.name or path}: no prediction file in this folder.")
    return {file: len(file.relative_to(path).parts) for file in found}


def skipped_reasons(path: Path) -> tuple[str, ...]:
    """Why what looks like a file of predictions in a folder is not read, each with its name."""
    try:
        return tuple(readers.list_folder(path).skipped.values()) if path.is_dir() else ()
    except (CalibError, OSError):  # which `files_in` says
        return ()


def display_names(parts: Mapping[Path, int]) -> dict[Path, str]:
    """What messages call each file: the end of its path, longer where two would be called the same."""
    parts = dict(parts)
    while True:
        names = {path: "/".join(path.parts[-number:]) for path, number in parts.items()}
        times = Counter(names.values())
        alike = [path for path, name in names.items() if times[name] > 1 and parts[path] < len(path.parts)]
        if not alike:
            return names
        for path in alike:
            parts[path] += 1


def _parse_column_mappings(column_mappings: Sequence[str]) -> dict[str, str]:
    columns: dict[str, str] = {}
    for text in column_mappings:
        column, _, name = text.rpartition("=")  # a file's column may hold "=", the names it can have do not
        if not column:
            raise typer.BadParameter(f"expected COLUMN=NAME, found {text!r}", param_hint="--map")
        if column in columns:
            raise typer.BadParameter(f"column {column!r} is given twice", param_hint="--map")
        columns[column] = name
    return columns
