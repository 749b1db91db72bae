"""Finds what the columns of a table may be read as, for a person to decide."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import polars as pl

from calib_core.errors import shorten
from calib_core.readers.format import JSON_KINDS, Candidate, Head
from calib_core.readers.table.candidate_lists import (
    choice_letters_note,
    find_sampled_answers,
    find_scored_choices,
)
from calib_core.readers.table.candidates import find_candidates
from calib_core.readers.table.cells import value_text, with_decimal_points
from calib_core.readers.table.columns import CONFIDENCE_SOURCES, ColumnRoles
from calib_core.readers.table.csv_reader import CsvDialect
from calib_core.readers.table.first_rows import N_FIRST_ROWS, first_records, first_values
from calib_core.readers.table.names import meanings
from calib_core.readers.table.rows import GOLD_COLUMNS, TRUTH_COLUMNS
from calib_core.readers.table.shape import (
    MAX_SYSTEMS,
    fits_pattern,
    nested_paths,
    paths_into_lists,
    series_at,
    too_many_systems_message,
    unwrap_single_values,
)
from calib_core.readers.table.systems import find_systems
from calib_core.runs import schema_name

N_PREVIEW_ROWS: Final = 5
"""First rows of a file that are shown to the person who says what its columns mean."""

MAX_COLUMNS_JUDGED: Final = 200
"""Limit on the columns that are looked at, those whose names say something first."""


@dataclass(frozen=True, slots=True)
class Possible:
    """What the columns of a table may be read as besides, for a person to decide."""

    candidates: tuple[Candidate, ...] = ()
    systems: tuple[Candidate, ...] = ()
    preview: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    letters_note: str | None = None
    too_many_systems: str = ""


def find_possible(
    head: Head,
    dialect: CsvDialect,
    roles: ColumnRoles,
    columns: Sequence[str],
    joined: Mapping[str, str],
    *,
    is_refused: bool,
) -> Possible:
    """Find what columns may be read as; with a preview where nothing of use is read.

    A column that has its name may be meant otherwise, such as a confidence in percent. `joined` are the right
    answers of another table, beside which "answer" is the model's.
    """
    read_as = {schema_name(name) for name in roles.used_roles(columns).values()}
    is_complete = not (read_as.isdisjoint(CONFIDENCE_SOURCES) or read_as.isdisjoint(TRUTH_COLUMNS))
    is_open = is_refused or not is_complete
    if not head.finds_candidates or not (is_open or roles.unused_columns(columns)):
        return Possible()
    candidates, written = _find_candidates(head, dialect, roles, columns, joined)
    if not is_open:
        return Possible(candidates)
    golds = {*read_as, *(name for one in candidates for name in one.names.values())} & GOLD_COLUMNS
    systems = () if is_complete else _find_systems(head, dialect, columns, has_gold=bool(golds))
    patterns = {pattern for one in systems for pattern in one.names}
    candidates = tuple(
        one for one in candidates if not any(fits_pattern(name, patterns) for name in one.names)
    )
    unread = {column: raw for column, raw in written.items() if not roles.is_used(column)}
    n_systems = max((sum(fits_pattern(name, [one]) for name in columns) for one in patterns), default=0)
    too_many = (
        too_many_systems_message(sorted(patterns), n_systems, head.file) if n_systems > MAX_SYSTEMS else ""
    )
    return Possible(candidates, systems, _preview(written, columns), choice_letters_note(unread), too_many)


def _find_candidates(
    head: Head,
    dialect: CsvDialect,
    roles: ColumnRoles,
    columns: Sequence[str],
    joined: Mapping[str, str],
) -> tuple[tuple[Candidate, ...], dict[str, pl.Series]]:
    """Find what columns may be read as, by their names and first values; return also these, as written."""
    records = first_records(head, dialect, columns)
    every = (*columns, *nested_paths(records))
    paths = every
    if len(every) > MAX_COLUMNS_JUDGED:
        telling = [column for column in every if roles.is_used(column) or meanings(column)]
        paths = tuple(dict.fromkeys((*telling, *every)))[:MAX_COLUMNS_JUDGED]
    firsts = first_values(head, dialect, paths, N_FIRST_ROWS, as_written=True)
    written = dict(zip(paths, firsts, strict=True))
    left_out = {column for column, name in roles.mapping.items() if not name}
    ordered = sorted(every)
    left_out |= {column for column in columns if _holds_fields(records, column, ordered)}
    values = {column: raw for column, raw in written.items() if column not in left_out}
    if dialect.may_have_decimal_commas:
        values = {column: with_decimal_points(raw) for column, raw in values.items()}
    read_as = roles.used_roles(paths)
    with_commas = {column for column, raw in values.items() if raw is not written[column]}
    for column, name in read_as.items():
        if name == "correct" and column in roles.mapping.keys() & values.keys():  # perhaps turned round
            values[column] = roles.meaning(column, name).judge(values[column]).values
    free = [path for path in paths if path not in read_as and path not in left_out]
    lists = _lists_inside(head, dialect, free)
    scored = list(find_scored_choices(lists))
    listed = [lists[column] for one in scored for column, name in one.names.items() if name == "choices"]
    labels = {str(label).lower() for raw in listed for label in raw.explode().drop_nulls()}
    single = {column: raw for column, raw in values.items() if not any(column in one.names for one in scored)}
    found = [*find_candidates(single, {**read_as, **joined}, with_commas, labels), *scored]
    said = {name for one in found if one.clarity == "said" for name in one.names.values()}
    is_judged = {*read_as.values(), *said} & {*GOLD_COLUMNS, "sample_correct"}
    if not is_judged and (sampled := find_sampled_answers(lists)):
        samples = dict(zip(sampled, ("samples", "sample_correct"), strict=True))
        found = [one for one in found if one.name != "samples"]
        found.append(Candidate(samples, "said", "lists of answers and of their outcomes"))
    return tuple(found), written


def _holds_fields(records: Sequence[Mapping[str, object]], column: str, paths: Sequence[str]) -> bool:
    """Return whether a column of JSON holds objects alone, whose fields are among the sorted paths."""
    at = bisect_left(paths, f"{column}.")
    values = [record[column] for record in records if record.get(column) is not None]
    has_paths = at < len(paths) and paths[at].startswith(f"{column}.")
    return has_paths and all(isinstance(value, dict | list) for value in values)


def _preview(written: Mapping[str, pl.Series], columns: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the first values of each column as texts."""
    return {
        column: tuple(
            shorten("" if value is None else value if isinstance(value, str) else value_text(value), 80)
            for value in written[column].head(N_PREVIEW_ROWS).to_list()
        )
        for column in columns
        if column in written
    }


