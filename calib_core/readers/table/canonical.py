"""Reads the canonical answers format: a table with metadata that describes its runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast, get_args

import polars as pl

from calib_core.advice import Advice, worded
from calib_core.errors import Refused, shorten
from calib_core.readers.format import Format, Head, Reading, ReadOptions
from calib_core.readers.table.columnar import COLUMNAR_KINDS
from calib_core.readers.table.columns import AS_PRINTED, ColumnRoles
from calib_core.readers.table.csv_reader import COMMAS
from calib_core.readers.table.group_columns import NamedGroupColumns
from calib_core.readers.table.raw import ReadProgress
from calib_core.readers.table.reader import open_and_read_table, open_table, read_table
from calib_core.readers.table.run_split import Origin
from calib_core.runs import RUN_COLUMNS, AnswerRun, AnswerSource, ChoicesAre, ReportedMetric, RunInfo

METADATA_KEY: Final = "calib"
ANSWERS_FORMAT: Final = "calib-answers"
ANSWERS_VERSION: Final = 1

SOURCE_ROW_COLUMN: Final = "source_row"
"""The column with the 0-based record number of a row in its source file; never used for grouping."""

NOTES_KEY: Final = "notes"
PART_OF_KEY: Final = "part_of"
"""An id shared by all runs that are parts of one evaluation."""
GROUPS_KEY: Final = "groups"
"""Names of the columns that split the rows into groups; without this key they are detected."""
DTYPES_KEY: Final = "dtypes"
"""JSON lines only: column → Float16 or Float32, for numbers stored so before (decision 0002)."""

SUMS_KEY: Final = "sums"
"""`columns.AS_PRINTED` where probabilities of decisions may miss a sum of 1 as printing them does."""

REPORTED_KEY: Final = "reported"
"""Metric → value; in a file of several runs, label → metric → value. The format requires nothing more."""
REPORTED_IN_FULL_KEY: Final = "reported_in_full"
"""A list of all reported metrics, each with the fields of `ReportedMetric` and the run it belongs to."""
MAX_REPORTED: Final = 5_000
"""Limit on the reported metrics that are read."""

_INFO_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "model": (str,),
    "dataset": (str,),
    "shots": (int,),
    "checkpoint": (str,),
    "params_b": (int, float),
    "tuning": (str,),
    "temperature": (int, float),
    "tokens_seen": (int,),
    "choices_are": (str,),
    "path_of": (str,),
    "p_true_of": (str,),
    "judged": (str,),
    "answer_normaliser": (str,),
}

_INFO_VALUES: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("path_of", "p_true_of", "judged"), get_args(AnswerSource)),
    "choices_are": get_args(ChoicesAre),
}

_NARROW_DTYPES: Final[Mapping[str, pl.DataType]] = {"Float16": pl.Float16(), "Float32": pl.Float32()}


def recognises(head: Head) -> bool:
    """Return whether the file carries Calib's metadata."""
    if head.kind in COLUMNAR_KINDS:
        return METADATA_KEY in (head.metadata or {})
    return bool(head.first_objects) and set(head.first_objects[0]) == {METADATA_KEY}


def read(head: Head, options: ReadOptions, progress: ReadProgress) -> Reading:
    """Read the runs of a canonical answers file. See `format.ReadFunction`."""
    metadata = checked_metadata(head, ANSWERS_FORMAT, ANSWERS_VERSION)
    if metadata.get(SUMS_KEY) == AS_PRINTED:
        printed = {"choice_probs": f"choice_probs:{AS_PRINTED}"}
        options = replace(options, columns={**printed, **options.columns})
    origin = Origin(head.file, CANONICAL.id, run_info_from_metadata(metadata, head.file))
    skip = int(head.kind == "json lines")
    groups = _text_list(metadata, GROUPS_KEY, head.file)
    if groups is None:
        reading = open_and_read_table(head, options, progress, origin, skip_lines=skip)
    else:
        named = NamedGroupColumns(ColumnRoles.from_options(options, head.file), groups)
        reading = read_table(open_table(head, named.is_used, skip, COMMAS), head, named, progress, origin)
    return _with_metadata(reading, metadata)


