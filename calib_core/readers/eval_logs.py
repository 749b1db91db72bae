"""How do the records of another tool's log become runs?  As a table whose columns are the log's own fields.

A reader of such a log only says which field means what, and turns each record into plain values; what is
missing, what is bad and which runs there are is judged as for every other table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from calib_core.errors import Refused, shorten
from calib_core.readers.format import Head, Reading
from calib_core.readers.table.columns import ColumnRoles
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

# MERGED logged: Which records does a log in JSON hold, one after the other?  Lines, one list, or a list in an object.


@dataclass(frozen=True, slots=True, eq=False)
class LogRecord:
    """One record. line: the physical line it begins on, None where it has none; share: of the file read."""

    value: Mapping[str, object] | BrokenRecord
    line: int | None
    share: float


def read_log_records(head: Head, list_key: str | None = None) -> Iterator[LogRecord]:
    """The records in the file's order; within: the key whose list holds them, where the file is one object.

    Raises Refused where an object holds one key twice: which value is meant nobody can tell.
    """
    if head.kind == "json lines" and list_key is None:
        yield from _records_of_lines(head)
        return
    listed = head.list_elements if list_key is None else _list_or_empty(head.first_objects[0].get(list_key))
    for at, value in enumerate(listed, 1):
        yield LogRecord(_object_or_broken(value), None, at / len(listed))


def _records_of_lines(head: Head) -> Iterator[LogRecord]:
    size = len(head.content)
    for number, line, end in numbered_lines(head.content):
        try:
            value = _object_or_broken(parse_json(line.decode()))
        except RepeatedKeyError as repeated:
            raise Refused(
                f"{head.file}, line {number:,}: an object has the key {shorten(str(repeated))!r} more than "
                f"once, so which value is meant is not clear. Keep one."
            ) from None
        except (ValueError, RecursionError):
            fix = "Mend the line, or take it out; the file may be half written."
            value = BrokenRecord(
                0, "not JSON", "", "one JSON object on the line", shorten(line.decode()), fix
            )
        yield LogRecord(value, number, end / size)


def _object_or_broken(value: object) -> Mapping[str, object] | BrokenRecord:
    if isinstance(value, dict):
        return cast("Mapping[str, object]", value)
    expected = "a JSON object with named values"
    return BrokenRecord(
        0, "not an object", "", expected, shorten(as_json_text(value) or "null"), "Take it out."
    )


def _list_or_empty(value: object) -> Sequence[object]:
    return cast("list[object]", value) if isinstance(value, list) else ()


RowFields = Mapping[str, object]
"""The log's own names → plain values (text, numbers, booleans, lists of these); absent or None is missing."""


@dataclass(frozen=True, slots=True, eq=False)
class LogEntry:
    """One question of a log.

    fields: see `Fields`; line: the physical line it begins on, None where the format has none; share: of
    the file read so far, in [0, 1]; broken: why the record cannot be read (its `at` is set here).
    """

    fields: RowFields
    line: int | None = None
    share: float = 0.0
    broken: BrokenRecord | None = None


@dataclass(frozen=True, slots=True, eq=False)
class LogTable:
    """A log on its way to being a table.

    entries: read once, in the file's order; columns: the log's field → the contract's name it is read as
    (messages then name the field as the file does; a field that has a contract's name is read as that);
    info: what is known of every run of the file, where a record says nothing else of itself; reported: the
    numbers that the tool itself worked out, by the run's label ("" for every run); notes: sentences that
    a reader of the numbers has to know, looked at after the last entry: they may be added on the way;
    part_of: as in `AnswerRun`; records: how many the file holds where several make one entry, None where
    each is one.
    """

    entries: Iterable[LogEntry]
    column_roles: Mapping[str, str]
    info: RunInfo = field(default_factory=RunInfo)
    reported: Mapping[str, tuple[ReportedMetric, ...]] = field(
        default_factory=dict[str, tuple[ReportedMetric, ...]]
    )
    notes: Sequence[str] = ()
    part_of: str | None = None
    n_records: int | None = None


def read_log_table(
    head: Head, format_id: str, log: LogTable, mapping: Mapping[str, str], progress: ReadProgress
) -> Reading:
    """The runs of a log; mapping: what the person says of its fields, which wins.

    Raises Refused where there is no record, or a field that the person names is not there.
    """
    taken = set(mapping.values())
    columns = {name: means for name, means in log.column_roles.items() if means not in taken} | dict(mapping)
    groups = GroupColumns(ColumnRoles.from_mapping(columns, head.file))
    seen: dict[str, None] = dict.fromkeys(log.column_roles)
    table = RawTable(None, _entry_slices(log.entries, groups.is_used, seen), seen)
    reading = read_table(table, head, groups, progress, Origin(head.file, format_id, log.info))
    runs = tuple(_with_log_metadata(run, log) for run in reading.good_runs)
    rows = reading.n_rows if log.n_records is None else log.n_records
    return replace(
        reading, n_rows=rows, good_runs=runs, proposed_mapping={}, notes=(*reading.notes, *log.notes)
    )


def _with_log_metadata(run: Run, log: LogTable) -> Run:
    """The run with what the log says of it beside its rows."""
    if isinstance(run, TokenRun):
        return run
    reported = log.reported.get(run.label, log.reported.get("", ()))
    ledger = replace(run.row_counts, notes=(*run.row_counts.notes, *log.notes))
    return replace(run, row_counts=ledger, reported_metrics=reported, evaluation=log.part_of)


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
