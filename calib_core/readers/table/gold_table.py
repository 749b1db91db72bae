"""Adds right answers or outcomes from a separate table, for files that hold none.

The user names the table. Its columns are found by their exact names, or else by their usual aliases, and its
ids, or another column that the user names, are joined to those of the file. Ids that only one of the two has
are counted in a note.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

import polars as pl

from calib_core.advice import Advice, bracketed_option, option_name, worded
from calib_core.errors import Refused, shorten
from calib_core.readers.detect import read_head
from calib_core.readers.format import Head, Reading
from calib_core.readers.table.column_values import ColumnValues
from calib_core.readers.table.columnar import open_columnar
from calib_core.readers.table.columns import (
    CHOICE_SCORES,
    ColumnRoles,
    MappedName,
    column_list_text,
)
from calib_core.readers.table.csv_reader import DIALECTS, header_of, open_csv
from calib_core.readers.table.json_reader import open_json_lines, open_json_list
from calib_core.readers.table.names import SPELLINGS, Meaning, meanings, normalise_name
from calib_core.readers.table.one_column import as_outcome
from calib_core.readers.table.raw import MAX_COLUMNS, RawTable, every_column
from calib_core.readers.table.rows import TRUTH_COLUMNS
from calib_core.runs import AnswerRun, schema_name
from calib_core.wording import plural

ID_NAMES: Final = (*SPELLINGS["id"], "request_id", "row")
"""Names of a column of ids; `row` is the record number in the log, from 1, for logs without ids."""

RIGHT_ANSWER_COLUMNS: Final = ("gold", "gold_index", "gold_all")
"""Columns that name the right answer."""

GOLD_TABLE_COLUMNS: Final = (*RIGHT_ANSWER_COLUMNS, "choices", "subject", "question")
"""Columns that are read from a table of right answers."""

LABEL_COLUMNS: Final = ("human", "judge")
"""Columns of labels, of people (also several, `human.NAME`) or of a judge, that a table may hold as well."""

_MAPPED_NAMES: Final = ("id", *GOLD_TABLE_COLUMNS, "correct", *LABEL_COLUMNS)
_EITHER_NAMES: Final = ("label", "ytrue")
_TRUTH_VALUES: Final = ({"true"}, {"false"}, {"true", "false"})
_ZERO_OR_ONE: Final = r"^(0|1)(\.0*)?$"
_NOTHING: Final = MappingProxyType[str, str]({})

JUDGED_COLUMNS: Final = (*RIGHT_ANSWER_COLUMNS, "correct")
"""Columns of which a table of right answers needs at least one."""

GOLD_TABLE: Final = "table of right answers"

_MAX_SHOWN: Final = 5
_MAX_IDS_IN_REFUSAL: Final = 20


@dataclass(frozen=True, slots=True, eq=False)
class GoldTable:
    """A table of right answers.

    Attributes
    ----------
    file
        What messages call the file.
    ids
        Candidates for the column of ids → their ids, the most likely first.
    answers
        One row per record, with columns of `GOLD_TABLE_COLUMNS`; null where missing.
    reading_notes
        Sentences on how its columns are read.
    """

    file: str
    ids: Mapping[str, pl.Series]
    answers: pl.DataFrame
    reading_notes: tuple[str, ...] = ()

    def join(self, log_ids: Collection[str], log_id_name: str = "id") -> JoinedGold:
        """Join the table to the ids of a log.

        Parameters
        ----------
        log_ids
            The ids of the log.
        log_id_name
            The log's name of its ids; a column of that name is tried first.

        Raises
        ------
        Refused
            The table has none of the log's ids, or one of them more than once.
        """
        known_ids = set(log_ids)
        names = sorted(self.ids, key=lambda name: normalise_name(name) != normalise_name(log_id_name))
        for name in names:
            row_by_id = {id_: row for row, id_ in enumerate(self.ids[name].to_list()) if id_ in known_ids}
            if row_by_id:
                self._check_unique(name, known_ids)
                unmatched = [id_ for id_ in self.ids[name].drop_nulls().to_list() if id_ not in known_ids]
                return JoinedGold(self, name, row_by_id, tuple(unmatched))
        shown_log_ids = ", ".join(shorten(id_, 40) for id_ in sorted(known_ids)[:_MAX_SHOWN])
        first_ids = self.ids[names[0]].drop_nulls().head(_MAX_SHOWN).to_list()
        shown_ids = ", ".join(shorten(str(id_), 40) for id_ in first_ids)
        raise Refused(
            f"{self.file} has no right answer to any question of the log: its column {names[0]!r} holds "
            f"{shown_ids} …, and the log's ids are {shown_log_ids} …. Give the table whose ids are those of "
            f"the log."
        )

    def has_any_of(self, ids: Collection[str]) -> bool:
        """Return whether the table names one of these ids."""
        return any(column.is_in(list(ids)).any() for column in self.ids.values())

    def _check_unique(self, name: str, log_ids: Collection[str]) -> None:
        ids = self.ids[name]
        distinct = self.answers.with_columns(ids.alias("")).unique(maintain_order=True)[""]
        is_needed = distinct.is_duplicated() & distinct.is_in(list(log_ids))
        repeated = distinct.filter(is_needed.fill_null(value=False))
        if repeated.len():
            rows = [row + 1 for row in (ids == repeated[0]).arg_true().head(_MAX_SHOWN).to_list()]
            raise Refused(
                f"{self.file}: column {name!r} holds {shorten(str(repeated[0]), 40)!r} in rows "
                f"{', '.join(map(str, rows))}, so it is unclear which answer is right: they differ. Keep "
                "one row per id."
            )


@dataclass(frozen=True, slots=True, eq=False)
class JoinedGold:
    """A table of right answers joined to the ids of a log.

    Attributes
    ----------
    table
        The table.
    id_column
        Its column of ids.
    row_by_id
        Id of the log → row of `table.answers`.
    unmatched_ids
        Ids of the table that the log does not have.
    """

    table: GoldTable
    id_column: str
    row_by_id: Mapping[str, int]
    unmatched_ids: tuple[str, ...]

    def answer_for(self, id_: str | None) -> Mapping[str, object]:
        """Return the table's values for a question, without nulls; empty if the table lacks the id."""
        if id_ is None or id_ not in self.row_by_id:
            return {}
        row = self.table.answers.row(self.row_by_id[id_], named=True)
        return {name: value for name, value in row.items() if value is not None}

    def notes(self, ids: Sequence[str | None]) -> tuple[str, ...]:
        """Write notes on how many of the log's records have a right answer, and on unmatched ids."""
        names = {*self.table.answers.columns}
        answers = names & {*JUDGED_COLUMNS}
        read = answers or {name for name in names if schema_name(name) in LABEL_COLUMNS}
        n_answered = sum(1 for id_ in ids if self.answer_for(id_).keys() & read)
        what = "Right answers" if answers else "Labels"
        matched_note = (
            f"{what} of {self.table.file}, joined on {self.id_column}: {n_answered:,} of {len(ids):,} rows "
            "have one."
        )
        if not self.unmatched_ids:
            return (matched_note, *self.table.reading_notes)
        shown = ", ".join(shorten(id_, 40) for id_ in self.unmatched_ids[:_MAX_SHOWN])
        more = ", …" if len(self.unmatched_ids) > _MAX_SHOWN else ""
        return (
            matched_note,
            f"{len(self.unmatched_ids):,} of its ids have no row in the log ({shown}{more}).",
            *self.table.reading_notes,
        )


