"""The options with which a verb reads many files at once, also from object stores, and their reader."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from calib_core.cli.option_groups import OptionGroup
from calib_core.cli.terminal import escape_unprintable, is_quiet
from calib_core.errors import Refused
from calib_core.readers.format import Reading
from calib_core.scale.cluster import ClusterReader, ScaleSettings, connect
from calib_core.scale.stores import expand_pattern, list_address, path_of_address
from calib_core.scale.units import FileRequest

RemoteOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--remote",
        metavar="ADDRESS",
        help="Also read the file, folder or pattern at this address (https://, s3://, gs://, hf://, …), with "
        "the credentials of your environment. Repeatable.",
    ),
]
WorkersOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        min=1,
        max=1024,
        help="Read with N processes of this machine. Default with --remote or --resume: one a processor.",
    ),
]
SchedulerOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Read with the workers of this dask.distributed scheduler, such as tcp://host:8786.",
    ),
]
ResumeOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        metavar="FOLDER",
        help="Keep the sums of each block in this folder, and don't make those again that it has.",
    ),
]


def _tell(line: str) -> None:
    if is_quiet():
        return
    sys.stderr.write(escape_unprintable(line) + "\n")
    sys.stderr.flush()


class ManyFiles:
    """Files that are read by workers, which run ahead of those who ask for the readings.

    Parameters
    ----------
    settings : ScaleSettings
        Which workers.
    remote : Sequence[str]
        Addresses, as typed.
    """

    def __init__(self, settings: ScaleSettings, remote: Sequence[str]) -> None:
        self.remote = tuple(remote)
        self._settings = settings
        self._addresses: dict[Path, str] = {}
        self._stack = ExitStack()
        self._reader: ClusterReader | None = None
        self._readings: Iterator[tuple[FileRequest, Reading | Refused]] = iter(())

    def list_paths(self, path: Path) -> tuple[Path, ...]:
        """The files and folders here that a path or a pattern stands for; raises Refused if there is none."""
        return expand_pattern(path)

    def list_remote(self, address: str) -> dict[Path, int]:
        """The files at an address, as `files_of_path`; raises Refused if it has none or cannot be listed."""
        found = {path_of_address(file): file for file in list_address(address)}
        self._addresses |= found
        return dict.fromkeys(found, 1)

    def is_remote(self, path: Path) -> bool:
        """Whether a path stands for an address."""
        return path in self._addresses

    def address(self, path: Path) -> str:
        """The address that a path stands for, or the absolute path."""
        return self._addresses.get(path) or os.path.abspath(path)  # noqa: PTH100  a link keeps its name

    def start(self, requests: Sequence[FileRequest]) -> None:
        """Starts reading all files.

        Raises
        ------
        Refused
            If there are no workers.
        """
        if requests:
            client = self._stack.enter_context(connect(self._settings.scheduler, self._settings.n_workers))
            self._reader = ClusterReader(client, self._settings, _tell)
            self._readings = self._reader.read_all(requests)

    def read(self, wanted: FileRequest) -> Reading:
        """The reading of one file; raises Refused if it cannot be read."""
        for request, outcome in self._readings:
            if request == wanted:
                return _reading(outcome)
            if request.address == wanted.address:
                break
        assert self._reader is not None  # noqa: S101  files are listed before they are read
        ((_, outcome),) = self._reader.once(wanted)
        return _reading(outcome)

    def close(self) -> None:
        """Ends the workers that were started here."""
        self._stack.close()


def _reading(outcome: Reading | Refused) -> Reading:
    if isinstance(outcome, Refused):
        raise outcome
    return outcome


def _many_files(
    context: typer.Context,
    *,
    remote: RemoteOption = None,
    workers: WorkersOption = None,
    scheduler: SchedulerOption = None,
    resume: ResumeOption = None,
) -> ManyFiles | None:
    """The reader of many files, until the verb ends; None where no option is given.

    Raises
    ------
    typer.BadParameter
        If both --workers and --scheduler are given, or --resume names a file.
    """
    if not remote and workers is None and scheduler is None and resume is None:
        return None
    if workers is not None and scheduler is not None:
        raise typer.BadParameter(
            "expected without --scheduler, which has its own workers, found both", param_hint="--workers"
        )
    if resume is not None and resume.exists() and not resume.is_dir():
        raise typer.BadParameter(f"expected a folder, found the file {resume.name!r}", param_hint="--resume")
    many = ManyFiles(ScaleSettings(scheduler, workers or os.cpu_count() or 1, resume), remote or ())
    context.call_on_close(many.close)
    return many


ManyFilesGroup: TypeAlias = Annotated[ManyFiles | None, OptionGroup(_many_files)]
