"""How a report was made: the command line that makes it again, program versions and file checksums."""

from __future__ import annotations

import hashlib
import platform
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Final

from calib_core.edges import Scheme
from calib_core.errors import Refused
from calib_core.methods.method import MethodOptions
from calib_core.readers.companions import expected_companions
from calib_core.readers.file_access import open_regular_file
from calib_core.readers.format import AS_IT_LIES, ReadOptions
from calib_core.version import VERSION
from calib_core.views.inputs import FileChecksum, ReportSettings

_CHUNK_SIZE: Final = 1 << 20
"""Bytes read at a time for a checksum."""

RUN_IN_SAME_FOLDER = "Type this command in the same folder as before, with Calib installed (README)."
RUN_IN_DATA_FOLDER = (
    "Type this command in the folder of the files, with Calib installed or its folder in PYTHONPATH (README)."
)


DOCUMENT_TITLE: Final = "Calibration report"


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stands at the head of a report.

    Attributes
    ----------
    title : str
    author, note : str
        "" for none; each line of the note is a paragraph.
    date : date or None
        None for the day on which the report is made.
    """

    title: str = DOCUMENT_TITLE
    author: str = ""
    note: str = ""
    date: date | None = None

    def byline(self, made_on: date) -> str:
        """Author and day, as in "A. N. · 9 January 2025"; `made_on` is the day where none is set."""
        day = self.date or made_on
        return " · ".join(filter(None, (self.author, f"{day.day} {day:%B %Y}")))

    def options(self) -> Iterator[str]:
        """The options of the command line that give the same."""
        if self.title != DOCUMENT_TITLE:
            yield from _repeated_option("--title", [self.title])
        yield from _repeated_option("--author", [self.author] if self.author else [])
        yield from _repeated_option("--note", [self.note] if self.note else [])
        yield from _repeated_option("--date", [self.date.isoformat()] if self.date else [])


@dataclass(frozen=True, slots=True)
class ReportCommand:
    """The command line that makes a report again, with the same numbers.

    Attributes
    ----------
    files : tuple[str, ...]
        Paths of files or folders.
    output : str
        The file that is written.
    settings : ReportSettings
        How the numbers are computed.
    pages : tuple[str, ...]
        As `--page` takes them; () for the summary.
    runs : tuple[str, ...]
        Run labels; () means all.
    skip_bad_rows : bool
        Whether bad rows are left out.
    format : str or None
        A key of FORMATS; None recognises each file by its content.
    options : ReadOptions
        How the columns and rows of the files are read.
    gold : str or None
        Path of a table of right answers.
    corrections : str or None
        Path of a table of corrections.
    where_to_run : str
        A sentence on the folder in which to run the command.
    together : bool
        Whether plain tables with the same columns are read as one run.
    remote : tuple[str, ...]
        Addresses of files elsewhere, without credentials and queries.
    front : FrontMatter
    """

    files: tuple[str, ...]
    output: str
    settings: ReportSettings
    pages: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    skip_bad_rows: bool = False
    format: str | None = None
    options: ReadOptions = AS_IT_LIES
    gold: str | None = None
    where_to_run: str = RUN_IN_SAME_FOLDER
    together: bool = False
    remote: tuple[str, ...] = ()
    front: FrontMatter = FrontMatter()
    corrections: str | None = None

    @property
    def command_line(self) -> str:
        """The command line, quoted for a POSIX shell."""
        return shlex.join(["python", "-m", "calib_core", *self.arguments])

    @property
    def arguments(self) -> list[str]:
        """The arguments after the program's name."""
        selection = (*_repeated_option("--page", self.pages), *_repeated_option("--run", self.runs))
        options = (*self._settings_options(), *self._reading_options(), *selection, *self.front.options())
        # After "--", a file name that begins with a hyphen is not taken for an option.
        return ["report", *options, "-o", self.output, "--", *self.files]

    def _settings_options(self) -> Iterator[str]:
        settings, defaults, scheme = self.settings, MethodOptions(), Scheme()
        yield from _repeated_option("--method", settings.methods)
        yield from _repeated_option("--metric", settings.metrics)
        if settings.scheme.bins != scheme.bins:
            yield from ("--bins", str(settings.scheme.bins))
        if settings.scheme.binning != scheme.binning:
            yield from ("--binning", settings.scheme.binning)
        if settings.bin_number is not None:
            yield from ("--bin", str(settings.bin_number))
        if settings.options.labels != defaults.labels:
            yield from ("--labels", settings.options.labels)
        if settings.options.renormalise is not None:
            yield "--renormalise" if settings.options.renormalise else "--no-renormalise"
        if settings.options.unparseable != defaults.unparseable:
            yield from ("--unparseable", settings.options.unparseable)
        if settings.options.held_out:
            yield "--held-out"
        if settings.options.tolerance is not None:
            yield from ("--tolerance", f"{settings.options.tolerance:g}")
        yield from self._page_options()

    def _page_options(self) -> Iterator[str]:
        """The options of single pages."""
        settings = self.settings
        if settings.judged_choice != "own":
            yield from ("--judged", settings.judged_choice)
        if settings.costs is not None:
            yield from ("--cost-wrong", f"{settings.costs.wrong:g}")
            yield from ("--cost-handed-on", f"{settings.costs.handed_on:g}")

    def _reading_options(self) -> Iterator[str]:
        if self.skip_bad_rows:
            yield "--skip-bad-rows"
        if self.format is not None:
            yield from ("--format", self.format)
        for option, names in (
            ("--map", self.options.columns),
            ("--wide", self.options.wide),
            ("--map-gold", self.options.gold_columns),
        ):
            yield from _repeated_option(option, [f"{column}={name}" for column, name in names.items()])
        if self.options.rows:
            yield from ("--rows", self.options.rows)
        yield from _repeated_option("--missing", self.options.missing)
        yield from _repeated_option("--dataset", [self.options.dataset] if self.options.dataset else [])
        if self.gold is not None:
            yield from ("--gold", self.gold)
        if self.options.gold_on:
            yield from ("--on", self.options.gold_on)
        if self.corrections is not None:
            yield from ("--corrections", self.corrections)
        if self.together:
            yield "--together"
        yield from _repeated_option("--remote", self.remote)


