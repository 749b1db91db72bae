"""What is the right answer to each question, in a table beside a log that holds none?

The person names the table. Its columns are found by their exact names, else by the first usual one; its ids
are joined on the log's own. An id that only one of the two has is missing, and counted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import polars as pl

from calib_core.errors import Refused, shorten
from calib_core.readers.detect import read_head
from calib_core.readers.format import Head, Reading
from calib_core.readers.table.columns import COLUMN_ALIASES, COLUMN_JUDGES, normalise_name
from calib_core.readers.table.csv_reader import DIALECTS, header_of, open_csv
from calib_core.readers.table.json_reader import open_json_lines, open_json_list
from calib_core.readers.table.parquet_reader import open_parquet
from calib_core.readers.table.raw import MAX_COLUMNS, RawTable, every_column
from calib_core.runs import AnswerRun
from calib_core.wording import plural

ID_NAMES: Final = (*COLUMN_ALIASES["id"], "request_id", "row")
"""What a column of ids may be called; `row` counts the log's records from 1, where these have no ids."""

GOLD_TABLE_COLUMNS: Final = ("gold", "gold_index", "gold_all", "choices", "subject", "question")
"""What a table of right answers may say of a question."""

_NEEDED_COLUMNS_ADVICE: Final = (
    "It needs a column of ids (custom_id, id …) and one of right answers (gold, answer …: a text, a "
    "letter, or as gold_index a position counted from 0)."
)
_MAX_SHOWN: Final = 5


@dataclass(frozen=True, slots=True, eq=False)
class GoldTable:
    """Right answers by id.

    file: as messages call it; ids: candidates for the column of ids, each with its ids, the likeliest first;
    told: what is said of a question, one row a record: columns of `JOINED`, null where not said.
    """

    file: str
    ids: Mapping[str, pl.Series]
    answers: pl.DataFrame

    def join(self, log_ids: Collection[str], log_id_name: str = "id") -> JoinedGold:
        """What is said of these ids of a log; first: the log's own name of its ids, tried before others.

        Raises Refused where the table has no id of the log, or one that the log has more than once.
        """
        known = set(log_ids)
        order = sorted(self.ids, key=lambda name: normalise_name(name) != normalise_name(log_id_name))
        for name in order:
            rows = {id_: at for at, id_ in enumerate(self.ids[name].to_list()) if id_ in known}
            if rows:
                self._check_unique(name, known)
                lone = [id_ for id_ in self.ids[name].drop_nulls().to_list() if id_ not in known]
                return JoinedGold(self, name, rows, tuple(lone))
        shown = ", ".join(shorten(id_, 40) for id_ in sorted(known)[:_MAX_SHOWN])
        there = ", ".join(
            shorten(str(id_), 40) for id_ in self.ids[order[0]].drop_nulls().head(_MAX_SHOWN).to_list()
        )
        raise Refused(
            f"{self.file} has no right answer to any question of the log: its column {order[0]!r} holds "
            f"{there} …, and the log's ids are {shown} …. Give the table whose ids are those of the log."
        )

    def _check_unique(self, name: str, log_ids: Collection[str]) -> None:
        ids = self.ids[name]
        again = ids.filter((ids.is_duplicated() & ids.is_in(list(log_ids))).fill_null(value=False))
        if again.len():
            rows = [at + 1 for at in (ids == again[0]).arg_true().head(_MAX_SHOWN).to_list()]
            raise Refused(
                f"{self.file}: column {name!r} holds {shorten(str(again[0]), 40)!r} in rows "
                f"{', '.join(map(str, rows))}, so which answer is right is not clear. Keep one row an id."
            )


