"""A plain table: one row a question, in CSV, JSON lines or Parquet. Which runs does it hold?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

import polars as pl

from calib_core.files import lookalikes
from calib_core.files.content import Content
from calib_core.files.format import Format, Head
from calib_core.files.reading import Reading
from calib_core.files.tables import agree, gold
from calib_core.files.tables.collect import Collected, judge
from calib_core.files.tables.columns import NUMBERS
from calib_core.files.tables.csv_text import COMMAS, LAYOUTS, Layout, header_of, open_csv
from calib_core.files.tables.formulas import remarks, with_ids_restored
from calib_core.files.tables.gather import gathered
from calib_core.files.tables.glance import first_rows, looks_like
from calib_core.files.tables.gold_join import with_gold
from calib_core.files.tables.group_columns import GroupColumns
from calib_core.files.tables.json_lines import open_json_lines, open_json_list
from calib_core.files.tables.parquet import first_of_parquet, open_parquet
from calib_core.files.tables.raw import MAX_COLUMNS, Progress, RawTable, Slice, Wanted, no_column
from calib_core.files.tables.roles import Roles, named, unknown
from calib_core.files.tables.runs import Judgement, Origin, identified, repeated_ids, split
from calib_core.problems import Refused, shorten
from calib_core.records import AnswerRun, RunInfo

PARSED: Final = 0.9
"""Share of the work that is done once every record has been parsed and judged by itself."""

GLANCED_AT: Final = 1_000
"""Rows of a Parquet file that show which columns hold too much to sort the rows into groups."""


def recognises(head: Head) -> bool:
    """Whether the file is a table of no other known make. All text may be one."""
    if head.kind == "json object":
        return False
    return lookalikes.of_objects(head.objects) is None and lookalikes.of_columns(head.names) is None


def read(head: Head, mapping: Mapping[str, str], progress: Progress) -> Reading:
    """The runs of a plain table. See `format.Read`."""
    return read_rows(head, mapping, progress, Origin(head.file, TABLE.id, RunInfo()))


def read_rows(
    head: Head, mapping: Mapping[str, str], progress: Progress, origin: Origin, *, skip: int = 0
) -> Reading:
    """The runs of a table; skip: lines of metadata before its records.

    Raises Refused where a mapped column or every row is not there, or the records cannot be told apart.
    """
    roles = Roles.of(mapping, head.file)
    layout = _layout(head.content, roles) if head.kind == "text" else COMMAS
    groups = _group_columns(head, roles)
    table = open_table(head, groups.wanted, skip, layout, lambda column: roles.role(column) in NUMBERS)
    taken = Counter[str]()
    if head.kind == "text":
        ids = with_ids_restored(table.slices, lambda column: roles.role(column) == "id", taken)
        table = replace(table, slices=ids)
    reading = read_table(table, head, groups, progress, origin, layout=layout)
    return replace(reading, notes=(*reading.notes, *remarks(taken)))


def read_table(
    table: RawTable,
    head: Head,
    groups: GroupColumns,
    progress: Progress,
    origin: Origin,
    *,
    layout: Layout = COMMAS,
) -> Reading:
    """The runs of an opened table; raises as `read_rows`."""
    roles = groups.roles
    if table.columns is not None:
        roles.check(table.columns, head.file)
    known = table.columns is None or any(map(roles.wanted, table.columns))
    collected = _collected(table, groups, head.file, progress) if known else Collected(head.file)
    columns = tuple(table.seen) if table.columns is None else table.columns
    if known and not collected.rows:
        raise Refused(f"{head.file} has the columns {named(columns)} and no rows below them.")
    roles.check(columns, head.file)
    others = groups.hand_over()
    runs, notes, refusal = _judged(collected, others, origin, progress, head.gold)
    proposals = _proposals(head, layout, roles, columns)
    if not any(map(roles.wanted, columns)):
        runs, refusal = (), unknown(columns, proposals, head.file)
    progress(1.0, f"{collected.rows:,} rows read")
    return Reading(
        file=origin.file,
        format=origin.format,
        rows=collected.rows,
        bad_rows=int(collected.bad.sum()),
        problems=collected.problems,
        good_runs=runs,
        columns=columns,
        unused=tuple(name for name in roles.unused(columns) if name not in others.columns),
        proposals=MappingProxyType(proposals),
        notes=notes,
        refusal=refusal,
        groups=tuple(others.columns),
        read_as=roles.read_as(columns),
    )


def _group_columns(head: Head, roles: Roles) -> GroupColumns:
    """What may sort the rows into groups, without what a glance rules out."""
    groups = GroupColumns(roles)
    groups.glance(head.objects)
    if head.kind == "parquet":
        free = [name for name in head.names if groups.possible(name)]
        groups.glance_at_columns(first_of_parquet(head.data, free, GLANCED_AT) if free else ())
    return groups


def _collected(table: RawTable, groups: GroupColumns, file: str, progress: Progress) -> Collected:
    """Every record, judged by itself."""
    collected = Collected(file)

    def add(part: Slice) -> None:
        read, meant = gathered(part, groups.roles, table.columns or tuple(table.seen))
        judged = judge(read, meant)
        if part.again is not None and any(values.faults for values in judged.values()):
            for careful in part.again():
                add(careful)
            return
        groups.add(part)
        collected.add(read, meant, judged)
        progress(PARSED * part.share, f"{collected.rows:,} rows read")

    for part in table.slices:
        add(part)
        if len(table.seen) > MAX_COLUMNS:
            raise Refused(f"{file}: its objects have more than {MAX_COLUMNS:,} keys. Keep those needed.")
    return collected


def open_table(
    head: Head, wanted: Wanted, skip: int, layout: Layout, numeric: Wanted = no_column
) -> RawTable:
    """The records of a file, `skip` lines of metadata passed over; numeric: as in `open_csv`."""
    match head.kind:
        case "parquet":
            return open_parquet(head.data, head.file, wanted)
        case "json lines":
            return open_json_lines(head.content, head.file, wanted, skip=skip)
        case "json list":
            return open_json_list(head.records, wanted)
        case "json object":
            return open_json_list(head.objects, wanted)
        case "text":
            return open_csv(head.content, head.file, layout, wanted, numeric=numeric)
        case "zip" | "npy":
            raise Refused(f"{head.file} holds NumPy arrays and no table. Leave --format out, or give npz.")


def _layout(data: Content, roles: Roles) -> Layout:
    """The layout whose header holds the most columns that are read, else the most proposals."""
    headers = {layout: header_of(data, layout) for layout in LAYOUTS}
    known = {layout: sum(map(roles.wanted, header)) for layout, header in headers.items()}
    likely = {
        layout: len(roles.proposals(header[:MAX_COLUMNS], _by_name_alone))
        for layout, header in headers.items()
    }
    for score in (known, likely):
        best = max(LAYOUTS, key=score.__getitem__)
        if score[best]:
            return best
    return COMMAS


def _by_name_alone(_columns: Sequence[str], _name: str) -> bool:
    return True


def _proposals(head: Head, layout: Layout, roles: Roles, columns: Sequence[str]) -> dict[str, str]:
    """What the columns that are not read probably stand for, by their names and first values."""

    def fits(way: Sequence[str], name: str) -> bool:
        return looks_like(first_rows(head, layout, way), name)

    return roles.proposals(columns, fits)


def _judged(
    collected: Collected, others: pl.DataFrame, origin: Origin, progress: Progress, right: Path | None
) -> tuple[tuple[AnswerRun, ...], tuple[str, ...], str | None]:
    """Judges what can only be judged of whole rows: the runs, notes, and why nothing can be used.

    right: a table of right answers, None where the person named none.
    """
    frame, joined = with_gold(collected.hand_over(), right, collected.source, origin.file)
    progress(PARSED, "comparing the columns")
    for name, fault in agree.disagreements(frame):
        collected.blame(collected.source[name], fault)
    frame = identified(frame, origin.info)
    from_one = gold.counted_from_one(frame)
    remarks = gold.read_as_text(frame)
    position, faults = gold.resolve(frame)
    for name, fault in faults:
        collected.blame(collected.source[name], fault)
    if position.null_count() < position.len():
        frame = frame.with_columns(position.alias("gold_index"))
    progress(PARSED, "looking for repeated ids")
    for fault in repeated_ids(frame, collected.bad):
        collected.blame(collected.source["id"], fault)
    refusal = _refusal(collected, None if from_one is None else collected.source[from_one])
    if refusal is not None:
        return (), joined, refusal
    progress(PARSED, "telling the runs apart")
    bad, adrift = collected.bad, collected.adrift
    judgement = Judgement(bad, adrift, collected.clipped, collected.off_sum, collected.unread)
    runs, notes = split(frame, judgement, origin, others)
    return runs, (*joined, *notes, *remarks), None


def _refusal(collected: Collected, from_one: str | None) -> str | None:
    """Why nothing can be used. from_one: the file's column whose positions look counted from 1."""
    for column, example in collected.percentages:
        return (
            f"{collected.file}: column {column!r} looks like percentages: most of its numbers are above 1 "
            f"(such as {example}), and numbers from 0 to 1 are expected. Divide the column by 100."
        )
    if from_one is not None:
        return (
            f"{collected.file}: column {from_one!r} looks counted from 1: its positions are 1 to the number "
            f"of choices, never 0, and positions counted from 0 are expected. Subtract 1, or give the "
            f"choice's text or letter."
        )
    if not collected.bad.all():
        return None
    cells = [cell for problem in collected.problems for cell in problem.first[:3]][:4]
    listed = "".join(f"\n{shorten(str(cell), 300)}" for cell in cells)
    return f"{collected.file}: all {collected.rows:,} rows are bad, so nothing in it can be used.{listed}"


TABLE = Format("table", "table (CSV, JSON lines or Parquet)", "rows and columns", recognises, read)
