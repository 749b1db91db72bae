"""Splits the rows of a file into runs, and describes and labels each run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.advice import Advice
from calib_core.errors import shorten, single_line
from calib_core.readers.archives import PACKED_SUFFIXES
from calib_core.readers.format import Reading
from calib_core.readers.table.cells import CellFault, RowPositions, faults_where
from calib_core.runs import INFO_COLUMNS, RUN_COLUMNS, AnswerRun, RowCounts, Run, RunInfo
from calib_core.wording import join_names, plural

MAX_DATASET_LENGTH: Final = 60
"""Of a name that a person gives a data set, in characters."""

REPEATED_ID: Final = "repeated id"
"""The kind of fault of a row whose id occurred before."""

_NO_GROUP_COLUMNS: Final = pl.DataFrame()

ANSWERS_SUFFIX: Final = ".answers"
"""The part of the names of canonical files before their ending; not part of a run's label."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where rows come from.

    Attributes
    ----------
    file
        What messages call the file.
    format
        The id of its format.
    info
        What the file's metadata says of its runs.
    """

    file: str
    format: str
    info: RunInfo


@dataclass(frozen=True, slots=True, eq=False)
class RowJudgement:
    """What the checks found out about the rows of a file.

    Attributes
    ----------
    is_bad : NDArray[np.bool_], shape (n,)
        Rows to be left out.
    is_run_unknown : NDArray[np.bool_], shape (n,)
        Rows whose run is unknown.
    clipped_positions
        Column of the file → positions of clipped values.
    inexact_sums
        Rows whose distribution sums to 1 only approximately.
    unreadable
        Column of the file → values that are unreadable but no fault, as in `JudgedColumn.unreadable`.
    """

    is_bad: NDArray[np.bool_]
    is_run_unknown: NDArray[np.bool_]
    clipped_positions: Mapping[str, RowPositions]
    inexact_sums: RowPositions
    unreadable: Mapping[str, pl.DataFrame]


def fill_run_columns(rows: pl.DataFrame, info: RunInfo) -> pl.DataFrame:
    """Fill in the run columns of rows with what the file's metadata says; values of the rows win."""
    known = {name: getattr(info, name) for name in RUN_COLUMNS if getattr(info, name) is not None}
    return rows.with_columns(
        (pl.col(name).fill_null(value) if name in rows.columns else pl.lit(value)).alias(name)
        for name, value in known.items()
    )


def repeated_id_faults(rows: pl.DataFrame, is_bad: NDArray[np.bool_], source: str) -> tuple[CellFault, ...]:
    """Find rows whose id occurred before in the same run and subject; the first occurrence is not a fault.

    Parameters
    ----------
    rows
        All rows.
    is_bad : NDArray[np.bool_], shape (n,)
        Rows that are left out anyway, so that their ids do not count.
    source
        The file's own name of the column, for the advice.
    """
    if "id" not in rows.columns:
        return ()
    is_counted = rows["id"].is_not_null() & pl.Series(~is_bad)
    ids = rows["id"] if is_counted.all() else rows["id"].filter(is_counted)
    if ids.hash().n_unique() == ids.len():  # a fast test: distinct hashes prove distinct ids
        return ()
    key = _present_columns(rows, (*RUN_COLUMNS, "subject", "id"))
    keys = rows.select(key).with_columns(index=pl.int_range(pl.len())).filter(is_counted)
    repeated = keys.filter(~pl.struct(key).is_first_distinct())["index"]
    mask = np.zeros(rows.height, np.bool_)
    mask[repeated.to_numpy()] = True
    return faults_where(
        rows["id"],
        pl.Series(mask),
        REPEATED_ID,
        "an id that is not yet taken in its run and subject",
        "If the row asks that question again, have the column say so: "
        f"{Advice(columns={source: 'trial_of'})}. "
        "If it belongs to another run, give it a column model, dataset, shots or checkpoint.",
    )


