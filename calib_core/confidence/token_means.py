"""What is the mean probability of the tokens in a list of log-probabilities?"""

from __future__ import annotations

import numpy as np
import polars as pl

from calib_core.confidence.choices import flatten_rows
from calib_core.confidence.columns import column, first_reason, origin_phrases, usable_rows
from calib_core.confidence.method import Confidences, MethodOptions
from calib_core.confidence.outcomes import answer_outcomes
from calib_core.confidence.scalar import RowConfidences, pair_with_outcomes
from calib_core.records import AnswerRun


def mean_token_confidences(run: AnswerRun, logprobs: pl.Series, mean_column: str, options: MethodOptions) -> Confidences:
    """The mean token probability of each row; where its tokens are not known, the column `mean` as stored.

    logprobs: as in `mean_probability`. Raises Unavailable where no row has either, or an outcome.
    """
    means, why = mean_token_probability(logprobs)
    own = column(run, mean_column)
    stored = why.is_not_null() & own.is_not_null()
    outcome = answer_outcomes(run, run.info.path_of, options)
    why = why.set(stored, None)
    rows, _missing = usable_rows(run, why.fill_null(outcome.unknown_reason))
    as_is = stored.gather(rows).to_numpy()
    scalar = RowConfidences(
        own if as_is.all() else own.cast(pl.Float64).zip_with(stored, means),
        origin_phrases(as_is, "mean token probability", "mean as stored"),
        computed=not as_is.all(),
        missing_reason=why,
    )
    return pair_with_outcomes(run, scalar, outcome)


def mean_token_probability(logprobs: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The arithmetic mean of exp(logprobs) of each row, and why a row has none.

    logprobs: List of floats, natural logs ≤ 0, −inf for probability 0, shape (rows,). Returns Float64 in
    [0, 1] and String, shape (rows,); exactly one of the two is null in each row.
    """
    count = logprobs.list.len()
    why = first_reason(
        logprobs.len(),
        ("no token probabilities", logprobs.is_null() | (count == 0)),
        ("a token's log-probability is unknown", logprobs.list.drop_nulls().list.len() < count),
    )
    rows = np.flatnonzero(why.is_null().to_numpy())
    means = np.full(logprobs.len(), np.nan)
    if rows.size:
        values, sizes = flatten_rows(logprobs, rows)
        probs = np.exp(values.astype(np.float64))
        means[rows] = np.add.reduceat(probs, np.cumsum(sizes) - sizes) / sizes
    return pl.Series("mean", means, nan_to_null=True), why
