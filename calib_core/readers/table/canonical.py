"""What does a file in the canonical answers format hold?  A table that says of which run it is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast, get_args

import polars as pl

from calib_core.errors import Refused, shorten
from calib_core.readers.format import Format, Head, Reading
from calib_core.readers.table.columns import ColumnRoles
from calib_core.readers.table.csv_reader import COMMAS
from calib_core.readers.table.group_columns import NamedGroupColumns
from calib_core.readers.table.raw import ReadProgress
from calib_core.readers.table.reader import open_and_read_table, open_table, read_table
from calib_core.readers.table.run_split import Origin
from calib_core.runs import RUN_COLUMNS, AnswerRun, AnswerSource, ReportedMetric, RunInfo

# MERGED told_numbers: Which of its tool's own numbers does a canonical file hold?  So that it is audited as its source is.

REPORTED_KEY: Final = "reported"
"""Metric → value, of several runs for each by its label: all that the format asks for."""
REPORTED_IN_FULL_KEY: Final = "reported_in_full"
"""A list of all numbers, each with what is known of it: the fields of `Reported` and what its run is."""
MAX_REPORTED: Final = 5_000
"""Numbers that are read."""


def reported_metrics(
    metadata: Mapping[str, object], runs: Sequence[AnswerRun]
) -> tuple[list[tuple[ReportedMetric, ...]], tuple[str, ...]]:
    """The numbers of each run, and a remark on those that cannot be read."""
    wrong = 0
    found: list[list[ReportedMetric]] = [[] for _ in runs]
    for said, label in _reported_entries(metadata):
        reported = _parse_reported(said)
        if reported is None:
            wrong += 1
            continue
        for run, numbers in zip(runs, found, strict=True):
            if len(runs) == 1 or (run.label == label if label else _belongs_to_run(said, run)):
                numbers.append(reported)
    note = f"Of the tool's own numbers in its metadata {wrong:,} cannot be read and are left out."
    return [tuple(each) for each in found], (note,) if wrong else ()


def _reported_entries(metadata: Mapping[str, object]) -> Iterator[tuple[object, str]]:
    """Each number as an object, and the label of its run where it is said by that."""
    in_full = metadata.get(REPORTED_IN_FULL_KEY)
    if isinstance(in_full, list):
        for said in cast("list[object]", in_full)[:MAX_REPORTED]:
            yield said, ""
        return
    told = metadata.get(REPORTED_KEY)
    for name, value in (
        list(cast("dict[str, object]", told).items())[:MAX_REPORTED] if isinstance(told, dict) else ()
    ):
        if isinstance(value, dict):
            for inner, each in list(cast("dict[str, object]", value).items())[:MAX_REPORTED]:
                yield {"name": inner, "value": each}, name
        else:
            yield {"name": name, "value": value}, ""


def _belongs_to_run(entry: object, run: AnswerRun) -> bool:
    told = cast("dict[str, object]", entry) if isinstance(entry, dict) else {}
    return all(told.get(name) == getattr(run.info, name) for name in RUN_COLUMNS)


def _parse_reported(entry: object) -> ReportedMetric | None:
    """The number, None where something in it is of the wrong kind."""
    told = cast("dict[str, object]", entry) if isinstance(entry, dict) else {}
    name, value, rows = told.get("name"), told.get("value"), told.get("rows")
    texts = [told.get(key) for key in ("method", "why", "subject")]
    number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**63
    whole = rows is None or (isinstance(rows, int) and not isinstance(rows, bool) and 0 <= rows < 2**63)
    if not isinstance(name, str) or not number or not whole:
        return None
    if not all(text is None or isinstance(text, str) for text in texts):
        return None
    method, why, subject = cast("list[str | None]", texts)
    return ReportedMetric(
        name, float(cast("float", value)), cast("int | None", rows), method, why or "", subject
    )


METADATA_KEY: Final = "calib"
ANSWERS_FORMAT: Final = "calib-answers"
ANSWERS_VERSION: Final = 1

SOURCE_ROW_COLUMN: Final = "source_row"
"""The column that says which record of its source, counted from 0, a row was: of no use for grouping."""
NOTES_KEY: Final = "notes"
PART_OF_KEY: Final = "part_of"
"""What the runs of the file have in common with those of others that are parts of the same evaluation."""
GROUPS_KEY: Final = "groups"
"""The names of the columns that sort the rows into groups; where nothing is said they are looked for."""
DTYPES_KEY: Final = "dtypes"
"""JSON lines only: the columns whose numbers were stored as Float16 or Float32 (decision 0002)."""

_INFO_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "model": (str,),
    "dataset": (str,),
    "shots": (int,),
    "checkpoint": (str,),
    "params_b": (int, float),
    "tuning": (str,),
    "temperature": (int, float),
    "tokens_seen": (int,),
    "path_of": (str,),
    "p_true_of": (str,),
    "answer_normaliser": (str,),
}

_NARROW_DTYPES: Final[Mapping[str, pl.DataType]] = {"Float16": pl.Float16(), "Float32": pl.Float32()}


def recognises(head: Head) -> bool:
    """Whether the file carries the project's metadata."""
    if head.kind == "parquet":
        return METADATA_KEY in (head.metadata or {})
    return (
        head.kind == "json lines"
        and bool(head.first_objects)
        and set(head.first_objects[0]) == {METADATA_KEY}
    )


