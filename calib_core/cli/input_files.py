"""The input files of a command: which files a path stands for, their display names, and reading them."""

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
    """The paths given to a command, and the options for reading them.

    Attributes
    ----------
    paths : tuple[Path, ...]
        Files or folders, as typed.
    format : str or None
        A key of FORMATS; None recognises each file by its content.
    column_mappings : Mapping[str, str]
        Column in the file → the name it is read as; "" skips the column.
    skip_bad_rows : bool
        Whether bad rows are left out; otherwise a file that has any is not loaded.
    gold : Path or None
        A table of right answers, for files that hold none.
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
        """Builds the object from the options as typed.

        Raises
        ------
        typer.BadParameter
            If a --map is not COLUMN=NAME or names a column twice.
        """
        return cls(
            tuple(paths), format_id, _parse_column_mappings(column_mappings or ()), skip_bad_rows, gold
        )

    def read(self, path: Path, name: str) -> Reading:
        """Reads one file, with progress on stderr if that is a terminal.

        Parameters
        ----------
        path : Path
            The file.
        name : str
            What messages call the file.

        Raises
        ------
        Refused
            If the file cannot be read.
        """
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
    """Lists the files a path stands for: the file itself, or the prediction files in a folder.

    Returns
    -------
    dict[Path, int]
        File → how many trailing parts of its path identify it. A file need not exist.

    Raises
    ------
    Refused
        If a folder cannot be opened or holds no prediction file.
    """
    try:
        is_folder = path.is_dir()
    except OSError:  # not a valid file name
        is_folder = False
    if not is_folder:
        return {path: 1}
    files = readers.list_files(path)
    if not files:
        raise Refused(f"{path.name or path}: no prediction file in this folder.")
    return {file: len(file.relative_to(path).parts) for file in files}


def skipped_reasons(path: Path) -> tuple[str, ...]:
    """Names files of a folder that look like predictions but are not read, each with the reason."""
    try:
        return tuple(readers.list_folder(path).skipped.values()) if path.is_dir() else ()
    except (CalibError, OSError):  # reported by `files_of_path`
        return ()


def display_names(parts: Mapping[Path, int]) -> dict[Path, str]:
    """What messages call each file: the end of its path, longer where two files would share a name.

    Parameters
    ----------
    parts : Mapping[Path, int]
        File → how many trailing parts of its path to begin with.

    Examples
    --------
    >>> names = display_names({Path("a/run.csv"): 1, Path("b/run.csv"): 1, Path("b/log.json"): 1})
    >>> list(names.values())
    ['a/run.csv', 'b/run.csv', 'log.json']
    """
    parts = dict(parts)
    while True:
        names = {path: "/".join(path.parts[-n_parts:]) for path, n_parts in parts.items()}
        counts = Counter(names.values())
        ambiguous = [
            path for path, name in names.items() if counts[name] > 1 and parts[path] < len(path.parts)
        ]
        if not ambiguous:
            return names
        for path in ambiguous:
            parts[path] += 1


def _parse_column_mappings(column_mappings: Sequence[str]) -> dict[str, str]:
    columns: dict[str, str] = {}
    for text in column_mappings:
        column, _, name = text.rpartition("=")  # a column may contain "=", a name does not
        if not column:
            raise typer.BadParameter(f"expected COLUMN=NAME, found {text!r}", param_hint="--map")
        if column in columns:
            raise typer.BadParameter(f"column {column!r} is given twice", param_hint="--map")
        columns[column] = name
    return columns
