"""From a file's bytes to runs: which formats are there, and what does this file hold?

A format is one module and one line in `FORMATS`, or an entry of `presets.PRESETS`. A file is recognised by
its content, never by its name, and is read once. The exception is a single NumPy array: only its name says
what it holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import polars as pl
from numpy.typing import NDArray

from calib_core.errors import Refused
from calib_core.readers.annotations import ANNOTATION_TOOLS
from calib_core.readers.companions import existing_companions
from calib_core.readers.content import Content
from calib_core.readers.decisions.reader import DECISIONS
from calib_core.readers.detect import (
    N_FIRST_OBJECTS,
    identify_columns,
    identify_objects,
    read_head,
    unsupported_message,
)
from calib_core.readers.folder import list_files, list_folder
from calib_core.readers.format import (
    AS_IT_LIES,
    JSON_KINDS,
    Format,
    Head,
    Reading,
    ReadOptions,
    wrong_kind_message,
)
from calib_core.readers.helm.reader import HELM
from calib_core.readers.inspect.reader import INSPECT
from calib_core.readers.lm_eval.reader import LM_EVAL
from calib_core.readers.presets import PRESETS
from calib_core.readers.sandbox.worker_pool import read_in_worker
from calib_core.readers.servers.openai import OPENAI
from calib_core.readers.servers.tgi import TGI
from calib_core.readers.table.canonical import CANONICAL
from calib_core.readers.table.corrections import CORRECTIONS, CorrectionTable
from calib_core.readers.table.good_numbers import read_good_numbers
from calib_core.readers.table.raw import ReadProgress, ignore_progress
from calib_core.readers.table.reader import TABLE
from calib_core.readers.table.run_split import with_dataset
from calib_core.readers.token.npz import NPZ, read_arrays
from calib_core.readers.token.sums import SUMS
from calib_core.readers.token.topk import TOPK
from calib_core.runs import TokenRun

__all__ = [
    "FORMATS",
    "CorrectionTable",
    "Format",
    "ReadOptions",
    "Reading",
    "list_files",
    "list_folder",
    "read",
    "read_corrections",
    "read_in_this_process",
    "read_values",
]

FORMATS: Final[dict[str, Format]] = {
    format_.id: format_
    for format_ in (
        TOPK,
        SUMS,
        NPZ,
        INSPECT,
        LM_EVAL,
        HELM,
        DECISIONS,
        OPENAI,
        TGI,
        CANONICAL,
        *(preset.format() for preset in PRESETS),
        *(tool.format() for tool in ANNOTATION_TOOLS),
        TABLE,
    )
}
"""Format id → format; the first that recognises a file reads it."""

WEIGHTS_UNUSED: Final = "weight is not used: positions of texts count alike"
"""What is said of a token-level run whose file has a column or array of weights."""


def read(
    path: Path,
    *,
    name: str | None = None,
    format: str | None = None,  # noqa: A002  the word people use on the command line
    options: ReadOptions = AS_IT_LIES,
    gold: Path | None = None,
    root: Path | None = None,
    progress: ReadProgress | None = None,
) -> Reading:
    """Read a file in a worker process, within limits on memory and time.

    Parameters
    ----------
    path
        The file; it is opened in this process, and the worker receives the handle.
    name
        What messages call the file; by default its own name.
    format
        An id of `FORMATS`; by default the format is recognised from the content.
    options
        How the columns and rows are read.
    gold
        A table of right answers or outcomes, for a file that holds none.
    root
        A folder that no link may lead out of.
    progress
        Called with the share done, in [0, 1], and a short text.

    Returns
    -------
    Reading
        The runs, and the bad rows and problems. Bad rows, or a table in which nothing can be used, raise
        no error here: see `Reading.runs`.

    Raises
    ------
    Refused
        The file cannot be read, or not in the given format or with the given columns, or reading it takes
        more memory or time than a file of its size may take.
    """
    return read_in_worker(
        path,
        file=(name or path.name).encode("utf-8", "surrogateescape").decode("utf-8", "replace"),
        format_id=format,
        options=options.in_plain_types(),
        gold_path=gold,
        root=root,
        progress=progress or ignore_progress,
    )


def read_in_this_process(
    path: Path,
    *,
    file: str,
    format: str | None = None,  # noqa: A002  the word people use on the command line
    options: ReadOptions = AS_IT_LIES,
    companions: Mapping[str, Path] | None = None,
    gold: Path | None = None,
    progress: ReadProgress | None = None,
) -> Reading:
    """Read a file in this process; otherwise as `read`.

    For trusted files only: a damaged or hostile file may crash the process or keep it busy forever.

    Parameters
    ----------
    path
        The file.
    file
        What messages call the file.
    format, options, gold, progress
        As in `read`.
    companions
        Name → path of the files that are read together with this one; None looks for them beside it.

    Raises
    ------
    Refused
        The file cannot be read, or not in the given format or with the given columns.
    """
    progress = progress or ignore_progress
    progress(0.0, "opening")
    companion_paths = existing_companions(path) if companions is None else companions
    head = read_head(path, file, progress)
    head = replace(
        head,
        companions=companion_paths,
        gold_path=gold,
        gold_on=options.gold_on,
        gold_columns=options.gold_columns,
        finds_candidates=options.finds_candidates,
    )
    reading = _choose_format(head, format, options).read(head, options, progress)
    return _without_weights(with_dataset(reading, options.dataset))


def _without_weights(reading: Reading) -> Reading:
    """The reading, whose token-level runs say where a column or array of weights is not read."""
    if "weight" not in reading.unused_columns:
        return reading
    return replace(
        reading,
        good_runs=tuple(
            replace(run, row_counts=replace(run.row_counts, notes=(*run.row_counts.notes, WEIGHTS_UNUSED)))
            if isinstance(run, TokenRun)
            else run
            for run in reading.good_runs
        ),
    )


def read_values(
    values: pl.DataFrame | Sequence[Mapping[str, object]] | Mapping[str, NDArray[Any]],
    *,
    file: str,
    format: str | None = None,  # noqa: A002  the word people use on the command line
    options: ReadOptions = AS_IT_LIES,
) -> Reading:
    """Read what is in memory, in this process; otherwise as `read`.

    Parameters
    ----------
    values
        A table, rows of plain values as JSON has them, or arrays by name, of which one is a distribution.
    file
        What messages call it.
    format, options
        As in `read`.

    Raises
    ------
    Refused
        The values cannot be used.
    """
    if isinstance(values, Mapping):
        return _without_weights(with_dataset(read_arrays(values, file, options), options.dataset))
    if isinstance(values, pl.DataFrame):
        if format is None and (good := read_good_numbers(values, file, TABLE.id, options)) is not None:
            return with_dataset(good, options.dataset)
        head = Head(file, Content(b""), "frame", names=tuple(values.columns), frame=values)
    else:
        rows = tuple(values)
        if not rows:
            raise Refused(f"{file} is empty. Give at least one row.")
        head = Head(file, Content(b""), "json list", first_objects=rows[:N_FIRST_OBJECTS], list_elements=rows)
    reading = _choose_format(head, format, options).read(head, options, ignore_progress)
    return _without_weights(with_dataset(reading, options.dataset))


def read_corrections(
    source: Path | pl.DataFrame | Sequence[Mapping[str, object]],
    *,
    file: str = "corrections",
    options: ReadOptions = AS_IT_LIES,
) -> CorrectionTable:
    """Read a table of corrections: a file in a worker process, what is in memory in this one.

    Parameters
    ----------
    source
        The file, the table, or its rows.
    file
        What messages call a table in memory.
    options
        How the file that it corrects is read.

    Raises
    ------
    Refused
        It is not a table, has no ids or no corrections, has a bad value, or corrects a question twice.
    """
    options = ReadOptions(columns=options.columns)
    if isinstance(source, Path):
        return CorrectionTable.of_reading(read(source, format=CORRECTIONS.id, options=options))
    return CorrectionTable.of_reading(read_values(source, file=file, format=CORRECTIONS.id, options=options))


def _choose_format(head: Head, format_id: str | None, options: ReadOptions) -> Format:
    if format_id is None and (options.rows or options.wide):
        format_id = TABLE.id
    if format_id == CORRECTIONS.id:
        return CORRECTIONS
    if format_id is not None:
        if format_id not in FORMATS:
            known = ", ".join(FORMATS)
            raise Refused(f"{head.file}: there is no format {format_id!r}. This version reads {known}.")
        chosen = FORMATS[format_id]
        if chosen.kinds >= JSON_KINDS and head.kind not in chosen.kinds:
            raise Refused(wrong_kind_message(head, chosen))
        return chosen
    for candidate in FORMATS.values():
        if head.kind in candidate.kinds and candidate.recognises(head):
            return candidate
    title = identify_objects(head.first_objects) or identify_columns(head.names) or "one JSON object"
    raise Refused(unsupported_message(head.file, title))