def read_gold_table(
    path: Path,
    on: str = "",
    columns: Mapping[str, str] = _NOTHING,
    *,
    may_be_true: bool = False,
    may_be_number: bool = True,
) -> GoldTable:
    """Read a table of right answers.

    Parameters
    ----------
    path
        The file.
    on
        As `ReadOptions.gold_on`; "" joins on the ids.
    columns
        As `ReadOptions.gold_columns`.
    may_be_true
        Whether True and False may be answers to the questions. Otherwise a column of right answers that are
        all one of them says which answers are right.
    may_be_number
        Whether 0 and 1 may be answers to the questions. Otherwise a column called a label that holds these is
        refused, unless the user has said what it is.

    Raises
    ------
    Refused
        The file is not a table, has no ids or no right answers, or a value is invalid.
    """
    file = gold_file_name(path)
    roles = ColumnRoles.from_mapping(columns, file, _MAPPED_NAMES)
    if roles.combined_lists:
        raise Refused(
            f"{file}: two columns would be read as {next(iter(roles.combined_lists))!r}"
            f"{bracketed_option('gold_columns')}."
        )
    frame = read_records(read_head(path, file), roles, GOLD_TABLE, _needed_columns_advice())
    roles.check_columns_exist(frame.columns, file)
    mapped = {name: column for column, name in roles.mapping.items() if name}
    _, key = join_columns(on)
    if key and key not in frame.columns:
        raise Refused(
            f"{file} has no column {key!r}{bracketed_option('on')}. Its columns are "
            f"{column_list_text(frame.columns)}."
        )
    free = [column for column in frame.columns if column not in roles.mapping]
    id_columns = [key] if key else [mapped["id"]] if "id" in mapped else columns_named(free, ID_NAMES)
    column_by_name, notes = _answer_columns(
        frame.select(free), set(id_columns), mapped, may_be_true=may_be_true
    )
    if (lists := column_by_name.get("gold")) and frame[lists].dtype.is_nested():
        column_by_name["gold_all"] = column_by_name.pop("gold")
    label = column_by_name.get("gold", "")
    if not may_be_number and label in free and _are_zero_or_one(label, frame[label]):
        options = " or ".join(str(Advice(gold_columns={label: name})) for name in ("gold", "correct"))
        raise Refused(
            f"{file}: column {shorten(label, 40)!r} holds 0 and 1, which may be right answers, or say "
            f"whether the model's answer is right. Say which: {options}"
        )
    if not id_columns or not {*map(schema_name, column_by_name)} & {*JUDGED_COLUMNS, *LABEL_COLUMNS}:
        shown = ", ".join(repr(shorten(name, 40)) for name in frame.columns[:20])
        likely = _likely_options(frame.select(free), set(id_columns))
        raise Refused(
            f"{file} cannot be used for right answers: its columns are {shown}. {_needed_columns_advice()}"
            f"{likely}"
        )
    answers = pl.DataFrame(
        [
            judge_strictly(roles.meaning(column, name), frame[column], file)
            for name, column in column_by_name.items()
        ]
    )
    ids = {name: judge_strictly(MappedName("id"), frame[name], file) for name in id_columns}
    return GoldTable(file, ids, answers, (*notes, *roles.value_notes))


