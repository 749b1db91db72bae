"""Where do right answers come from, if the file that was read has none?  From a table that a person names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import polars as pl

from calib_core.files.reading import Reading
from calib_core.files.tables.gold_table import read_gold_table
from calib_core.problems import Refused, shorten
from calib_core.records import AnswerRun
from calib_core.wording import plural

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
