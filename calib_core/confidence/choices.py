"""What does a row of choices say: which choice is right, and how probable is each?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.confidence.answers import choice_label
from calib_core.confidence.columns import column, first_reason, missing_columns_phrase, usable_rows
from calib_core.confidence.method import Confidences
from calib_core.pairs import Distribution
from calib_core.problems import Unavailable
from calib_core.records import AnswerRun


def choice_texts(rows: pl.DataFrame, position: NDArray[np.integer[Any]] | pl.Series) -> pl.Series:
    """The text of the choice at a position of each row, its letter where the file has no texts.

    rows: of a run's frame; position: 0-based, one a row. Returns String, null where the position is.
    """
    index = pl.Series("choice", position).cast(pl.Int64)
    name = choice_label(index)
    if "choices" not in rows.columns:
        return name
    return rows["choices"].list.get(index, null_on_oob=True).fill_null(name).alias("choice")


@dataclass(frozen=True, slots=True, eq=False)
class ChoiceRows:
    """The usable rows of a run of choices: positions, the right choice of each, and what is missing."""

    rows: NDArray[np.intp]
    target: NDArray[np.int64]
    missing: Mapping[str, int]


def choice_rows(run: AnswerRun, values: pl.Series, quantity: str, *reasons: tuple[str, pl.Series]) -> ChoiceRows:
    """The rows with a number for every choice and one right choice, by the position its reader found.

    values: List of floats, shape (rows,); what: their name ("log-probability"); more: further reasons
    against a row, as in `columns.first_reason`. Raises Unavailable where no row is left.
    """
    if not any(run.has_columns(name) for name in ("gold", "gold_index", "gold_all")):
        raise Unavailable(
            f"{missing_columns_phrase(run, 'gold')}: a top label is judged against gold, not by a stored outcome"
        )
    count = values.list.len().cast(pl.Int64)
    label = column(run, "gold_index").cast(pl.Int64)
    why = first_reason(
        run.rows.height,
        (f"no {quantity} of the choices", values.is_null() | (count == 0)),
        (f"a choice's {quantity} is unknown", ~is_complete(values)),
        *more,
        ("several right choices", column(run, "gold_all").list.n_unique() > 1),
        ("no gold", label.is_null()),
    )
    rows, missing = usable_rows(run, why)
    return ChoiceRows(rows, label.gather(pl.Series(rows)).to_numpy(), missing)


def is_complete(values: pl.Series) -> pl.Series:
    """Whether each row has a number for every one of its choices: Boolean, never null."""
    count = values.list.len()
    return ((count > 0) & (values.list.drop_nulls().list.len() == count)).fill_null(value=False)


def flatten_rows(values: pl.Series, rows: NDArray[np.intp]) -> tuple[NDArray[Any], NDArray[np.int64]]:
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


def top_label_confidences(
    run: AnswerRun, distribution: Distribution, missing: Mapping[str, int], recipe: tuple[str, ...]
) -> Confidences:
    """The confidences of a method on choices: each row's top label, right or not by gold."""
    rows = pl.DataFrame({"choices": column(run, "choices").gather(pl.Series(distribution.rows))})
    return Confidences(
        pairs=distribution.top_label_pairs(),
        judged="its own top label",
        recipe=recipe,
        missing=missing,
        distribution=distribution,
        answers=choice_texts(rows, distribution.top_index),
    )
