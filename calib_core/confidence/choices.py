"""What does a row of choices say: which choice is right, and how probable is each?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.confidence.answers import Normaliser, choice_name
from calib_core.confidence.columns import column, first_reason, usable
from calib_core.confidence.method import Confidences
from calib_core.pairs import Distribution
from calib_core.problems import Unavailable
from calib_core.records import AnswerRun


def choice_texts(rows: pl.DataFrame, position: NDArray[np.integer[Any]] | pl.Series) -> pl.Series:
    """The text of the choice at a position of each row, its letter where the file has no texts.

    rows: of a run's frame; position: 0-based, one a row. Returns String, null where the position is.
    """
    index = pl.Series("choice", position).cast(pl.Int64)
    name = choice_name(index)
    if "choices" not in rows.columns:
        return name
    return rows["choices"].list.get(index, null_on_oob=True).fill_null(name).alias("choice")


def right_choice(run: AnswerRun, count: pl.Series) -> pl.Series:
    """0-based index of the right choice: gold_index, else the choice that gold names.

    count: how many choices each row has, shape (rows,). Int64, null where the row does not tell it.
    """
    stored, gold = column(run, "gold_index").cast(pl.Int64), column(run, "gold")
    if (stored.is_not_null() | gold.is_null()).all():
        return stored
    rows = pl.int_range(run.rows.height, dtype=pl.UInt32, eager=True)
    normaliser = Normaliser.of(run)
    named = normaliser.choice_index(rows, gold)
    return stored.fill_null(named.set(named >= count.cast(pl.Int64), None))


@dataclass(frozen=True, slots=True, eq=False)
class ChoiceRows:
    """The usable rows of a run of choices: positions, the right choice of each, and what is missing."""

    rows: NDArray[np.intp]
    label: NDArray[np.int64]
    missing: Mapping[str, int]


def choice_rows(run: AnswerRun, values: pl.Series, what: str, *more: tuple[str, pl.Series]) -> ChoiceRows:
    """The rows with a number for every choice and a gold among the choices.

    values: List of floats, shape (rows,); what: their name ("log-probability"); more: further reasons
    against a row, as in `columns.first_reason`. Raises Unavailable where no row is left.
    """
    gold = column(run, "gold").is_not_null() | column(run, "gold_index").is_not_null()
    if not gold.any():
        raise Unavailable("no column gold: a top label is judged against gold, not by a stored outcome")
    count = values.list.len().cast(pl.Int64)
    label = right_choice(run, count)
    why = first_reason(
        run.rows.height,
        (f"no {what} of the choices", values.is_null() | (count == 0)),
        (f"a choice's {what} is unknown", values.list.drop_nulls().list.len().cast(pl.Int64) < count),
        *more,
        ("no gold", ~gold),
        ("the gold is none of the choices", label.is_null() | (label < 0) | (label >= count)),
    )
    rows, missing = usable(why)
    return ChoiceRows(rows, label.gather(pl.Series(rows)).to_numpy(), missing)


def flat(values: pl.Series, rows: NDArray[np.intp]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The numbers of some rows laid end to end, and how many each row has; the dtype is kept.

    values: List without null or empty rows among `rows`.
    """
    chosen = values.gather(pl.Series(rows))
    return chosen.explode().to_numpy(), chosen.list.len().cast(pl.Int64).to_numpy()


def softmax(scores: NDArray[np.float64], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """exp(score)/Σ exp(score) within each row, its largest score subtracted first.

    scores: rows end to end, shape (Σ sizes,), −inf for probability 0, no row all −inf. Float64 in [0, 1].
    """
    start = np.cumsum(sizes) - sizes
    weight = np.exp(scores - np.repeat(np.maximum.reduceat(scores, start), sizes))
    return weight / np.repeat(np.add.reduceat(weight, start), sizes)


def by_top_label(
    run: AnswerRun, distribution: Distribution, missing: Mapping[str, int], recipe: tuple[str, ...]
) -> Confidences:
    """The confidences of a method on choices: each row's top label, right or not by gold."""
    rows = pl.DataFrame({"choices": column(run, "choices").gather(pl.Series(distribution.rows))})
    return Confidences(
        pairs=distribution.top(),
        judged="its own top label",
        recipe=recipe,
        missing=missing,
        distribution=distribution,
        answers=choice_texts(rows, distribution.top_position),
    )
