"""A plain table: one row a question, in CSV, JSON lines or Parquet. Which runs does it hold?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

import polars as pl

from calib_core.errors import Refused, shorten
from calib_core.readers.content import Content
from calib_core.readers.detect import N_FIRST_OBJECTS, identify_columns, identify_objects
from calib_core.readers.format import Format, Head, Reading
from calib_core.readers.table.cells import NumberRange, judge_range, null_where
from calib_core.readers.table.columns import (
    COLUMN_JUDGES,
    NUMERIC_COLUMNS,
    PROBABILITY_COLUMNS,
    ColumnRoles,
    column_list_text,
    no_known_column_message,
)
from calib_core.readers.table.csv_reader import (
    COMMAS,
    DIALECTS,
    CsvDialect,
    first_csv_values,
    header_of,
    open_csv,
    unescape_ids,
    unescaped_id_notes,
)
from calib_core.readers.table.gold_match import gold_as_text_notes, match_gold, one_based_column
from calib_core.readers.table.gold_table import join_gold
from calib_core.readers.table.group_columns import GroupColumns
from calib_core.readers.table.json_reader import open_json_lines, open_json_list
from calib_core.readers.table.parquet_reader import first_parquet_values, open_parquet
from calib_core.readers.table.raw import (
    MAX_COLUMNS,
    ColumnFilter,
    RawTable,
    ReadProgress,
    Slice,
    no_column,
    series_from_values,
)
from calib_core.readers.table.rows import RowCollector, disagreements, judge_slice
from calib_core.readers.table.run_split import (
    Origin,
    RowJudgement,
    fill_run_columns,
    repeated_id_faults,
    split_into_runs,
)
from calib_core.runs import AnswerRun, RunInfo, is_missing

# MERGED gather: How do several columns of the file become one list, an element a column?


def gather_lists(
    part: Slice, roles: ColumnRoles, column_order: Sequence[str]
) -> tuple[Slice, dict[str, str]]:
    """The slice with the columns of each list put together, and column → name of all that is read.

    order: the file's columns; one that this slice lacks is empty in it. A list is called by the names
    of all its columns.
    """
    columns = dict(part.columns)
    meant = {column: name for column in columns if (name := roles.role(column))}
    for name, members in roles.combined_lists(column_order).items():
        empty = pl.Series([None], dtype=pl.Null()).new_from_index(0, part.n_rows)
        together = combine_columns([columns.pop(member, empty) for member in members])
        meant = {column: role for column, role in meant.items() if role != name}
        label = shorten(", ".join(members))
        columns[label], meant[label] = together, name
    return replace(part, columns=columns), meant


def combine_columns(raw: Sequence[pl.Series]) -> pl.Series:
    """Raw columns of one length → lists, in the given order.

    An empty cell is a null element, and a row of empty cells alone is null. Numbers stay numbers;
    columns that differ otherwise become text. Where one column holds lists itself, no value is a list
    of plain elements: structs are given, which every judge of lists finds wrong.
    """
    held = [null_where(values, is_missing(values)).alias(str(at)) for at, values in enumerate(raw)]
    frame = pl.DataFrame(held)
    if any(dtype.is_nested() or dtype == pl.Binary for dtype in frame.dtypes):
        return frame.to_struct("list")
    kinds = [dtype for dtype in frame.dtypes if dtype != pl.Null]
    if len(set(kinds)) > 1 and not all(dtype.is_numeric() for dtype in kinds):
        frame = frame.cast(pl.String)
    empty = pl.all_horizontal(pl.all().is_null())
    return frame.select(pl.when(~empty).then(pl.concat_list(pl.all())).alias("list"))["list"]


# MERGED glance: What stands in the first rows of a file, and does a column there look like what its name promises?

PERCENT_RANGE: Final = NumberRange(0.0, 100.0, "a number from 0 to 100", "")
"""A column of percentages looks like one of probabilities: once it is named, it is said what is wrong."""


def first_values(head: Head, dialect: CsvDialect, columns: Sequence[str]) -> list[pl.Series]:
    """The first raw values, at most `LOOKED_AT`, of each of these columns of the file."""
    match head.kind:
        case "parquet":
            return first_parquet_values(head.all_bytes, columns, N_FIRST_OBJECTS)
        case "text":
            return first_csv_values(head.content, dialect, columns, N_FIRST_OBJECTS)
        case _:
            return [
                series_from_values(name, [row.get(name) for row in head.first_objects])[0] for name in columns
            ]


def looks_like(raw: Sequence[pl.Series], name: str) -> bool:
    """Whether most values that are there can be read as `name`; nothing there tells nothing against it.

    raw: the values of one column, or of all columns that are to be one list.
    """
    values = raw[0] if len(raw) == 1 else combine_columns(raw)
    there = values.len() - int(is_missing(values).sum())
    judged = (
        judge_range(values, PERCENT_RANGE) if name in PROBABILITY_COLUMNS else COLUMN_JUDGES[name](values)
    )
    good = judged.values.len() - judged.values.null_count()
    return 2 * good >= there


PARSED_SHARE: Final = 0.9
"""Share of the work that is done once every record has been parsed and judged by itself."""

N_FIRST_PARQUET_ROWS: Final = 1_000
"""Rows of a Parquet file that show which columns hold too much to sort the rows into groups."""


def recognises(head: Head) -> bool:
    """Whether the file is a table of no other known make. All text may be one."""
    if head.kind == "json object":
        return False
    return identify_objects(head.first_objects) is None and identify_columns(head.names) is None


def read(head: Head, mapping: Mapping[str, str], progress: ReadProgress) -> Reading:
    """The runs of a plain table. See `format.Read`."""
    return open_and_read_table(head, mapping, progress, Origin(head.file, TABLE.id, RunInfo()))


def open_and_read_table(
    head: Head, mapping: Mapping[str, str], progress: ReadProgress, origin: Origin, *, skip_lines: int = 0
) -> Reading:
    """The runs of a table; skip: lines of metadata before its records.

    Raises Refused where a mapped column or every row is not there, or the records cannot be told apart.
    """
    roles = ColumnRoles.from_mapping(mapping, head.file)
    layout = _guess_dialect(head.content, roles) if head.kind == "text" else COMMAS
    groups = _candidate_group_columns(head, roles)
    table = open_table(
        head, groups.is_used, skip_lines, layout, lambda column: roles.role(column) in NUMERIC_COLUMNS
    )
    taken = Counter[str]()
    if head.kind == "text":
        ids = unescape_ids(table.slices, lambda column: roles.role(column) == "id", taken)
        table = replace(table, slices=ids)
    reading = read_table(table, head, groups, progress, origin, dialect=layout)
    return replace(reading, notes=(*reading.notes, *unescaped_id_notes(taken)))


def read_table(
    table: RawTable,
    head: Head,
    groups: GroupColumns,
    progress: ReadProgress,
    origin: Origin,
    *,
    dialect: CsvDialect = COMMAS,
) -> Reading:
    """The runs of an opened table; raises as `read_rows`."""
    roles = groups.roles
    if table.columns is not None:
        roles.check_columns_exist(table.columns, head.file)
    known = table.columns is None or any(map(roles.is_used, table.columns))
    collected = _collect_rows(table, groups, head.file, progress) if known else RowCollector(head.file)
    columns = tuple(table.found_keys) if table.columns is None else table.columns
    if known and not collected.rows:
        raise Refused(f"{head.file} has the columns {column_list_text(columns)} and no rows below them.")
    roles.check_columns_exist(columns, head.file)
    others = groups.take_frame()
    runs, notes, refusal = _judge_rows(collected, others, origin, progress, head.gold_path)
    proposals = _propose_mapping(head, dialect, roles, columns)
    if not any(map(roles.is_used, columns)):
        runs, refusal = (), no_known_column_message(columns, proposals, head.file)
    progress(1.0, f"{collected.rows:,} rows read")
    return Reading(
        file=origin.file,
        format=origin.format,
        n_rows=collected.rows,
        n_bad_rows=int(collected.is_bad.sum()),
        problems=collected.problems,
        good_runs=runs,
        columns=columns,
        unused_columns=tuple(name for name in roles.unused_columns(columns) if name not in others.columns),
        proposed_mapping=MappingProxyType(proposals),
        notes=notes,
        refusal=refusal,
        group_columns=tuple(others.columns),
        column_roles=roles.used_roles(columns),
    )


def _candidate_group_columns(head: Head, roles: ColumnRoles) -> GroupColumns:
    """What may sort the rows into groups, without what a glance rules out."""
    groups = GroupColumns(roles)
    groups.exclude_by_objects(head.first_objects)
    if head.kind == "parquet":
        free = [name for name in head.names if groups.may_group(name)]
        groups.exclude_by_values(
            first_parquet_values(head.all_bytes, free, N_FIRST_PARQUET_ROWS) if free else ()
        )
    return groups


def _collect_rows(table: RawTable, groups: GroupColumns, file: str, progress: ReadProgress) -> RowCollector:
    """Every record, judged by itself."""
    collected = RowCollector(file)

    def add(part: Slice) -> None:
        read, meant = gather_lists(part, groups.roles, table.columns or tuple(table.found_keys))
        judged = judge_slice(read, meant)
        if part.reread is not None and any(values.faults for values in judged.values()):
            for careful in part.reread():
                add(careful)
            return
        groups.add(part)
        collected.add(read, meant, judged)
        progress(PARSED_SHARE * part.share, f"{collected.rows:,} rows read")

    for part in table.slices:
        add(part)
        if len(table.found_keys) > MAX_COLUMNS:
            raise Refused(f"{file}: its objects have more than {MAX_COLUMNS:,} keys. Keep those needed.")
    return collected


def open_table(
    head: Head,
    is_used: ColumnFilter,
    skip_lines: int,
    dialect: CsvDialect,
    is_numeric: ColumnFilter = no_column,
) -> RawTable:
    """The records of a file, `skip` lines of metadata passed over; numeric: as in `open_csv`."""
    match head.kind:
        case "parquet":
            return open_parquet(head.all_bytes, head.file, is_used)
        case "json lines":
            return open_json_lines(head.content, head.file, is_used, skip_lines=skip_lines)
        case "json list":
            return open_json_list(head.list_elements, is_used)
        case "json object":
            return open_json_list(head.first_objects, is_used)
        case "text":
            return open_csv(head.content, head.file, dialect, is_used, is_numeric=is_numeric)
        case "zip" | "npy":
            raise Refused(f"{head.file} holds NumPy arrays and no table. Leave --format out, or give npz.")


def _guess_dialect(data: Content, roles: ColumnRoles) -> CsvDialect:
    """The layout whose header holds the most columns that are read, else the most proposals."""
    headers = {layout: header_of(data, layout) for layout in DIALECTS}
    known = {layout: sum(map(roles.is_used, header)) for layout, header in headers.items()}
    likely = {
        layout: len(roles.propose(header[:MAX_COLUMNS], _fits_any_values))
        for layout, header in headers.items()
    }
    for score in (known, likely):
        best = max(DIALECTS, key=score.__getitem__)
        if score[best]:
            return best
    return COMMAS


def _fits_any_values(_columns: Sequence[str], _name: str) -> bool:
    return True


def _propose_mapping(
    head: Head, dialect: CsvDialect, roles: ColumnRoles, columns: Sequence[str]
) -> dict[str, str]:
    """What the columns that are not read probably stand for, by their names and first values."""

    def fits(candidates: Sequence[str], name: str) -> bool:
        return looks_like(first_values(head, dialect, candidates), name)

    return roles.propose(columns, fits)


def _judge_rows(
    collected: RowCollector,
    group_columns: pl.DataFrame,
    origin: Origin,
    progress: ReadProgress,
    gold_path: Path | None,
) -> tuple[tuple[AnswerRun, ...], tuple[str, ...], str | None]:
    """Judges what can only be judged of whole rows: the runs, notes, and why nothing can be used.

    right: a table of right answers, None where the person named none.
    """
    frame, joined = join_gold(collected.take_frame(), gold_path, collected.source, origin.file)
    progress(PARSED_SHARE, "comparing the columns")
    for name, fault in disagreements(frame):
        collected.mark_bad(collected.source[name], fault)
    frame = fill_run_columns(frame, origin.info)
    from_one = one_based_column(frame)
    remarks = gold_as_text_notes(frame)
    position, faults = match_gold(frame)
    for name, fault in faults:
        collected.mark_bad(collected.source[name], fault)
    if position.null_count() < position.len():
        frame = frame.with_columns(position.alias("gold_index"))
    progress(PARSED_SHARE, "looking for repeated ids")
    for fault in repeated_id_faults(frame, collected.is_bad):
        collected.mark_bad(collected.source["id"], fault)
    refusal = _refusal_message(collected, None if from_one is None else collected.source[from_one])
    if refusal is not None:
        return (), joined, refusal
    progress(PARSED_SHARE, "telling the runs apart")
    bad, adrift = collected.is_bad, collected.is_run_unknown
    judgement = RowJudgement(
        bad, adrift, collected.clipped_positions, collected.inexact_sums, collected.unreadable
    )
    runs, notes = split_into_runs(frame, judgement, origin, group_columns)
    return runs, (*joined, *notes, *remarks), None


def _refusal_message(collected: RowCollector, one_based: str | None) -> str | None:
    """Why nothing can be used. from_one: the file's column whose positions look counted from 1."""
    for column, example in collected.percentage_columns:
        return (
            f"{collected.file}: column {column!r} looks like percentages: most of its numbers are above 1 "
            f"(such as {example}), and numbers from 0 to 1 are expected. Divide the column by 100."
        )
    if one_based is not None:
        return (
            f"{collected.file}: column {one_based!r} looks counted from 1: its positions are 1 to the number "
            f"of choices, never 0, and positions counted from 0 are expected. Subtract 1, or give the "
            f"choice's text or letter."
        )
    if not collected.is_bad.all():
        return None
    cells = [cell for problem in collected.problems for cell in problem.first[:3]][:4]
    listed = "".join(f"\n{shorten(str(cell), 300)}" for cell in cells)
    return f"{collected.file}: all {collected.rows:,} rows are bad, so nothing in it can be used.{listed}"


TABLE = Format("table", "table (CSV, JSON lines or Parquet)", "rows and columns", recognises, read)