def _repeated_option(option: str, values: Sequence[str]) -> Iterator[str]:
    """Yields the option once for each value; a value that begins with a hyphen is joined to it with "="."""
    for value in values:
        yield from (f"{option}={value}",) if value.startswith("-") else (option, value)


@dataclass(frozen=True, slots=True)
class Provenance:
    """When and how a report was made.

    Attributes
    ----------
    created_at : datetime
        With a time zone.
    command : str
        The command line that makes the report again.
    where_to_run : str
        A sentence on the folder in which to run the command.
    front : FrontMatter
    """

    created_at: datetime
    command: str
    where_to_run: str
    front: FrontMatter = FrontMatter()


@cache
def program_versions() -> str:
    """Versions that the output depends on: "Calib 0.1.0, Python 3.11.7, numpy 2.4.6, …"."""
    others = ", ".join(f"{name} {version(name)}" for name in ("numpy", "polars", "plotly"))
    return f"Calib {VERSION}, Python {platform.python_version()}, {others}"


def file_checksums(paths: Iterable[tuple[Path, str]]) -> tuple[FileChecksum, ...]:
    """Size and checksum of each (path, name); a file that cannot be read has size 0 and no checksum."""
    return tuple(_checksum_or_blank(path, name) for path, name in paths)


def _checksum_or_blank(path: Path, name: str) -> FileChecksum:
    try:
        return file_checksum(path, name)
    except Refused:
        return FileChecksum(name, 0, "")


def file_checksum(path: Path, name: str) -> FileChecksum:
    """Size and checksum of a file as it is now; raises Refused if it cannot be read."""
    digest, size = hashlib.sha256(), 0
    with open_regular_file(path, name) as stream:
        while chunk := stream.read(_CHUNK_SIZE):
            digest.update(chunk)
            size += len(chunk)
    return FileChecksum(name, size, digest.hexdigest())


def files_read_with(path: Path, name: str, *tables: Path) -> list[tuple[Path, str]]:
    """The file, its companion files, and the tables of right answers and of corrections, as (path, name)."""
    companions = [
        (companion, companion.name) for companion in expected_companions(path) if companion.is_file()
    ]
    return [(path, name), *companions, *((table, table.name) for table in tables)]
