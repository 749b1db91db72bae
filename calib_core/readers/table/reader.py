"""Reads a plain table, with one row per question, in CSV, JSON, Parquet or Arrow, as runs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from types import MappingProxyType
from typing import Final, cast

import polars as pl

from calib_core.advice import Advice, bracketed_option, option_name
from calib_core.errors import MAX_CELLS_SHOWN, Problem, Refused, shorten
from calib_core.readers.content import Content
from calib_core.readers.detect import N_FIRST_OBJECTS, identify_columns, identify_objects
from calib_core.readers.format import JSON_KINDS, Format, Head, Reading, ReadOptions
from calib_core.readers.table.cells import PLAIN_NUMBER, are_shares, null_where, with_decimal_points
from calib_core.readers.table.columnar import COLUMNAR_KINDS, first_columnar_values, open_columnar
from calib_core.readers.table.columns import (
    CHOICE_LISTS,
    CONFIDENCE_SOURCES,
    LIST_COLUMNS,
    MAJORITY,
    NUMERIC_COLUMNS,
    PERCENT,
    PROBABILITY_COLUMNS,
    ROW_NUMBER,
    ColumnRoles,
    MappedName,
    column_list_text,
    no_known_column_message,
    role_of,
)
from calib_core.readers.table.csv_reader import (
    COMMAS,
    DIALECTS,
    CsvDialect,
    has_regular_records,
    header_of,
    open_csv,
    unescape_ids,
    unescaped_id_notes,
)
from calib_core.readers.table.first_rows import N_FIRST_ROWS, first_records, first_values
from calib_core.readers.table.gold_match import are_letters, match_gold, name_choices, number_classes
from calib_core.readers.table.gold_table import join_columns, join_gold
from calib_core.readers.table.group_columns import GroupColumns, KnownGroupColumns
from calib_core.readers.table.json_reader import (
    ABSENT,
    RepeatedKeyError,
    numbered_lines,
    open_json_lines,
    open_json_list,
    parse_json,
    path_prefixes,
    value_at,
)
from calib_core.readers.table.list_cells import combine_columns
from calib_core.readers.table.names import meanings, name_within, spelling_rank
from calib_core.readers.table.plans import unique_within
from calib_core.readers.table.possible import find_possible
from calib_core.readers.table.raw import (
    MAX_COLUMNS,
    ColumnFilter,
    RawTable,
    ReadProgress,
    Slice,
    no_column,
    series_from_values,
    with_row_numbers,
)
from calib_core.readers.table.refusals import absent_value_notes, refusal_message
from calib_core.readers.table.relative_values import divide_masses, of_predicted_class
from calib_core.readers.table.rows import GOLD_COLUMNS, RowCollector, disagreements, judge_slice
from calib_core.readers.table.run_split import (
    Origin,
    RowJudgement,
    fill_run_columns,
    repeated_id_faults,
    split_into_runs,
    unique_label,
)
from calib_core.readers.table.shape import (
    STAR,
    candidate_places,
    fits_pattern,
    key_of_predictions,
    match_wide,
    nested_paths,
    path_root,
    row_places,
    rows_at,
    rows_at_star,
    several_places_message,
    unwrap_single_values,
    with_nested_fields,
)
from calib_core.runs import ANSWER_SCHEMA, RUN_COLUMNS, AnswerRun, Run, RunInfo, schema_name
from calib_core.wording import plural

PARSED_SHARE: Final = 0.9
"""Share of the progress that is reached when every record has been parsed and checked by itself."""

N_FIRST_COLUMNAR_ROWS: Final = 1_000
"""Rows of a Parquet or Arrow file that are looked at to exclude columns with too many values for groups."""

MAX_REPEATED_IDS: Final = 0.1
"""Largest share of repeated values in a column of ids; with a larger one they name what several rows ask."""

_COLUMNS_OF_DECIMALS: Final = PROBABILITY_COLUMNS | {"choice_probs", "choice_logprobs", "choice_logits"}
"""Names whose columns may have decimal commas."""

_ROWS_ARE_NUMBERED: Final = (
    "The number of the row is the id: only files with the same questions in the same order can be paired."
)

_MAJORITY_IS_JUDGED: Final = "The majority of the samples is judged where a method needs an answer."

MODEL: Final = "model"
"""The column that names the system of a row."""

# --- Values before they are judged ------------------------------------------------------------------------


def blank_missing(part: Slice, roles: ColumnRoles) -> tuple[Slice, Counter[str]]:
    """Replace the values that count as missing by null, and a list of one value by it where that is meant.

    Returns
    -------
    tuple
        The slice, and column → how many of its values stood for none.
    """
    if not (roles.missing or roles.single_valued):
        return part, Counter()
    columns, counts = dict(part.columns), Counter[str]()
    for column in filter(roles.is_used, part.columns):
        if column in roles.single_valued and roles.mapping[column] not in LIST_COLUMNS:
            columns[column] = unwrap_single_values(columns[column])
        if roles.missing:
            is_blank = stands_for_none(columns[column], roles.missing)
            counts[column] = int(is_blank.sum())
            columns[column] = null_where(columns[column], is_blank)
    return replace(part, columns=columns), counts


def stands_for_none(values: pl.Series, missing: Collection[str]) -> pl.Series:
    """Tell which values are one of the texts that stand for no value; numbers are compared as numbers."""
    if values.dtype == pl.String:
        return values.str.strip_chars().is_in(list(missing)).fill_null(value=False)
    if values.dtype.is_numeric():
        numbers = [
            float(text) for text in missing if re.fullmatch(PLAIN_NUMBER, text) or text.lower() == "nan"
        ]
        return values.cast(pl.Float64).is_in(numbers).fill_null(value=False)
    return pl.repeat(False, values.len(), eager=True)  # noqa: FBT003


def with_gold_lists(part: Slice, role_by_column: dict[str, str]) -> tuple[Slice, dict[str, str]]:
    """Read a gold that is a list as all right answers; a single text among lists is a list of one."""
    gold = next((column for column, name in role_by_column.items() if name == "gold"), None)
    if gold is None or "gold_all" in role_by_column.values():
        return part, role_by_column
    values, nested = part.columns[gold], part.nested.get(gold, frozenset[int]())
    if not isinstance(values.dtype, pl.List) and not nested:
        return part, role_by_column
    if nested:
        texts: list[str | None] = values.to_list()
        lists = [
            parse_json(text) if index in nested and text is not None else None if text is None else [text]
            for index, text in enumerate(texts)
        ]
        values, _ = series_from_values(gold, lists)
    kept = {column: positions for column, positions in part.nested.items() if column != gold}
    columns = {**part.columns, gold: values}
    return replace(part, columns=columns, nested=kept), {**role_by_column, gold: "gold_all"}


# --- Lists made of several columns ------------------------------------------------------------------------


def gather_lists(part: Slice, roles: ColumnRoles) -> tuple[Slice, dict[str, str]]:
    """Combine the columns that are elements of one list.

    Parameters
    ----------
    part
        The slice; a column that it lacks counts as empty.
    roles
        What the columns are read as.

    Returns
    -------
    tuple
        The slice, in which a combined list is called by the names of its columns, and column → name of
        every column that is read.
    """
    columns = dict(part.columns)
    role_by_column = {column: name for column in columns if (name := roles.role(column))}
    for name, members in roles.combined_lists.items():
        empty = pl.Series([None], dtype=pl.Null()).new_from_index(0, part.n_rows)
        combined = combine_columns([columns.pop(member, empty) for member in members])
        role_by_column = {column: role for column, role in role_by_column.items() if role != name}
        label = shorten(", ".join(members))
        columns[label], role_by_column[label] = combined, name
    return replace(part, columns=columns), role_by_column


# --- The format -------------------------------------------------------------------------------------------


def recognises(head: Head) -> bool:
    """Return whether the file may be a table: any text, or records that no known tool wrote."""
    if identify_objects(head.first_objects) is not None or identify_columns(head.names) is not None:
        return False
    if head.kind != "json object":
        return True
    record = head.first_objects[0]
    return bool(row_places(record)) or not CONFIDENCE_SOURCES.isdisjoint(record)


def read(head: Head, options: ReadOptions, progress: ReadProgress) -> Reading:
    """Read the runs of a plain table. See `format.ReadFunction`."""
    return open_and_read_table(head, options, progress, Origin(head.file, TABLE.id, RunInfo()))


def open_and_read_table(
    head: Head, options: ReadOptions, progress: ReadProgress, origin: Origin, *, skip_lines: int = 0
) -> Reading:
    """Open a table and read its runs.

    Parameters
    ----------
    head
        The file.
    options
        How the user wants it to be read.
    progress
        Called with the share done and a short text.
    origin
        The file, its format and what its metadata says.
    skip_lines
        Lines of metadata before the records.

    Raises
    ------
    Refused
        A mapped column does not exist, there are no rows, or the file cannot be split into records.
    """
    lone = _around_rows(head, options)
    if lone is not None and STAR in options.rows and value_at(lone, options.rows, ABSENT) is ABSENT:
        at_star = rows_at_star(lone, options.rows, head.file)
        if "" not in at_star:
            return _read_places(at_star, head, options, progress, origin)
    places = {} if lone is None or options.rows else row_places(lone)
    if len(places) > 1:
        candidates = candidate_places(lone)
        return Reading(
            file=origin.file,
            format=origin.format,
            n_rows=0,
            n_bad_rows=0,
            problems=(),
            good_runs=(),
            columns=(),
            unused_columns=(),
            proposed_rows=tuple(candidates),
            refusal=several_places_message(candidates, head.file),
        )
    head, notes = _open_rows(head, options, lone, places)
    reading = _read_opened(head, options, progress, origin, skip_lines)
    return replace(reading, notes=(*notes, *reading.notes))


def _read_opened(
    head: Head, options: ReadOptions, progress: ReadProgress, origin: Origin, skip_lines: int = 0
) -> Reading:
    """Read the rows of a head, of one system or of several side by side."""
    if options.wide:
        return _read_systems(head, options, progress, origin, skip_lines)
    return _read_with_roles(head, ColumnRoles.from_options(options, head.file), progress, origin, skip_lines)


def _read_places(
    places: Mapping[str, tuple[Mapping[str, object], ...]],
    head: Head,
    options: ReadOptions,
    progress: ReadProgress,
    origin: Origin,
) -> Reading:
    """Read the rows of several places, each as runs of its own, of the model that the star's text names.

    Rows that name their model keep it; if two places have the same run then, the text is its data set.
    """
    readings: list[Reading] = []
    for index, (place, rows) in enumerate(places.items()):
        there = _head_of_rows(replace(head, file=f"{head.file} ({shorten(place, 40)})"), rows)
        described = replace(origin, info=replace(origin.info, model=place))
        part = _part_of_progress(progress, index, len(places), place)
        readings.append(_read_opened(there, options, part, described))
    counts = Counter(_run_key(run) for reading in readings for run in reading.good_runs)
    readings = [
        replace(
            reading,
            good_runs=tuple(
                _with_data_set(run, place) if counts[_run_key(run)] > 1 else run for run in reading.good_runs
            ),
        )
        for place, reading in zip(places, readings, strict=True)
    ]
    return _join(readings, f"Its rows are read from {column_list_text([*places])}, each as a separate run.")


def _run_key(run: Run) -> tuple[object, ...]:
    return tuple(getattr(run.info, name) for name in RUN_COLUMNS)


def _with_data_set(run: Run, name: str) -> Run:
    """Name the data set of a run that has none."""
    if run.info.dataset is not None:
        return run
    info = replace(run.info, dataset=name)
    return replace(run, info=info, label=info.label(name))


def _part_of_progress(progress: ReadProgress, index: int, n_parts: int, name: str) -> ReadProgress:
    """Return what the part `index` of several calls with its own share done."""
    return lambda share, text: progress((index + share) / n_parts, f"{name}: {text}")


def _open_rows(
    head: Head,
    options: ReadOptions,
    lone: Mapping[str, object] | list[object] | None,
    places: Mapping[str, tuple[Mapping[str, object], ...]],
) -> tuple[Head, tuple[str, ...]]:
    """Return the head of the rows inside the JSON of a file, and a note that says where they are.

    `places` are those with rows, at most one unless the options name one.
    """
    if lone is None:
        if options.rows:
            raise Refused(
                f"{head.file} holds rows already: {Advice(rows=options.rows)} is for a file that holds one "
                "JSON object. Leave it out."
            )
        return head, ()
    if options.rows:
        path, rows = options.rows, rows_at(lone, options.rows, head.file)
    elif places:
        ((path, rows),) = places.items()
    else:
        return head, ()
    return _head_of_rows(head, rows), (f"Its rows are read from {path!r}.",) if path else ()


def _head_of_rows(head: Head, rows: tuple[Mapping[str, object], ...]) -> Head:
    return replace(head, kind="json list", first_objects=rows[:N_FIRST_OBJECTS], list_elements=rows)


def _around_rows(head: Head, options: ReadOptions) -> Mapping[str, object] | list[object] | None:
    """Return the object that is all of a file, or its records, if the rows are inside; else None."""
    lone, first = sole_object(head), head.first_objects
    if lone is not None:
        return None if not options.rows and _is_row(lone, options.columns) else lone
    if head.kind not in JSON_KINDS or not first:
        return None
    if options.rows:
        path = options.rows.removeprefix(f"{STAR}.")
        is_inside = any(key in first[0] for key in (path, *path_prefixes(path)))
    else:
        deciding = {"correct", *CONFIDENCE_SOURCES}
        mapped = [column for column, name in options.columns.items() if role_of(name) in deciding]
        is_row = any(value_at(first[0], column, ABSENT) is not ABSENT for column in mapped)
        is_inside = not is_row and key_of_predictions(first) is not None
    if not is_inside or head.kind == "json list":
        return [*head.list_elements] if is_inside else None
    return [_parsed_line(line, number, head.file) for number, line, _ in numbered_lines(head.content)]


def _parsed_line(line: bytes, number: int, file: str) -> object:
    try:
        return parse_json(line.decode())
    except (ValueError, RecursionError, RepeatedKeyError):
        raise Refused(f"{file}: line {number:,} is no JSON. Correct it, or leave it out.") from None


def _is_row(record: Mapping[str, object], mapping: Mapping[str, str]) -> bool:
    """Return whether an object is a row: nothing in it is a table, or a mapped column is in it alone.

    What it has beside a table may be a summary of its rows. Lists that a row may have, and the messages of a
    chat, are no table.
    """
    names = {column: schema_name(MappedName.parse(text).name) for column, text in mapping.items()}
    rest = {
        key: value
        for key, value in record.items()
        if not (names.get(key, key) in LIST_COLUMNS and _is_plain_list(value))
    }
    tables = [rows for rows in row_places(rest).values() if not all("role" in row for row in rows)]

    def has(row: Mapping[str, object], column: str) -> bool:
        return value_at(row, column, ABSENT) is not ABSENT

    mapped = [column for column, name in names.items() if name in ANSWER_SCHEMA and has(record, column)]
    in_rows = any(has(row, column) for rows in tables for row in rows for column in mapped)
    return not tables or (bool(mapped) and not in_rows)


def _is_plain_list(value: object) -> bool:
    return isinstance(value, list) and not any(
        isinstance(part, list | dict) for part in cast("list[object]", value)
    )


def sole_object(head: Head) -> Mapping[str, object] | None:
    """Return the JSON object that is all of a file, on one line or several; None if it is not one object."""
    if head.kind == "json object":
        return head.first_objects[0]
    if head.kind != "json lines" or len(head.first_objects) != 1:
        return None
    return None if len(list(islice(numbered_lines(head.content), 2))) > 1 else head.first_objects[0]


def _read_systems(
    head: Head, options: ReadOptions, progress: ReadProgress, origin: Origin, skip_lines: int
) -> Reading:
    """Read each system that stands in the same row as others as a run of its own.

    The file is parsed once. What all systems share is looked at with the first, so that each further one
    takes no longer where there are more of them.
    """
    names, fields = _names_and_fields(head, options)
    if MODEL in options.columns.values():
        raise Refused(
            f"{head.file}: the star{bracketed_option('wide')} names the model, so no column can be "
            "read as it."
        )
    wide = match_wide(options.wide, (*names, *fields), head.file)
    left_out = dict.fromkeys((name for name in names if name in wide.columns or name == MODEL), "")
    all_roles: list[ColumnRoles] = []
    for named in wide.roles_by_system.values():
        columns = {**left_out, **options.columns, **named}
        roles = ColumnRoles.from_options(replace(options, columns=columns), head.file)
        all_roles.append(_without_holders(head, replace(roles, single_valued=frozenset(named))))
        left_out = {}  # further systems see no columns of others
    first = all_roles[0]
    dialect = _guess_dialect(head.content, first) if head.kind == "text" else COMMAS
    groups = _candidate_group_columns(head, first)
    table, unescaped_counts = _open_with_roles(head, all_roles, groups, dialect, skip_lines)
    slices: list[Slice] = []
    for part in table.slices:
        slices.append(_read_strictly_once(part))
        progress(0.0, f"parsing the columns, {part.share:.0%}")
    every = tuple(table.found_keys) if table.columns is None else table.columns
    common = [column for column in every if column not in wide.columns and first.is_used(column)]
    readings: list[Reading] = []
    for index, (system, named) in enumerate(wide.roles_by_system.items()):
        described = replace(origin, info=replace(origin.info, model=system))
        part_done = _part_of_progress(progress, index, len(all_roles), system)
        if index:
            holders = (root for path in named if (root := path_root(path, names)) is not None)
            kept = tuple(dict.fromkeys((*common, *named, *holders)))
            nested = tuple(path for path in table.nested if path in kept)
            of_system = replace(table, columns=kept, slices=_with_columns(slices, kept), nested=nested)
            groups = KnownGroupColumns(all_roles[index], groups.frame)
        else:
            kept = tuple(column for column in every if column in named or column not in wide.columns)
            of_system = replace(table, slices=_with_columns(slices, kept))
        readings.append(_read_rows(of_system, head, groups, part_done, described, dialect))
        head = replace(head, finds_candidates=False)  # the same for each system
    note = _repeats_note(head, dialect, readings[0])
    readings = [_with_note(reading, note) for reading in readings]
    readings[0] = replace(readings[0], notes=(*readings[0].notes, *unescaped_id_notes(unescaped_counts)))
    systems = column_list_text(list(wide.roles_by_system))
    incomplete = [
        f"{shorten(system, 40)!r} has no column {' or '.join(map(repr, patterns))}, so it is not a system."
        for system, patterns in wide.incomplete.items()
    ]
    return _join(
        readings,
        f"Each of its {plural(readings[0].n_rows, 'record')} holds these systems: {systems}.",
        *incomplete[:MAX_CELLS_SHOWN],
    )


def _read_strictly_once(part: Slice) -> Slice:
    """Return a slice that reads its records strictly once, however often they are asked for."""
    strict = part.read_strictly
    if strict is None:
        return part

    @cache
    def strict_parts() -> tuple[Slice, ...]:
        return tuple(strict())

    return replace(part, read_strictly=lambda: iter(strict_parts()))


def _with_columns(slices: Iterable[Slice], columns: Collection[str]) -> Iterator[Slice]:
    """Yield slices with these columns alone."""
    for part in slices:
        strict = part.read_strictly
        yield replace(
            part,
            columns={name: part.columns[name] for name in columns if name in part.columns},
            nested={name: part.nested[name] for name in columns if name in part.nested},
            read_strictly=None if strict is None else partial(_strictly_with_columns, strict, columns),
        )


def _strictly_with_columns(
    strict: Callable[[], Iterator[Slice]], columns: Collection[str]
) -> Iterator[Slice]:
    return _with_columns(strict(), columns)


def _join(readings: Sequence[Reading], *notes: str) -> Reading:
    """Join the readings of parts of one file; a record that holds several systems is a row of each."""
    labels: set[str] = set()
    runs = [replace(run, label=unique_label(run.label, labels)) for one in readings for run in one.good_runs]
    problems: dict[str, Problem] = {}
    for problem in (problem for reading in readings for problem in reading.problems):
        before = problems.get(problem.kind, Problem(problem.kind, 0, ()))
        cells = (*before.first_cells, *problem.first_cells)[:MAX_CELLS_SHOWN]
        problems[problem.kind] = Problem(problem.kind, before.count + problem.count, cells)
    refused = [reading.refusal for reading in readings if reading.refusal is not None]
    are_all_refused = len(refused) == len(readings)
    columns = tuple(dict.fromkeys(name for one in readings for name in one.columns))
    used = {name for one in readings for name in {*one.columns} - {*one.unused_columns}}
    return replace(
        readings[0],
        n_rows=sum(reading.n_rows for reading in readings),
        n_bad_rows=sum(reading.n_bad_rows for reading in readings),
        problems=tuple(problems.values()),
        good_runs=tuple(runs),
        columns=columns,
        unused_columns=tuple(name for name in columns if name not in used),
        notes=(
            *notes,
            *([] if are_all_refused else refused),
            *dict.fromkeys(note for reading in readings for note in reading.notes),
        ),
        refusal=refused[0] if are_all_refused else None,
        column_roles={name: role for one in readings for name, role in one.column_roles.items()},
    )


def _names_and_fields(head: Head, options: ReadOptions) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns of a file and the paths to the fields inside them, by its first records."""
    if head.kind == "text":
        headers = [header_of(head.content, dialect) for dialect in DIALECTS]
        counts = [sum(fits_pattern(name, options.wide) for name in header) for header in headers]
        return headers[counts.index(max(counts))], ()
    if head.names:
        return head.names, nested_paths(first_records(head, COMMAS, head.names))
    names = dict.fromkeys(key for record in head.first_objects for key in record)
    return tuple(names), nested_paths(head.first_objects)


