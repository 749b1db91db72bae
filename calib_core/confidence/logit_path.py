"""How probable are the tokens of the whole answer, its reasoning included?"""

from __future__ import annotations

from typing import Final

from calib_core.confidence.columns import column, missing_columns_phrase
from calib_core.confidence.method import Confidences, Method, MethodOptions
from calib_core.confidence.token_means import mean_token_confidences
from calib_core.problems import Unavailable
from calib_core.records import AnswerRun


def _path_confidences(run: AnswerRun, options: MethodOptions) -> Confidences:
    """Mean probability of the path's tokens; the stored mean in a row without a list of them."""
    if not run.has_columns("path_logprobs") and not run.has_columns("path_mean_prob"):
        lack = missing_columns_phrase(run, "path_logprobs", "path_mean_prob")
        raise Unavailable(f"{lack}: every token's probability is needed")
    return mean_token_confidences(run, column(run, "path_logprobs"), "path_mean_prob", options)


LOGIT_PATH: Final = Method(
    id="logit_path",
    title="logit w/ Path",
    meaning="The mean probability of all tokens that the model wrote, its reasoning and the answer.",
    source="mean of p(token) over the reasoning path and the answer; Wang et al., arXiv 2403.09849",
    needs="token log-probabilities of the whole answer (path_logprobs) or their mean probability "
    "(path_mean_prob); an outcome",
    compute=_path_confidences,
    is_baseline=True,
    display_rank=3,
    style=(4, "x", "12px,4px"),
)
