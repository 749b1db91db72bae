"""The input files of a command: which files a path stands for, their display names, and reading them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import typer

from calib_core import readers
from calib_core.cli.many_files import ManyFiles, many_files, scale_settings
from calib_core.cli.options import (
    ColumnMappingOption,
    FilesArgument,
    FormatOption,
    GoldMappingOption,
    GoldOption,
    MissingOption,
    OnOption,
    RowsOption,
    SkipBadRowsOption,
    TogetherOption,
    WideOption,
)
from calib_core.cli.terminal import terminal_progress
from calib_core.errors import CalibError, Refused
from calib_core.readers.format import AS_IT_LIES, Reading, ReadOptions
from calib_core.readers.table.columns import split_pair

_NO_PARAMETERS: Final[Mapping[str, Parameter]] = MappingProxyType({})


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
    together : bool
        Whether plain tables with the same columns are parts of one run.
    many : ManyFiles or None
        Reads the files with several processes; None reads them one after another.
    """

    paths: tuple[Path, ...]
    format: str | None = None
    options: ReadOptions = AS_IT_LIES
    skip_bad_rows: bool = False
    gold: Path | None = None
    together: bool = False
    many: ManyFiles | None = None

    @classmethod
    def from_options(  # noqa: PLR0913  one parameter an option
        cls,
        files: FilesArgument,
        *,
        skip_bad_rows: SkipBadRowsOption = False,
        format_id: FormatOption = None,
        column_mappings: ColumnMappingOption = None,
        rows: RowsOption = "",
        wide: WideOption = None,
        missing: MissingOption = None,
        gold: GoldOption = None,
        on: OnOption = "",
        gold_mappings: GoldMappingOption = None,
        together: TogetherOption = False,
    ) -> InputFiles:
        """Builds the object from the options as typed.

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
        options = ReadOptions(columns, rows, patterns, tuple(missing or ()), on, of_gold)
        return cls(tuple(files), format_id, options, skip_bad_rows, gold, together)

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
            If the file cannot be read.
        """
        options = self.options.adding(further)
        if self.many is not None:
            return self.many.read(path, name, self.format, options, self.gold)
        with terminal_progress(name) as progress:
            return readers.read(
                path,
                name=name,
                format=self.format,
                options=options,
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


def takes_files(verb: Callable[..., int], *, at_scale: bool = False) -> Callable[..., int]:
    """Gives a verb the argument and the options that say which files it reads, and how.

    The verb's first parameter is what they come to. On the command line its own options come before them, and
    replace those of the same parameter name. With `at_scale` it can also read many files at once.
    """
    _, *own = signature(verb, eval_str=True).parameters.values()
    own_names = {parameter.name for parameter in own}
    parameters = signature(InputFiles.from_options, eval_str=True).parameters
    reading = {name: parameter for name, parameter in parameters.items() if name not in own_names}
    scale = dict(signature(scale_settings, eval_str=True).parameters) if at_scale else _NO_PARAMETERS
    files, *how_read = reading.values()

    @wraps(verb)
    def run(**options: Any) -> int:  # noqa: ANN401  options of any type
        remote: list[str] = options.get("remote") or []
        settings = scale_settings(**{name: options.pop(name) for name in scale})
        wishes = {name: options.pop(name) for name in reading}
        wishes[files.name] = wishes[files.name] or []
        if not wishes[files.name] and not remote:
            raise typer.BadParameter("expected at least one file or folder, found none", param_hint="FILE")
        with many_files(settings, remote) as many:
            return verb(replace(InputFiles.from_options(**wishes), many=many), **options)

    default = None if at_scale else files.default
    first = files.replace(kind=Parameter.KEYWORD_ONLY, default=default)
    combined = [first, *own, *how_read, *scale.values()]
    run.__dict__["__signature__"] = Signature(combined)
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in combined}
    return run


takes_many_files = partial(takes_files, at_scale=True)
"""`takes_files`, for the verbs that read many files at once."""