def _read_with_roles(
    head: Head, roles: ColumnRoles, progress: ReadProgress, origin: Origin, skip_lines: int
) -> Reading:
    """Open a table and read its runs, once it is known what its columns are read as."""
    roles = _without_holders(head, roles)
    dialect = _guess_dialect(head.content, roles) if head.kind == "text" else COMMAS
    groups = _candidate_group_columns(head, roles)
    table, unescaped_counts = _open_with_roles(head, (roles,), groups, dialect, skip_lines)
    reading = read_table(table, head, groups, progress, origin, dialect=dialect)
    return replace(reading, notes=(*reading.notes, *unescaped_id_notes(unescaped_counts)))


def _open_with_roles(
    head: Head, all_roles: Sequence[ColumnRoles], groups: GroupColumns, dialect: CsvDialect, skip_lines: int
) -> tuple[RawTable, Counter[str]]:
    """Open a table with all columns that are read as something.

    Parameters
    ----------
    head
        The file.
    all_roles
        Of each system in a row; columns that they share are read as the first says.
    groups
        The candidates for group columns, whose roles are the first.
    dialect, skip_lines
        As for `open_table`.

    Returns
    -------
    tuple
        The table, and how many ids were unescaped in each column, once it has been read.
    """
    roles_by_column = {
        column: roles for roles in reversed(all_roles) for column, name in roles.mapping.items() if name
    }
    names = header_of(head.content, dialect) if head.kind == "text" else head.names
    key, _ = join_columns(head.gold_on)
    every_path = dict.fromkeys((*(path for roles in all_roles for path in roles.paths), key))
    known = frozenset(names)
    paths = tuple(path for path in every_path if "." in path and path not in known)
    roots = {path: root for path in paths if (root := path_root(path, known)) is not None}
    holders = {*roots.values()}

    def roles_of(column: str) -> ColumnRoles:
        return roles_by_column.get(column, groups.roles)

    def is_used(column: str) -> bool:
        return column in roles_by_column or groups.is_used(column)

    table = open_table(
        head,
        lambda column: is_used(column) or column == key or column in holders,
        skip_lines,
        dialect,
        lambda column: (
            schema_name(roles_of(column).role(column) or "") in NUMERIC_COLUMNS
            and not roles_of(column).is_spelled(column)
        ),
        paths,
    )
    if roots:
        table = with_nested_fields(table, roots, is_used)
    counts = Counter[str]()
    if head.kind == "text":
        slices = unescape_ids(table.slices, lambda column: roles_of(column).role(column) == "id", counts)
        table = replace(table, slices=slices)
    return table, counts