def _with_metadata(reading: Reading, metadata: Mapping[str, object]) -> Reading:
    """Add to a reading what the metadata says: dtypes, evaluation, reported metrics and notes."""
    dtypes, evaluation = metadata.get(DTYPES_KEY), metadata.get(PART_OF_KEY)
    narrow = cast("dict[str, object]", dtypes) if isinstance(dtypes, dict) else dict[str, object]()
    runs = tuple(
        replace(
            run,
            rows=run.rows.with_columns(
                pl.col(name).cast(_narrowed_dtype(run.rows.schema[name], str(dtype)))
                for name, dtype in narrow.items()
                if name in run.rows.columns and str(dtype) in _NARROW_DTYPES
            ),
            evaluation=evaluation if isinstance(evaluation, str) else None,
        )
        for run in reading.good_runs
        if isinstance(run, AnswerRun)
    )
    metrics_by_run, metric_notes = reported_metrics(metadata, runs)
    runs = tuple(
        replace(run, reported_metrics=metrics) for run, metrics in zip(runs, metrics_by_run, strict=True)
    )
    repeated = {
        f"{prefix}{note}"
        for run in runs
        for note in run.row_counts.notes
        for prefix in ("", f"{run.label}: ")
    }
    stored_notes = _text_list(metadata, NOTES_KEY, reading.file) or ()
    notes = (*reading.notes, *(note for note in stored_notes if note not in repeated), *metric_notes)
    return replace(reading, good_runs=runs, notes=tuple(dict.fromkeys(notes)))


def _narrowed_dtype(stored: pl.DataType, dtype_name: str) -> pl.DataType:
    """Return the dtype that a column of floats or lists of floats had before it was written as JSON."""
    inner = cast("pl.DataType", stored.inner) if isinstance(stored, pl.List) else stored
    if not inner.is_float():
        return stored
    return pl.List(_NARROW_DTYPES[dtype_name]) if isinstance(stored, pl.List) else _NARROW_DTYPES[dtype_name]


def _text_list(metadata: Mapping[str, object], name: str, file: str) -> tuple[str, ...] | None:
    """Return a list of texts in the metadata, None if absent; raises Refused for anything else."""
    value = metadata.get(name)
    if value is None:
        return None
    texts = cast("list[object]", value) if isinstance(value, list) else [None]
    if not all(isinstance(text, str) for text in texts):
        raise Refused(f"{file}: {name!r} in its metadata must be a list of texts. Correct or remove it.")
    return tuple(cast("list[str]", texts))


def _as_table() -> str:
    return worded(f"as a table: {Advice(format='table')}", on_page="as a table.")


def checked_metadata(head: Head, format_name: str, version: int) -> Mapping[str, object]:
    """Return the metadata object of a file after checking its format and version.

    Raises
    ------
    Refused
        There is no valid metadata, or it is of another format or version.
    """
    if not recognises(head):
        raise Refused(
            f"{head.file} cannot be read as {format_name!r}: it has no {METADATA_KEY!r} metadata. Read it "
            f"{_as_table()}"
        )
    try:
        stored: object = (
            json.loads((head.metadata or {})[METADATA_KEY])
            if head.metadata
            else head.first_objects[0][METADATA_KEY]
        )
    except ValueError:
        stored = None
    if not isinstance(stored, dict):
        raise Refused(
            f"{head.file}: its {METADATA_KEY!r} metadata is not a JSON object. Read it {_as_table()}"
        )
    metadata = cast("Mapping[str, object]", stored)
    if (metadata.get("format"), metadata.get("version")) != (format_name, version):
        shown = shorten(f"{metadata.get('format')!r}, version {metadata.get('version')!r}")
        raise Refused(
            f"{head.file}: its metadata says {shown}; this version reads {format_name!r}, version {version}. "
            f"Write it with a version that is read, or read it {_as_table()}"
        )
    return metadata


