"""How does one confidence per row become a pair with an outcome?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from calib_core.methods.answers.outcomes import Outcomes
from calib_core.methods.columns import first_reason, usable_rows
from calib_core.methods.method import Confidences
from calib_core.pairs import Pairs
from calib_core.runs import AnswerRun


@dataclass(frozen=True, slots=True, eq=False)
class RowConfidences:
    """One confidence per row, without outcomes.

    Attributes
    ----------
    values : pl.Series of Float16, Float32 or Float64, shape (rows,)
        Confidences in [0, 1]; null where a row has none.
    recipe, remarks : tuple of str
        As in `Confidences`.
    computed : bool
        As in `Pairs`.
    missing_reason : pl.Series of String or None, shape (rows,)
        Why a row has no confidence, null where it has one; None if every null is an empty cell.
    """

    values: pl.Series
    recipe: tuple[str, ...]
    computed: bool
    missing_reason: pl.Series | None = None
    remarks: tuple[str, ...] = ()


def pair_with_outcomes(run: AnswerRun, confidences: RowConfidences, outcomes: Outcomes) -> Confidences:
    """The pairs of all rows that have both a confidence and an outcome; confidences keep their dtype.

    Raises
    ------
    Unavailable
        If no row has both.
    """
    reason = confidences.missing_reason
    if reason is None:
        reason = first_reason(confidences.values.len(), ("empty confidence", confidences.values.is_null()))
    rows, missing = usable_rows(run, reason.fill_null(outcomes.unknown_reason))
    positions = pl.Series(rows)
    pairs = Pairs(
        confidence=confidences.values.gather(positions).to_numpy(),
        correct=outcomes.correct.gather(positions).to_numpy().astype(np.bool_),
        rows=rows,
        computed=confidences.computed,
    )
    return Confidences(
        pairs=pairs,
        judged=outcomes.judged,
        recipe=(*confidences.recipe, *outcomes.recipe),
        missing=missing,
        remarks=(*confidences.remarks, *outcomes.remarks),
        answers=outcomes.answers.gather(positions),
    )
