"""Which rows of a file belong to which run, and what is each run called?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.readers.table.cells import CellFault, RowPositions, faults_where
from calib_core.runs import INFO_COLUMNS, RUN_COLUMNS, AnswerRun, RowCounts, RunInfo
from calib_core.wording import plural

_NO_GROUP_COLUMNS: Final = pl.DataFrame()

ANSWERS_SUFFIX: Final = ".answers"
"""What the names of the project's own files say before their ending: no part of a run's name."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where rows come from: the file as messages call it, its format's id, what its metadata says."""

    file: str
    format: str
    info: RunInfo


@dataclass(frozen=True, slots=True, eq=False)
class RowJudgement:
    """What is known of the rows beside their values; arrays of shape (rows,), positions within them.

    bad: rows to be left out; adrift: rows whose run cannot be told; clipped: file column → positions
    of moved values; off_sum: rows whose distribution sums to 1 only nearly; unread: file column →
    values that could not be read and are no fault, as in `Judged.unread`.
    """

    is_bad: NDArray[np.bool_]
    is_run_unknown: NDArray[np.bool_]
    clipped_positions: Mapping[str, RowPositions]
    inexact_sums: RowPositions
    unreadable: Mapping[str, pl.DataFrame]


def fill_run_columns(rows: pl.DataFrame, info: RunInfo) -> pl.DataFrame:
    """The rows with what the file's metadata says of the run, where the row does not say it itself."""
    told = {name: getattr(info, name) for name in RUN_COLUMNS if getattr(info, name) is not None}
    return rows.with_columns(
        (pl.col(name).fill_null(value) if name in rows.columns else pl.lit(value)).alias(name)
        for name, value in told.items()
    )


def repeated_id_faults(rows: pl.DataFrame, is_bad: NDArray[np.bool_]) -> tuple[CellFault, ...]:
    """Rows whose id came before in the same run and subject; the first of them is no fault.

    bad: rows that are left out anyway, so that their ids are free; shape (rows,).
    """
    if "id" not in rows.columns:
        return ()
    told = rows["id"].is_not_null() & pl.Series(~is_bad)
    ids = rows["id"] if told.all() else rows["id"].filter(told)
    if ids.hash().n_unique() == ids.len():  # much the quicker question, and it can only err the other way
        return ()
    key = _present_columns(rows, (*RUN_COLUMNS, "subject", "id"))
    among = rows.select(key).with_columns(at=pl.int_range(pl.len())).filter(told)
    again = among.filter(~pl.struct(key).is_first_distinct())["at"]
    mask = np.zeros(rows.height, np.bool_)
    mask[again.to_numpy()] = True
    return faults_where(
        rows["id"],
        pl.Series(mask),
        "repeated id",
        "an id that is not yet taken in its run and subject",
        "Give each question one row; other answers to it belong in samples, other runs differ in model, "
        "dataset, shots or checkpoint.",
    )


def split_into_runs(
    rows: pl.DataFrame,
    judgement: RowJudgement,
    origin: Origin,
    group_columns: pl.DataFrame = _NO_GROUP_COLUMNS,
) -> tuple[tuple[AnswerRun, ...], tuple[str, ...]]:
    """The runs in order of their first row, without bad rows; and notes on what belongs to no run.

    rows: as `identified`; others: as in `AnswerRun`, as high as `rows` or without columns.
    """
    parts = _run_masks(rows, judgement)
    labels: set[str] = set()
    runs: list[AnswerRun] = []
    notes: list[str] = []
    for member in parts:
        run = _build_run(rows, member, judgement, origin, group_columns)
        run = replace(run, label=unique_label(run.label, labels))
        if run.rows.height:
            runs.append(run)
        else:
            notes.append(f"All {run.row_counts.n_rows:,} rows of {run.label} are bad: the run is left out.")
    stray = int(judgement.is_run_unknown.sum()) if len(parts) > 1 else 0
    if stray:
        notes.append(f"{stray:,} bad rows belong to none of the runs, as what they say of their run is bad.")
    return tuple(runs), tuple(notes)