def _lists_inside(head: Head, dialect: CsvDialect, free: Sequence[str]) -> dict[str, pl.Series]:
    """Return the first lists of JSON, Parquet or Arrow: columns, and keys of the objects in them by path."""
    if head.kind == "text":
        return {}
    if head.kind in JSON_KINDS:
        paths = [path for name in free for path in paths_into_lists(head.first_objects[0], name)]
        return dict(zip(paths, first_values(head, dialect, paths, N_FIRST_ROWS), strict=True))
    lists: dict[str, pl.Series] = {}
    for name, values in zip(free, first_values(head, dialect, free, N_FIRST_ROWS), strict=True):
        match values.dtype:
            case pl.List(inner=pl.Struct(fields=fields)):
                lists |= {f"{name}.{field.name}": series_at(values, field.name) for field in fields}
            case pl.List():
                lists[name] = values
            case _:
                pass
    return lists


def _find_systems(
    head: Head, dialect: CsvDialect, columns: Sequence[str], *, has_gold: bool
) -> tuple[Candidate, ...]:
    """Find patterns for the columns of systems side by side, by their names and first values."""
    paths = (*columns, *nested_paths(first_records(head, dialect, columns)))
    firsts: dict[str, pl.Series] = {}

    def values_of(column: str) -> pl.Series:
        if not firsts:
            firsts.update(zip(paths, first_values(head, dialect, paths), strict=True))
        return unwrap_single_values(firsts[column])

    return find_systems(paths, values_of, has_gold=has_gold)
