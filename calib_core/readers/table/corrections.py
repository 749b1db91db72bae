"""Reads a table of corrections: questions to leave out, and right answers or outcomes to replace.

The table names its questions by their ids, and where these repeat also by subject, data set or model. What it
changes in a run is decided in `calib_core.results.corrections`, its rows found by
`calib_core.readers.table.correction_match`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import polars as pl

from calib_core.errors import Refused, shorten
from calib_core.readers.format import JSON_KINDS, Format, Head, Reading, ReadOptions
from calib_core.readers.table.cells import null_where
from calib_core.readers.table.columnar import COLUMNAR_KINDS
from calib_core.readers.table.columns import ColumnRoles, MappedName, column_list_text
from calib_core.readers.table.gold_table import (
    ID_NAMES,
    RIGHT_ANSWER_COLUMNS,
    columns_named,
    judge_strictly,
    read_records,
)
from calib_core.readers.table.names import SPELLINGS, normalise_name
from calib_core.readers.table.raw import ReadProgress
from calib_core.runs import ANSWER_SCHEMA, ROW_DTYPE, RUN_COLUMNS, AnswerRun, RowCounts, RunInfo, is_missing

NAMING_COLUMNS: Final = ("id", "subject", *RUN_COLUMNS)
"""Columns that say which question of which run is meant; of `id` every row needs one."""

LEAVE_OUT: Final = "leave_out"

CORRECTING_COLUMNS: Final = (LEAVE_OUT, *RIGHT_ANSWER_COLUMNS, "correct", "event")
"""Columns of which a table of corrections needs at least one."""

REASON: Final = "reason"

_NEEDED: Final = (
    "It needs a column of ids (id), and one of these: leave_out (true or false), gold (the right answer, "
    "also called answer), gold_all (a list of right answers), gold_index (its position, counted from 0), "
    "correct (whether the model's answer is right) or event (whether it came true). It may also have "
    "subject, model, dataset, shots, checkpoint and reason."
)
_TABLE: Final = "table of corrections"
_EXPECTED_FLAG: Final = "true or false, yes or no, 1 or 0"


@dataclass(frozen=True, slots=True, eq=False)
class CorrectionTable:
    """What a person corrects, one row for each question.

    Attributes
    ----------
    file
        What messages call the table.
    rows
        `row` (1-based record number), `NAMING_COLUMNS`, `CORRECTING_COLUMNS` and `reason`, null where the
        table gives nothing. `leave_out` is never null.
    column_of
        Name → the table's own name of the column that it is read from.
    unused_columns
        Columns that nothing is read from.
    """

    file: str
    rows: pl.DataFrame
    column_of: MappingProxyType[str, str]
    unused_columns: tuple[str, ...] = ()

    @classmethod
    def of_reading(cls, reading: Reading) -> CorrectionTable:
        """Return the table that was read as the format `CORRECTIONS`."""
        (run,) = reading.good_runs
        assert isinstance(run, AnswerRun)  # noqa: S101  as `read` below makes it
        column_of = {name: column for column, name in reading.column_roles.items()}
        return cls(reading.file, run.rows, MappingProxyType(column_of), reading.unused_columns)


def read(head: Head, options: ReadOptions, progress: ReadProgress) -> Reading:
    """Read a table of corrections, as a run of its rows. See `format.ReadFunction`.

    Positions of right answers count from 1 where the options say that those of the file do.
    """
    frame = read_records(head, ColumnRoles({}), _TABLE, _NEEDED)
    column_of = _columns(frame.columns, head.file)
    rows = pl.DataFrame(
        [
            judge_strictly(_meaning(name, options), frame[column], head.file).alias(name)
            if name not in (LEAVE_OUT, REASON)
            else _flags(frame[column], head.file)
            if name == LEAVE_OUT
            else null_where(frame[column], is_missing(frame[column])).cast(pl.String).alias(REASON)
            for name, column in column_of.items()
        ]
    ).with_row_index("row", 1)
    rows = _complete(rows.with_columns(pl.col("row").cast(ROW_DTYPE)))
    rows = rows.filter(~pl.all_horizontal(pl.col(name).is_null() for name in column_of))
    if rows["id"].has_nulls():
        number = rows.filter(pl.col("id").is_null())["row"][0]
        raise Refused(f"{head.file}, row {number:,}, column {column_of['id']!r}: expected an id, found none.")
    rows = _one_a_question(rows, column_of["id"], head.file)
    progress(1.0, f"{rows.height:,} rows read")
    return Reading(
        file=head.file,
        format=CORRECTIONS.id,
        n_rows=frame.height,
        n_bad_rows=0,
        problems=(),
        good_runs=(
            AnswerRun(
                head.file,
                CORRECTIONS.id,
                head.file,
                RunInfo(),
                rows.with_columns(pl.col(LEAVE_OUT).fill_null(value=False)),
                RowCounts(rows.height),
            ),
        ),
        columns=tuple(frame.columns),
        unused_columns=tuple(column for column in frame.columns if column not in column_of.values()),
        column_roles={column: name for name, column in column_of.items()},
    )


def _columns(columns: Sequence[str], file: str) -> dict[str, str]:
    """Return name → the column that is read as it; raises Refused where ids or corrections are missing."""
    found = {name: named[0] for name in ("id",) if (named := columns_named(columns, ID_NAMES))}
    for name in (*NAMING_COLUMNS[1:], *CORRECTING_COLUMNS, REASON):
        if named := [column for column in columns if normalise_name(column) == normalise_name(name)]:
            found[name] = named[0]
    if not found.keys() & {*RIGHT_ANSWER_COLUMNS}:
        golds = [
            column for column in columns_named(columns, SPELLINGS["gold"]) if column not in found.values()
        ]
        if len(golds) > 1:
            raise Refused(
                f"{file}: {column_list_text(golds)} may each hold the corrected right answers. Rename the "
                "one that does to gold."
            )
        found |= dict(zip(("gold",), golds, strict=False))
    if "id" not in found or not found.keys() & {*CORRECTING_COLUMNS}:
        shown = ", ".join(repr(shorten(name, 40)) for name in columns[:20])
        raise Refused(f"{file} cannot be used as a {_TABLE}: its columns are {shown}. {_NEEDED}")
    return found


def _meaning(name: str, options: ReadOptions) -> MappedName:
    """Return how a column is read: right answers that are positions count as those of the file do."""
    of_file = map(MappedName.parse, options.columns.values())
    if name in ("gold", "gold_index") and any(one.is_counted_from_one for one in of_file):
        return MappedName("gold_index", is_counted_from_one=True)
    return MappedName(name)


def _flags(raw: pl.Series, file: str) -> pl.Series:
    judged = MappedName("correct").judge(raw)
    if judged.faults:
        fault = judged.faults[0]
        raise Refused(
            f"{file}, row {int(fault.positions[0]) + 1:,}, column {raw.name!r}: expected {_EXPECTED_FLAG}, "
            f"found {fault.examples[0]!r}."
        )
    return judged.values.alias(LEAVE_OUT)


def _complete(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with all columns; of positions that were counted from 1, only `gold_index`."""
    if "gold" in rows.columns and rows["gold"].dtype.is_integer():
        rows = rows.rename({"gold": "gold_index"})
    names = (*NAMING_COLUMNS, *CORRECTING_COLUMNS, REASON)
    dtypes = {LEAVE_OUT: pl.Boolean(), "shots": pl.Int64(), **ANSWER_SCHEMA}
    return rows.with_columns(
        pl.lit(None, dtypes.get(name, pl.String())).alias(name) for name in names if name not in rows.columns
    )


def _one_a_question(rows: pl.DataFrame, id_column: str, file: str) -> pl.DataFrame:
    """Return the rows without repeated ones; raises Refused where two correct a question differently."""
    distinct = rows.unique([*NAMING_COLUMNS, *CORRECTING_COLUMNS], keep="first", maintain_order=True)
    naming = pl.struct(NAMING_COLUMNS)
    repeated = distinct.filter(naming.is_duplicated())
    if repeated.height:
        first = repeated.filter(naming == naming.first())
        numbers = ", ".join(f"{number:,}" for number in first["row"].head(5).to_list())
        raise Refused(
            f"{file}: column {id_column!r} holds {shorten(repeated['id'][0], 40)!r} in rows {numbers}, "
            "which correct it differently. Keep one row per question."
        )
    return distinct


CORRECTIONS: Final = Format(
    "corrections table",
    "table of corrections",
    "ids and what is corrected",
    frozenset({"text", *JSON_KINDS, *COLUMNAR_KINDS}),
    lambda _head: False,
    read,
)
"""Read by name only, never recognised: no file of predictions is one."""
