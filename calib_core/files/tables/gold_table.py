"""What is the right answer to each question, in a table beside a log that holds none?

The person names the table. Its columns are found by their exact names, else by the first usual one; its ids
are joined on the log's own. An id that only one of the two has is missing, and counted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from calib_core.files.format import Head
from calib_core.files.head import head_at
from calib_core.files.tables.columns import COLUMNS
from calib_core.files.tables.csv_text import LAYOUTS, header_of, open_csv
from calib_core.files.tables.json_lines import open_json_lines, open_json_list
from calib_core.files.tables.names import OTHER_NAMES, plain
from calib_core.files.tables.parquet import open_parquet
from calib_core.files.tables.raw import MAX_COLUMNS, RawTable
from calib_core.problems import Refused, shorten

ID_NAMES: Final = (*OTHER_NAMES["id"], "request_id", "row")
"""What a column of ids may be called; `row` counts the log's records from 1, where these have no ids."""

JOINED: Final = ("gold", "gold_index", "gold_all", "choices", "subject", "question")
"""What a table of right answers may say of a question."""

_NEEDED: Final = (
    "It needs a column of ids (custom_id, id …) and one of right answers (gold, answer …: a text, a "
    "letter, or as gold_index a position counted from 0)."
)
_SHOWN: Final = 5


@dataclass(frozen=True, slots=True, eq=False)
class GoldTable:
    """Right answers by id.

    file: as messages call it; ids: candidates for the column of ids, each with its ids, the likeliest first;
    told: what is said of a question, one row a record: columns of `JOINED`, null where not said.
    """

    file: str
    ids: Mapping[str, pl.Series]
    told: pl.DataFrame

    def join(self, wanted: Collection[str], first: str = "id") -> Joined:
        """What is said of these ids of a log; first: the log's own name of its ids, tried before others.

        Raises Refused where the table has no id of the log, or one that the log has more than once.
        """
        known = set(wanted)
        order = sorted(self.ids, key=lambda name: plain(name) != plain(first))
        for name in order:
            rows = {id_: at for at, id_ in enumerate(self.ids[name].to_list()) if id_ in known}
            if rows:
                self._check_once(name, known)
                lone = [id_ for id_ in self.ids[name].drop_nulls().to_list() if id_ not in known]
                return Joined(self, name, rows, tuple(lone))
        shown = ", ".join(shorten(id_, 40) for id_ in sorted(known)[:_SHOWN])
        there = ", ".join(
            shorten(str(id_), 40) for id_ in self.ids[order[0]].drop_nulls().head(_SHOWN).to_list()
        )
        raise Refused(
            f"{self.file} has no right answer to any question of the log: its column {order[0]!r} holds "
            f"{there} …, and the log's ids are {shown} …. Give the table whose ids are those of the log."
        )

    def _check_once(self, name: str, known: Collection[str]) -> None:
        ids = self.ids[name]
        again = ids.filter((ids.is_duplicated() & ids.is_in(list(known))).fill_null(value=False))
        if again.len():
            rows = [at + 1 for at in (ids == again[0]).arg_true().head(_SHOWN).to_list()]
            raise Refused(
                f"{self.file}: column {name!r} holds {shorten(str(again[0]), 40)!r} in rows "
                f"{', '.join(map(str, rows))}, so which answer is right is not clear. Keep one row an id."
            )


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """A table of right answers held against a log's ids.

    by: the table's column of ids; rows: id → row of `table.told`; lone: ids that the log does not have.
    """

    table: GoldTable
    by: str
    rows: Mapping[str, int]
    lone: tuple[str, ...]

    def of(self, id_: str | None) -> Mapping[str, object]:
        """What the table says of a question; empty where it says nothing."""
        if id_ is None or id_ not in self.rows:
            return {}
        told = self.table.told.row(self.rows[id_], named=True)
        return {name: value for name, value in told.items() if value is not None}

    def notes(self, ids: Sequence[str | None]) -> tuple[str, ...]:
        """How many of the log's records have a right answer, and how many of the table's no record."""
        have = sum(1 for id_ in ids if {"gold", "gold_index", "gold_all"} & self.of(id_).keys())
        of = f"Right answers of {self.table.file}, joined on {self.by}"
        said = f"{of}: {have:,} of {len(ids):,} rows have one."
        if not self.lone:
            return (said,)
        shown = ", ".join(shorten(id_, 40) for id_ in self.lone[:_SHOWN])
        more = ", …" if len(self.lone) > _SHOWN else ""
        return (said, f"{len(self.lone):,} of its ids have no row in the log ({shown}{more}).")


