"""Reads many files with many processes, by dask.distributed, and adds their blocks up in a fixed order.

The scheduler hands units of work to workers, and gives those of a worker that ended to another one. Results
are kept in a folder as they come, where a later run with the same files and options finds them.
"""

from __future__ import annotations

import importlib
import logging
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from calib_core.errors import Refused, shorten
from calib_core.readers.format import Reading
from calib_core.readers.reading_cache import program_digest
from calib_core.readers.table.raw import ignore_progress
from calib_core.readers.table.run_split import with_dataset
from calib_core.readers.token.npz import ReducedRows, reading_of_rows
from calib_core.scale.stores import INSTALL_ADVICE
from calib_core.scale.units import (
    FileRequest,
    Survey,
    Unit,
    blocks_per_unit,
    do_unit,
    survey_stored_file,
    unit_key,
    units_of,
    unpacked,
)
from calib_core.tokens.sums import MergeTree
from calib_core.user_cache import CacheFolder

RETRIES: Final = 3
"""How often a unit is tried again after an error of the network."""

RESUBMISSIONS: Final = 5
"""How often a unit is submitted again that the scheduler gave up, as where its worker was killed."""

REPORT_SECONDS: Final = 10.0
"""Seconds between two lines of progress."""

_UNITS_PER_THREAD: Final = 6
"""Units that are handed out or wait to be added up, for each thread of the workers."""

_WORKER_MEMORY: Final = {
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 1 << 28,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 1 << 25,
}
"""Bytes that a worker may keep free. dask.distributed would have it give nearly all of them back to the
system, and fetch them again for each array: three fifths of a worker's time."""

_START_SECONDS: Final = 60
_POLL_SECONDS: Final = 0.1

_ALL_BYTES: Final = 1 << 62

Tell = Callable[[str], None]
"""Takes a line for the operator."""

WorkT = TypeVar("WorkT")


class _Future(Protocol):
    status: str

    def result(self) -> Any: ...  # noqa: ANN401
    def exception(self) -> BaseException: ...


class _Client(Protocol):
    """What is used of `distributed.Client`, which has no types."""

    @property
    def status(self) -> str: ...
    def submit(self, function: Callable[..., object], *args: object, pure: bool, retries: int) -> _Future: ...
    def nthreads(self) -> dict[str, int]: ...


# --- Workers ----------------------------------------------------------------------------------------------


def _distributed() -> Any:  # noqa: ANN401  a module
    try:
        return importlib.import_module("distributed")
    except ImportError:
        raise Refused(f"Reading with several workers needs dask.distributed. {INSTALL_ADVICE}") from None


@contextmanager
def connect(scheduler: str | None, n_workers: int) -> Generator[_Client]:
    """A client of the scheduler at an address, or of `n_workers` processes here, which end with the block.

    Raises
    ------
    Refused
        If dask.distributed is not installed, or nothing answers at the address.
    """
    distributed = _distributed()
    cluster: Any = None
    if scheduler is None:
        with importlib.import_module("dask.config").set(_WORKER_MEMORY):
            cluster = distributed.LocalCluster(
                n_workers=n_workers,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
            )
    try:
        try:
            client = distributed.Client(scheduler or cluster, timeout=_START_SECONDS)
        except (OSError, ValueError, TypeError) as error:
            reason = shorten(str(error), 200)
            raise Refused(f"--scheduler {scheduler}: no scheduler can be reached there ({reason}).") from None
        try:
            client.wait_for_workers(1, timeout=_START_SECONDS)
            yield client
        except TimeoutError:
            raise Refused(
                f"--scheduler {scheduler}: it has no workers. Start some: dask worker ADDRESS"
            ) from None
        finally:
            with suppress(OSError, TimeoutError):
                client.close()
    finally:
        if cluster is not None:
            cluster.close()


