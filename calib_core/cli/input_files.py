"""The input files of a command: which files a path stands for, their display names, and reading them."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Final, TypeAlias

import typer

from calib_core import readers
from calib_core.cli import options as cli_options
from calib_core.cli.many_files import ManyFiles, ManyFilesGroup
from calib_core.cli.option_groups import OptionGroup
from calib_core.cli.terminal import terminal_progress
from calib_core.errors import CalibError, Refused
from calib_core.readers.format import AS_IT_LIES, Reading, ReadOptions
from calib_core.readers.table.columns import split_pair
from calib_core.results.corrections import with_corrections
from calib_core.scale.units import FileRequest

STDIN: Final = Path("-")
STDIN_NAME: Final = "stdin"
"""What messages and runs call standard input."""

_STDIN_FOLDER: Final = "calib-stdin-"
_PATTERN: Final = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class InputFiles:
    """The paths given to a command, and the options for reading them.

    Attributes
    ----------
    paths : tuple[Path, ...]
        Files or folders, as typed.
    format : str or None
        A key of FORMATS; None recognises each file by its content.
    options : ReadOptions
        How the columns and rows of the files are read.
    skip_bad_rows : bool
        Whether bad rows are left out; otherwise a file that has any is not loaded.
    gold : Path or None
        A table of right answers, for files that hold none.
    corrections : Path or None
        A table of questions to leave out, or whose right answer or outcome is corrected.
    together : bool
        Whether plain tables with the same columns are parts of one run.
    many : ManyFiles or None
        Reads the files with several processes; None reads them one after another.
    """

    paths: tuple[Path, ...] = ()
    format: str | None = None
    options: ReadOptions = AS_IT_LIES
    skip_bad_rows: bool = False
    gold: Path | None = None
    corrections: Path | None = None
    together: bool = False
    many: ManyFiles | None = None

    @classmethod
    def from_options(  # noqa: PLR0913  one parameter an option
        cls,
        *,
        skip_bad_rows: cli_options.SkipBadRowsOption = False,
        format_id: cli_options.FormatOption = None,
        column_mappings: cli_options.ColumnMappingOption = None,
        rows: cli_options.RowsOption = "",
        wide: cli_options.WideOption = None,
        missing: cli_options.MissingOption = None,
        dataset: cli_options.DatasetOption = "",
        gold: cli_options.GoldOption = None,
        on: cli_options.OnOption = "",
        gold_mappings: cli_options.GoldMappingOption = None,
        corrections: cli_options.CorrectionsOption = None,
        together: cli_options.TogetherOption = False,
    ) -> InputFiles:
        """Builds the object, without paths, from the options as typed.

        Raises
        ------
        typer.BadParameter
            If a --map, --map-gold or --wide is not COLUMN=NAME or names a column twice, or there is no such
            format or table.
        """
        if format_id is not None and format_id not in readers.FORMATS:
            known = ", ".join(readers.FORMATS)
            raise typer.BadParameter(f"expected one of {known}, found {format_id!r}", param_hint="--format")
        columns = _parse_pairs(column_mappings or (), "--map", "COLUMN=NAME")
        patterns = _parse_pairs(wide or (), "--wide", '"*SUFFIX=NAME"')
        if gold_mappings and gold is None:
            raise typer.BadParameter("expected a table to go with it, --gold TABLE", param_hint="--map-gold")
        of_gold = _parse_pairs(gold_mappings or (), "--map-gold", "COLUMN=NAME")
        options = ReadOptions(columns, rows, patterns, tuple(missing or ()), on, of_gold, dataset)
        return cls((), format_id, options, skip_bad_rows, gold, corrections, together)

    def read(self, path: Path, name: str, further: ReadOptions = AS_IT_LIES) -> Reading:
        """Reads one file, with progress on stderr if that is a terminal.

        Parameters
        ----------
        path : Path
            The file.
        name : str
            What messages call the file.
        further : ReadOptions
            What is named in addition to the options.

        Raises
        ------
        Refused
            If the file or the table of corrections cannot be read, or the two do not belong together.
        """
        options = self.options.adding(further)
        return with_corrections(self._read(path, name, options), self.corrections, options)

    @property
    def tables(self) -> tuple[Path, ...]:
        """The tables that are read with each file."""
        return tuple(table for table in (self.gold, self.corrections) if table is not None)

    def _read(self, path: Path, name: str, options: ReadOptions) -> Reading:
        if self.many is not None:
            return self.many.read(self._request(self.many, path, name, options))
        with terminal_progress(name) as progress:
            return readers.read(
                path,
                name=name,
                format=self.format,
                options=options,
                gold=self.gold,
                progress=progress,
            )

    def start(self, names: Mapping[Path, str]) -> None:
        """Starts to read all files, each with its display name, where several processes read them."""
        if self.many is not None:
            many = self.many
            many.start([self._request(many, path, name, self.options) for path, name in names.items()])

    def _request(self, many: ManyFiles, path: Path, name: str, options: ReadOptions) -> FileRequest:
        gold = None if self.gold is None else str(self.gold.absolute())
        return FileRequest(many.address(path), name, self.format, options, gold)


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
        if _PATTERN.search(str(path)) and not os.path.exists(path):  # noqa: PTH110  no error for any name
            raise Refused(
                f"{path}: there is no such file. If it is a pattern, write it without quotes, so that the "
                "shell lists its files, or add --workers N, which reads patterns."
            )
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


def _parse_pairs(texts: Sequence[str], option: str, form: str) -> dict[str, str]:
    """Splits each COLUMN=NAME."""
    names: dict[str, str] = {}
    for text in texts:
        column, name = split_pair(text)
        if not column:
            raise typer.BadParameter(f"expected {form}, found {text!r}", param_hint=option)
        if column in names:
            raise typer.BadParameter(f"expected each column once, found {column!r} twice", param_hint=option)
        names[column] = name
    return names


_ReadingGroup: TypeAlias = Annotated[InputFiles, OptionGroup(InputFiles.from_options)]


def is_stdin(path: Path) -> bool:
    """Whether a path of `InputFiles` stands for standard input."""
    return path.name == STDIN_NAME and path.parent.name.startswith(_STDIN_FOLDER)


def _with_stdin(context: typer.Context, paths: Sequence[Path]) -> tuple[Path, ...]:
    """The paths with a file of what standard input holds in place of `-`, until the verb ends.

    Raises
    ------
    Refused
        If `-` is given twice.
    """
    if paths.count(STDIN) > 1:
        raise Refused("- is standard input, which can be read only once.")
    if STDIN not in paths:
        return tuple(paths)
    folder = TemporaryDirectory(prefix=_STDIN_FOLDER)
    context.call_on_close(folder.cleanup)
    file = Path(folder.name, STDIN_NAME)
    with file.open("wb") as stream:
        shutil.copyfileobj(sys.stdin.buffer, stream)
    return tuple(file if path == STDIN else path for path in paths)


def _given_files(
    context: typer.Context, *, files: cli_options.FilesArgument, reading: _ReadingGroup
) -> InputFiles:
    return replace(reading, paths=_with_stdin(context, files or ()))


def _given_or_remote_files(
    context: typer.Context,
    *,
    files: cli_options.FilesArgument = None,
    reading: _ReadingGroup,
    many: ManyFilesGroup,
) -> InputFiles:
    if not files and not (many and many.remote):
        raise typer.BadParameter("expected at least one file or folder, found none", param_hint="FILE")
    return replace(reading, paths=_with_stdin(context, files or ()), many=many)


FilesGroup: TypeAlias = Annotated[InputFiles, OptionGroup(_given_files)]
FilesAtScaleGroup: TypeAlias = Annotated[InputFiles, OptionGroup(_given_or_remote_files)]
"""`FilesGroup`, for the verbs that read many files at once."""
