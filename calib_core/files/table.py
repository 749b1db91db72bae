"""A plain table: one row a question, in CSV, JSON lines or Parquet. Which runs does it hold?"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from calib_core.files import agree, gold, lookalikes
from calib_core.files.collect import Collected
from calib_core.files.csv_text import COMMAS, LAYOUTS, Layout, header_of, open_csv
from calib_core.files.format import Format, Head
from calib_core.files.json_lines import open_json_lines, open_json_list
from calib_core.files.parquet import open_parquet
from calib_core.files.raw import MAX_COLUMNS, Progress, RawTable
from calib_core.files.reading import Reading
from calib_core.files.roles import Roles, named
from calib_core.files.runs import Judgement, Origin, identified, repeated_ids, split
from calib_core.problems import Refused, shorten
from calib_core.records import RunInfo

_PARSED: Final = 0.9
"""Share of the work that is done once every record has been parsed and judged by itself."""


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

    Raises Refused where no column is known, no row is there, or every row is bad.
    """
    roles = Roles.of(mapping, head.file)
    table = _open(head, roles, skip)
    if table.columns is not None:
        roles.check(table.columns, head.file)
    collected = Collected(head.file)
    for part in table.slices:
        collected.add(part, {name: role for name in part.columns if (role := roles.role(name))})
        if len(table.seen) > MAX_COLUMNS:
            raise Refused(f"{head.file}: its objects have more than {MAX_COLUMNS:,} keys. Keep those needed.")
        progress(_PARSED * part.share, f"{collected.rows:,} rows read")
    columns = tuple(table.seen) if table.columns is None else table.columns
    if not collected.rows:
        raise Refused(f"{head.file} has the columns {named(columns)} and no rows below them.")
    roles.check(columns, head.file)
    return _reading(collected, origin, columns, roles, progress)


def _open(head: Head, roles: Roles, skip: int) -> RawTable:
    match head.kind:
        case "parquet":
            return open_parquet(head.data, head.file, roles.wanted)
        case "json lines":
            return open_json_lines(head.data, head.file, roles.wanted, skip=skip)
        case "json list":
            return open_json_list(head.records, roles.wanted)
        case "json object":
            return open_json_list(head.objects, roles.wanted)
        case "text":
            return open_csv(head.data, head.file, _layout(head.data, roles), roles.wanted)


def _layout(data: bytes, roles: Roles) -> Layout:
    """The layout whose header holds the most columns that are read, else the most proposals."""
    headers = {layout: header_of(data, layout) for layout in LAYOUTS}
    known = {layout: sum(map(roles.wanted, header)) for layout, header in headers.items()}
    likely = {layout: len(roles.proposals(header)) for layout, header in headers.items()}
    for score in (known, likely):
        best = max(LAYOUTS, key=score.__getitem__)
        if score[best]:
            return best
    return COMMAS


def _reading(
    collected: Collected, origin: Origin, columns: tuple[str, ...], roles: Roles, progress: Progress
) -> Reading:
    """Judges what can only be judged of whole rows, and puts the runs together."""
    frame = collected.hand_over()
    progress(_PARSED, "comparing the columns")
    for name, fault in agree.disagreements(frame):
        collected.blame(collected.source[name], fault)
    position, faults = gold.resolve(frame)
    for name, fault in faults:
        collected.blame(collected.source[name], fault)
    if position.null_count() < position.len():
        frame = frame.with_columns(position.alias("gold_index"))
    frame = identified(frame, origin.info)
    progress(_PARSED, "looking for repeated ids")
    for fault in repeated_ids(frame, collected.adrift):
        collected.blame(collected.source["id"], fault)
    bad = collected.bad
    if bad.all():
        raise Refused(_all_bad(collected))
    progress(_PARSED, "telling the runs apart")
    judgement = Judgement(bad, collected.adrift, collected.clipped, collected.off_sum)
    runs, notes = split(frame, judgement, origin)
    progress(1.0, f"{collected.rows:,} rows read")
    return Reading(
        file=origin.file,
        format=origin.format,
        rows=collected.rows,
        bad_rows=int(bad.sum()),
        problems=collected.problems,
        good_runs=runs,
        columns=columns,
        unused=tuple(column for column in columns if not roles.wanted(column)),
        proposals=MappingProxyType(roles.proposals(columns)),
        notes=notes,
    )


def _all_bad(collected: Collected) -> str:
    cells = [cell for problem in collected.problems for cell in problem.first[:3]][:4]
    listed = "".join(f"\n{shorten(str(cell), 300)}" for cell in cells)
    return f"{collected.file}: all {collected.rows:,} rows are bad, so nothing in it can be used.{listed}"


TABLE = Format("table", "table (CSV, JSON lines or Parquet)", recognises, read)