def _in_order(
    client: _Client,
    work: Sequence[WorkT],
    names: Sequence[str],
    submit: Callable[[WorkT], _Future | bytes],
    keep: Callable[[WorkT, Any], None],
) -> Iterator[Any]:
    """The results of `work`, in its order; a text where there is none, saying why.

    What the scheduler gives up without a result or an error is begun again, at most `RESUBMISSIONS` times.

    Parameters
    ----------
    work : Sequence[WorkT]
        What is to be done.
    names : Sequence[str]
        The file of each piece of work, for messages.
    submit : Callable[[WorkT], _Future | bytes]
        Begins one piece of work, or returns its result where that is known.
    keep : Callable[[WorkT, Any], None]
        Called with each result as soon as it is there.

    Raises
    ------
    Refused
        If the scheduler cannot be reached any more.
    """
    window = _UNITS_PER_THREAD * max(1, sum(client.nthreads().values()))
    running: dict[_Future, int] = {}
    finished: dict[int, Any] = {}
    given_up = Counter[int]()
    n_begun = 0

    def begin(at: int) -> None:
        begun = submit(work[at])
        if isinstance(begun, bytes):
            finished[at] = begun
        else:
            running[begun] = at

    for number in range(len(work)):
        while number not in finished:
            while n_begun < min(len(work), number + window):
                begin(n_begun)
                n_begun += 1
            if number in finished:
                break
            for future in _ended(running):
                at = running.pop(future)
                outcome = _outcome(future, names[at])
                if outcome is None:
                    given_up[at] += 1
                    _check_scheduler(client)
                    if given_up[at] <= RESUBMISSIONS:
                        begin(at)
                        continue
                    outcome = f"{names[at]} cannot be read: the scheduler gave it up {given_up[at]} times."
                finished[at] = outcome
                keep(work[at], outcome)
        yield finished.pop(number)


def _ended(running: Mapping[_Future, int]) -> list[_Future]:
    """The futures that are not pending any more, once there is one."""
    with suppress(CancelledError):  # one of them was: its status says so
        _distributed().wait(list(running), return_when="FIRST_COMPLETED")
    return [future for future in running if future.status != "pending"]


def _check_scheduler(client: _Client) -> None:
    """Wait while the client connects again; raises Refused if it does not."""
    deadline = time.monotonic() + _START_SECONDS
    while client.status == "connecting" and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    if client.status != "running":
        raise Refused("The scheduler was lost. What was reduced is kept if --resume names a folder.")


def _outcome(future: _Future, name: str) -> Any:  # noqa: ANN401  the result of the work
    """The result of a piece of work on a file, or why there is none; None if the scheduler gave it up."""
    if future.status == "finished":
        try:
            return future.result()
        except CancelledError:  # with the worker that held it
            return None
    if future.status != "error":
        return None
    error = future.exception()
    if type(error).__name__ == "KilledWorker":
        return (
            f"{name} cannot be read: it ended several workers, one after another. It may be damaged, or need "
            "more memory than a worker has."
        )
    return f"{name} cannot be read ({shorten(str(error) or type(error).__name__, 200)})."


# --- Reading ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ScaleSettings:
    """How many files are read at once.

    Attributes
    ----------
    scheduler : str or None
        The address of a scheduler; None for processes here.
    n_workers : int
        Number of processes here.
    resume : Path or None
        A folder in which results are kept, and found by a later run.
    """

    scheduler: str | None = None
    n_workers: int = 1
    resume: Path | None = None