def _without_holders(head: Head, roles: ColumnRoles) -> ColumnRoles:
    """Leave out an object whose fields are read, although its column has the name of a single value."""
    if not roles.paths:
        return roles
    columns = head.names or tuple({key for record in head.first_objects for key in record})
    roots = {path_root(path, columns) for path in roles.paths} - {None, *roles.paths, *roles.mapping}
    holders = {root: "" for root in roots if root and (roles.role(root) or "") not in {"", *LIST_COLUMNS}}
    return replace(roles, mapping={**roles.mapping, **holders}) if holders else roles


def read_table(
    table: RawTable,
    head: Head,
    groups: GroupColumns,
    progress: ReadProgress,
    origin: Origin,
    *,
    dialect: CsvDialect = COMMAS,
) -> Reading:
    """Read the runs of an opened table; raises as `open_and_read_table`."""
    reading = _read_rows(table, head, groups, progress, origin, dialect)
    return _with_note(reading, _repeats_note(head, dialect, reading))


def _read_rows(
    table: RawTable,
    head: Head,
    groups: GroupColumns,
    progress: ReadProgress,
    origin: Origin,
    dialect: CsvDialect,
) -> Reading:
    """Read the runs of an opened table, without a note on rows that may ask the same."""
    roles = groups.roles
    own = table.columns if table.columns is not None else {key for row in head.first_objects for key in row}
    added: tuple[str, ...] = ()
    if roles.numbers_rows(own):
        table, added = with_row_numbers(table, ROW_NUMBER), (ROW_NUMBER,)
    if roles.judges_majority(own):
        origin = replace(origin, info=replace(origin.info, judged="majority"))
        added = (*added, MAJORITY)
    if table.columns is not None:
        roles.check_columns_exist((*table.columns, *added), head.file)
    may_have_role = table.columns is None or any(map(roles.is_used, table.columns))
    collected = RowCollector(head.file)
    if may_have_role:
        _collect_rows(table, groups, head, progress, collected, dialect)
    columns = tuple(table.found_keys) if table.columns is None else table.columns
    absent = [path for path in table.nested if path not in table.found_keys]
    if absent:
        raise Refused(f"{head.file}: none of its rows has anything at {absent[0]!r}.")
    if may_have_role and not collected.n_rows:
        raise Refused(f"{head.file} has the columns {column_list_text(columns)} but no rows.")
    roles.check_columns_exist((*columns, *added), head.file)
    group_columns = groups.take_frame()
    runs, notes, refusal, unique = _judge_rows(collected, group_columns, origin, roles, progress, head)
    roles = replace(roles, mapping={**roles.mapping, **dict.fromkeys(collected.left_out, "")})
    joined = {
        source: name
        for name, source in collected.source_columns.items()
        if name in GOLD_COLUMNS and head.gold_path is not None and source not in columns
    }
    possible = find_possible(head, dialect, roles, columns, joined, is_refused=refusal is not None)
    if not any(map(roles.is_used, columns)):
        runs, refusal = (), possible.too_many_systems or no_known_column_message(columns, head.file)
    progress(1.0, f"{collected.n_rows:,} rows read")
    return Reading(
        file=origin.file,
        format=origin.format,
        n_rows=collected.n_rows,
        n_bad_rows=int(collected.is_bad.sum()),
        problems=collected.problems,
        good_runs=runs,
        columns=columns,
        unused_columns=tuple(
            name for name in roles.unused_columns(columns) if name not in group_columns.columns
        ),
        candidates=possible.candidates,
        wide_candidates=possible.systems,
        unique_within=unique,
        notes=(
            *notes,
            *([_ROWS_ARE_NUMBERED] if ROW_NUMBER in added else []),
            *([_MAJORITY_IS_JUDGED] if MAJORITY in added else []),
            *roles.misnamed_notes(columns),
            *filter(None, [possible.letters_note]),
        ),
        refusal=refusal,
        group_columns=tuple(group_columns.columns),
        column_roles=roles.used_roles(columns),
        preview=MappingProxyType(possible.preview),
    )


