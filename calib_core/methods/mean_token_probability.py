"""What is the mean probability of the tokens that the model wrote?

Two methods of Wang et al. (2024), arXiv:2403.09849: over the whole reasoning path, and over the answer alone.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from calib_core.errors import Unavailable
from calib_core.methods.answers.outcomes import RowConfidences, answer_outcomes, pair_with_outcomes
from calib_core.methods.columns import (
    as_float64,
    column,
    first_reason,
    flatten_rows,
    missing_columns_phrase,
    origin_phrases,
    usable_rows,
)
from calib_core.methods.method import Confidences, Method, MethodOptions
from calib_core.runs import AnswerRun


def mean_token_confidences(
    run: AnswerRun, logprobs: pl.Series, mean_column: str, options: MethodOptions
) -> Confidences:
    """The mean token probability of each row, paired with its outcome.

    Parameters
    ----------
    run : AnswerRun
        The run.
    logprobs : pl.Series of List(Float), shape (rows,)
        Token log-probabilities, as in `mean_token_probability`.
    mean_column : str
        Name of the column with a stored mean, used in rows without usable log-probabilities.
    options : MethodOptions
        Options of the method.

    Raises
    ------
    Unavailable
        If no row has both a mean and an outcome.
    """
    means, reason = mean_token_probability(logprobs)
    stored_means = column(run, mean_column)
    use_stored = reason.is_not_null() & stored_means.is_not_null()
    outcomes = answer_outcomes(run, run.info.path_of, options)
    reason = reason.set(use_stored, None)
    rows, _missing = usable_rows(run, reason.fill_null(outcomes.unknown_reason))
    is_stored = use_stored.gather(rows).to_numpy()
    confidences = RowConfidences(
        # Stored means keep their dtype unless computed ones stand beside them.
        stored_means if is_stored.all() else stored_means.cast(pl.Float64).zip_with(use_stored, means),
        origin_phrases(is_stored, "mean token probability", "mean as stored"),
        computed=not is_stored.all(),
        missing_reason=reason,
    )
    return pair_with_outcomes(run, confidences, outcomes)


def mean_token_probability(logprobs: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The arithmetic mean of the token probabilities of each row.

    Parameters
    ----------
    logprobs : pl.Series of List(Float), shape (rows,)
        Natural log-probabilities ≤ 0; −inf for probability 0.

    Returns
    -------
    means : pl.Series of Float64, shape (rows,)
        In [0, 1]; null where there is none.
    reasons : pl.Series of String, shape (rows,)
        Why a row has no mean; null where it has one.
    """
    count = logprobs.list.len()
    reason = first_reason(
        logprobs.len(),
        ("no token probabilities", logprobs.is_null() | (count == 0)),
        ("a token's log-probability is unknown", logprobs.list.drop_nulls().list.len() < count),
    )
    rows = np.flatnonzero(reason.is_null().to_numpy())
    means = np.full(logprobs.len(), np.nan)
    if rows.size:
        values, sizes = flatten_rows(logprobs, rows)
        probs = np.exp(values.astype(np.float64))
        means[rows] = np.add.reduceat(probs, np.cumsum(sizes) - sizes) / sizes
    return pl.Series("mean", means, nan_to_null=True), reason


def _path_confidences(run: AnswerRun, options: MethodOptions) -> Confidences:
    """Mean probability of the tokens of the reasoning path; the stored mean in rows without a list."""
    return mean_token_confidences(run, column(run, "path_logprobs"), "path_mean_prob", options)


LOGIT_PATH: Final = Method(
    id="logit_path",
    title="logit w/ Path",
    meaning="The mean probability of all tokens the model wrote: reasoning and answer.",
    source="mean of p(token) over the reasoning path and the answer; Wang et al., arXiv 2403.09849",
    needs="token log-probabilities of the whole answer (path_logprobs) or their mean probability "
    "(path_mean_prob); an outcome",
    compute=_path_confidences,
    columns=("path_logprobs", "path_mean_prob"),
    requirement="every token's probability is needed",
    is_baseline=True,
    display_rank=3,
    style=(4, "x", "12px,4px"),
)


def _answer_confidences(run: AnswerRun, options: MethodOptions) -> Confidences:
    """Mean probability of the answer's tokens; the stored mean in rows without a list."""
    spans = _answer_logprobs(run)
    if spans.null_count() == spans.len() and not run.has_columns("answer_mean_prob"):
        raise Unavailable(
            f"{missing_columns_phrase(run, 'answer_logprobs', 'answer_mean_prob')}, and no span "
            "answer_start to answer_end in path_logprobs: the probability of every token of the answer "
            "is needed"
        )
    return mean_token_confidences(run, spans, "answer_mean_prob", options)


def _answer_logprobs(run: AnswerRun) -> pl.Series:
    """Log-probabilities of the answer's tokens: answer_logprobs, otherwise its span in path_logprobs."""
    names = ("path_logprobs", "answer_logprobs", "answer_start", "answer_end")
    path, own, start, end = (pl.col(name) for name in names)
    # polars reads a span without an end as one to the end of the path.
    span = pl.when(start.is_not_null() & end.is_not_null()).then(path.list.slice(start, end - start))
    logprobs = (as_float64(column(run, name)) for name in names[:2])
    frame = pl.DataFrame([*logprobs, *(column(run, name) for name in names[2:])])
    return frame.select(span=pl.coalesce(own, span))["span"]


LOGIT_ANSWER: Final = Method(
    id="logit_answer",
    title="logit w/ Answer",
    meaning="The mean probability of the tokens of the answer alone.",
    source="mean of p(token) over the answer's tokens; Wang et al., arXiv 2403.09849",
    needs="token log-probabilities of the answer (answer_logprobs, or answer_start and answer_end in "
    "path_logprobs) or their mean probability (answer_mean_prob); an outcome",
    compute=_answer_confidences,
    columns=("answer_logprobs", "answer_mean_prob", "path_logprobs"),
    requirement="the probability of every token of the answer is needed",
    is_baseline=True,
    style=(1, "triangle-down", "4px,2px"),
)
