"""How probable are the tokens of the answer itself, its reasoning left out?"""

from __future__ import annotations

from typing import Final

import polars as pl

from calib_core.confidence.columns import as_float64, column, missing_columns_phrase
from calib_core.confidence.method import Confidences, Method, MethodOptions
from calib_core.confidence.token_means import mean_token_confidences
from calib_core.problems import Unavailable
from calib_core.records import AnswerRun


def _answer_confidences(run: AnswerRun, options: MethodOptions) -> Confidences:
    """Mean probability of the answer's tokens; the stored mean in a row without a list of them."""
    spans = _answer_logprobs(run)
    if spans.null_count() == spans.len() and not run.has_columns("answer_mean_prob"):
        raise Unavailable(
            f"{missing_columns_phrase(run, 'answer_logprobs', 'answer_mean_prob')}, and no span answer_start to answer_end "
            "in path_logprobs: the probability of every token of the answer is needed"
        )
    return mean_token_confidences(run, spans, "answer_mean_prob", options)


def _answer_logprobs(run: AnswerRun) -> pl.Series:
    """Log-probabilities of the answer's tokens: answer_logprobs, else its span in path_logprobs."""
    names = ("path_logprobs", "answer_logprobs", "answer_start", "answer_end")
    path, own, start, end = (pl.col(name) for name in names)
    # An open span would be read as one up to the path's end.
    span = pl.when(start.is_not_null() & end.is_not_null()).then(path.list.slice(start, end - start))
    logprobs = (as_float64(column(run, name)) for name in names[:2])
    frame = pl.DataFrame([*logprobs, *(column(run, name) for name in names[2:])])
    return frame.select(span=pl.coalesce(own, span))["span"]


LOGIT_ANSWER: Final = Method(
    id="logit_answer",
    title="logit w/ Answer",
    meaning=(
        "The mean probability of the tokens of the answer alone, as the model gave them when it wrote "
        "them."
    ),
    source="mean of p(token) over the answer's tokens; Wang et al., arXiv 2403.09849",
    needs="token log-probabilities of the answer (answer_logprobs, or answer_start and answer_end in "
    "path_logprobs) or their mean probability (answer_mean_prob); an outcome",
    compute=_answer_confidences,
    is_baseline=True,
    style=(1, "triangle-down", "4px,2px"),
)
