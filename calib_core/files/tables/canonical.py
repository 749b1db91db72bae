"""What does a file in the canonical answers format hold?  A table that says of which run it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, cast, get_args

import polars as pl

from calib_core.files.format import Format, Head
from calib_core.files.reading import Reading
from calib_core.files.tables.csv_text import COMMAS
from calib_core.files.tables.group_columns import NamedGroupColumns
from calib_core.files.tables.raw import ReadProgress
from calib_core.files.tables.roles import ColumnRoles
from calib_core.files.tables.runs import Origin
from calib_core.files.tables.table import open_table, open_and_read_table, read_table
from calib_core.files.tables.told_numbers import reported_metrics
from calib_core.problems import Refused, shorten
from calib_core.records import AnswerSource, AnswerRun, RunInfo

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
    return head.kind == "json lines" and bool(head.first_objects) and set(head.first_objects[0]) == {METADATA_KEY}


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
            part_of=part if isinstance(part, str) else None,
        )
        for run in reading.good_runs
        if isinstance(run, AnswerRun)
    )
    numbers, doubts = reported_metrics(metadata, runs)
    runs = tuple(replace(run, reported=told) for run, told in zip(runs, numbers, strict=True))
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
        raise Refused(
            f"{file}: {name!r} in its metadata has to be a list of texts. Mend or remove it."
        )
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
        stored: object = json.loads((head.metadata or {})[METADATA_KEY]) if head.metadata else head.first_objects[0][METADATA_KEY]
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