@dataclass(frozen=True, slots=True, eq=False)
class JoinedGold:
    """A table of right answers held against a log's ids.

    by: the table's column of ids; rows: id → row of `table.told`; lone: ids that the log does not have.
    """

    table: GoldTable
    id_column: str
    row_by_id: Mapping[str, int]
    unmatched_ids: tuple[str, ...]

    def answer_for(self, id_: str | None) -> Mapping[str, object]:
        """What the table says of a question; empty where it says nothing."""
        if id_ is None or id_ not in self.row_by_id:
            return {}
        told = self.table.answers.row(self.row_by_id[id_], named=True)
        return {name: value for name, value in told.items() if value is not None}

    def notes(self, ids: Sequence[str | None]) -> tuple[str, ...]:
        """How many of the log's records have a right answer, and how many of the table's no record."""
        have = sum(1 for id_ in ids if {"gold", "gold_index", "gold_all"} & self.answer_for(id_).keys())
        of = f"Right answers of {self.table.file}, joined on {self.id_column}"
        said = f"{of}: {have:,} of {len(ids):,} rows have one."
        if not self.unmatched_ids:
            return (said,)
        shown = ", ".join(shorten(id_, 40) for id_ in self.unmatched_ids[:_MAX_SHOWN])
        more = ", …" if len(self.unmatched_ids) > _MAX_SHOWN else ""
        return (said, f"{len(self.unmatched_ids):,} of its ids have no row in the log ({shown}{more}).")


def read_gold_table(path: Path) -> GoldTable:
    """The table of right answers that a person has named.

    Raises Refused where it is none: no table, no ids, no right answers, or a wrong value in one of them.
    """
    file = path.name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    head = read_head(path, file)
    raw = _open_records(head)
    frame = _collect_frame(raw, file)
    ids = {name: frame[name] for name in _columns_named(frame.columns, ID_NAMES)}
    meant = {
        name: column
        for name in GOLD_TABLE_COLUMNS
        if (column := _likeliest_column(name, frame.columns, set(ids)))
    }
    if not ids or not {"gold", "gold_index", "gold_all"} & meant.keys():
        shown = ", ".join(repr(shorten(name, 40)) for name in frame.columns[:20])
        raise Refused(
            f"{file} cannot be used for right answers: its columns are {shown}. {_NEEDED_COLUMNS_ADVICE}"
        )
    told = pl.DataFrame([_judge_strictly(name, frame[column], file) for name, column in meant.items()])
    texts = {name: _judge_strictly("id", values, file) for name, values in ids.items()}
    return GoldTable(file, texts, told)


def _open_records(head: Head) -> RawTable:
    """The records of the table; delimited text in the layout whose header has the most names looked for."""
    match head.kind:
        case "parquet":
            return open_parquet(head.all_bytes, head.file, every_column)
        case "json lines":
            return open_json_lines(head.content, head.file, every_column)
        case "json list":
            return open_json_list(head.list_elements, every_column)
        case "text":
            headers = {layout: header_of(head.content, layout) for layout in DIALECTS}
            best = max(DIALECTS, key=lambda layout: _count_known_columns(headers[layout]))
            return open_csv(head.content, head.file, best, every_column)
        case _:
            raise Refused(f"{head.file} is no table of right answers. {_NEEDED_COLUMNS_ADVICE}")


def _count_known_columns(columns: Sequence[str]) -> int:
    """How many columns have a name that is looked for."""
    ids = len(_columns_named(columns, ID_NAMES))
    return ids + sum(1 for name in GOLD_TABLE_COLUMNS if _likeliest_column(name, columns, set()))


def _collect_frame(table: RawTable, file: str) -> pl.DataFrame:
    """All records as raw columns. Raises Refused for one that is none, or where there are none."""
    parts: list[pl.DataFrame] = []
    rows = 0
    for part in table.slices:
        if part.broken:
            first = part.broken[0]
            line = "" if part.lines is None else f" (line {int(part.lines[first.position]):,})"
            raise Refused(
                f"{file}, row {rows + first.position + 1:,}{line}: expected {first.expected}, found "
                f"{first.found!r}. {first.fix}"
            )
        if len(part.columns) > MAX_COLUMNS:
            raise Refused(f"{file} has more than {MAX_COLUMNS:,} columns. {_NEEDED_COLUMNS_ADVICE}")
        parts.append(pl.DataFrame({name: _numbers_as_text(values) for name, values in part.columns.items()}))
        rows += part.n_rows
    if not rows:
        raise Refused(f"{file} holds no rows. {_NEEDED_COLUMNS_ADVICE}")
    return pl.concat(parts, how="diagonal_relaxed")


def _numbers_as_text(values: pl.Series) -> pl.Series:
    """Values whose dtype does not hang on the slice: whole and broken numbers of one column stay apart."""
    return values.cast(pl.String) if values.dtype.is_numeric() else values


