"""How probable is each choice, among the choices?"""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.confidence.choices import top_label_confidences, choice_rows, is_complete, flatten_rows, softmax
from calib_core.confidence.columns import as_float64, column, missing_columns_phrase, origin_phrases
from calib_core.confidence.listed import complete_unlisted, remark_unlisted
from calib_core.confidence.method import Confidences, Method, MethodOptions
from calib_core.pairs import Distribution
from calib_core.problems import Unavailable
from calib_core.records import AnswerRun


def _softmax_confidences(run: AnswerRun, _options: MethodOptions) -> Confidences:
    """Softmax of choice_logprobs; choice_probs as stored in a row that lacks one of them.

    A choice that a list of likely tokens leaves out: see `listed`.
    """
    if not run.has_columns("choice_logprobs") and not run.has_columns("choice_probs"):
        lack = missing_columns_phrase(run, "choice_logprobs", "choice_probs")
        raise Unavailable(f"{lack}: a number for every choice is needed")
    raw, own = as_float64(column(run, "choice_logprobs")), column(run, "choice_probs")
    listed = complete_unlisted(run, raw) if run.has_columns("choice_logprobs", "choice_logprob_floor") else None
    raw = raw if listed is None else listed.logprobs
    stored = ~is_complete(raw) & is_complete(own)
    chosen = choice_rows(
        run,
        pl.select(pl.when(stored).then(as_float64(own)).otherwise(raw)).to_series(),
        "log-probability" if run.has_columns("choice_logprobs") else "probability",
        ("every choice has probability 0", ~stored & (raw.list.max() == -np.inf)),
    )
    as_is = stored.gather(chosen.rows).to_numpy()
    if as_is.all():
        probs, sizes = flatten_rows(own, chosen.rows)
    else:
        probs, sizes = _softmax_or_stored(raw, own, chosen.rows, as_is)
    recipe = origin_phrases(as_is, "softmax over the choices", "probabilities as stored")
    distribution = Distribution(
        probs, sizes, chosen.target, chosen.rows, computed=not as_is.all(), normalised=True
    )
    said = top_label_confidences(run, distribution, chosen.missing, recipe)
    return said if listed is None else remark_unlisted(said, listed.max_excess, chosen.rows)


def _softmax_or_stored(
    logprobs: pl.Series, stored_probs: pl.Series, rows: NDArray[np.intp], is_stored: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Softmax of `raw`, `own` where `as_is`: float64, laid end to end, and the choices of each row."""
    scores, scored = flatten_rows(logprobs, rows[~is_stored])
    sizes = np.empty(rows.size, np.int64)
    sizes[~is_stored] = scored
    stored, sizes[is_stored] = flatten_rows(stored_probs, rows[is_stored])
    probs = np.empty(sizes.sum())
    probs[np.repeat(~is_stored, sizes)] = softmax(scores, scored)
    probs[np.repeat(is_stored, sizes)] = stored
    return probs, sizes


CHOICE_SOFTMAX: Final = Method(
    id="choice_softmax",
    title="logit, softmax over the choices",
    meaning=(
        "The probability of the choice it takes, read off the probabilities of all choices, which are "
        "made to sum to 1."
    ),
    source="p_k = exp(ℓ_k) / Σ_j exp(ℓ_j); MMLU calibration replication after Kadavath et al. 2022",
    needs="the log-probability of every choice (choice_logprobs), or its probability (choice_probs); gold",
    compute=_softmax_confidences,
    display_rank=4,
    style=(2, "pentagon", "10px,3px,3px,3px"),
)
