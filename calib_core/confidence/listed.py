"""How probable is the top label where a choice is missing from the list of likely tokens?

A server lists its likeliest tokens only. A choice that is not among them is not known: it is at most as
probable as the last of the list, and at most what the list leaves over. Where that is less than the likeliest
choice has, the top label is certain and its share has bounds; the whole distribution stays unknown.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.confidence.columns import as_float64, column
from calib_core.confidence.method import Confidences
from calib_core.records import AnswerRun


@dataclass(frozen=True, slots=True, eq=False)
class CompletedChoices:
    """Log-probabilities of the choices, those not listed taken for impossible where the top label is certain.

    logprobs: List(Float64), shape (rows,), a null left where the top label may be an unlisted choice; excess:
    Float64, by how much the share of the top label may be too high, null in a row without unlisted choices.
    """

    logprobs: pl.Series
    max_excess: pl.Series


def complete_unlisted(run: AnswerRun, logprobs: pl.Series) -> CompletedChoices:
    """The log-probabilities of a run whose file says how probable an unlisted choice can be at most."""
    probs = logprobs.list.eval(pl.element().exp())
    frame = pl.DataFrame({
        "logprobs": logprobs,
        "unlisted": probs.list.len() - probs.list.drop_nulls().list.len(),
        "known": probs.list.sum(),
        "top": probs.list.max(),
        "floor": column(run, "choice_logprob_floor").cast(pl.Float64).exp(),
        "other": column(run, "choice_other_mass").cast(pl.Float64).fill_null(0.0),
    })
    rest = (1 - pl.col("known") - pl.col("other")).clip(lower_bound=0.0)
    more = pl.min_horizontal(pl.col("unlisted") * pl.col("floor"), rest)
    certain = (pl.col("unlisted") > 0) & (pl.min_horizontal("floor", rest) < pl.col("top"))
    upper, lower = pl.col("top") / pl.col("known"), pl.col("top") / (pl.col("known") + more)
    excess = frame.select(pl.when(certain & pl.col("floor").is_not_null()).then(upper - lower))
    partly = excess.to_series().is_not_null()
    filled = as_float64(logprobs).list.eval(pl.element().fill_null(-np.inf))
    return CompletedChoices(filled.zip_with(partly, logprobs), excess.to_series().alias("excess"))


def remark_unlisted(confidences: Confidences, max_excess: pl.Series, rows: NDArray[np.intp]) -> Confidences:
    """What is said of top labels, without a whole distribution where a used row lacks a choice.

    excess: as in `Closed`; rows: the used ones.
    """
    over = max_excess.gather(pl.Series(rows)).drop_nulls()
    if not over.len():
        return confidences
    whole, largest = rows.size, float(np.max(over.to_numpy()))
    have = "1 row has" if over.len() == 1 else f"{over.len():,} rows have"
    remark = (
        f"{have} a choice that is not among the listed tokens: it is taken for impossible, so that the "
        f"confidence there is an upper bound, at most {largest:.3g} too high"
    )
    recipe = ("top label", f"{over.len():,} of {whole:,} over the listed choices alone")
    return replace(
        confidences,
        recipe=(*confidences.recipe, *recipe),
        remarks=(*confidences.remarks, remark),
        distribution=None,
        undistributed=f"{have} a choice that is not among the listed tokens: of such rows, mostly the "
        "surest, no whole distribution is known.",
    )
