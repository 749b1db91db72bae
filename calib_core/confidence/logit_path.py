"""How probable are the tokens of the whole answer, its reasoning included?"""

from __future__ import annotations

from typing import Final

from calib_core.confidence.method import Confidences, Method, Options
from calib_core.confidence.outcomes import outcomes
from calib_core.confidence.scalar import Scalar, judged
from calib_core.confidence.token_means import mean_probability
from calib_core.problems import Unavailable
from calib_core.records import AnswerRun


def _of(run: AnswerRun, options: Options) -> Confidences:
    """Mean probability of the path's tokens; the stored mean where the run has no list of them."""
    if run.has("path_logprobs"):
        means, why = mean_probability(run.rows["path_logprobs"])
        scalar = Scalar(means, ("mean token probability",), computed=True, why=why)
    elif run.has("path_mean_prob"):
        scalar = Scalar(run.rows["path_mean_prob"], ("mean as stored",), computed=False)
    else:
        raise Unavailable("no column path_logprobs or path_mean_prob: every token's probability is needed")
    return judged(scalar, outcomes(run, run.info.path_of, options))


LOGIT_PATH: Final = Method(
    id="logit_path",
    title="logit w/ Path",
    source="mean of p(token) over the reasoning path and the answer; Wang et al., arXiv 2403.09849",
    needs="token log-probabilities of the whole answer (path_logprobs) or their mean probability "
    "(path_mean_prob); an outcome",
    of=_of,
)