def _repeats_note(head: Head, dialect: CsvDialect, reading: Reading) -> str:
    """Return a note on a column that is not read and seems to name the question of each row; "" for none."""
    read_as = reading.column_roles
    if "trial_of" in read_as.values():
        return ""
    for column in reading.columns:
        is_free = column not in read_as and spelling_rank(column, "id") is not None
        if not is_free or are_shares(first_values(head, dialect, [column])[0]):
            continue
        if _values_repeat(head, dialect, read_as, column):
            others = [name for name in reading.group_columns if name != column]
            ids, *values = first_values(head, dialect, [column, *others], N_FIRST_ROWS)
            within = unique_within(ids, pl.DataFrame(dict(zip(others, values, strict=True))))
            once = f", once for each value of {within[0]!r}" if within else ""
            apart = Advice(columns={column: "id", within[0]: name_within(within[0])}) if within else ""
            return (
                f"Values of column {column!r} occur in several rows{once}. If such rows ask the same "
                "question, they are not independent: count them together with "
                f"{Advice(columns={column: 'trial_of'})}.{f' If not: {apart}' if apart else ''}"
            )
    return ""


def _values_repeat(head: Head, dialect: CsvDialect, read_as: Mapping[str, str], ids: str) -> bool:
    """Return whether many of the first values of a column of ids occur before in their run and subject."""
    within = [column for column, name in read_as.items() if name in {*RUN_COLUMNS, "subject"}]
    values = first_values(head, dialect, [*within, ids], N_FIRST_ROWS)
    rows = pl.DataFrame([column.alias(str(at)) for at, column in enumerate(values)])
    rows = rows.filter(pl.last().is_not_null())
    return rows.height - rows.n_unique() > MAX_REPEATED_IDS * rows.height


