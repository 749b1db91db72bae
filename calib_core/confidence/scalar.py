"""How does one number a row become pairs with an outcome?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from calib_core.confidence.columns import first_reason, usable
from calib_core.confidence.method import Confidences
from calib_core.confidence.outcomes import Outcomes
from calib_core.pairs import Pairs
from calib_core.records import AnswerRun


@dataclass(frozen=True, slots=True, eq=False)
class Scalar:
    """One confidence a row, before anyone asks whether its answer is right.

    values: float16/32/64 in [0, 1] of shape (rows,), null where a row has none; recipe, remarks: as
    in `Confidences`; computed: as in `Pairs`; why: String of shape (rows,), why a row has no value,
    null where it has one; None: a null value is an empty confidence.
    """

    values: pl.Series
    recipe: tuple[str, ...]
    computed: bool
    why: pl.Series | None = None
    remarks: tuple[str, ...] = ()


def judged(run: AnswerRun, scalar: Scalar, outcome: Outcomes) -> Confidences:
    """The pairs of all rows with a value and an outcome; the values keep their dtype.

    Raises Unavailable where no row has both.
    """
    why = scalar.why
    if why is None:
        why = first_reason(scalar.values.len(), ("empty confidence", scalar.values.is_null()))
    rows, missing = usable(run, why.fill_null(outcome.why))
    at = pl.Series(rows)
    pairs = Pairs(
        confidence=scalar.values.gather(at).to_numpy(),
        correct=outcome.correct.gather(at).to_numpy().astype(np.bool_),
        rows=rows,
        computed=scalar.computed,
    )
    return Confidences(
        pairs=pairs,
        judged=outcome.judged,
        recipe=(*scalar.recipe, *outcome.recipe),
        missing=missing,
        remarks=(*scalar.remarks, *outcome.remarks),
        answers=outcome.answers.gather(at),
    )
