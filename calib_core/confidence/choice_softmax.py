"""How probable is each choice, among the choices?"""

from __future__ import annotations

from typing import Final

import numpy as np

from calib_core.confidence.choices import by_top_label, choice_rows, flat, softmax
from calib_core.confidence.columns import as_float64
from calib_core.confidence.method import Confidences, Method, Options
from calib_core.pairs import Distribution
from calib_core.problems import Unavailable
from calib_core.records import AnswerRun


def _of(run: AnswerRun, _options: Options) -> Confidences:
    """Softmax of choice_logprobs; choice_probs as stored where the run has no log-probabilities."""
    if run.has("choice_logprobs"):
        return _computed(run)
    if run.has("choice_probs"):
        return _stored(run)
    raise Unavailable("no column choice_logprobs or choice_probs: a number for every choice is needed")


def _computed(run: AnswerRun) -> Confidences:
    logprobs = as_float64(run.rows["choice_logprobs"])
    chosen = choice_rows(
        run, logprobs, "log-probability", ("every choice has probability 0", logprobs.list.max() == -np.inf)
    )
    scores, sizes = flat(logprobs, chosen.rows)
    distribution = Distribution(
        softmax(scores, sizes), sizes, chosen.label, chosen.rows, computed=True, normalised=True
    )
    return by_top_label(run, distribution, chosen.missing, ("softmax over the choices",))


def _stored(run: AnswerRun) -> Confidences:
    probs = run.rows["choice_probs"]
    chosen = choice_rows(run, probs, "probability")
    values, sizes = flat(probs, chosen.rows)
    distribution = Distribution(values, sizes, chosen.label, chosen.rows, computed=False, normalised=True)
    return by_top_label(run, distribution, chosen.missing, ("probabilities as stored",))


CHOICE_SOFTMAX: Final = Method(
    id="choice_softmax",
    title="logit, softmax over the choices",
    source="p_k = exp(ℓ_k) / Σ_j exp(ℓ_j); MMLU calibration replication after Kadavath et al. 2022",
    needs="the log-probability of every choice (choice_logprobs), or its probability (choice_probs); gold",
    of=_of,
)