def _with_note(reading: Reading, note: str) -> Reading:
    """Add a note to each run; none for ""."""
    if not note:
        return reading
    runs = tuple(
        replace(run, row_counts=replace(run.row_counts, notes=(*run.row_counts.notes, note)))
        for run in reading.good_runs
    )
    return replace(reading, good_runs=runs)


def _candidate_group_columns(head: Head, roles: ColumnRoles) -> GroupColumns:
    """Return the candidates for group columns, without those that the first rows rule out."""
    groups = GroupColumns(roles)
    groups.exclude_by_objects(head.first_objects)
    free = [name for name in head.names if groups.may_group(name)]
    if head.kind in COLUMNAR_KINDS and free:
        groups.exclude_by_values(first_columnar_values(head, free, N_FIRST_COLUMNAR_ROWS))
    return groups


def _collect_rows(
    table: RawTable,
    groups: GroupColumns,
    head: Head,
    progress: ReadProgress,
    collected: RowCollector,
    dialect: CsvDialect,
) -> None:
    """Read all records and check each by itself."""
    key, _ = join_columns(head.gold_on)

    def add(part: Slice) -> None:
        keys = part.columns.get(key)
        known, n_missing = blank_missing(part, groups.roles)
        if dialect.may_have_decimal_commas or groups.roles.decimal_commas:
            known = _with_decimal_points(known, groups.roles, collected, dialect)
        gathered, role_by_column = with_gold_lists(*gather_lists(known, groups.roles))
        judged = judge_slice(gathered, role_by_column, groups.roles)
        if part.read_strictly is not None and any(column.faults for column in judged.values()):
            for strict_part in part.read_strictly():
                add(strict_part)
            return
        groups.add(part)
        _look_at_raw_values(gathered, role_by_column, groups.roles, collected)
        collected.add(gathered, role_by_column, judged)
        collected.n_missing.update(n_missing)
        if keys is not None:
            collected.add_keys(keys)
        progress(PARSED_SHARE * part.share, f"{collected.n_rows:,} rows read")

    for part in table.slices:
        add(part)
        if len(table.found_keys) > MAX_COLUMNS:
            raise Refused(f"{head.file}: its objects have more than {MAX_COLUMNS:,} keys. Keep those needed.")