class ClusterReader:
    """Reads files in the order given, while workers are ahead of it.

    Parameters
    ----------
    client : Client
        The workers.
    settings : ScaleSettings
        Where results are kept.
    tell : Callable[[str], None]
        Takes lines on the progress.
    """

    def __init__(self, client: _Client, settings: ScaleSettings, tell: Tell) -> None:
        self._client, self._settings = client, settings
        self._kept = None if settings.resume is None else CacheFolder(settings.resume, _ALL_BYTES)
        self._tell = tell
        self._requests: tuple[FileRequest, ...] = ()
        self._surveys: list[Survey | str] = []
        self._per_unit = 1
        self._keeps = True

    def read_all(self, requests: Sequence[FileRequest]) -> Iterator[tuple[FileRequest, Reading | Refused]]:
        """Each file, in order, with its reading or why there is none.

        Raises
        ------
        Refused
            If the scheduler is lost, or workers run another version of this program.
        """
        self._requests = tuple(requests)
        self._surveys = list(self._survey_all())
        n_blocks = sum(
            survey.blocks.n_blocks
            for survey in self._surveys
            if not isinstance(survey, str) and survey.blocks is not None
        )
        self._per_unit = blocks_per_unit(n_blocks)
        units = [unit for number in range(len(requests)) for unit in self._units_of_file(number)]
        results = zip(units, self._results(units), strict=True)
        for number, (request, survey) in enumerate(zip(self._requests, self._surveys, strict=True)):
            if isinstance(survey, str):
                yield request, Refused(survey)
            else:
                n_units = len(self._units_of_file(number))
                yield request, _combine(request, survey, islice(results, n_units))

    def once(self, request: FileRequest) -> Iterator[tuple[FileRequest, Reading | Refused]]:
        """One more file, or one of these in another way; as `read_all`."""
        return ClusterReader(self._client, self._settings, lambda _line: None).read_all([request])

    def _survey_all(self) -> Iterator[Survey | str]:
        digest = program_digest()

        def submit(request: FileRequest) -> _Future:
            return self._client.submit(survey_stored_file, request, digest, pure=False, retries=RETRIES)

        names = [request.name for request in self._requests]
        yield from _in_order(self._client, self._requests, names, submit, lambda _request, _outcome: None)

    def _units_of_file(self, number: int) -> list[Unit]:
        survey = self._surveys[number]
        return [] if isinstance(survey, str) else units_of(number, survey, self._per_unit)

    def _key(self, unit: Unit) -> str | None:
        survey = self._surveys[unit.file]
        return None if isinstance(survey, str) else unit_key(self._requests[unit.file], survey, unit)

    def _results(self, units: Sequence[Unit]) -> Iterator[bytes | str]:
        """The result of each unit, in order; those that are kept are not made again."""
        progress = _Progress(len(units), sum(unit.n_bytes for unit in units), self._tell)

        def submit(unit: Unit) -> _Future | bytes:
            key = self._key(unit) if self._kept is not None else None
            if self._kept is not None and key is not None and (kept := self._kept.load(key)) is not None:
                progress.add(unit, was_kept=True)
                return kept
            request, survey = self._requests[unit.file], self._surveys[unit.file]
            return self._client.submit(do_unit, request, survey, unit, pure=False, retries=RETRIES)

        def keep(unit: Unit, outcome: bytes | str) -> None:
            progress.add(unit)
            key = self._key(unit) if self._kept is not None else None
            if self._kept is None or key is None or isinstance(outcome, str):
                return
            self._kept.save(key, [outcome])
            if self._keeps and not (self._kept.folder / key).exists():
                self._keeps = False
                self._tell(f"Nothing can be kept in {self._kept.folder.name}: this run cannot be resumed.")

        names = [self._requests[unit.file].name for unit in units]
        yield from _in_order(self._client, units, names, submit, keep)


def _combine(
    request: FileRequest, survey: Survey, results: Iterator[tuple[Unit, bytes | str]]
) -> Reading | Refused:
    """The reading of one file from the results of its units, all of which are taken."""
    tree, refusal = MergeTree[ReducedRows](), None
    reading: Reading | None = None
    for unit, outcome in results:
        if isinstance(outcome, str):
            refusal = refusal or Refused(outcome)
        elif survey.blocks is None:
            reading = unpacked(Reading, outcome)
        elif refusal is None and (part := unpacked(ReducedRows, outcome)) is not None:
            tree.add(part, unit.n_blocks)
        else:
            refusal = refusal or _unreadable_result(request)
    if refusal is not None:
        return refusal
    if survey.blocks is not None and (total := tree.total()) is not None:
        try:
            found = survey.blocks.found
            whole = reading_of_rows(found.positions, total, ignore_progress, found.notes)
            return with_dataset(whole, request.options.dataset)
        except Refused as nothing_usable:
            return nothing_usable
    return reading or _unreadable_result(request)


def _unreadable_result(request: FileRequest) -> Refused:
    return Refused(
        f"{request.name} cannot be read: a worker's result is not what this version of Calib expects."
    )


class _Progress:
    """Lines on how much is done: at the beginning, every few seconds, and at the end."""

    def __init__(self, n_units: int, n_bytes: int, tell: Tell) -> None:
        self._n_units, self._n_bytes, self._tell = n_units, n_bytes, tell
        self._n_done = self._n_kept = self._bytes_done = self._bytes_read = 0
        self._start = self._told = time.monotonic()

    def add(self, unit: Unit, *, was_kept: bool = False) -> None:
        """Counts a unit as done."""
        self._n_done += 1
        self._bytes_done += unit.n_bytes
        if was_kept:
            self._n_kept += 1
        else:
            self._bytes_read += unit.n_bytes
        if time.monotonic() - self._told >= REPORT_SECONDS or self._n_done == self._n_units:
            self._told = time.monotonic()
            self._tell(self._line())

    def _line(self) -> str:
        seconds = max(time.monotonic() - self._start, 1e-3)
        kept = f", {self._n_kept:,} of them kept from before" if self._n_kept else ""
        return (
            f"{self._n_done:,} of {self._n_units:,} blocks done{kept}: {self._bytes_done / 1e6:,.1f} of "
            f"{self._n_bytes / 1e6:,.1f} MB, {self._bytes_read / 1e6 / seconds:,.1f} MB/s"
        )