def run_info_from_metadata(metadata: Mapping[str, object], file: str) -> RunInfo:
    """Read the description of the run from metadata; raises Refused if a field has the wrong type."""
    fields: dict[str, Any] = {}
    for name, types in _INFO_TYPES.items():
        value = metadata.get(name)
        if value is None:
            continue
        has_wrong_type = not isinstance(value, types) or isinstance(value, bool)
        if has_wrong_type or value not in _INFO_VALUES.get(name, (value,)):
            shown = shorten(repr(value))
            raise Refused(f"{file}: {name!r} in its metadata cannot be {shown}. Correct or remove it.")
        fields[name] = float(cast("float", value)) if float in types else value
    return RunInfo(**fields)


def reported_metrics(
    metadata: Mapping[str, object], runs: Sequence[AnswerRun]
) -> tuple[list[tuple[ReportedMetric, ...]], tuple[str, ...]]:
    """Read the metrics that the original tool reported.

    Returns
    -------
    tuple
        The metrics of each run, and a note on those that cannot be read.
    """
    n_invalid = 0
    metrics_by_run: list[list[ReportedMetric]] = [[] for _ in runs]
    for entry, label in _reported_entries(metadata):
        metric = _parse_reported(entry)
        if metric is None:
            n_invalid += 1
            continue
        for run, metrics in zip(runs, metrics_by_run, strict=True):
            if len(runs) == 1 or (run.label == label if label else _belongs_to_run(entry, run)):
                metrics.append(metric)
    note = f"{n_invalid:,} of the tool's own numbers in its metadata cannot be read and are left out."
    return [tuple(metrics) for metrics in metrics_by_run], (note,) if n_invalid else ()


def _reported_entries(metadata: Mapping[str, object]) -> Iterator[tuple[object, str]]:
    """Yield each reported metric as an object, and its run's label ("" if the entry describes its run)."""
    in_full = metadata.get(REPORTED_IN_FULL_KEY)
    if isinstance(in_full, list):
        for entry in cast("list[object]", in_full)[:MAX_REPORTED]:
            yield entry, ""
        return
    for name, value in _first_items(metadata.get(REPORTED_KEY)):
        if isinstance(value, dict):
            for metric_name, metric_value in _first_items(cast("object", value)):
                yield {"name": metric_name, "value": metric_value}, name
        else:
            yield {"name": name, "value": value}, ""


def _first_items(value: object) -> list[tuple[str, object]]:
    """Return the first `MAX_REPORTED` items of an object; none for any other value."""
    items = cast("dict[str, object]", value).items() if isinstance(value, dict) else ()
    return list(items)[:MAX_REPORTED]


def _belongs_to_run(entry: object, run: AnswerRun) -> bool:
    fields = cast("dict[str, object]", entry) if isinstance(entry, dict) else {}
    return all(fields.get(name) == getattr(run.info, name) for name in RUN_COLUMNS)


def _parse_reported(entry: object) -> ReportedMetric | None:
    """Return a reported metric; None if a field has the wrong type."""
    fields = cast("dict[str, object]", entry) if isinstance(entry, dict) else {}
    name, value, rows = fields.get("name"), fields.get("value"), fields.get("rows")
    texts = [fields.get(key) for key in ("method", "why", "subject")]
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**63
    is_count = rows is None or (isinstance(rows, int) and not isinstance(rows, bool) and 0 <= rows < 2**63)
    if not isinstance(name, str) or not is_number or not is_count:
        return None
    if not all(text is None or isinstance(text, str) for text in texts):
        return None
    method, why, subject = cast("list[str | None]", texts)
    return ReportedMetric(
        name, float(cast("float", value)), cast("int | None", rows), method, why or "", subject
    )


CANONICAL: Final = Format(
    "canonical",
    "Calib's own answer format",
    "the metadata 'calib'",
    frozenset({"parquet", "arrow", "json lines"}),
    recognises,
    read,
)
