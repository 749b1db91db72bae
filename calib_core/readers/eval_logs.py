"""Turns the log of an evaluation tool into runs, as a table whose columns are the log's own fields.

The reader of a log format maps fields to columns and turns each record into plain values. Missing values,
bad values and runs are then handled as in every other table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from calib_core.errors import Refused, shorten
from calib_core.readers.format import Head, Reading, ReadOptions
from calib_core.readers.table.columns import ColumnRoles, MappedName
from calib_core.readers.table.group_columns import GroupColumns
from calib_core.readers.table.json_reader import (
    RepeatedKeyError,
    numbered_lines,
    parse_json,
    slice_of_records,
)
from calib_core.readers.table.raw import (
    ROWS_PER_SLICE,
    Batch,
    BrokenRecord,
    ColumnFilter,
    RawTable,
    ReadProgress,
    Slice,
    as_json_text,
)
from calib_core.readers.table.reader import read_table
from calib_core.readers.table.run_split import Origin
from calib_core.runs import ReportedMetric, Run, RunInfo, TokenRun

RowFields = Mapping[str, object]
"""Field of the log → plain value (text, number, boolean, or a list of these); None if missing."""


@dataclass(frozen=True, slots=True, eq=False)
class LogRecord:
    """One JSON record of a log.

    Attributes
    ----------
    value
        The parsed object, or why there is none.
    line
        The line, from 1, that the record begins on; None if the log is not in JSON lines.
    share
        Share of the file that has been read up to here, in [0, 1].
    """

    value: Mapping[str, object] | BrokenRecord
    line: int | None
    share: float


def read_log_records(head: Head, list_key: str | None = None) -> Iterator[LogRecord]:
    """Yield the records of a JSON log in the file's order.

    Parameters
    ----------
    head
        The file.
    list_key
        The key of the list that holds the records, if the file is one JSON object.

    Raises
    ------
    Refused
        An object has a key twice.
    """
    if head.kind == "json lines" and list_key is None:
        yield from _records_of_lines(head)
        return
    elements = head.list_elements if list_key is None else _list_or_empty(head.first_objects[0].get(list_key))
    for number, value in enumerate(elements, 1):
        yield LogRecord(_object_or_broken(value), None, number / len(elements))


def _records_of_lines(head: Head) -> Iterator[LogRecord]:
    n_bytes = len(head.content)
    for line_number, line, end in numbered_lines(head.content):
        try:
            value = _object_or_broken(parse_json(line.decode()))
        except RepeatedKeyError as repeated:
            raise Refused(
                f"{head.file}, line {line_number:,}: an object has the key {shorten(str(repeated))!r} more "
                "than once, so it is unclear which value is meant. Keep one."
            ) from None
        except (ValueError, RecursionError):
            fix = "Correct the line, or remove it; the file may be half written."
            value = BrokenRecord(
                0, "not JSON", "", "one JSON object on the line", shorten(line.decode()), fix
            )
        yield LogRecord(value, line_number, end / n_bytes)


def _object_or_broken(value: object) -> Mapping[str, object] | BrokenRecord:
    if isinstance(value, dict):
        return cast("Mapping[str, object]", value)
    expected = "a JSON object with named values"
    return BrokenRecord(
        0, "not an object", "", expected, shorten(as_json_text(value) or "null"), "Take it out."
    )


def _list_or_empty(value: object) -> Sequence[object]:
    return cast("list[object]", value) if isinstance(value, list) else ()


@dataclass(frozen=True, slots=True, eq=False)
class LogEntry:
    """One question of a log.

    Attributes
    ----------
    fields
        The values of the row.
    line
        The line, from 1, that the record begins on; None if the format has no lines.
    share
        Share of the file that has been read up to here, in [0, 1].
    broken
        Why the record cannot be read; its `position` is set by `read_log_table`.
    """

    fields: RowFields
    line: int | None = None
    share: float = 0.0
    broken: BrokenRecord | None = None


@dataclass(frozen=True, slots=True, eq=False)
class LogTable:
    """A log that is read as a table.

    Attributes
    ----------
    entries
        The rows, read once, in the file's order.
    column_roles
        Field of the log → the name it is read as, so that messages can name the field as the file does.
        A field that already has a known name is read as that.
    info
        What is known of every run of the file, unless a record says otherwise.
    reported_metrics
        Label of the run ("" for every run) → metrics that the tool itself reported.
    notes
        Sentences for the person who reads the numbers. They are used after the last entry, so the reader may
        add to them while it yields entries.
    evaluation
        As `AnswerRun.evaluation`.
    n_records
        Records in the file if several make one entry; None if each record is an entry.
    """

    entries: Iterable[LogEntry]
    column_roles: Mapping[str, str]
    info: RunInfo = field(default_factory=RunInfo)
    reported_metrics: Mapping[str, tuple[ReportedMetric, ...]] = field(
        default_factory=dict[str, tuple[ReportedMetric, ...]]
    )
    notes: Sequence[str] = ()
    evaluation: str | None = None
    n_records: int | None = None


def read_log_table(
    head: Head, format_id: str, log: LogTable, options: ReadOptions, progress: ReadProgress
) -> Reading:
    """Read a log as a table.

    Parameters
    ----------
    head
        The file.
    format_id
        The id of the log's format.
    log
        The log's rows and what is known of them.
    options
        How the user wants it to be read; its columns (of fields) win over `log.column_roles`.
    progress
        Called with the share done and a short text.

    Raises
    ------
    Refused
        There is no record, or a field named by the user does not exist.
    """
    mapped_names = {MappedName.parse(text).name for text in options.columns.values()}
    columns = {field_: name for field_, name in log.column_roles.items() if name not in mapped_names}
    options = replace(options, columns=columns | dict(options.columns))
    groups = GroupColumns(ColumnRoles.from_options(options, head.file))
    found_keys: dict[str, None] = dict.fromkeys(log.column_roles)
    table = RawTable(None, _entry_slices(log.entries, groups.is_used, found_keys), found_keys)
    reading = read_table(table, head, groups, progress, Origin(head.file, format_id, log.info))
    runs = tuple(_with_log_metadata(run, log) for run in reading.good_runs)
    rows = reading.n_rows if log.n_records is None else log.n_records
    return replace(
        reading,
        n_rows=rows,
        good_runs=runs,
        candidates=(),
        wide_candidates=(),
        notes=(*reading.notes, *log.notes),
    )


def _with_log_metadata(run: Run, log: LogTable) -> Run:
    """Add the log's notes and reported metrics to a run."""
    if isinstance(run, TokenRun):
        return run
    reported = log.reported_metrics.get(run.label, log.reported_metrics.get("", ()))
    row_counts = replace(run.row_counts, notes=(*run.row_counts.notes, *log.notes))
    return replace(run, row_counts=row_counts, reported_metrics=reported, evaluation=log.evaluation)


def _entry_slices(
    entries: Iterable[LogEntry], is_used: ColumnFilter, found_keys: dict[str, None]
) -> Iterator[Slice]:
    batch = Batch[RowFields]()
    share = 0.0
    for entry in entries:
        if entry.broken is not None:
            batch.broken.append(replace(entry.broken, position=len(batch.records)))
        batch.records.append({} if entry.broken is not None else entry.fields)
        share = entry.share
        if entry.line is not None:
            batch.lines.append(entry.line)
        if len(batch.records) == ROWS_PER_SLICE:
            yield slice_of_records(batch, is_used, found_keys, share)
            batch = Batch[RowFields]()
    if batch.records:
        yield slice_of_records(batch, is_used, found_keys, 1.0)
