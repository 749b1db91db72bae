"""Writing runs of any format as one canonical answers file, which reads back to the same numbers.

Observations are written as they were read: unprocessed, in the file's own order and dtypes. A single run is
described in the metadata of the file, several runs are described in each row.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, cast

import polars as pl

from calib_core.errors import Refused, shorten
from calib_core.readers.table.canonical import (
    ANSWERS_FORMAT,
    ANSWERS_VERSION,
    DTYPES_KEY,
    GROUPS_KEY,
    METADATA_KEY,
    NOTES_KEY,
    PART_OF_KEY,
    REPORTED_IN_FULL_KEY,
    REPORTED_KEY,
    SOURCE_ROW_COLUMN,
    SUMS_KEY,
)
from calib_core.readers.table.columns import AS_PRINTED, COLUMN_JUDGES
from calib_core.readers.table.group_columns import MAX_GROUP_COLUMNS, MAX_GROUPS
from calib_core.reporting.provenance import file_checksum
from calib_core.runs import (
    ANSWER_SCHEMA,
    INFO_COLUMNS,
    RUN_COLUMNS,
    AnswerRun,
    ReportedMetric,
    Run,
    TokenRun,
    schema_name,
)

_NARROW_FLOATS: Final = (pl.Float16(), pl.Float32())
"""Dtypes that JSON cannot express, and that decide which bin a value falls into (decision 0002)."""


@dataclass(frozen=True, slots=True, eq=False)
class CanonicalFile:
    """A canonical answers file in memory.

    Attributes
    ----------
    rows : pl.DataFrame
        One row for each question; no column is null throughout.
    metadata : Mapping[str, object]
        As it is written.
    notes : tuple[str, ...]
        The sentences in the metadata.
    """

    rows: pl.DataFrame
    metadata: Mapping[str, object]
    notes: tuple[str, ...]

    def to_parquet(self) -> bytes:
        """Returns the file as Parquet, every value in the dtype it was read in."""
        buffer = io.BytesIO()
        self.rows.write_parquet(
            buffer, compression="zstd", metadata={METADATA_KEY: _compact_json(self.metadata)}
        )
        return buffer.getvalue()

    def to_json_lines(self) -> bytes:
        """Returns the file as JSON lines: the metadata, then one object for each row.

        Nulls are left out; −∞ is the text "-inf".
        """
        narrow = {name: str(_element_dtype(dtype)) for name, dtype in self.rows.schema.items()
                  if _element_dtype(dtype) in _NARROW_FLOATS}  # fmt: skip
        metadata = {**self.metadata, DTYPES_KEY: narrow} if narrow else self.metadata
        lines = [_compact_json({METADATA_KEY: metadata})]
        lines += [
            _compact_json({name: _json_value(value) for name, value in row.items() if value is not None})
            for row in self.rows.iter_rows(named=True)
        ]
        return ("\n".join(lines) + "\n").encode()


def _element_dtype(dtype: pl.DataType) -> pl.DataType:
    return cast("pl.DataType", dtype.inner) if isinstance(dtype, pl.List) else dtype


def _json_value(value: Any) -> Any:  # noqa: ANN401  any value of a cell
    if isinstance(value, list):
        return [_json_value(part) for part in cast("list[Any]", value)]
    return "-inf" if value == float("-inf") else value


def _compact_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


_RESERVED_NAMES: Final = frozenset((*COLUMN_JUDGES, SOURCE_ROW_COLUMN, METADATA_KEY))
"""Names that a group column cannot keep, because the format uses them."""

_INFO_DTYPES: Final[Mapping[str, pl.DataType]] = {
    "model": pl.String(), "dataset": pl.String(), "shots": pl.Int32(), "checkpoint": pl.String(),
    "params_b": pl.Float64(), "tuning": pl.String(), "temperature": pl.Float64(), "tokens_seen": pl.Int64(),
    "choices_are": pl.String(),
}  # fmt: skip

_FILE_LEVEL_FIELDS: Final = ("path_of", "p_true_of", "judged", "answer_normaliser")
"""Facts that the format stores once for the whole file, not in each row."""


@dataclass(frozen=True, slots=True)
class ConvertedSource:
    """A file that was converted.

    Attributes
    ----------
    name : str
        What messages call the file.
    sha256 : str
        Checksum of its bytes, hexadecimal.
    rows : int
        Number of its records, bad ones included.
    """

    name: str
    sha256: str
    rows: int


@dataclass(frozen=True, slots=True, eq=False)
class ConvertedFile:
    """The content of one file that is to be converted.

    Attributes
    ----------
    runs : tuple[Run, ...]
        Its usable runs.
    source : ConvertedSource
        The file's name, checksum and size.
    notes : tuple[str, ...]
        Sentences for the metadata.
    unused_columns : tuple[str, ...]
        Columns that are not read and so not written.
    """

    runs: tuple[Run, ...]
    source: ConvertedSource
    notes: tuple[str, ...] = ()
    unused_columns: tuple[str, ...] = ()


def source_record(path: Path, name: str, rows: int) -> ConvertedSource:
    """Describes a file as it is on disk now; raises Refused if it cannot be read any more."""
    return ConvertedSource(name, file_checksum(path, name).sha256, rows)


def to_canonical(
    runs: Sequence[Run], sources: Sequence[ConvertedSource], notes: Sequence[str] = ()
) -> CanonicalFile:
    """Combines runs into one canonical answers file.

    Parameters
    ----------
    runs : Sequence[Run]
        One or more runs of answers.
    sources : Sequence[ConvertedSource]
        The files they were read from.
    notes : Sequence[str]
        Further sentences for the metadata.

    Raises
    ------
    Refused
        If a run is token-level, if two runs could not be told apart in the same file, or if runs differ in
        something stored once for the whole file: which answer a confidence refers to, or a column's dtype.
    """
    answers = [_require_answer_run(run) for run in runs]
    _check_distinct(answers)
    for name in _FILE_LEVEL_FIELDS:
        _check_same(name, [(run, getattr(run.info, name)) for run in answers])
    several_runs = len(answers) > 1
    frames = [_written_rows(run, with_run_columns=several_runs) for run in answers]
    for name in dict.fromkeys(name for frame in frames for name in frame.columns):
        dtypes = [(run, str(frame.schema[name])) for run, frame in zip(answers, frames, strict=True)
                  if name in frame.columns]  # fmt: skip
        _check_same(f"the dtype of {name}", dtypes)
    rows = pl.concat(frames, how="diagonal")
    groups, dropped_notes = _group_columns(answers, rows)
    all_notes = dict.fromkeys((*_ledger_notes(answers), *notes, *dropped_notes))
    return CanonicalFile(
        rows.select(_column_order(rows, groups)),
        {
            "format": ANSWERS_FORMAT,
            "version": ANSWERS_VERSION,
            "logprob_base": "e",
            **_run_metadata(answers),
            "created_by": "Calib",
            "sources": [asdict(source) for source in sources],
            **_reported_metrics(answers),
            NOTES_KEY: list(all_notes),
            GROUPS_KEY: groups,
        },
        tuple(all_notes),
    )


def _require_answer_run(run: Run) -> AnswerRun:
    if isinstance(run, TokenRun):
        raise Refused(
            f"{run.file}: {run.label} is token-level: its positions are added up while they are read, and "
            f"none is kept. Save the sums instead: python -m calib_core reduce FILE -o SUMS.parquet"
        )
    return run


def _check_distinct(runs: Sequence[AnswerRun]) -> None:
    run_of_key: dict[tuple[object, ...], AnswerRun] = {}
    for run in runs:
        key = tuple(getattr(run.info, name) for name in RUN_COLUMNS)
        if key in run_of_key:
            label = shorten(run.info.label("none of them"))
            raise Refused(
                f"{run_of_key[key].file} and {run.file} have the same model, dataset, shots and checkpoint "
                f"({label}), so in one file they would become one run. Convert them separately."
            )
        run_of_key[key] = run


def _check_same(what: str, values: Sequence[tuple[AnswerRun, str]]) -> None:
    first_run, first_value = values[0]
    for run, value in values[1:]:
        if value != first_value:
            raise Refused(
                f"{first_run.file} and {run.file} differ in {what} ({first_value}, {value}), which a file "
                "stores only once. Convert each to a separate file."
            )


def _written_rows(run: AnswerRun, *, with_run_columns: bool) -> pl.DataFrame:
    """The rows of one run as they are written, without columns that are null throughout."""
    info_dtypes = _INFO_DTYPES if with_run_columns else {}
    rows = run.rows.select(
        *(name for name in _answer_columns(run.rows) if name != "row" and run.has_columns(name)),
        (pl.col("row").cast(pl.Int64) - 1).alias(SOURCE_ROW_COLUMN),
        *(
            pl.lit(value, dtype).alias(name)
            for name, dtype in info_dtypes.items()
            if (value := getattr(run.info, name)) is not None
        ),
    )
    names = _group_names(run)
    return rows.hstack([run.group_columns[name].cast(pl.String).alias(names[name]) for name in names])


def _group_names(run: AnswerRun) -> dict[str, str]:
    """Group column → the name it is written under, changed where the format uses the name itself."""
    names: dict[str, str] = {}
    for column in run.group_columns.columns:
        name = column
        while (
            schema_name(name) in _RESERVED_NAMES
            or name in names.values()
            or (name != column and name in run.group_columns.columns)
        ):
            name += " (group)"
        names[column] = name
    return names


def _group_columns(runs: Sequence[AnswerRun], rows: pl.DataFrame) -> tuple[list[str], tuple[str, ...]]:
    """Returns the group columns that can be read back, and a note on each of the others."""
    names = dict.fromkeys(name for run in runs for name in _group_names(run).values())
    too_many_groups = [name for name in names if rows[name].drop_nulls().n_unique() > MAX_GROUPS]
    readable = [name for name in names if name not in too_many_groups]
    return readable[:MAX_GROUP_COLUMNS], tuple(
        f"The column {name!r} is not written: together the runs have more groups than are read."
        for name in (*too_many_groups, *readable[MAX_GROUP_COLUMNS:])
    )


def _column_order(rows: pl.DataFrame, groups: Sequence[str]) -> list[str]:
    order = (*_answer_columns(rows), SOURCE_ROW_COLUMN, *INFO_COLUMNS, *groups)
    return [name for name in dict.fromkeys(order) if name in rows.columns]


def _answer_columns(rows: pl.DataFrame) -> list[str]:
    """The columns of `ANSWER_SCHEMA` that rows have, in its order, and then the named confidences."""
    named = [name for name in rows.columns if schema_name(name) != name]
    return [*(name for name in ANSWER_SCHEMA if name in rows.columns), *named]


def _run_metadata(runs: Sequence[AnswerRun]) -> dict[str, object]:
    """Metadata on the runs: everything known of a single run, or what several have in common."""
    names = (*INFO_COLUMNS, *_FILE_LEVEL_FIELDS) if len(runs) == 1 else _FILE_LEVEL_FIELDS
    metadata: dict[str, object] = {
        name: value for name in names if (value := getattr(runs[0].info, name)) is not None
    }
    if any(run.info.choices_are and run.has_columns("choice_probs") for run in runs):
        metadata[SUMS_KEY] = AS_PRINTED
    evaluations = {run.evaluation for run in runs}
    return metadata | (
        {PART_OF_KEY: evaluation} if len(evaluations) == 1 and (evaluation := evaluations.pop()) else {}
    )


def _reported_metrics(runs: Sequence[AnswerRun]) -> dict[str, object]:
    """The tool's own numbers as metric → value (by run label if there are several runs), and in full."""
    by_run = {
        run.label: {metric.name: metric.value for metric in run.reported_metrics if metric.subject is None}
        for run in runs
        if run.reported_metrics
    }
    if not by_run:
        return {}
    in_full = [_full_reported_metric(metric, run) for run in runs for metric in run.reported_metrics]
    return {
        REPORTED_KEY: by_run if len(runs) > 1 else next(iter(by_run.values())),
        REPORTED_IN_FULL_KEY: in_full,
    }


