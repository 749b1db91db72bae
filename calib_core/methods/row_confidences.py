"""How does one number a row become pairs with an outcome?"""

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
    """One confidence a row, before anyone asks whether its answer is right.

    values: float16/32/64 in [0, 1] of shape (rows,), null where a row has none; recipe, remarks: as
    in `Confidences`; computed: as in `Pairs`; why: String of shape (rows,), why a row has no value,
    null where it has one; None: a null value is an empty confidence.
    """

    values: pl.Series
    recipe: tuple[str, ...]
    computed: bool
    missing_reason: pl.Series | None = None
    remarks: tuple[str, ...] = ()


def pair_with_outcomes(run: AnswerRun, confidences: RowConfidences, outcomes: Outcomes) -> Confidences:
    """The pairs of all rows with a value and an outcome; the values keep their dtype.

    Raises Unavailable where no row has both.
    """
    why = confidences.missing_reason
    if why is None:
        why = first_reason(confidences.values.len(), ("empty confidence", confidences.values.is_null()))
    rows, missing = usable_rows(run, why.fill_null(outcomes.unknown_reason))
    at = pl.Series(rows)
    pairs = Pairs(
        confidence=confidences.values.gather(at).to_numpy(),
        correct=outcomes.correct.gather(at).to_numpy().astype(np.bool_),
        rows=rows,
        computed=confidences.computed,
    )
    return Confidences(
        pairs=pairs,
        judged=outcomes.judged,
        recipe=(*confidences.recipe, *outcomes.recipe),
        missing=missing,
        remarks=(*confidences.remarks, *outcomes.remarks),
        answers=outcomes.answers.gather(at),
    )
