"""Shapes of records: nested fields, rows below a key, and several systems side by side in one row.

A nested field is named by its path, whose steps are separated by dots: keys of objects, and positions in
lists, counted from 0. A key that itself contains dots comes before a path of the same spelling.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import islice
from types import MappingProxyType
from typing import Final, cast

import polars as pl

from calib_core.advice import Advice, bracketed_option
from calib_core.errors import Refused, shorten
from calib_core.readers.table.columns import CHOICE_SCORES, CONFIDENCE_SOURCES, role_of
from calib_core.readers.table.json_reader import ABSENT, is_position, path_prefixes, value_at
from calib_core.readers.table.names import meanings, spelling_rank
from calib_core.readers.table.plans import is_judged
from calib_core.readers.table.raw import ColumnFilter, RawTable, Slice, series_from_values
from calib_core.runs import RUN_COLUMNS

MAX_SYSTEMS: Final = 200
"""Limit on the systems that stand side by side in a row; each is read by itself."""

MAX_CANDIDATES_SHOWN: Final = 5
"""Limit on the places with rows that a message lists."""

STAR: Final = "*"
"""Stands for one step of the path to rows, or for the system in a pattern of columns."""

_WILDCARD: Final = re.compile(r"\*|\{(?:id|subject|" + "|".join(RUN_COLUMNS) + r")\}")
"""A step of the path to rows that stands for every key: a star, or a column whose values the keys are."""

_STARS: Final = {1: ((STAR,),), 2: ((STAR, "{dataset}"), ("{dataset}", STAR))}
"""How many steps places differ in → what these may be."""

_N_LOOKED_AT: Final = 20
"""Records by which it is decided whether the rows are inside them."""

_N_KEYS_KEPT: Final = 2_000
"""Largest number of keys whose meaning is kept."""

_MAX_SEARCH_DEPTH: Final = 6
"""Levels of an object that are searched for rows."""

_MAX_PATHS: Final = 2_000
"""Limit on the nested fields that are listed."""

JsonObject = Mapping[str, object]

# --- Nested fields ----------------------------------------------------------------------------------------


def series_at(values: pl.Series, path: str) -> pl.Series:
    """Return what lies at a path in each value of a column; null where nothing does.

    Numbers of a column of structs or lists keep their dtype, which decides on their bins.
    """
    match values.dtype:
        case pl.Struct(fields=fields):
            names = {field.name for field in fields}
            if path in names:
                return values.struct.field(path)
            for key in path_prefixes(path):
                if key in names:
                    return series_at(values.struct.field(key), path[len(key) + 1 :])
        case pl.List():
            step, _, rest = path.partition(".")
            if is_position(step):
                elements = values.list.get(int(step), null_on_oob=True)
                return series_at(elements, rest) if rest else elements
            return _series_of_python_values(values, path)
        case pl.String():
            return _series_of_python_values(values, path)
        case _:
            pass
    return pl.Series(values.name, [None], dtype=pl.Null()).new_from_index(0, values.len())


def _series_of_python_values(values: pl.Series, path: str) -> pl.Series:
    return series_from_values(path, [value_at(value, path) for value in values.to_list()])[0]


def path_root(path: str, columns: Collection[str]) -> str | None:
    """Return the column that a path leads into: the longest that it begins with; None if there is none."""
    return next((key for key in path_prefixes(path) if key in columns), None)


def with_nested_fields(table: RawTable, roots: Mapping[str, str], is_used: ColumnFilter) -> RawTable:
    """Add columns that lie inside others to a table whose columns are known.

    Parameters
    ----------
    table
        A table of CSV, Parquet or Arrow, in which the roots are read.
    roots
        Path → the column that it leads into.
    is_used
        The columns that are read for another reason, and so are kept.

    Returns
    -------
    RawTable
        It has the paths as columns; those at which something lies are in `found_keys`.
    """

    def add_fields(part: Slice) -> Slice:
        added = {
            path: series_at(part.columns[root], path[len(root) + 1 :]).alias(path)
            for path, root in roots.items()
        }
        found = [path for path, values in added.items() if values.null_count() < part.n_rows]
        table.found_keys.update(dict.fromkeys(found))
        kept = {
            name: values
            for name, values in part.columns.items()
            if is_used(name) or name not in roots.values()
        }
        strict = part.read_strictly
        return replace(
            part,
            columns={**kept, **added},
            read_strictly=None if strict is None else lambda: map(add_fields, strict()),
        )

    columns = (*(table.columns or ()), *roots)
    return replace(table, columns=columns, slices=map(add_fields, table.slices), nested=tuple(roots))


def nested_paths(records: Sequence[JsonObject]) -> tuple[str, ...]:
    """List the paths to the values inside the objects of records, without the keys of the records themselves.

    Lists are not entered, except those of a single value in every record.
    """
    paths: dict[str, None] = {}
    longer: set[str] = set()

    def walk(value: object, path: str, depth: int) -> None:
        if len(paths) >= _MAX_PATHS or depth > _MAX_SEARCH_DEPTH:
            return
        if isinstance(value, dict) and value:
            for key, part in cast("JsonObject", value).items():
                walk(part, f"{path}.{key}", depth + 1)
            return
        if depth:
            paths[path] = None
        elements = cast("list[object]", value) if isinstance(value, list) else []
        if len(elements) == 1 or _are_objects(elements):
            walk(elements[0], f"{path}.0", depth + 1)
        if len(elements) > 1:
            longer.add(path)

    for record in records:
        for key, value in record.items():
            walk(value, key, 0)
    taken = {path for path in paths if any(path in record for record in records)}
    taken |= {path for path in paths for one in longer if path == f"{one}.0" or path.startswith(f"{one}.0.")}
    return tuple(path for path in paths if path not in taken)


def paths_into_lists(record: JsonObject, path: str) -> tuple[str, ...]:
    """List the paths to the lists at a path of a record: itself, or one for each key of a list of objects.

    Examples
    --------
    >>> paths_into_lists({"ys": ["a", "b"], "infos": [{"r": 0}, {"r": 1}]}, "infos")
    ('infos.r',)
    """
    found = value_at(record, path)
    if not isinstance(found, list) or len(cast("list[object]", found)) < 2:
        return ()
    first = cast("list[object]", found)[0]
    return tuple(f"{path}.{key}" for key in cast("JsonObject", first)) if isinstance(first, dict) else (path,)


# --- Rows below a key -------------------------------------------------------------------------------------


def rows_at(value: object, path: str, file: str) -> tuple[JsonObject, ...]:
    """Return the rows at a path of a JSON object; `path` may be "" for the object itself.

    Raises
    ------
    Refused
        Nothing lies there, or what does is not a table.
    """
    found = value_at(value, path, ABSENT) if path else value
    rows = as_rows(found) or tuple(row for _, part in _tables(value, path) for row in part)
    if not rows and found is ABSENT:
        raise _nothing_there(value, path, file)
    if not rows:
        raise Refused(
            f"{file}: {path!r} does not hold a list of rows. Expected: a list of objects, an object of "
            "objects by id, or an object with columns and data."
        )
    return rows


def has_wildcard(path: str) -> bool:
    """Return whether a path to rows stands for several places."""
    return any(map(_WILDCARD.fullmatch, path.split(".")))


def rows_at_star(value: object, path: str, file: str) -> dict[str, tuple[JsonObject, ...]]:
    """Map each text at the star of a path to the rows there; keys without rows are passed over.

    The keys at a step such as `{dataset}` are the values of this column.

    Raises
    ------
    Refused
        The star is no step of its own, or no rows are found, or in more than `MAX_SYSTEMS` places.
    """
    if path.split(".").count(STAR) != path.count(STAR) or path.count(STAR) > 1:
        raise Refused(
            f"{file}: the path {shorten(path)!r}{bracketed_option('rows')} needs one star in place of a "
            "whole step, as in results.*"
        )
    found: dict[str, tuple[JsonObject, ...]] = {}
    for text, rows in _tables(value, path):
        found[text] = (*found.get(text, ()), *rows)
    if not found:
        raise _nothing_there(value, path, file)
    if len(found) > MAX_SYSTEMS:
        raise Refused(
            f"{file}: there are rows in {len(found):,} places at {path!r}{bracketed_option('rows')}, "
            f"and at most {MAX_SYSTEMS} are read."
        )
    return found


def _tables(
    value: object, path: str, known: JsonObject = MappingProxyType({})
) -> Iterator[tuple[str, tuple[JsonObject, ...]]]:
    """Yield the text at the star of a path and the rows there, in every element of the lists on its way.

    What the objects on the way say of their rows, each of these has.
    """
    if not path:
        around = {name: part for name, part in known.items() if name != STAR}
        rows = as_rows(value)
        if rows is not None:
            yield str(known.get(STAR, "")), tuple({**around, **row} for row in rows) if around else rows
    elif isinstance(value, list):
        for element in cast("list[object]", value):
            if isinstance(element, dict):
                yield from _tables(cast("JsonObject", element), path.removeprefix(f"{STAR}."), known)
    elif isinstance(value, dict):
        record = cast("JsonObject", value)
        step, _, rest = path.partition(".")
        if _WILDCARD.fullmatch(step):
            around = {**known, **_said_of_rows(record)}
            for key, part in record.items():
                yield from _tables(part, rest, {**around, step.strip("{}"): key})
        elif (key := next(filter(record.__contains__, (path, *path_prefixes(path))), None)) is not None:
            around = {**known, **_said_of_rows({**record, **_values_inside(record)})}
            yield from _tables(record[key], path[len(key) + 1 :], around)


def _said_of_rows(record: JsonObject) -> dict[str, object]:
    """Return what an object says of the rows in it."""
    return {name: value for name, value in record.items() if isinstance(value, _types_around_rows(name))}


def _values_inside(record: JsonObject) -> dict[str, object]:
    """Return the values in the objects of values that an object has, such as its config, by their paths."""
    parts = {key: cast("JsonObject", part) for key, part in record.items() if isinstance(part, dict)}
    flat = {
        key: part
        for key, part in parts.items()
        if not any(isinstance(value, list | dict) for value in part.values())
    }
    return {f"{key}.{name}": value for key, part in flat.items() for name, value in part.items()}


@lru_cache(maxsize=_N_KEYS_KEPT)
def _types_around_rows(key: str) -> tuple[type, ...]:
    """Return the types of the values that describe the rows beside this key; () where it holds a result."""
    roles = {role_of(name) for name, _ in meanings(key)}
    if roles & {"correct", *CONFIDENCE_SOURCES}:
        return ()
    return (str, int, float) if roles & {"id", "gold", "subject", *RUN_COLUMNS} else (str,)


def _nothing_there(value: object, path: str, file: str) -> Refused:
    shown = ", ".join(repr(place or "the object itself") for place in row_places(value)) or "none"
    return Refused(
        f"{file}: there is nothing at {path!r}{bracketed_option('rows')}. Places with rows: {shown}."
    )


def several_places_message(places: Mapping[str, Sequence[JsonObject]], file: str) -> str:
    """Say that a file has rows in several places, and how each is chosen."""
    shown = ", ".join(f"{Advice(rows=place)} ({len(rows):,} rows)" for place, rows in places.items())
    return f"{file} holds rows in several places. Say which are meant: {shown}."


def row_places(value: object) -> dict[str, tuple[JsonObject, ...]]:
    """Map each path at which there are rows to them; what lies inside rows is not searched.

    The path of the object itself is "".
    """
    return {".".join(steps): rows for steps, rows in _find_rows(value, ()).items()}


def candidate_places(value: object) -> dict[str, tuple[JsonObject, ...]]:
    """Return the first of `row_places`, and before them the path with a star that stands for all of them.

    There is such a path where the places differ in one step, and their rows have the same fields.
    """
    found = _find_rows(value, ())
    places = {".".join(steps): rows for steps, rows in found.items()}
    fields = {frozenset(key for row in rows for key in row) for rows in found.values()}
    rows = tuple(row for part in found.values() for row in part)
    if len(found) > 1 and len(fields) == 1 and len(set(map(len, found))) == 1:
        differ = [len(set(names)) > 1 for names in zip(*found, strict=True)]
        are_ids = sum(differ) == 1 and len(found) ** 2 > len(rows)  # more places than rows in each
        for stars in reversed([("{id}",)] if are_ids else _STARS.get(sum(differ), ())):
            star, step = iter(stars), next(iter(found))
            path = ".".join(next(star) if at else name for at, name in zip(differ, step, strict=True))
            places = {path: rows, **places}
    return dict(islice(places.items(), MAX_CANDIDATES_SHOWN))


def _find_rows(value: object, steps: tuple[str, ...]) -> dict[tuple[str, ...], tuple[JsonObject, ...]]:
    rows = as_rows(value)
    if rows is not None:
        key = key_of_predictions(rows) if isinstance(value, list) else None
        return {steps: rows} if key is None else {(*steps, key): rows_at([*rows], key, "")}
    found: dict[tuple[str, ...], tuple[JsonObject, ...]] = {}
    if isinstance(value, dict) and len(steps) < _MAX_SEARCH_DEPTH:
        for key, part in cast("JsonObject", value).items():
            found |= _find_rows(part, (*steps, key))
    return found


def as_rows(value: object, *, looks_inside: bool = True) -> tuple[JsonObject, ...] | None:
    """Return the rows that a value holds; None if it is not a table.

    A table is a list of objects, an object of at least two objects by id (the id becomes the field `id`, or
    `key` if the rows have an `id`), an object with `columns` and `data`, an object with at least two lists of
    equal length, whose single values hold for each row, or one of objects from row number to value, as pandas
    writes a table. With `looks_inside`, objects by id that hold tables of predictions are no table.

    Examples
    --------
    >>> as_rows({"columns": ["a", "b"], "data": [[1, 2], [3, 4]]})
    ({'a': 1, 'b': 2}, {'a': 3, 'b': 4})
    >>> as_rows({"q1": {"a": 1}, "q2": {"a": 2}})
    ({'id': 'q1', 'a': 1}, {'id': 'q2', 'a': 2})
    >>> as_rows({"model": "m", "a": [1, 2], "b": [3, 4]})
    ({'model': 'm', 'a': 1, 'b': 3}, {'model': 'm', 'a': 2, 'b': 4})
    >>> as_rows({"a": {"0": 1, "1": 2}, "b": {"0": 3, "1": 4}})
    ({'a': 1, 'b': 3}, {'a': 2, 'b': 4})
    """
    if isinstance(value, list):
        elements = cast("list[object]", value)
        return cast("tuple[JsonObject, ...]", tuple(elements)) if _are_objects(elements) else None
    if not isinstance(value, dict):
        return None
    record = cast("JsonObject", value)
    columns, data = record.get("columns"), record.get("data")
    if isinstance(columns, list) and isinstance(data, list):
        return _rows_of_split_table(cast("list[object]", columns), cast("list[object]", data))
    parts = list(record.values())
    if any(isinstance(part, list) for part in parts):
        return _rows_of_lists(record)
    are_objects = len(parts) > 1 and _are_objects(parts)
    if not are_objects or (looks_inside and _are_tables(cast("list[JsonObject]", parts))):
        return None
    return _rows_of_objects(cast("dict[str, JsonObject]", record))


def _are_tables(parts: Sequence[JsonObject]) -> bool:
    """Return whether objects are no rows: they or their parts are tables of predictions, or have such."""
    first = parts[:_N_LOOKED_AT]
    inside = [part for each in first for part in islice(each.values(), _N_LOOKED_AT)]
    if any(objects and all(map(_holds_predictions, objects)) for objects in (first, inside)):
        return True
    tables = [as_rows(part, looks_inside=False) for part in first]
    return all(rows and len(rows) > len(parts) and _are_judged(rows[0]) for rows in tables)


def key_of_predictions(records: Sequence[JsonObject]) -> str | None:
    """Return the key below which each of the first records has judged predictions, and no others; or None."""
    first = records[:_N_LOOKED_AT]
    keys = [key for key in first[0] if all(_holds_predictions(record, key) for record in first)]
    return keys[0] if len(keys) == 1 else None


def _holds_predictions(value: object, key: str | None = None) -> bool:
    """Return whether an object is no row but has tables of judged predictions, at a key or any others."""
    if not isinstance(value, dict):
        return False
    record = cast("JsonObject", value)
    parts = record if key is None else {key: record.get(key)}
    tables = {
        name: rows
        for name, part in parts.items()
        if _may_hold_rows(name) and (rows := as_rows(part, looks_inside=False)) is not None
    }
    if not tables:
        return False
    rest = {name: part for name, part in record.items() if name not in tables}
    are_results = all(isinstance(part, int | float) for part in rest.values())
    if _are_judged(rest) and not are_results:
        return False
    return all(_are_judged(rows[0], rest) for rows in tables.values())


@lru_cache(maxsize=_N_KEYS_KEPT)
def _may_hold_rows(name: str) -> bool:
    return all(spelling_rank(name, listed) is None for listed in ("choices", *CHOICE_SCORES))


def _are_judged(row: JsonObject, around: JsonObject | None = None) -> bool:
    """Return whether a row has a confidence and what judges it, of which an answer may be around it.

    That is so where the rows name their models; else they may be the choices of a question.
    """
    said = _roles(frozenset(row))
    if "model" in said and around:
        said = _roles(frozenset({*row, *(key for key in around if _types_around_rows(key))}))
    return bool(said & CONFIDENCE_SOURCES) and is_judged(said)


@lru_cache(maxsize=_N_KEYS_KEPT)
def _roles(keys: frozenset[str]) -> frozenset[str]:
    """Return what keys say together; one that says both answers is the one that the others do not."""
    said = [{role_of(name) for name, clarity in meanings(key) if clarity == "said"} for key in keys]
    roles = {name for names in said if not names >= {"gold", "prediction"} for name in names}
    for names in said:
        if names >= {"gold", "prediction"}:
            roles.add("prediction" if "gold" in roles else "gold")
    return frozenset(roles)


def _are_objects(values: Sequence[object]) -> bool:
    return bool(values) and all(isinstance(part, dict) for part in values)


def _rows_of_objects(objects: Mapping[str, JsonObject]) -> tuple[JsonObject, ...] | None:
    """Return the rows of objects: one row per id, or one column per object with its values by row number."""
    parts = [*objects.values()]
    if not _share_keys(parts):
        return None
    numbers = next(iter(objects.values())).keys()
    if all(map(is_position, numbers)) and all(part.keys() == numbers for part in objects.values()):
        return tuple({name: part[number] for name, part in objects.items()} for number in numbers)
    name = "key" if any("id" in part for part in objects.values()) else "id"
    return tuple({name: key, **part} for key, part in objects.items())


def _share_keys(parts: Sequence[JsonObject]) -> bool:
    """Return whether objects are alike: each has a key that most of them have."""
    counts: dict[str, int] = {}
    for part in parts:
        for key in part:
            counts[key] = counts.get(key, 0) + 1
    usual = {key for key, count in counts.items() if 2 * count > len(parts)}
    return all(usual & part.keys() for part in parts)


def _rows_of_split_table(columns: list[object], data: list[object]) -> tuple[JsonObject, ...] | None:
    names = [str(name) for name in columns]
    rows = [cast("list[object]", row) for row in data if isinstance(row, list)]
    if not data or len(rows) != len(data) or len(set(names)) != len(names):
        return None
    if any(len(row) != len(names) for row in rows):
        return None
    return tuple(dict(zip(names, row, strict=True)) for row in rows)


def _rows_of_lists(record: JsonObject) -> tuple[JsonObject, ...] | None:
    lists = {key: cast("list[object]", part) for key, part in record.items() if isinstance(part, list)}
    sizes = {len(values) for values in lists.values()}
    plain = {key: part for key, part in record.items() if key not in lists}
    nested = [*plain.values(), *(value for values in lists.values() for value in values)]
    if len(lists) < 2 or len(sizes) != 1 or sizes == {0} or any(isinstance(value, dict) for value in nested):
        return None
    return tuple({**plain, **dict(zip(lists, row, strict=True))} for row in zip(*lists.values(), strict=True))


# --- Several systems in one row ---------------------------------------------------------------------------


@dataclass(frozen=True)
class WideColumns:
    """The columns of several systems that stand side by side in each row.

    Attributes
    ----------
    roles_by_system
        System → its columns → the name that each is read as.
    incomplete
        System that some pattern has no column for → the patterns that have none.
    """

    roles_by_system: Mapping[str, Mapping[str, str]]
    incomplete: Mapping[str, tuple[str, ...]]

    @cached_property
    def columns(self) -> frozenset[str]:
        """The columns of all systems."""
        return frozenset(column for roles in self.roles_by_system.values() for column in roles)


def match_wide(wide: Mapping[str, str], columns: Sequence[str], file: str) -> WideColumns:
    """Match patterns such as `*-confidence` with the columns of a file.

    Parameters
    ----------
    wide
        Pattern with one star → name that its columns are read as.
    columns
        Columns of the file, and paths to nested fields.
    file
        What messages call the file.

    Raises
    ------
    Refused
        A pattern has no star, several, or nothing beside it; no system has a column for every pattern; or
        there are more than `MAX_SYSTEMS` systems.
    """
    found: dict[str, dict[str, str]] = {}
    for pattern in wide:
        before, star, after = pattern.partition("*")
        if not star or "*" in after or not (before or after):
            raise Refused(
                f"{file}: the pattern {shorten(pattern)!r}{bracketed_option('wide')} needs one star in "
                "place of the system, and other characters, as in *-confidence."
            )
        for column in columns:
            if (system := _text_at_star(column, pattern)) is not None:
                found.setdefault(system, {})[pattern] = column
    complete = {system: parts for system, parts in found.items() if len(parts) == len(wide)}
    if not complete:
        shown = ", ".join(repr(shorten(column, 40)) for column in columns[:20])
        raise Refused(
            f"{file}: no system has a column for each of {', '.join(map(repr, wide))}"
            f"{bracketed_option('wide')}. The columns are {shown}{', …' if len(columns) > 20 else ''}."
        )
    if len(complete) > MAX_SYSTEMS:
        raise Refused(too_many_systems_message([*wide], len(complete), file))
    return WideColumns(
        {system: {parts[pattern]: wide[pattern] for pattern in wide} for system, parts in complete.items()},
        {
            system: tuple(pattern for pattern in wide if pattern not in parts)
            for system, parts in found.items()
            if len(parts) < len(wide)
        },
    )


def too_many_systems_message(patterns: Sequence[str], n_systems: int, file: str) -> str:
    """Say that patterns match more systems than are read."""
    return (
        f"{file}: the patterns {', '.join(map(repr, patterns))}{bracketed_option('wide')} match "
        f"{n_systems:,} systems, and at most {MAX_SYSTEMS} are read. Write patterns that match fewer."
    )


def fits_pattern(column: str, patterns: Iterable[str]) -> bool:
    """Return whether a column matches one of the patterns."""
    return any(_text_at_star(column, pattern) is not None for pattern in patterns)


def _text_at_star(column: str, pattern: str) -> str | None:
    """Return the text that stands at the star of a pattern; None if the column does not match.

    Examples
    --------
    >>> _text_at_star("RLCR-evals", "*-evals")
    'RLCR'
    """
    before, _, after = pattern.partition("*")
    is_match = column.startswith(before) and column.endswith(after) and len(column) >= len(pattern)
    return column[len(before) : len(column) - len(after)] if is_match else None


def unwrap_single_values(values: pl.Series) -> pl.Series:
    """Return the value of each list that has one; a column with a longer list is returned unchanged.

    Examples
    --------
    >>> unwrap_single_values(pl.Series([[0.5], None, []])).to_list()
    [0.5, None, None]
    """
    if not isinstance(values.dtype, pl.List) or (values.list.len() > 1).any():
        return values
    return values.list.first()
