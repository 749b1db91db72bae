"""What does a file of top lists hold: the likeliest tokens of each position, and the one that came?

One row a position, in JSON lines, Parquet or delimited text, with the canonical metadata or without.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final, cast

from calib_core.files.content import Content
from calib_core.files.format import Format, Head
from calib_core.files.reading import Reading
from calib_core.files.tables.canonical import KEY, info_of, metadata_of
from calib_core.files.tables.csv_text import COMMAS, LAYOUTS, Layout, header_of
from calib_core.files.tables.glance import first_rows, looks_like
from calib_core.files.tables.raw import Progress
from calib_core.files.tables.roles import Roles, named
from calib_core.files.tables.runs import Origin
from calib_core.files.tables.table import open_table
from calib_core.files.token_level.column_sums import column_sums
from calib_core.files.token_level.entries import JUDGES, NEEDED, Told
from calib_core.files.token_level.topk_slices import Slices, pieces
from calib_core.problems import Refused, shorten
from calib_core.records import RunInfo

WRITTEN: Final = "calib-tokens"
VERSION: Final = 1

_MARKS: Final = {"top_ids", "top_logprobs"}
"""Columns by which such a file is known."""


def recognises(head: Head) -> bool:
    """Whether the file holds top lists: by its metadata where it has the project's, else by its columns."""
    stored = _stored(head)
    if stored is not None:
        return stored.get("format") == WRITTEN
    if head.kind == "text":
        return any({*header_of(head.content, layout)} >= _MARKS for layout in LAYOUTS)
    return {*head.names} >= _MARKS or any(record.keys() >= _MARKS for record in head.objects)


def _stored(head: Head) -> Mapping[str, object] | None:
    """The project's metadata; empty where it cannot be read, None where there is none."""
    found: object
    if head.kind == "parquet" and KEY in (head.metadata or {}):
        try:
            found = json.loads((head.metadata or {})[KEY])
        except ValueError:
            return {}
    elif head.kind == "json lines" and head.objects and set(head.objects[0]) == {KEY}:
        found = head.objects[0][KEY]
    else:
        return None
    return cast("Mapping[str, object]", found) if isinstance(found, dict) else {}


def read(head: Head, mapping: Mapping[str, str], progress: Progress) -> Reading:
    """The runs of a file of top lists. See `format.Read`."""
    roles = Roles.of(mapping, head.file, tuple(JUDGES))
    info, told = RunInfo(), Told()
    canonical = _stored(head) is not None
    if canonical:
        metadata = metadata_of(head, WRITTEN, VERSION)
        info = info_of(metadata, head.file)
        classes = _whole(metadata, "vocab_size", head.file)
        columns = column_sums(head, metadata.get("column_sums"), classes)
        told = Told(classes, _whole(metadata, "k", head.file), columns)
    layout = _layout(head.content, roles) if head.kind == "text" else COMMAS
    table = open_table(head, roles.wanted, int(canonical and head.kind == "json lines"), layout)
    if table.columns is not None:
        roles.check(table.columns, head.file)
    slices = Slices(Origin(head.file, TOPK.id, info), told, head.content.checksum())
    done = 0.0
    for whole in table.slices:
        for part in pieces(whole, done):
            slices.add(part, {column: name for column in part.columns if (name := roles.role(column))})
            progress(part.share, f"{slices.rows:,} positions read")
        done = whole.share
    columns = tuple(table.seen) if table.columns is None else table.columns
    if not slices.rows:
        raise Refused(f"{head.file} has the columns {named(columns)} and no rows below them.")
    roles.check(columns, head.file)

    def fits(way: Sequence[str], name: str) -> bool:
        return looks_like(first_rows(head, layout, way), name)

    reading = replace(
        slices.reading(),
        columns=columns,
        unused=roles.unused(columns),
        proposals=MappingProxyType(roles.proposals(columns, fits)),
    )
    refusal = _lacking(roles, columns, told, head.file) or reading.refusal
    return replace(reading, good_runs=() if refusal else reading.good_runs, refusal=refusal)


def _whole(metadata: Mapping[str, object], name: str, file: str) -> int | None:
    value = metadata.get(name)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
        return value
    raise Refused(f"{file}: {name!r} in its metadata cannot be {shorten(repr(value))}. Mend or remove it.")


def _layout(data: Content, roles: Roles) -> Layout:
    """The layout whose header holds the most columns that are read."""
    return max(LAYOUTS, key=lambda layout: sum(map(roles.wanted, header_of(data, layout))))


def _lacking(roles: Roles, columns: Sequence[str], told: Told, file: str) -> str | None:
    """Why nothing can be read from these columns, and what to do; None where all that is needed is there."""
    there = set(map(roles.role, columns))
    absent = [name for name in NEEDED if name not in there]
    if absent:
        return (
            f"{file} looks like token-level top lists and has no column {absent[0]!r}; its columns are "
            f"{named(columns)}. A row a position needs target, top_ids, top_logprobs and vocab_size, and "
            f"target_logprob where the list may lack the target. Say what a column means: "
            f"--map COLUMN={absent[0]}"
        )
    if told.vocab_size is None and "vocab_size" not in there:
        return (
            f"{file} does not say how many classes each position has, and Full-ECE counts them all. Add a "
            f"column vocab_size with the number of columns of the model's output layer (which may be more "
            f"than the tokenizer's vocabulary), or say which column it is: --map COLUMN=vocab_size"
        )
    return None


TOPK: Final = Format(
    "topk",
    "token-level top lists (JSON lines, Parquet or CSV)",
    "a target and lists of the likeliest tokens",
    recognises,
    read,
)
