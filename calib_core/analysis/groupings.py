"""By what can these runs be sorted: by a column of their rows, or by what is known of the runs themselves?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import polars as pl

from calib_core.analysis.subjects import mmlu_category
from calib_core.confidence.columns import column
from calib_core.records import AnswerRun, RunInfo

GroupTarget = Literal["rows", "runs"]

SUBJECT_ID: Final = "subject"
CATEGORY_ID: Final = "category"
COLUMN_PREFIX: Final = "column:"
"""Before the file's own name of a column, in a grouping's id."""

RUN_FACTS: Final[Mapping[str, str]] = {
    "shots": "shots", "params": "parameters", "tuning": "tuning", "model": "model", "dataset": "data set",
}
_FACT_FIELDS: Final[Mapping[str, str]] = {"params": "params_b"}


@dataclass(frozen=True, slots=True)
class GroupBy:
    """One way to sort. id: for addresses; title: for people; of: what is sorted."""

    id: str
    title: str
    target: GroupTarget


def group_by_choices(runs: Mapping[str, AnswerRun]) -> dict[str, GroupBy]:
    """Every way in which these runs can be sorted into two groups or more, those of rows first.

    A column of the rows counts where some run has two values or more in it; a fact where two runs differ.
    """
    found: dict[str, GroupBy] = {}
    names = dict.fromkeys(name for run in runs.values() for name in run.group_columns.columns)
    by_rows = [
        GroupBy(SUBJECT_ID, "subject", "rows"), GroupBy(CATEGORY_ID, "category", "rows"),
        *(GroupBy(f"{COLUMN_PREFIX}{name}", name, "rows") for name in names),
    ]
    for grouping in by_rows:
        if any(row_groups(run, grouping).drop_nulls().n_unique() > 1 for run in runs.values()):
            found[grouping.id] = grouping
    for id_, title in RUN_FACTS.items():
        if len({level for run in runs.values() if (level := fact_level(run.info, id_)) is not None}) > 1:
            found[id_] = GroupBy(id_, title, "runs")
    return found


def row_groups(run: AnswerRun, group_by: GroupBy) -> pl.Series:
    """The group of each row of a run: String, shape (rows,), null where it is in none."""
    if group_by.id.startswith(COLUMN_PREFIX):
        name = group_by.id.removeprefix(COLUMN_PREFIX)
        if name not in run.group_columns.columns:
            return pl.Series("group", [None], dtype=pl.String).new_from_index(0, run.rows.height)
        return run.group_columns[name].cast(pl.String).alias("group")
    subject = column(run, SUBJECT_ID).alias("group")
    if group_by.id == SUBJECT_ID:
        return subject
    known = {text: mmlu_category(text) for text in subject.drop_nulls().unique().to_list()}
    return subject.replace_strict(known, default=None, return_dtype=pl.String)


def fact_level(info: RunInfo, fact: str) -> str | None:
    """What a run says of a fact, in words: "5-shot", "7B", "chat"; None where it says nothing."""
    value = getattr(info, _FACT_FIELDS.get(fact, fact))
    if value is None:
        return None
    if fact == "shots":
        return f"{value}-shot"
    return parameter_count_text(value) if fact == "params" else str(value)


def ordered_levels(infos: Mapping[str, RunInfo], fact: str) -> list[str]:
    """The levels of a fact that runs have: numbers ascending, "base" before other tuning, else by name."""
    levels: dict[str, tuple[float, bool, str]] = {}
    for info in infos.values():
        level = fact_level(info, fact)
        if level is not None:
            value = getattr(info, _FACT_FIELDS.get(fact, fact))
            number = float(value) if isinstance(value, int | float) else 0.0
            levels[level] = (number, level.lower() not in ("base", "pretrained", "none"), level)
    return sorted(levels, key=levels.__getitem__)


def parameter_count_text(billions: float) -> str:
    """A number of parameters: "7B", "350M", "35k"."""
    for unit, letter in ((1.0, "B"), (1e-3, "M"), (1e-6, "k")):
        if billions >= unit:
            return f"{float(f'{billions / unit:.4g}'):g}{letter}"
    return f"{billions * 1e9:g}"
