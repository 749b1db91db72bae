"""Which rows of which run does a table of corrections name?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, cast

import polars as pl

from calib_core.advice import Advice, worded
from calib_core.errors import Refused, shorten
from calib_core.readers.table.corrections import CORRECTING_COLUMNS, REASON, CorrectionTable
from calib_core.runs import RUN_COLUMNS, AnswerRun
from calib_core.wording import join_names, plural

_MAX_SHOWN: Final = 5
_ID_COLUMNS: Final = ("id", "trial_of")


@dataclass(frozen=True, slots=True, eq=False)
class RowCorrections:
    """What a table corrects in each row of one run.

    Attributes
    ----------
    table : CorrectionTable
    rows : pl.DataFrame, as high as the run's rows
        `number`, the row of the table, null where it names no such question; `id` and `own_subject` of the
        run's own row; `CORRECTING_COLUMNS` and `reason`, null where the table gives nothing.
    """

    table: CorrectionTable
    rows: pl.DataFrame

    def place(self, name: str, where: pl.Series) -> str:
        """The first of some rows, as the table has it: "fixes.csv, row 3, column 'gold'"."""
        number = self.rows["number"].filter(where)[0]
        return f"{self.table.file}, row {number:,}, column {self.table.column_of.get(name, name)!r}"


def match_corrections(runs: Sequence[AnswerRun], table: CorrectionTable, file: str) -> list[RowCorrections]:
    """Find what a table corrects in each run of a file.

    Raises
    ------
    Refused
        If the table names no question of the file, or not clearly which.
    """
    found = [_match_run(run, table, file) for run in runs]
    named = pl.concat(
        [
            one.rows.filter(pl.col("number").is_not_null()).with_columns(
                own_dataset=pl.lit(run.info.dataset, pl.String)
            )
            for run, one in zip(runs, found, strict=True)
        ]
    )
    if not named.height:
        raise Refused(_no_match_text(runs, table, file))
    for name in ("subject", "dataset"):
        _refuse_several(named, name, table, file)
    return found


def table_notes(table: CorrectionTable, found: Sequence[RowCorrections]) -> Iterator[str]:
    """Which rows of the table name no question, and which of its columns are not read."""
    used = pl.concat([one.rows["number"] for one in found])
    unmatched = table.rows.filter(~pl.col("row").is_in(used.implode()))["id"].to_list()
    if unmatched:
        name = "names" if len(unmatched) == 1 else "name"
        rows = f"{plural(len(unmatched), 'row')} of {table.file}"
        yield f"{rows} {name} no question of the file ({_first_names(unmatched)})."
    if table.unused_columns:
        yield f"Columns of {table.file} that are not read: {_first_names(table.unused_columns)}."


def _match_run(run: AnswerRun, table: CorrectionTable, file: str) -> RowCorrections:
    """What the table corrects in each row of a run; raises Refused where the run lacks what names a row."""
    rows = table.rows.rename({"row": "number"})
    for name in ("subject", *RUN_COLUMNS):
        if rows[name].null_count() == rows.height:
            continue
        own = None if name == "subject" else getattr(run.info, name)
        if own is not None:
            rows = rows.filter(pl.col(name).is_null() | (pl.col(name).cast(pl.String) == str(own)))
        elif name != "subject" or not run.has_columns(name):
            raise Refused(_unknown_name_text(name, table, file))
    ids = [run.rows[name] for name in _ID_COLUMNS if run.has_columns(name)]
    if not ids:
        named = f"Name them: {Advice(columns={'COLUMN': 'id'})}"
        name_them = worded(named, on_page="Say below which column holds the ids.")
        raise Refused(f"{file} has no column id, by which {table.file} names the questions. {name_them}")
    no_subject = pl.Series([None], dtype=pl.String).new_from_index(0, run.rows.height)
    keys = pl.DataFrame(
        {
            "id": next((one for one in ids if one.is_in(rows["id"].implode()).any()), ids[0]),
            "own_subject": run.rows.get_column("subject", default=no_subject),
        }
    ).with_row_index("position")
    matched = keys.join(rows, on="id", maintain_order="left").filter(
        pl.col("subject").is_null() | (pl.col("subject") == pl.col("own_subject"))
    )
    repeated = matched.filter(pl.col("position").is_duplicated())
    if repeated.height:
        first = repeated.filter(pl.col("position") == pl.col("position").first())
        numbers = join_names([f"{number:,}" for number in first["number"].to_list()])
        raise Refused(
            f"{table.file}: rows {numbers} both correct the question {shorten(str(first['id'][0]), 40)!r} of "
            f"{run.label}. Keep one."
        )
    given = matched.select("position", "number", "subject", "dataset", *CORRECTING_COLUMNS, REASON)
    return RowCorrections(table, keys.join(given, on="position", how="left", maintain_order="left"))


def _refuse_several(named: pl.DataFrame, name: str, table: CorrectionTable, file: str) -> None:
    """Raise Refused where a row of the table names questions of several subjects, or of several data sets."""
    several = (
        named.filter(pl.col(name).is_null())
        .group_by("number", "id", maintain_order=True)
        .agg(pl.col(f"own_{name}").drop_nulls().unique(maintain_order=True))
        .filter(pl.col(f"own_{name}").list.len() > 1)
    )
    if several.height:
        values = cast("list[str]", several[f"own_{name}"][0].to_list())
        shown = join_names([repr(shorten(value, 40)) for value in values[:_MAX_SHOWN]])
        more = ", …" if len(values) > _MAX_SHOWN else ""
        raise Refused(
            f"{table.file}, row {several['number'][0]:,}: {file} has {shorten(several['id'][0], 40)!r} in "
            f"several values of {name} ({shown}{more}), so which question is meant is not clear. Add the "
            f"column {name} to {table.file}."
        )


def _unknown_name_text(name: str, table: CorrectionTable, file: str) -> str:
    advice = worded(
        f"name the column that does ({Advice(columns={'COLUMN': name})})",
        on_page="say below which column does",
    )
    return (
        f"{table.file} names questions by {name}, and nothing in {file} says its {name}. Either {advice}, or "
        f"leave the column {table.column_of.get(name, name)!r} out of {table.file}."
    )


def _no_match_text(runs: Sequence[AnswerRun], table: CorrectionTable, file: str) -> str:
    ids = [run.rows[name] for run in runs for name in _ID_COLUMNS if run.has_columns(name)]
    own = dict.fromkeys(id_ for one in ids for id_ in one.drop_nulls().head(_MAX_SHOWN))
    return (
        f"{table.file} corrects no question of {file}: its column {table.column_of['id']!r} holds "
        f"{_first_names(table.rows['id'].to_list(), always_more=True)}, and the file's ids are "
        f"{_first_names([*own], always_more=True)}. Give the table whose ids are those of the file."
    )


def _first_names(names: Sequence[str], *, always_more: bool = False) -> str:
    shown = ", ".join(shorten(name, 40) for name in names[:_MAX_SHOWN])
    if always_more:
        return f"{shown} …"
    return f"{shown}, …" if len(names) > _MAX_SHOWN else shown