def gold_file_name(path: Path) -> str:
    """What messages call a table of right answers."""
    return path.name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def gold_frame(path: Path) -> pl.DataFrame:
    """Read a table of right answers that is no JSON as it stands; raises Refused if it is none."""
    file = gold_file_name(path)
    return read_records(read_head(path, file), ColumnRoles({}), GOLD_TABLE, _needed_columns_advice())


def _answer_columns(
    free: pl.DataFrame, ids: Collection[str], mapped: Mapping[str, str], *, may_be_true: bool
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return name → column to read as it, and a note if outcomes are found by their values."""
    found = {
        name: column
        for name in GOLD_TABLE_COLUMNS
        if name not in mapped and (column := _likeliest_column(name, free.columns, set(ids)))
    }
    found |= {column: column for column in free.columns if schema_name(column) in LABEL_COLUMNS}
    found |= {name: column for name, column in mapped.items() if name != "id"}
    outcome = "correct"
    if outcome in found:
        return found, ()
    if outcome in free.columns:
        return {**found, outcome: outcome}, ()
    label = found.get("gold", "")
    is_single = label in free.columns and not free[label].dtype.is_nested()
    if not may_be_true and is_single and _says_true_or_false(label, free[label]):
        del found["gold"]
        note = f"correct is {shorten(label, 40)!r}, whose values are True and False."
        return {**found, outcome: label}, (note,)
    if found.keys() & set(RIGHT_ANSWER_COLUMNS):
        return found, ()
    if column := _likeliest_column(outcome, free.columns, set(ids)):
        return {**found, outcome: column}, ()
    said = [column for column in free.columns if column not in ids and _says_right_answer(column)]
    return found | ({"gold": said[0]} if len(said) == 1 else {}), ()


def _says_right_answer(column: str) -> bool:
    """Return whether a name says that a column holds right answers, and nothing else; here, answers do."""
    return meanings(column) == (Meaning("gold", "said"),) or normalise_name(column) == "answers"


def _needed_columns_advice() -> str:
    named = worded(f"that {option_name('on')} names", on_page="to join on")
    roles = " or ".join(str(Advice(gold_columns={"COLUMN": name})) for name in ("gold", "correct", "human"))
    return (
        f"It needs a column of ids (custom_id, id …), or one {named}, and one of right answers (gold, "
        "answer …: a text, a letter, or as gold_index a position counted from 0), "
        "of outcomes (correct) or of people's labels (human). "
        f"Say which they are: {roles}"
    )


def _likely_options(free: pl.DataFrame, ids: Collection[str]) -> str:
    """Write what columns may be by their names and values as options, to end a message; "" for none."""
    columns = [ColumnValues(name, free[name]) for name in free.columns if not free[name].dtype.is_nested()]
    found = [
        one
        for column in columns
        if column.present and column.name not in ids
        for one in as_outcome(column, meanings(column.name))
        if one.clarity != "possible"
    ]
    options = " or ".join(str(Advice(gold_columns=one.names)) for one in found)
    return f". By their names and values: {options}" if options else ""


def _are_zero_or_one(column: str, values: pl.Series) -> bool:
    """Return whether a column whose name says neither answer nor outcome is 0 or 1 in every row."""
    texts = values.drop_nulls().cast(pl.String).str.strip_chars()
    return normalise_name(column) in _EITHER_NAMES and bool(texts.str.contains(_ZERO_OR_ONE).all())


def _says_true_or_false(column: str, values: pl.Series) -> bool:
    """Return whether a column whose name says neither answer nor outcome is True or False in every row."""
    texts = values.drop_nulls().cast(pl.String).str.strip_chars().str.to_lowercase()
    return normalise_name(column) in _EITHER_NAMES and set(texts.unique()) - {""} in _TRUTH_VALUES


def join_columns(on: str) -> tuple[str, str]:
    """Split what the user joins on into the file's column and the table's; "" for the ids.

    Examples
    --------
    >>> join_columns("qid"), join_columns("qid=question id"), join_columns("")
    (('qid', 'qid'), ('qid', 'question id'), ('', ''))
    """
    ours, _, theirs = on.partition("=")
    return ours, theirs or ours


def read_records(head: Head, roles: ColumnRoles, what: str, advice: str) -> pl.DataFrame:
    """Read a table that is joined to a file, as raw columns; numbers are texts.

    Parameters
    ----------
    head
        The file.
    roles
        What its columns are read as.
    what, advice
        What it should be, and which columns it needs, for messages.

    Raises
    ------
    Refused
        The file is not a table, has no rows or too many columns, or a record is broken.
    """
    table = _open_records(head, roles, what, advice)
    return _collect_frame(table, head.file, advice)


def _open_records(head: Head, roles: ColumnRoles, what: str, advice: str) -> RawTable:
    """Open the table; delimited text is read in the dialect whose header has the most known names."""
    match head.kind:
        case "parquet" | "arrow" | "frame":
            return open_columnar(head, every_column)
        case "json lines":
            return open_json_lines(head.content, head.file, every_column)
        case "json list":
            return open_json_list(head.list_elements, every_column)
        case "text":
            headers = {dialect: header_of(head.content, dialect) for dialect in DIALECTS}
            best = max(DIALECTS, key=lambda dialect: _count_known_columns(headers[dialect], roles))
            return open_csv(head.content, head.file, best, every_column)
        case _:
            raise Refused(f"{head.file} is not a {what}. {advice}")


def _count_known_columns(columns: Sequence[str], roles: ColumnRoles) -> int:
    """Count the columns that have a name of an id or of a column that is read, or are mapped."""
    ids = len(columns_named(columns, ID_NAMES)) + len(roles.mapping.keys() & set(columns))
    return ids + sum(1 for name in GOLD_TABLE_COLUMNS if _likeliest_column(name, columns, set()))


def _collect_frame(table: RawTable, file: str, advice: str) -> pl.DataFrame:
    """Read all records as raw columns; raises Refused for a broken record, or if there is none."""
    parts: list[pl.DataFrame] = []
    n_rows = 0
    for part in table.slices:
        if part.broken:
            first = part.broken[0]
            line = "" if part.lines is None else f" (line {int(part.lines[first.position]):,})"
            raise Refused(
                f"{file}, row {n_rows + first.position + 1:,}{line}: expected {first.expected}, found "
                f"{first.found!r}. {first.fix}"
            )
        if len(part.columns) > MAX_COLUMNS:
            raise Refused(f"{file} has more than {MAX_COLUMNS:,} columns. {advice}")
        parts.append(pl.DataFrame({name: _numbers_as_text(values) for name, values in part.columns.items()}))
        n_rows += part.n_rows
    if not n_rows:
        raise Refused(f"{file} holds no rows. {advice}")
    return pl.concat(parts, how="diagonal_relaxed")


def _numbers_as_text(values: pl.Series) -> pl.Series:
    """Convert numbers to text, so that integers and floats in different slices of a column can be joined."""
    return values.cast(pl.String) if values.dtype.is_numeric() else values


def columns_named(columns: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the columns that have one of these names, the most likely first."""
    order = [normalise_name(name) for name in names]
    matching = [column for column in columns if normalise_name(column) in order]
    return sorted(matching, key=lambda column: (column != names[0], order.index(normalise_name(column))))


def _likeliest_column(name: str, columns: Sequence[str], used: set[str]) -> str | None:
    """Return the column to read as `name`: the one of that name, or else the most likely alias; else None."""
    if name in columns and name not in used:
        return name
    free = [column for column in columns if column not in used and column not in GOLD_TABLE_COLUMNS]
    return next(iter(columns_named(free, SPELLINGS.get(name, (name,)))), None)


def judge_strictly(meaning: MappedName, raw: pl.Series, file: str) -> pl.Series:
    """Check a column; raises Refused for any fault, as an invalid right answer would falsify outcomes."""
    judged = meaning.judge(raw)
    if judged.faults:
        fault = judged.faults[0]
        raise Refused(
            f"{file}, row {int(fault.positions[0]) + 1:,}, column {raw.name!r}: expected {fault.expected}, "
            f"found {fault.examples[0]!r}. {fault.fix}"
        )
    return judged.values.alias(meaning.name)


def join_gold(
    rows: pl.DataFrame, keys: pl.Series | None, head: Head, source_columns: dict[str, str]
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Join the table of right answers that the user named to rows.

    A row keeps its own values; if every row has what the table would add, the table is not used. A table
    that contradicts the rows is refused, as nothing says which of the two is right.

    Parameters
    ----------
    rows
        Checked columns.
    keys
        The values that the table is joined on, as text; None if the rows have no such column.
    head
        The file of the rows; it names the table.
    source_columns
        Name → the column it was read from; the joined names are added.

    Returns
    -------
    tuple
        The rows, and notes on the join.

    Raises
    ------
    Refused
        The rows have no ids, or the table cannot be used or contradicts them.
    """
    if head.gold_path is None:
        return rows, ()
    table = read_gold_table(
        head.gold_path,
        head.gold_on,
        head.gold_columns,
        may_be_true=_may_answer(rows, r"(?i)\b(true|false)\b"),
        may_be_number=_may_answer(rows, _ZERO_OR_ONE),
    )
    added = [name for name in JUDGED_COLUMNS if name in table.answers.columns]
    own = RIGHT_ANSWER_COLUMNS if added != ["correct"] else ("correct",)
    has_labels = any(schema_name(name) in LABEL_COLUMNS for name in table.answers.columns)
    is_complete = not has_labels and any(name in rows.columns and not rows[name].has_nulls() for name in own)
    not_needed = f"{table.file} is not needed: every row already has a right answer"
    if is_complete and keys is None:
        return rows, (f"{not_needed}.",)
    ours, _ = join_columns(head.gold_on)
    if keys is None:
        options = f"{Advice(columns={'COLUMN': 'id'})} or {Advice(on='COLUMN')}"
        name_them = worded(f"Name them: {options}", on_page="Say below which column holds the ids.")
        advice = "Name one that it has." if ours else name_them
        raise Refused(
            f"{head.file} has no column {ours or 'id'}, and the right answers of {table.file} are joined on "
            f"it. {advice}"
        )
    ids: list[str | None] = keys.to_list()
    known_ids = {id_ for id_ in ids if id_ is not None}
    if is_complete and not table.has_any_of(known_ids):
        return rows, (f"{not_needed}, and it has none of the file's ids.",)
    own_name = source_columns.get("id", source_columns.get("trial_of", "id"))
    joined = table.join(known_ids, ours or own_name)
    indices = [None if id_ is None else joined.row_by_id.get(id_) for id_ in ids]
    added_answers = table.answers[pl.Series(indices, dtype=pl.UInt32)]
    n_other_texts = _refuse_contradiction(rows, added_answers, ids, (head.file, table.file))
    if is_complete:
        unlike = f"; in {plural(n_other_texts, 'row')} the two are different texts" if n_other_texts else ""
        return rows, (f"{not_needed}{unlike}.",)
    for name in table.answers.columns:
        values = added_answers[name]
        source_columns.setdefault(name, f"{name} of {table.file}")
        if name in rows.columns:
            values = rows[name].zip_with(rows[name].is_not_null(), values).alias(name)
        rows = rows.with_columns(values)
    return rows, joined.notes(ids)


def _may_answer(rows: pl.DataFrame, pattern: str) -> bool:
    """Return whether what a pattern describes may be an answer: to choices, or as most predictions are."""
    if any(name in rows.columns for name in (*CHOICE_SCORES, "choices")):
        return True
    answers = [rows["prediction"]] if "prediction" in rows.columns else []
    answers += [rows["samples"].explode()] if "samples" in rows.columns else []
    given = pl.concat([pl.Series([], dtype=pl.String), *answers]).drop_nulls()
    return 2 * int(given.str.strip_chars().str.contains(pattern).sum()) > given.len()


def _refuse_contradiction(
    rows: pl.DataFrame, theirs: pl.DataFrame, ids: Sequence[str | None], files: tuple[str, str]
) -> int:
    """Raise Refused where file and table say different things of a row: numbers, choices or outcomes.

    Two texts may say the same in other words. How many rows have two such texts is returned.
    """
    both = [
        name
        for name in ("correct", *RIGHT_ANSWER_COLUMNS[:2])
        if name in rows.columns or name in theirs.columns
    ]
    no_value = pl.Series([None]).new_from_index(0, rows.height)
    columns = {
        name: tuple(frame.get_column(name, default=no_value).to_list() for frame in (rows, theirs))
        for name in (*both, "choices")
    }
    n_contradicting, n_other_texts, first = 0, 0, ""
    for at, (own_choices, their_choices) in enumerate(zip(*columns["choices"], strict=True)):
        said = [
            {name: columns[name][side][at] for name in both if columns[name][side][at] is not None}
            for side in (0, 1)
        ]
        is_other = _is_other_answer(said[0], said[1], own_choices or their_choices)
        n_other_texts += is_other is None
        n_contradicting += bool(is_other)
        if is_other and not first:
            names = (
                ["correct"]
                if "correct" in said[0] and "correct" in said[1]
                else list(RIGHT_ANSWER_COLUMNS[:2])
            )
            told = [next((f"{name} {one[name]!r}" for name in names if name in one), "") for one in said]
            first = f"of {shorten(str(ids[at]), 40)!r} {files[0]} has {told[0]} and {files[1]} {told[1]}"
    if n_contradicting:
        raise Refused(
            f"{files[0]} and {files[1]} contradict each other in {plural(n_contradicting, 'row')}: {first}. "
            "Give the table that belongs to this file, or leave one of the two out."
        )
    return n_other_texts


def _is_other_answer(
    ours: Mapping[str, object], theirs: Mapping[str, object], choices: Sequence[str] | None
) -> bool | None:
    """Return whether two right answers, or outcomes, of a row differ; None for two texts that may not."""
    if "correct" in ours and "correct" in theirs and ours["correct"] != theirs["correct"]:
        return True
    own, other = (one.get("gold_index", one.get("gold")) for one in (ours, theirs))
    if own is None or other is None:
        return False
    positions = _choice_position(own, choices), _choice_position(other, choices)
    if None not in positions:
        return positions[0] != positions[1]
    texts = [str(one).strip().rstrip(".").lower() for one in (own, other)]
    try:
        return float(texts[0]) != float(texts[1])
    except ValueError:
        return None if texts[0] != texts[1] else False


def _choice_position(answer: object, choices: Sequence[str] | None) -> int | None:
    """Return the position of the choice that an answer names by its text, letter or position, from 0."""
    if isinstance(answer, int):
        return answer
    text = str(answer).strip().lower()
    texts = [choice.strip().lower() for choice in choices or ()]
    if text in texts:
        return texts.index(text)
    letter = re.fullmatch(r"[(\[]?([a-z])(?:[)\].:]*|[)\].:]+\s.*)", text)
    return None if letter is None else ord(letter[1]) - ord("a")


def refuse_without_gold(reading: Reading, ids: Sequence[str | None], id_name: str) -> Reading:
    """Refuse a reading in which nothing says which answers are right; return any other one unchanged.

    Parameters
    ----------
    reading
        The reading of a log.
    ids
        The ids of the log's records.
    id_name
        What the log calls its ids.
    """
    runs = [run for run in reading.good_runs if isinstance(run, AnswerRun)]
    if reading.refusal or not runs or any(run.has_columns(name) for run in runs for name in TRUTH_COLUMNS):
        return reading
    known_ids = [shorten(id_, 40) for id_ in ids if id_ is not None]
    shown = ", ".join(known_ids[:_MAX_IDS_IN_REFUSAL]) + (
        ", …" if len(known_ids) > _MAX_IDS_IN_REFUSAL else ""
    )
    joined = f"a table of right answers, joined on {id_name}"
    give = worded(f"Give {joined}: {Advice(gold='TABLE')}", on_page=f"Add {joined}, and choose it below")
    records = f"{plural(reading.n_rows, 'row')} ({id_name} {shown})"
    return replace(
        reading,
        needs_gold=True,
        refusal=(
            f"{reading.file}: read as {reading.format}, {records}, and no gold answers in it, so nothing "
            f"in it can be calibrated. {give} (a CSV, JSON lines, Parquet or Arrow file with the columns "
            f"{id_name} and gold)."
        ),
    )
