"""By what can these runs be sorted: by a column of their rows, or by what is known of the runs themselves?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import polars as pl

from calib_core.analysis.subjects import category_of
from calib_core.confidence.columns import column
from calib_core.records import AnswerRun, RunInfo

Of = Literal["rows", "runs"]

SUBJECT: Final = "subject"
CATEGORY: Final = "category"
OTHER: Final = "column:"
"""Before the file's own name of a column, in a grouping's id."""

FACTS: Final[Mapping[str, str]] = {
    "shots": "shots", "params": "parameters", "tuning": "tuning", "model": "model", "dataset": "data set",
}
_FIELD: Final[Mapping[str, str]] = {"params": "params_b"}


@dataclass(frozen=True, slots=True)
class Grouping:
    """One way to sort. id: for addresses; title: for people; of: what is sorted."""

    id: str
    title: str
    of: Of


def groupings(runs: Mapping[str, AnswerRun]) -> dict[str, Grouping]:
    """Every way in which these runs can be sorted into two groups or more, those of rows first.

    A column of the rows counts where some run has two values or more in it; a fact where two runs differ.
    """
    found: dict[str, Grouping] = {}
    names = dict.fromkeys(name for run in runs.values() for name in run.others.columns)
    by_rows = [
        Grouping(SUBJECT, "subject", "rows"), Grouping(CATEGORY, "category", "rows"),
        *(Grouping(f"{OTHER}{name}", name, "rows") for name in names),
    ]
    for grouping in by_rows:
        if any(row_groups(run, grouping).drop_nulls().n_unique() > 1 for run in runs.values()):
            found[grouping.id] = grouping
    for id_, title in FACTS.items():
        if len({level for run in runs.values() if (level := level_of(run.info, id_)) is not None}) > 1:
            found[id_] = Grouping(id_, title, "runs")
    return found


def row_groups(run: AnswerRun, grouping: Grouping) -> pl.Series:
    """The group of each row of a run: String, shape (rows,), null where it is in none."""
    if grouping.id.startswith(OTHER):
        name = grouping.id.removeprefix(OTHER)
        if name not in run.others.columns:
            return pl.Series("group", [None], dtype=pl.String).new_from_index(0, run.rows.height)
        return run.others[name].cast(pl.String).alias("group")
    subject = column(run, SUBJECT).alias("group")
    if grouping.id == SUBJECT:
        return subject
    known = {text: category_of(text) for text in subject.drop_nulls().unique().to_list()}
    return subject.replace_strict(known, default=None, return_dtype=pl.String)


def level_of(info: RunInfo, fact: str) -> str | None:
    """What a run says of a fact, in words: "5-shot", "7B", "chat"; None where it says nothing."""
    value = getattr(info, _FIELD.get(fact, fact))
    if value is None:
        return None
    if fact == "shots":
        return f"{value}-shot"
    return size_text(value) if fact == "params" else str(value)


def level_order(infos: Mapping[str, RunInfo], fact: str) -> list[str]:
    """The levels of a fact that runs have: numbers ascending, "base" before other tuning, else by name."""
    levels: dict[str, tuple[float, bool, str]] = {}
    for info in infos.values():
        level = level_of(info, fact)
        if level is not None:
            value = getattr(info, _FIELD.get(fact, fact))
            number = float(value) if isinstance(value, int | float) else 0.0
            levels[level] = (number, level.lower() not in ("base", "pretrained", "none"), level)
    return sorted(levels, key=levels.__getitem__)


def size_text(billions: float) -> str:
    """A number of parameters: "7B", "350M", "35k"."""
    for unit, letter in ((1.0, "B"), (1e-3, "M"), (1e-6, "k")):
        if billions >= unit:
            return f"{float(f'{billions / unit:.4g}'):g}{letter}"
    return f"{billions * 1e9:g}"
