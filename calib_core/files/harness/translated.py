"""How do the records of another tool's log become runs?  As a table whose columns are the log's own fields.

A reader of such a log only says which field means what, and turns each record into plain values; what is
missing, what is bad and which runs there are is judged as for every other table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from calib_core.files.format import Head
from calib_core.files.reading import Reading
from calib_core.files.tables.group_columns import GroupColumns
from calib_core.files.tables.json_lines import slice_of
from calib_core.files.tables.raw import SLICE, Batch, Broken, Progress, RawTable, Slice, Wanted
from calib_core.files.tables.roles import Roles
from calib_core.files.tables.runs import Origin
from calib_core.files.tables.table import read_table
from calib_core.records import Reported, Run, RunInfo, TokenRun

Fields = Mapping[str, object]
"""The log's own names → plain values (text, numbers, booleans, lists of these); absent or None is missing."""


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One question of a log.

    fields: see `Fields`; line: the physical line it begins on, None where the format has none; share: of
    the file read so far, in [0, 1]; broken: why the record cannot be read (its `at` is set here).
    """

    fields: Fields
    line: int | None = None
    share: float = 0.0
    broken: Broken | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Translated:
    """A log on its way to being a table.

    entries: read once, in the file's order; columns: the log's field → the contract's name it is read as
    (messages then name the field as the file does; a field that has a contract's name is read as that);
    info: what is known of every run of the file, where a record says nothing else of itself; reported: the
    numbers that the tool itself worked out, by the run's label ("" for every run); notes: sentences that
    a reader of the numbers has to know, looked at after the last entry: they may be added on the way;
    part_of: as in `AnswerRun`; records: how many the file holds where several make one entry, None where
    each is one.
    """

    entries: Iterable[Entry]
    columns: Mapping[str, str]
    info: RunInfo = field(default_factory=RunInfo)
    reported: Mapping[str, tuple[Reported, ...]] = field(default_factory=dict[str, tuple[Reported, ...]])
    notes: Sequence[str] = ()
    part_of: str | None = None
    records: int | None = None


def read_translated(
    head: Head, format_id: str, log: Translated, mapping: Mapping[str, str], progress: Progress
) -> Reading:
    """The runs of a log; mapping: what the person says of its fields, which wins.

    Raises Refused where there is no record, or a field that the person names is not there.
    """
    taken = set(mapping.values())
    columns = {name: means for name, means in log.columns.items() if means not in taken} | dict(mapping)
    groups = GroupColumns(Roles.of(columns, head.file))
    seen: dict[str, None] = dict.fromkeys(log.columns)
    table = RawTable(None, _slices(log.entries, groups.wanted, seen), seen)
    reading = read_table(table, head, groups, progress, Origin(head.file, format_id, log.info))
    runs = tuple(_as_told(run, log) for run in reading.good_runs)
    rows = reading.rows if log.records is None else log.records
    return replace(reading, rows=rows, good_runs=runs, proposals={}, notes=(*reading.notes, *log.notes))


def _as_told(run: Run, log: Translated) -> Run:
    """The run with what the log says of it beside its rows."""
    if isinstance(run, TokenRun):
        return run
    reported = log.reported.get(run.label, log.reported.get("", ()))
    ledger = replace(run.ledger, notes=(*run.ledger.notes, *log.notes))
    return replace(run, ledger=ledger, reported=reported, part_of=log.part_of)


def _slices(entries: Iterable[Entry], wanted: Wanted, seen: dict[str, None]) -> Iterator[Slice]:
    batch = Batch[Fields]()
    share = 0.0
    for entry in entries:
        if entry.broken is not None:
            batch.broken.append(replace(entry.broken, at=len(batch.records)))
        batch.records.append({} if entry.broken is not None else entry.fields)
        share = entry.share
        if entry.line is not None:
            batch.lines.append(entry.line)
        if len(batch.records) == SLICE:
            yield slice_of(batch, wanted, seen, share)
            batch = Batch[Fields]()
    if batch.records:
        yield slice_of(batch, wanted, seen, 1.0)