def _full_reported_metric(reported: ReportedMetric, run: AnswerRun) -> dict[str, object]:
    """One reported number with everything known about it, and the run it belongs to.

    A note tells how many bad rows were left out, since the written file no longer shows it.
    """
    left_out = run.row_counts.n_left_out if reported.n_rows is not None and reported.subject is None else 0
    left_out_note = (
        f"{left_out:,} bad row{'s were' if left_out > 1 else ' was'} left out when it was converted."
    )
    why = " ".join(part for part in (reported.difference_reason, left_out_note if left_out else "") if part)
    fields: dict[str, object] = {name: getattr(run.info, name) for name in RUN_COLUMNS}
    fields |= {
        "name": reported.name,
        "value": reported.value,
        "rows": reported.n_rows,
        "method": reported.method,
        "why": why or None,
        "subject": reported.subject,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _ledger_notes(runs: Sequence[AnswerRun]) -> Iterator[str]:
    """Yields notes on the rows that were left out or changed when the files were read."""
    for run in runs:
        prefix = f"{run.info.label('')}: " if len(runs) > 1 and run.info.label("") else ""
        counts = run.row_counts
        if counts.n_left_out:
            yield f"{prefix}{counts.n_left_out:,} of {counts.n_rows:,} rows were bad and are left out."
        for column, count in counts.clipped.items():
            yield f"{prefix}{count:,} values of {column} were moved onto the edge of their range."
        yield from (f"{prefix}{note}" for note in counts.notes)
