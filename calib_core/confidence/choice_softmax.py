"""How probable is each choice, among the choices?"""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.confidence.choices import by_top_label, choice_rows, complete, flat, softmax
from calib_core.confidence.columns import as_float64, column, lacking, origin
from calib_core.confidence.listed import closed, of_listed
from calib_core.confidence.method import Confidences, Method, Options
from calib_core.pairs import Distribution
from calib_core.problems import Unavailable
from calib_core.records import AnswerRun


def _of(run: AnswerRun, _options: Options) -> Confidences:
    """Softmax of choice_logprobs; choice_probs as stored in a row that lacks one of them.

    A choice that a list of likely tokens leaves out: see `listed`.
    """
    if not run.has("choice_logprobs") and not run.has("choice_probs"):
        lack = lacking(run, "choice_logprobs", "choice_probs")
        raise Unavailable(f"{lack}: a number for every choice is needed")
    raw, own = as_float64(column(run, "choice_logprobs")), column(run, "choice_probs")
    listed = closed(run, raw) if run.has("choice_logprobs", "choice_logprob_floor") else None
    raw = raw if listed is None else listed.logprobs
    stored = ~complete(raw) & complete(own)
    chosen = choice_rows(
        run,
        pl.select(pl.when(stored).then(as_float64(own)).otherwise(raw)).to_series(),
        "log-probability" if run.has("choice_logprobs") else "probability",
        ("every choice has probability 0", ~stored & (raw.list.max() == -np.inf)),
    )
    as_is = stored.gather(chosen.rows).to_numpy()
    if as_is.all():
        probs, sizes = flat(own, chosen.rows)
    else:
        probs, sizes = _mixed(raw, own, chosen.rows, as_is)
    recipe = origin(as_is, "softmax over the choices", "probabilities as stored")
    distribution = Distribution(
        probs, sizes, chosen.label, chosen.rows, computed=not as_is.all(), normalised=True
    )
    said = by_top_label(run, distribution, chosen.missing, recipe)
    return said if listed is None else of_listed(said, listed.excess, chosen.rows)


def _mixed(
    raw: pl.Series, own: pl.Series, rows: NDArray[np.intp], as_is: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Softmax of `raw`, `own` where `as_is`: float64, laid end to end, and the choices of each row."""
    scores, scored = flat(raw, rows[~as_is])
    sizes = np.empty(rows.size, np.int64)
    sizes[~as_is] = scored
    stored, sizes[as_is] = flat(own, rows[as_is])
    probs = np.empty(sizes.sum())
    probs[np.repeat(~as_is, sizes)] = softmax(scores, scored)
    probs[np.repeat(as_is, sizes)] = stored
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
    of=_of,
    rank=4,
    look=(2, "pentagon", "10px,3px,3px,3px"),
)
