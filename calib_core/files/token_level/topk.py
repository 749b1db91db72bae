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
from calib_core.files.tables.canonical import METADATA_KEY, run_info_from_metadata, checked_metadata
from calib_core.files.tables.csv_text import COMMAS, DIALECTS, CsvDialect, header_of
from calib_core.files.tables.glance import first_values, looks_like
from calib_core.files.tables.raw import ReadProgress
from calib_core.files.tables.roles import ColumnRoles, column_list_text
from calib_core.files.tables.runs import Origin
from calib_core.files.tables.table import open_table
from calib_core.files.token_level.column_sums import read_column_sums
from calib_core.files.token_level.entries import TOPK_COLUMN_JUDGES, REQUIRED_COLUMNS, TopKMetadata
from calib_core.files.token_level.topk_slices import TopKCollector, split_slice
from calib_core.problems import Refused, shorten
from calib_core.records import RunInfo

TOKENS_FORMAT: Final = "calib-tokens"
TOKENS_VERSION: Final = 1

_TOPK_COLUMNS: Final = {"top_ids", "top_logprobs"}
"""Columns by which such a file is known."""


def recognises(head: Head) -> bool:
    """Whether the file holds top lists: by its metadata where it has the project's, else by its columns."""
    stored = _stored_metadata(head)
    if stored is not None:
        return stored.get("format") == TOKENS_FORMAT
    if head.kind == "text":
        return any({*header_of(head.content, layout)} >= _TOPK_COLUMNS for layout in DIALECTS)
    return {*head.names} >= _TOPK_COLUMNS or any(record.keys() >= _TOPK_COLUMNS for record in head.first_objects)


def _stored_metadata(head: Head) -> Mapping[str, object] | None:
    """The project's metadata; empty where it cannot be read, None where there is none."""
    found: object
    if head.kind == "parquet" and METADATA_KEY in (head.metadata or {}):
        try:
            found = json.loads((head.metadata or {})[METADATA_KEY])
        except ValueError:
            return {}
    elif head.kind == "json lines" and head.first_objects and set(head.first_objects[0]) == {METADATA_KEY}:
        found = head.first_objects[0][METADATA_KEY]
    else:
        return None
    return cast("Mapping[str, object]", found) if isinstance(found, dict) else {}


def read(head: Head, mapping: Mapping[str, str], progress: ReadProgress) -> Reading:
    """The runs of a file of top lists. See `format.Read`."""
    roles = ColumnRoles.from_mapping(mapping, head.file, tuple(TOPK_COLUMN_JUDGES))
    info, told = RunInfo(), TopKMetadata()
    canonical = _stored_metadata(head) is not None
    if canonical:
        metadata = checked_metadata(head, TOKENS_FORMAT, TOKENS_VERSION)
        info = run_info_from_metadata(metadata, head.file)
        classes = _positive_integer(metadata, "vocab_size", head.file)
        columns = read_column_sums(head, metadata.get("column_sums"), classes)
        told = TopKMetadata(classes, _positive_integer(metadata, "k", head.file), columns)
    layout = _guess_dialect(head.content, roles) if head.kind == "text" else COMMAS
    table = open_table(head, roles.is_used, int(canonical and head.kind == "json lines"), layout)
    if table.columns is not None:
        roles.check_columns_exist(table.columns, head.file)
    slices = TopKCollector(Origin(head.file, TOPK.id, info), told, head.content.checksum())
    done = 0.0
    for whole in table.slices:
        for part in split_slice(whole, done):
            slices.add(part, {column: name for column in part.columns if (name := roles.role(column))})
            progress(part.share, f"{slices.n_rows:,} positions read")
        done = whole.share
    columns = tuple(table.found_keys) if table.columns is None else table.columns
    if not slices.n_rows:
        raise Refused(f"{head.file} has the columns {column_list_text(columns)} and no rows below them.")
    roles.check_columns_exist(columns, head.file)

    def fits(candidates: Sequence[str], name: str) -> bool:
        return looks_like(first_values(head, layout, candidates), name)

    reading = replace(
        slices.reading(),
        columns=columns,
        unused=roles.unused_columns(columns),
        proposals=MappingProxyType(roles.propose(columns, fits)),
    )
    refusal = _missing_columns_message(roles, columns, told, head.file) or reading.refusal
    return replace(reading, good_runs=() if refusal else reading.good_runs, refusal=refusal)


def _positive_integer(metadata: Mapping[str, object], name: str, file: str) -> int | None:
    value = metadata.get(name)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
        return value
    raise Refused(f"{file}: {name!r} in its metadata cannot be {shorten(repr(value))}. Mend or remove it.")


def _guess_dialect(data: Content, roles: ColumnRoles) -> CsvDialect:
    """The layout whose header holds the most columns that are read."""
    return max(DIALECTS, key=lambda layout: sum(map(roles.is_used, header_of(data, layout))))


def _missing_columns_message(roles: ColumnRoles, columns: Sequence[str], metadata: TopKMetadata, file: str) -> str | None:
    """Why nothing can be read from these columns, and what to do; None where all that is needed is there."""
    there = set(map(roles.role, columns))
    absent = [name for name in REQUIRED_COLUMNS if name not in there]
    if absent:
        return (
            f"{file} looks like token-level top lists and has no column {absent[0]!r}; its columns are "
            f"{column_list_text(columns)}. A row a position needs target, top_ids, top_logprobs and vocab_size, and "
            f"target_logprob where the list may lack the target. Say what a column means: "
            f"--map COLUMN={absent[0]}"
        )
    if metadata.vocab_size is None and "vocab_size" not in there:
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
