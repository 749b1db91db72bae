"""With what was a report made, when, and how is it made again?"""

from __future__ import annotations

import hashlib
import platform
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Final

from calib_core.edges import Scheme
from calib_core.errors import Refused
from calib_core.methods.method import MethodOptions
from calib_core.readers.companions import expected_companions
from calib_core.readers.file_access import open_regular_file
from calib_core.report.inputs import FileChecksum, ReportSettings
from calib_core.version import VERSION

# MERGED again: By which command line is a report made again, with the same numbers?

RUN_IN_SAME_FOLDER = "To be typed in the folder it was typed in, where Calib can be found (README)."
RUN_IN_DATA_FOLDER = (
    "To be typed in the folder of the files, where Calib can be found (PYTHONPATH names its folder; README)."
)


@dataclass(frozen=True, slots=True)
class ReportCommand:
    """The words of a report's command line, as they were typed or could have been.

    files: paths; output: the file written; pages, runs: () = all; format, columns, gold: how every file is
    read; place: where it is to be typed.
    """

    files: tuple[str, ...]
    output: str
    settings: ReportSettings
    pages: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    skip_bad_rows: bool = False
    format: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict[str, str])
    gold: str | None = None
    where_to_run: str = RUN_IN_SAME_FOLDER

    @property
    def command_line(self) -> str:
        """The line, quoted for a shell."""
        return shlex.join(["python", "-m", "calib_core", *self.arguments])

    @property
    def arguments(self) -> list[str]:
        """What follows the program's name."""
        which = (*_repeated_option("--page", self.pages), *_repeated_option("--run", self.runs))
        options = (*self._settings_options(), *self._reading_options(), *which)
        # A name that begins with a hyphen is no option: nothing behind "--" is.
        return ["report", *options, "-o", self.output, "--", *self.files]

    def _settings_options(self) -> Iterator[str]:
        asked, usual, scheme = self.settings, MethodOptions(), Scheme()
        yield from _repeated_option("--method", asked.methods)
        yield from _repeated_option("--metric", asked.metrics)
        if asked.scheme.bins != scheme.bins:
            yield from ("--bins", str(asked.scheme.bins))
        if asked.scheme.binning != scheme.binning:
            yield from ("--binning", asked.scheme.binning)
        if asked.bin_number is not None:
            yield from ("--bin", str(asked.bin_number))
        if asked.options.labels != usual.labels:
            yield from ("--labels", asked.options.labels)
        if asked.options.renormalise is not None:
            yield "--renormalise" if asked.options.renormalise else "--no-renormalise"
        if asked.options.unparseable != usual.unparseable:
            yield from ("--unparseable", asked.options.unparseable)

    def _reading_options(self) -> Iterator[str]:
        if self.skip_bad_rows:
            yield "--skip-bad-rows"
        if self.format is not None:
            yield from ("--format", self.format)
        yield from _repeated_option("--map", [f"{column}={name}" for column, name in self.columns.items()])
        if self.gold is not None:
            yield from ("--gold", self.gold)


def _repeated_option(option: str, values: Sequence[str]) -> Iterator[str]:
    """The option once a value; one that begins with a hyphen is joined to it, or it would be an option."""
    for value in values:
        yield from (f"{option}={value}",) if value.startswith("-") else (option, value)


_CHUNK_SIZE: Final = 1 << 20
"""Bytes read at a time."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """When: with its time zone. command: the line that makes it again; place: where it is to be typed."""

    created_at: datetime
    command: str
    where_to_run: str


@cache
def program_versions() -> str:
    """The program and what its output depends on: "Calib 0.1.0, Python 3.11.7, numpy 2.4.6, …"."""
    others = ", ".join(f"{name} {version(name)}" for name in ("numpy", "polars", "plotly"))
    return f"Calib {VERSION}, Python {platform.python_version()}, {others}"


def file_checksums(paths: Iterable[tuple[Path, str]]) -> tuple[FileChecksum, ...]:
    """Size and checksum of files, each with its name; of one that cannot be read neither."""
    return tuple(_checksum_or_blank(path, name) for path, name in paths)


def _checksum_or_blank(path: Path, name: str) -> FileChecksum:
    try:
        return file_checksum(path, name)
    except Refused:
        return FileChecksum(name, 0, "")


def file_checksum(path: Path, name: str) -> FileChecksum:
    """Size and checksum of a file as it is now; raises Refused where it cannot be read."""
    digest, size = hashlib.sha256(), 0
    with open_regular_file(path, name) as stream:
        while piece := stream.read(_CHUNK_SIZE):
            digest.update(piece)
            size += len(piece)
    return FileChecksum(name, size, digest.hexdigest())


def files_read_with(path: Path, name: str, gold: Path | None = None) -> list[tuple[Path, str]]:
    """The file, those beside it that are read with it, and the table of right answers; each with its name."""
    beside = [(other, other.name) for other in expected_companions(path) if other.is_file()]
    return [(path, name), *beside, *([(gold, gold.name)] if gold else [])]