def _columns_named(columns: Sequence[str], names: Sequence[str]) -> list[str]:
    """The columns that have one of these names, the likeliest first."""
    order = [normalise_name(name) for name in names]
    found = [column for column in columns if normalise_name(column) in order]
    return sorted(found, key=lambda column: (column != names[0], order.index(normalise_name(column))))


def _likeliest_column(name: str, columns: Sequence[str], used: set[str]) -> str | None:
    """The column that says this of a question: by its own name, else the first usual one."""
    if name in columns:
        return name
    free = [column for column in columns if column not in used and column not in GOLD_TABLE_COLUMNS]
    return next(iter(_columns_named(free, COLUMN_ALIASES.get(name, (name,)))), None)


def _judge_strictly(name: str, raw: pl.Series, file: str) -> pl.Series:
    """The values of one column. Raises Refused for a wrong one: a wrong right answer would judge wrongly."""
    judged = COLUMN_JUDGES[name](raw)
    if judged.faults:
        fault = judged.faults[0]
        raise Refused(
            f"{file}, row {int(fault.positions[0]) + 1:,}, column {raw.name!r}: expected {fault.expected}, found "
            f"{fault.examples[0]!r}. {fault.fix}"
        )
    return judged.values.alias(name)


# MERGED gold_join: Where do right answers come from, if the file that was read has none?  From a table that a person names.

GOLD_COLUMNS: Final = ("gold", "gold_index", "gold_all")
"""Columns that name the right answer."""

OUTCOME_COLUMNS: Final = (*GOLD_COLUMNS, "correct", "sample_correct", "correct_majority")
"""Columns of which a run needs one for any answer to be right or wrong."""

_MAX_IDS_IN_REFUSAL: Final = 20


def join_gold(
    rows: pl.DataFrame, gold_path: Path | None, source_columns: dict[str, str], file: str
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The rows with what the table of right answers says of them, and what a reader has to know of that.

    rows: judged columns; source: contract name → the column it is from, filled in; file: as messages call it.
    What a row says itself is kept, and a table is not needed where all rows have a right answer. Raises
    Refused where the rows have no ids, or the table cannot be used.
    """
    if gold_path is None:
        return rows, ()
    table = read_gold_table(gold_path)
    if any(name in rows.columns and not rows[name].has_nulls() for name in GOLD_COLUMNS):
        return rows, (f"{table.file} is not needed: every row has a right answer of its own.",)
    if "id" not in rows.columns:
        raise Refused(
            f"{file} has no column id, and the right answers of {table.file} are joined on it. Say which "
            f"column holds the ids: --map COLUMN=id"
        )
    ids: list[str | None] = rows["id"].to_list()
    joined = table.join({id_ for id_ in ids if id_ is not None}, source_columns.get("id", "id"))
    at = pl.Series("at", [None if id_ is None else joined.row_by_id.get(id_) for id_ in ids], dtype=pl.UInt32)
    for name in table.answers.columns:
        told = table.answers[name].gather(at).alias(name)
        source_columns.setdefault(name, f"{name} of {table.file}")
        own = rows[name] if name in rows.columns else None
        rows = rows.with_columns(told if own is None else own.zip_with(own.is_not_null(), told).alias(name))
    return rows, joined.notes(ids)


def refuse_without_gold(reading: Reading, ids: Sequence[str | None], id_name: str) -> Reading:
    """The reading, refused where nothing in it says which answers are right.

    ids: of the log's records; called: what the log calls them.
    """
    runs = [run for run in reading.good_runs if isinstance(run, AnswerRun)]
    if reading.refusal or not runs or any(run.has_columns(name) for run in runs for name in OUTCOME_COLUMNS):
        return reading
    known = [shorten(id_, 40) for id_ in ids if id_ is not None]
    shown = ", ".join(known[:_MAX_IDS_IN_REFUSAL]) + (", …" if len(known) > _MAX_IDS_IN_REFUSAL else "")
    counted = f"{plural(reading.n_rows, 'row')} ({id_name} {shown})"
    return replace(
        reading,
        refusal=(
            f"{reading.file}: read as {reading.format}, {counted}, and no gold answers in it, so nothing in "
            f"it can be calibrated. Give a table of right answers, joined on {id_name}: --gold TABLE (a CSV, "
            f"JSON lines or Parquet file with the columns {id_name} and gold)."
        ),
    )
