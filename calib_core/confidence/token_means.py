"""What is the mean probability of the tokens in a list of log-probabilities?"""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from calib_core.confidence.choices import flat
from calib_core.confidence.columns import first_reason

ROUNDING: Final = 1e-6
"""A log-probability this far above 0 is rounding."""


def mean_probability(logprobs: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The arithmetic mean of exp(logprobs) of each row, and why a row has none.

    logprobs: List of floats, natural logs, −inf for probability 0, shape (rows,). Returns Float64 in
    [0, 1] and String, shape (rows,); exactly one of the two is null in each row.
    """
    count = logprobs.list.len()
    why = first_reason(
        logprobs.len(),
        ("no token log-probabilities", logprobs.is_null() | (count == 0)),
        ("a token's log-probability is unknown", logprobs.list.drop_nulls().list.len() < count),
        ("a token's log-probability is above 0", logprobs.list.max() > ROUNDING),
    )
    rows = np.flatnonzero(why.is_null().to_numpy())
    means = np.full(logprobs.len(), np.nan)
    if rows.size:
        values, sizes = flat(logprobs, rows)
        probs = np.minimum(np.exp(values.astype(np.float64)), 1.0)
        means[rows] = np.minimum(np.add.reduceat(probs, np.cumsum(sizes) - sizes) / sizes, 1.0)
    return pl.Series("mean", means, nan_to_null=True), why