def _look_at_raw_values(
    part: Slice, names: Mapping[str, str], roles: ColumnRoles, collected: RowCollector
) -> None:
    """Count the values of columns whose right ones are named, and shares among percentages."""
    for column, name in names.items():
        meaning = roles.meaning(column, name)
        if meaning.right_values:
            collected.count_values(column, part.columns[column], meaning.right_values)
        if meaning.divisor == PERCENT:
            collected.look_for_shares(column, part.columns[column])


def _with_decimal_points(
    part: Slice, roles: ColumnRoles, collected: RowCollector, dialect: CsvDialect
) -> Slice:
    """Read the decimal commas of probabilities as points where the user named the column; count others."""
    columns = dict(part.columns)
    for column, raw in part.columns.items():
        role = roles.role(column)
        if role is None or schema_name(role) not in _COLUMNS_OF_DECIMALS:
            continue
        is_certain = column in roles.decimal_commas
        if not (is_certain or dialect.may_have_decimal_commas):
            continue
        pointed = with_decimal_points(raw, is_certain=is_certain)
        if pointed is not raw and column in roles.mapping:
            columns[column] = pointed
            collected.with_decimal_commas[column] = None
        elif pointed is not raw:
            collected.add_decimal_commas(column, pointed.filter(pointed != raw))
    return replace(part, columns=columns)


