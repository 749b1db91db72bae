"""How probable is each choice per token (or character) of its text?"""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from calib_core.confidence.choices import top_label_confidences, choice_rows, flatten_rows, softmax
from calib_core.confidence.columns import as_float64, column, missing_columns_phrase
from calib_core.confidence.method import Confidences, Method, MethodOptions
from calib_core.pairs import Distribution
from calib_core.problems import Unavailable
from calib_core.records import AnswerRun


def _length_normalised_confidences(run: AnswerRun, options: MethodOptions) -> Confidences:
    """exp(log-probability / length), renormalised over the choices unless the options say otherwise."""
    if not run.has_columns("choice_logprobs"):
        lack = missing_columns_phrase(run, "choice_logprobs")
        raise Unavailable(f"{lack}: the log-probability of every choice is needed")
    logprobs = as_float64(run.rows["choice_logprobs"])
    lengths, phrase = _choice_lengths(run)
    known = lengths.list.drop_nulls()
    chosen = choice_rows(
        run,
        logprobs,
        "log-probability",
        ("every choice has probability 0", logprobs.list.max() == -np.inf),
        ("a letter, one token, was scored for each choice", column(run, "choice_other_mass").is_not_null()),
        ("no length of the choices", lengths.is_null()),
        ("a choice's length is unknown", known.list.len() != logprobs.list.len()),
        ("a choice is of length 0", known.list.min() < 1),
    )
    scores, sizes = flatten_rows(logprobs, chosen.rows)
    scores = scores / flatten_rows(lengths, chosen.rows)[0]
    normalised = options.renormalise is not False
    # Softmax of the quotients is exp(quotient) renormalised, and does not underflow.
    probs = softmax(scores, sizes) if normalised else np.exp(scores)
    distribution = Distribution(probs, sizes, chosen.target, chosen.rows, computed=True, normalised=normalised)
    recipe = (phrase, "renormalised" if normalised else "not renormalised")
    return top_label_confidences(run, distribution, chosen.missing, recipe)


def _choice_lengths(run: AnswerRun) -> tuple[pl.Series, str]:
    """The lengths that every number of this run is made with, List, and what the recipe says of them."""
    if run.has_columns("choice_token_counts"):
        return run.rows["choice_token_counts"], "by token counts"
    if run.has_columns("choice_char_counts"):
        return run.rows["choice_char_counts"], "by character counts"
    if run.has_columns("choices"):
        return run.rows["choices"].list.eval(pl.element().str.len_chars()), "by characters of the choices"
    if run.has_columns("choice_byte_counts"):
        return run.rows["choice_byte_counts"], "by byte counts"
    lack = missing_columns_phrase(run, "choice_token_counts", "choice_char_counts")
    raise Unavailable(f"{lack}: every choice's length is needed")


CHOICE_LENGTH_NORMALISED: Final = Method(
    id="choice_length_normalised",
    title="logit, length-normalised",
    meaning=(
        "As the softmax over the choices, but with each choice's log-probability divided by its "
        "length first, so that a long choice is not held against it."
    ),
    source="p_k ∝ exp(ℓ_k / length_k); MMLU calibration replication after Kadavath et al. 2022",
    needs="the log-probability (choice_logprobs) and the length (choice_token_counts, choice_char_counts) "
    "of every choice; gold",
    compute=_length_normalised_confidences,
    renormalises_by_default=True,
    style=(5, "star", "5px,5px"),
)