def gold_table(path: Path) -> GoldTable:
    """The table of right answers that a person has named.

    Raises Refused where it is none: no table, no ids, no right answers, or a wrong value in one of them.
    """
    file = path.name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    head = head_at(path, file)
    raw = _opened(head)
    frame = _frame(raw, file)
    ids = {name: frame[name] for name in _candidates(frame.columns, ID_NAMES)}
    meant = {name: column for name in JOINED if (column := _likeliest(name, frame.columns, set(ids)))}
    if not ids or not {"gold", "gold_index", "gold_all"} & meant.keys():
        shown = ", ".join(repr(shorten(name, 40)) for name in frame.columns[:20])
        raise Refused(f"{file} cannot be used for right answers: its columns are {shown}. {_NEEDED}")
    told = pl.DataFrame([_judged(name, frame[column], file) for name, column in meant.items()])
    texts = {name: _judged("id", values, file) for name, values in ids.items()}
    return GoldTable(file, texts, told)


def _opened(head: Head) -> RawTable:
    """The records of the table; delimited text in the layout whose header has the most names looked for."""
    match head.kind:
        case "parquet":
            return open_parquet(head.data, head.file, _every)
        case "json lines":
            return open_json_lines(head.content, head.file, _every)
        case "json list":
            return open_json_list(head.records, _every)
        case "text":
            headers = {layout: header_of(head.content, layout) for layout in LAYOUTS}
            best = max(LAYOUTS, key=lambda layout: _known(headers[layout]))
            return open_csv(head.content, head.file, best, _every)
        case _:
            raise Refused(f"{head.file} is no table of right answers. {_NEEDED}")


def _every(_column: str) -> bool:
    return True


def _known(columns: Sequence[str]) -> int:
    """How many columns have a name that is looked for."""
    ids = len(_candidates(columns, ID_NAMES))
    return ids + sum(1 for name in JOINED if _likeliest(name, columns, set()))


def _frame(table: RawTable, file: str) -> pl.DataFrame:
    """All records as raw columns. Raises Refused for one that is none, or where there are none."""
    parts: list[pl.DataFrame] = []
    rows = 0
    for part in table.slices:
        if part.broken:
            first = part.broken[0]
            line = "" if part.lines is None else f" (line {int(part.lines[first.at]):,})"
            raise Refused(
                f"{file}, row {rows + first.at + 1:,}{line}: expected {first.expected}, found "
                f"{first.found!r}. {first.fix}"
            )
        if len(part.columns) > MAX_COLUMNS:
            raise Refused(f"{file} has more than {MAX_COLUMNS:,} columns. {_NEEDED}")
        parts.append(pl.DataFrame({name: _plain(values) for name, values in part.columns.items()}))
        rows += part.rows
    if not rows:
        raise Refused(f"{file} holds no rows. {_NEEDED}")
    return pl.concat(parts, how="diagonal_relaxed")


def _plain(values: pl.Series) -> pl.Series:
    """Values whose dtype does not hang on the slice: whole and broken numbers of one column stay apart."""
    return values.cast(pl.String) if values.dtype.is_numeric() else values


def _candidates(columns: Sequence[str], names: Sequence[str]) -> list[str]:
    """The columns that have one of these names, the likeliest first."""
    order = [plain(name) for name in names]
    found = [column for column in columns if plain(column) in order]
    return sorted(found, key=lambda column: (column != names[0], order.index(plain(column))))


def _likeliest(name: str, columns: Sequence[str], taken: set[str]) -> str | None:
    """The column that says this of a question: by its own name, else the first usual one."""
    if name in columns:
        return name
    free = [column for column in columns if column not in taken and column not in JOINED]
    return next(iter(_candidates(free, OTHER_NAMES.get(name, (name,)))), None)


def _judged(name: str, raw: pl.Series, file: str) -> pl.Series:
    """The values of one column. Raises Refused for a wrong one: a wrong right answer would judge wrongly."""
    judged = COLUMNS[name](raw)
    if judged.faults:
        fault = judged.faults[0]
        raise Refused(
            f"{file}, row {int(fault.at[0]) + 1:,}, column {raw.name!r}: expected {fault.expected}, found "
            f"{fault.found[0]!r}. {fault.fix}"
        )
    return judged.values.alias(name)