def open_table(
    head: Head,
    is_used: ColumnFilter,
    skip_lines: int,
    dialect: CsvDialect,
    is_numeric: ColumnFilter = no_column,
    paths: Sequence[str] = (),
) -> RawTable:
    """Open the records of a file.

    Parameters
    ----------
    head
        The file.
    is_used
        The columns to read.
    skip_lines
        Lines of metadata before the records of JSON lines.
    dialect
        The delimiter of a text.
    is_numeric
        Columns in which only the number counts, not its spelling.
    paths
        Nested fields of JSON objects to read, each as a column.

    Raises
    ------
    Refused
        The file holds NumPy arrays, or has too many columns.
    """
    match head.kind:
        case "parquet" | "arrow" | "frame":
            return open_columnar(head, is_used)
        case "json lines":
            return open_json_lines(head.content, head.file, is_used, skip_lines=skip_lines, paths=paths)
        case "json list":
            return open_json_list(head.list_elements, is_used, paths)
        case "json object":
            return open_json_list(head.first_objects, is_used, paths)
        case "text":
            return open_csv(head.content, head.file, dialect, is_used, is_numeric=is_numeric)
        case "zip" | "npy":
            raise Refused(
                f"{head.file} holds NumPy arrays and not a table. Leave {option_name('format')} out, or "
                "give npz."
            )