def _run_masks(rows: pl.DataFrame, judgement: RowJudgement) -> list[NDArray[np.bool_]]:
    """One mask a run. Rows adrift belong to the only run, or to none of several."""
    key = _present_columns(rows, RUN_COLUMNS)
    known = ~judgement.is_run_unknown
    if not key or not known.any():
        return [np.ones(rows.height, np.bool_)]
    groups = (
        rows.select(key)
        .with_columns(at=pl.int_range(pl.len()))
        .filter(pl.Series(known))
        .group_by(key, maintain_order=True)
        .agg("at")["at"]
    )
    if groups.len() == 1:
        return [np.ones(rows.height, np.bool_)]
    masks: list[NDArray[np.bool_]] = []
    for positions in groups:
        mask = np.zeros(rows.height, np.bool_)
        mask[positions.to_numpy()] = True
        masks.append(mask)
    return masks


def _build_run(
    rows: pl.DataFrame,
    mask: NDArray[np.bool_],
    judgement: RowJudgement,
    origin: Origin,
    group_columns: pl.DataFrame,
) -> AnswerRun:
    good = mask & ~judgement.is_bad
    good_rows = rows if good.all() else rows.filter(pl.Series(good))
    own = group_columns if good.all() or not group_columns.width else group_columns.filter(pl.Series(good))
    known = rows.select("row", *_present_columns(rows, INFO_COLUMNS)).filter(
        pl.Series(mask & ~judgement.is_run_unknown)
    )
    info, notes = run_info_from_rows(known, origin.info)
    clipped = {
        name: int(good[at].sum()) for name, at in judgement.clipped_positions.items() if good[at].any()
    }
    ledger = RowCounts(
        n_rows=int(mask.sum()),
        n_left_out=int((mask & judgement.is_bad).sum()),
        clipped=MappingProxyType(clipped),
        n_off_sum=int(good[judgement.inexact_sums].sum()),
        notes=notes + _unreadable_notes(judgement.unreadable, mask) + _single_choice_notes(good_rows),
    )
    kept = good_rows.drop(INFO_COLUMNS, strict=False)
    stem = file_stem(origin.file)
    label = info.label(stem.removesuffix(ANSWERS_SUFFIX) or stem)
    return AnswerRun(origin.file, origin.format, label, info, kept, ledger, own)


def run_info_from_rows(rows: pl.DataFrame, info: RunInfo) -> tuple[RunInfo, tuple[str, ...]]:
    """What the rows of one run (their `INFO_COLUMNS`) say of it, and what they disagree on.

    A row's word counts more than the metadata's.
    """
    told: dict[str, Any] = {}
    notes: list[str] = []
    for name in _present_columns(rows, INFO_COLUMNS):
        values = rows[name].drop_nulls().unique(maintain_order=True).head(3).to_list()
        if len(values) == 1:
            told[name] = values[0]
        elif len(values) > 1:
            told[name] = None
            shown = ", ".join(map(str, values[:2]))
            notes.append(f"{name} differs between rows of this run ({shown}, …), so the run has none.")
    return replace(info, **told), tuple(notes)


def _unreadable_notes(unreadable: Mapping[str, pl.DataFrame], mask: NDArray[np.bool_]) -> tuple[str, ...]:
    """A remark on each column of which values of this run could not be read."""
    notes: list[str] = []
    for column, values in unreadable.items():
        texts = values["found"].filter(pl.Series(mask[values["at"].to_numpy()]))
        if texts.len():
            shown = ", ".join(texts.unique(maintain_order=True).head(3))
            where = f"in {plural(texts.len(), 'row')} ({shown})"
            notes.append(f"{column} cannot be read as a number {where} and is not known there.")
    return tuple(notes)


def _single_choice_notes(rows: pl.DataFrame) -> tuple[str, ...]:
    """A remark on rows with one choice only."""
    name = next(iter(_present_columns(rows, ("choice_logprobs", "choice_probs"))), None)
    single = int((rows[name].list.len() == 1).sum()) if name else 0
    return (f"In {plural(single, 'row')} there is a single choice, which is always right.",) if single else ()


def _present_columns(rows: pl.DataFrame, names: Iterable[str]) -> list[str]:
    return [name for name in names if name in rows.columns]


def file_stem(file: str) -> str:
    """The file's name without its folders and its ending."""
    name = file.rsplit("/", 1)[-1]
    return name.rsplit(".", 1)[0] or name


def unique_label(label: str, used: set[str]) -> str:
    """The label, numbered where another run of the file has it already."""
    number, unique = 1, label
    while unique in used:
        number += 1
        unique = f"{label} ({number})"
    used.add(unique)
    return unique