def split_into_runs(
    rows: pl.DataFrame,
    judgement: RowJudgement,
    origin: Origin,
    group_columns: pl.DataFrame = _NO_GROUP_COLUMNS,
) -> tuple[tuple[AnswerRun, ...], tuple[str, ...]]:
    """Split rows into runs by their run columns.

    Parameters
    ----------
    rows
        All rows, with run columns filled in (`fill_run_columns`).
    judgement
        What the checks found out about the rows.
    origin
        Where the rows come from.
    group_columns
        As `AnswerRun.group_columns`: as many rows as `rows`, or no columns.

    Returns
    -------
    tuple
        The runs without bad rows, in order of their first row, and notes on runs and rows left out.
    """
    masks = _run_masks(rows, judgement)
    labels: set[str] = set()
    runs: list[AnswerRun] = []
    notes: list[str] = []
    for mask in masks:
        run = _build_run(rows, mask, judgement, origin, group_columns)
        run = replace(run, label=unique_label(run.label, labels))
        if run.rows.height:
            runs.append(run)
        else:
            n_rows = run.row_counts.n_rows
            subject = "The only row" if n_rows == 1 else f"All {n_rows:,} rows"
            are = "is" if n_rows == 1 else "are"
            notes.append(f"{subject} of {run.label} {are} bad: the run is left out.")
    n_unknown = int(judgement.is_run_unknown.sum()) if len(masks) > 1 else 0
    if n_unknown:
        belong, says = ("belongs", "it says of its") if n_unknown == 1 else ("belong", "they say of their")
        notes.append(
            f"{plural(n_unknown, 'bad row')} {belong} to none of the runs, because what {says} run is bad."
        )
    return tuple(runs), tuple(notes)