def _guess_dialect(data: Content, roles: ColumnRoles) -> CsvDialect:
    """Return the dialect that splits the first records like the header.

    Of several, or where none does, it is the one whose header has the most columns that are read, or else the
    most proposals.
    """
    headers = {dialect: header_of(data, dialect) for dialect in DIALECTS}

    def suitability(dialect: CsvDialect) -> tuple[bool, int, int]:
        header = headers[dialect]
        is_split = len(header) > 1 and has_regular_records(data, dialect, N_FIRST_OBJECTS)
        n_read = sum(map(roles.is_used, header))
        n_read += sum(path_root(path, header) is not None for path in roles.paths)
        said = (any(one.clarity == "said" for one in meanings(name)) for name in header[:MAX_COLUMNS])
        return is_split, n_read, sum(said)

    return max(DIALECTS, key=suitability)


def _judge_rows(
    collected: RowCollector,
    group_columns: pl.DataFrame,
    origin: Origin,
    roles: ColumnRoles,
    progress: ReadProgress,
    head: Head,
) -> tuple[tuple[AnswerRun, ...], tuple[str, ...], str | None, tuple[str, ...]]:
    """Check what involves several columns or rows, and split the rows into runs.

    Returns
    -------
    tuple
        The runs, notes, the reason why nothing in the file can be used (None if it can), and the columns
        within whose values ids that repeat do not.
    """
    collected.leave_out_unneeded(roles.mapping.values())
    frame, gold_notes = collected.take_frame(), ()
    if head.gold_path is not None:
        keys = collected.take_keys() if head.gold_on else _question_names(frame)
        frame, gold_notes = join_gold(frame, keys, head, collected.source_columns)
    progress(PARSED_SHARE, "comparing the columns")
    frame, mass_notes = divide_masses(frame) if roles.has_masses else (frame, ())
    frame = of_predicted_class(frame, roles.classes, origin.file)
    for name, fault in disagreements(frame):
        collected.mark_bad(collected.source_columns[name], fault)
    origin = replace(origin, info=replace(origin.info, choice_order=", ".join(roles.choice_labels)))
    frame = fill_run_columns(frame, origin.info)
    _check_order_of_choices(frame, roles, origin.file)
    frame, class_notes = number_classes(frame, roles.choice_labels)
    frame, counts = name_choices(frame, roles.choice_labels, origin.file)
    golds = match_gold(frame, roles.choice_labels, counts=counts)
    for name, fault in golds.faults:
        read_from = name if name in collected.source_columns else "gold_all"  # a list of one is a gold, too
        collected.mark_bad(collected.source_columns[read_from], fault)
    if golds.gold_index.null_count() < golds.gold_index.len():
        frame = frame.with_columns(golds.gold_index)
    progress(PARSED_SHARE, "looking for repeated ids")
    unique: tuple[str, ...] = ()
    for fault in repeated_id_faults(frame, collected.is_bad, collected.source_columns.get("id", "id")):
        collected.mark_bad(collected.source_columns["id"], fault)
        named = [frame["judge"].alias(collected.source_columns["judge"])] if "judge" in frame.columns else []
        unique = unique or unique_within(frame["id"], pl.DataFrame([*group_columns, *named]))
    one_based = golds.one_based_column
    counted = None if one_based is None else (one_based, collected.source_columns[one_based])
    refusal = refusal_message(collected, roles, counted, frame)
    if refusal is not None:
        return (), gold_notes, refusal, unique
    progress(PARSED_SHARE, "telling the runs apart")
    judgement = RowJudgement(
        collected.is_bad,
        collected.is_run_unknown,
        collected.clipped_positions,
        collected.inexact_sums,
        collected.unreadable,
    )
    runs, run_notes = split_into_runs(frame, judgement, origin, group_columns)
    user_notes = (
        *roles.order_notes,
        *roles.value_notes,
        *mass_notes,
        *collected.missing_notes(roles.missing),
    )
    notes = (
        *collected.left_out.values(),
        *gold_notes,
        *run_notes,
        *collected.decimal_comma_notes,
        *collected.share_notes,
        *user_notes,
        *absent_value_notes(collected, roles),
        *class_notes,
        *golds.notes,
    )
    return runs, notes, None, unique


def _question_names(frame: pl.DataFrame) -> pl.Series | None:
    """Return the ids of the questions, or else what says which question each row repeats; None without."""
    return next((frame[name] for name in ("id", "trial_of") if name in frame.columns), None)


def _check_order_of_choices(frame: pl.DataFrame, roles: ColumnRoles, file: str) -> None:
    """Raise Refused if letters of choices are not mapped in their order, and a list has one of its own."""
    labels = roles.choice_labels
    others = [name for name in CHOICE_LISTS if name in frame.columns and name not in roles.combined_lists]
    if others and are_letters(labels) and list(labels) != sorted(labels):
        raise Refused(
            f"{file}: the choices are mapped in the order {', '.join(labels)}, but {others[0]}, which "
            "lists them too, does not give its order. Map the columns in the order "
            f"{', '.join(sorted(labels))}, or leave {others[0]} out."
        )


TABLE: Final = Format(
    "table",
    "table (CSV, JSON lines, Parquet or Arrow)",
    "rows and columns",
    frozenset({"text", *JSON_KINDS, *COLUMNAR_KINDS}),
    recognises,
    read,
)