def read(head: Head, mapping: Mapping[str, str], progress: ReadProgress) -> Reading:
    """The runs of a canonical answers file. See `format.Read`."""
    metadata = checked_metadata(head, ANSWERS_FORMAT, ANSWERS_VERSION)
    origin = Origin(head.file, CANONICAL.id, run_info_from_metadata(metadata, head.file))
    skip = int(head.kind == "json lines")
    groups = _text_list(metadata, GROUPS_KEY, head.file)
    if groups is None:
        reading = open_and_read_table(head, mapping, progress, origin, skip_lines=skip)
    else:
        named = NamedGroupColumns(ColumnRoles.from_mapping(mapping, head.file), groups)
        reading = read_table(open_table(head, named.is_used, skip, COMMAS), head, named, progress, origin)
    return _with_metadata(reading, metadata)


def _with_metadata(reading: Reading, metadata: Mapping[str, object]) -> Reading:
    """The reading with what the metadata says of it beside the run."""
    dtypes, part = metadata.get(DTYPES_KEY), metadata.get(PART_OF_KEY)
    narrow = cast("dict[str, object]", dtypes) if isinstance(dtypes, dict) else dict[str, object]()
    runs = tuple(
        replace(
            run,
            rows=run.rows.with_columns(
                pl.col(name).cast(_narrowed_dtype(run.rows.schema[name], str(dtype)))
                for name, dtype in narrow.items()
                if name in run.rows.columns and str(dtype) in _NARROW_DTYPES
            ),
            evaluation=part if isinstance(part, str) else None,
        )
        for run in reading.good_runs
        if isinstance(run, AnswerRun)
    )
    numbers, doubts = reported_metrics(metadata, runs)
    runs = tuple(replace(run, reported_metrics=told) for run, told in zip(runs, numbers, strict=True))
    said = {f"{of}{note}" for run in runs for note in run.row_counts.notes for of in ("", f"{run.label}: ")}
    notes = (note for note in _text_list(metadata, NOTES_KEY, reading.file) or () if note not in said)
    return replace(reading, good_runs=runs, notes=tuple(dict.fromkeys((*reading.notes, *notes, *doubts))))


def _narrowed_dtype(stored: pl.DataType, dtype_name: str) -> pl.DataType:
    """The dtype that a column of numbers, or of lists of them, had before JSON; another one stays."""
    inner = cast("pl.DataType", stored.inner) if isinstance(stored, pl.List) else stored
    if not inner.is_float():
        return stored
    return pl.List(_NARROW_DTYPES[dtype_name]) if isinstance(stored, pl.List) else _NARROW_DTYPES[dtype_name]


def _text_list(metadata: Mapping[str, object], name: str, file: str) -> tuple[str, ...] | None:
    """A list of texts in the metadata, None where it is not there; raises Refused where it is none."""
    value = metadata.get(name)
    if value is None:
        return None
    texts = cast("list[object]", value) if isinstance(value, list) else [None]
    if not all(isinstance(text, str) for text in texts):
        raise Refused(f"{file}: {name!r} in its metadata has to be a list of texts. Mend or remove it.")
    return tuple(cast("list[str]", texts))


def checked_metadata(head: Head, format_name: str, version: int) -> Mapping[str, object]:
    """The metadata object of a file, which has to be written in this format and version.

    Raises Refused where it is none, or of another format or version.
    """
    if not recognises(head):
        raise Refused(
            f"{head.file} was to be read as {format_name!r} and carries no {METADATA_KEY!r} metadata. "
            f"Read it as a table: --format table"
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
            f"{head.file}: its {METADATA_KEY!r} metadata is no JSON object. Read it as a table: --format table"
        )
    metadata = cast("Mapping[str, object]", stored)
    if (metadata.get("format"), metadata.get("version")) != (format_name, version):
        shown = shorten(f"{metadata.get('format')!r}, version {metadata.get('version')!r}")
        raise Refused(
            f"{head.file}: its metadata says {shown}; this version reads {format_name!r}, version {version}. "
            f"Write it with a version that is read, or read it as a table: --format table"
        )
    return metadata


def run_info_from_metadata(metadata: Mapping[str, object], file: str) -> RunInfo:
    """What a canonical file's metadata says of the run; raises Refused where a field is of the wrong type."""
    told: dict[str, Any] = {}
    for name, types in _INFO_TYPES.items():
        value = metadata.get(name)
        if value is None:
            continue
        wrong = not isinstance(value, types) or isinstance(value, bool)
        if wrong or (name in ("path_of", "p_true_of") and value not in get_args(AnswerSource)):
            shown = shorten(repr(value))
            raise Refused(f"{file}: {name!r} in its metadata cannot be {shown}. Mend or remove it.")
        told[name] = float(cast("float", value)) if float in types else value
    return RunInfo(**told)


CANONICAL: Final = Format(
    "canonical", "the project's own answers format", "the metadata 'calib'", recognises, read
)