def _run_masks(rows: pl.DataFrame, judgement: RowJudgement) -> list[NDArray[np.bool_]]:
    """Return one mask per run; rows of unknown run belong to the only run, or to none of several."""
    key = _present_columns(rows, RUN_COLUMNS)
    known = ~judgement.is_run_unknown
    if not key or not known.any():
        return [np.ones(rows.height, np.bool_)]
    groups = (
        rows.select(key)
        .with_columns(index=pl.int_range(pl.len()))
        .filter(pl.Series(known))
        .group_by(key, maintain_order=True)
        .agg("index")["index"]
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
    good_group_columns = group_columns
    if group_columns.width and not good.all():
        good_group_columns = group_columns.filter(pl.Series(good))
    known, is_known = (
        rows.select("row", *_present_columns(rows, INFO_COLUMNS)),
        mask & ~judgement.is_run_unknown,
    )
    if not is_known.all():
        known = known.filter(pl.Series(is_known))
    info, notes = run_info_from_rows(known, origin.info)
    clipped = {
        name: int(good[positions].sum())
        for name, positions in judgement.clipped_positions.items()
        if good[positions].any()
    }
    row_counts = RowCounts(
        n_rows=int(mask.sum()),
        n_left_out=int((mask & judgement.is_bad).sum()),
        clipped=MappingProxyType(clipped),
        n_inexact_sums=int(good[judgement.inexact_sums].sum()),
        notes=(
            *notes,
            *_unreadable_notes(judgement.unreadable, mask),
            *_single_choice_notes(good_rows),
            *_instruction_notes(good_rows),
        ),
    )
    stem = file_stem(origin.file)
    return AnswerRun(
        origin.file,
        origin.format,
        info.label(stem.removesuffix(ANSWERS_SUFFIX) or stem),
        info,
        good_rows.drop(INFO_COLUMNS, strict=False),
        row_counts,
        good_group_columns,
    )


def _instruction_notes(rows: pl.DataFrame) -> tuple[str, ...]:
    """Note that a text which all rows have tells no questions apart."""
    if "question" not in rows.columns or rows.height < 2 or rows["question"].has_nulls():
        return ()
    is_named = "trial_of" in rows.columns and rows["trial_of"].null_count() < rows.height
    if is_named or rows["question"].n_unique() > 1:
        return ()
    instruction = "All rows have the same text in question, which is taken for an instruction."
    return (f"{instruction} If they repeat one question, name it in trial_of.",)


def run_info_from_rows(rows: pl.DataFrame, info: RunInfo) -> tuple[RunInfo, tuple[str, ...]]:
    """Describe a run by the `INFO_COLUMNS` of its rows, which win over the metadata in `info`.

    Returns
    -------
    tuple
        The description, and notes on columns that differ between rows.
    """
    fields: dict[str, Any] = {}
    notes: list[str] = []
    for name in _present_columns(rows, INFO_COLUMNS):
        values = rows[name].drop_nulls().unique(maintain_order=True).head(3).to_list()
        if len(values) == 1:
            fields[name] = values[0]
        elif len(values) > 1:
            fields[name] = None
            shown = ", ".join(map(str, values[:2]))
            notes.append(f"{name} differs between rows of this run ({shown}, …), so the run has none.")
    return replace(info, **fields), tuple(notes)


def _unreadable_notes(unreadable: Mapping[str, pl.DataFrame], mask: NDArray[np.bool_]) -> tuple[str, ...]:
    """Write a note on each column with values of this run that could not be read."""
    notes: list[str] = []
    for column, values in unreadable.items():
        texts = values["found"].filter(pl.Series(mask[values["at"].to_numpy()]))
        if texts.len():
            shown = ", ".join(texts.unique(maintain_order=True).head(3))
            where = f"in {plural(texts.len(), 'row')} ({shown})"
            notes.append(f"{column} cannot be read as a number {where} and is unknown there.")
    return tuple(notes)


def _single_choice_notes(rows: pl.DataFrame) -> tuple[str, ...]:
    """Write a note on rows with a single choice."""
    name = next(iter(_present_columns(rows, ("choice_logprobs", "choice_logits", "choice_probs"))), None)
    n_single = int((rows[name].list.len() == 1).sum()) if name else 0
    if not n_single:
        return ()
    return (f"In {plural(n_single, 'row')} there is a single choice, which is always right.",)


def with_dataset(reading: Reading, name: str) -> Reading:
    """Name the data set of the runs of a file that have none; a run that names its own keeps it.

    Parameters
    ----------
    reading
        What was read of the file.
    name
        What the data are called, on one line of at most `MAX_DATASET_LENGTH` characters; "" changes
        nothing. Where every run names its own, a note says so.
    """
    name = single_line(name, MAX_DATASET_LENGTH)
    if not name or not reading.good_runs:
        return reading
    labels: set[str] = set()
    runs = tuple(_with_dataset(run, name, labels) for run in reading.good_runs)
    if any(run.info.dataset is None for run in reading.good_runs):
        return replace(reading, good_runs=runs)
    own = join_names(list(dict.fromkeys(shorten(str(run.info.dataset)) for run in runs)))
    note = f"The file names its data set itself ({own}), so “{shorten(name)}” is not used."
    return replace(reading, notes=(*reading.notes, note))


def _with_dataset(run: Run, name: str, labels: set[str]) -> Run:
    """Return the run as one of this data set, unless it has its own."""
    info = run.info if run.info.dataset is not None else replace(run.info, dataset=name)
    label = run.label if info is run.info else info.label("")
    if not run.info.label(""):  # so it is called as its file is
        label = f"{run.label} · {name}"
    return replace(run, info=info, label=unique_label(label, labels))


def _present_columns(rows: pl.DataFrame, names: Iterable[str]) -> list[str]:
    return [name for name in names if name in rows.columns]


def file_stem(file: str) -> str:
    """Return a file's name without folders and suffix, and without that of a packed file.

    Examples
    --------
    >>> file_stem("runs/mmlu.csv"), file_stem("mmlu.csv.gz")
    ('mmlu', 'mmlu')
    """
    name = file.rsplit("/", 1)[-1]
    if name.lower().endswith(PACKED_SUFFIXES):
        name = name.rsplit(".", 1)[0]
    return name.rsplit(".", 1)[0] or name


def unique_label(label: str, used: set[str]) -> str:
    """Return the label, numbered if it is in `used`, and add it to `used`."""
    number, unique = 1, label
    while unique in used:
        number += 1
        unique = f"{label} ({number})"
    used.add(unique)
    return unique
