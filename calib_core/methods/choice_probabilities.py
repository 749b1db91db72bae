"""How probable is each choice of a multiple-choice question?

Two methods: the softmax over the choices' log-probabilities or logits, and the same after dividing each
log-probability by the length of its choice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.errors import Unavailable
from calib_core.methods.answers.normalise import choice_texts
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
from calib_core.pairs import Distribution
from calib_core.runs import AnswerRun
from calib_core.wording import plural


@dataclass(frozen=True, slots=True, eq=False)
class ChoiceRows:
    """The usable rows of a run with choices.

    Attributes
    ----------
    rows : NDArray[np.intp], shape (n,)
        Positions of the usable rows in the run.
    target : NDArray[np.int64], shape (n,)
        Index of the right choice of each.
    missing : Mapping[str, int]
        Reason → number of rows that cannot be used because of it.
    """

    rows: NDArray[np.intp]
    target: NDArray[np.int64]
    missing: Mapping[str, int]


def choice_rows(
    run: AnswerRun, values: pl.Series, quantity: str, *reasons: tuple[str, pl.Series]
) -> ChoiceRows:
    """The rows that have a number for every choice and exactly one right choice.

    Parameters
    ----------
    run : AnswerRun
        A run with choices.
    values : pl.Series of List(Float), shape (rows,)
        A number for each choice.
    quantity : str
        What the numbers are: "log-probability", "logit" or "probability".
    *reasons : (str, pl.Series)
        Further reasons why rows cannot be used, as in `columns.first_reason`.

    Raises
    ------
    Unavailable
        If the run has no gold, or no row can be used.
    """
    if not any(run.has_columns(name) for name in ("gold", "gold_index", "gold_all")):
        raise Unavailable(
            f"{missing_columns_phrase(run, 'gold')}: a top label is judged against gold, "
            "not by a stored outcome"
        )
    count = values.list.len().cast(pl.Int64)
    target = column(run, "gold_index").cast(pl.Int64)
    reason = first_reason(
        run.rows.height,
        (f"no {quantity} of the choices", values.is_null() | (count == 0)),
        (f"a choice's {quantity} is unknown", ~is_complete(values)),
        *reasons,
        ("several right choices", column(run, "gold_all").list.n_unique() > 1),
        ("no gold", target.is_null()),
    )
    rows, missing = usable_rows(run, reason)
    return ChoiceRows(rows, target.gather(pl.Series(rows)).to_numpy(), missing)


def is_complete(values: pl.Series) -> pl.Series:
    """Whether each row has a number for every one of its choices; Boolean, without nulls."""
    count = values.list.len()
    return ((count > 0) & (values.list.drop_nulls().list.len() == count)).fill_null(value=False)


def softmax(scores: NDArray[np.float64], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Softmax of the scores within each row.

    Parameters
    ----------
    scores : NDArray[np.float64], shape (Σ sizes,)
        Scores row after row; −inf for probability 0, but not throughout a row.
    sizes : NDArray[np.int64], shape (rows,)
        Number of scores in each row, at least 1.

    Returns
    -------
    NDArray[np.float64], shape (Σ sizes,)
        Probabilities in [0, 1] that sum to 1 in each row.

    Examples
    --------
    >>> softmax(np.log([1.0, 3.0, 5.0]), np.array([2, 1])).round(12).tolist()
    [0.25, 0.75, 1.0]
    """
    start = np.cumsum(sizes) - sizes
    with np.errstate(over="ignore"):  # a difference of logits beyond the largest float is a probability of 0
        weight = np.exp(scores - np.repeat(np.maximum.reduceat(scores, start), sizes))
    return weight / np.repeat(np.add.reduceat(weight, start), sizes)


def top_label_confidences(
    run: AnswerRun, distribution: Distribution, missing: Mapping[str, int], recipe: tuple[str, ...]
) -> Confidences:
    """The confidences of a method on choices: the top label of each row, judged against gold."""
    rows = pl.DataFrame({"choices": column(run, "choices").gather(pl.Series(distribution.rows))})
    if run.info.choice_order:
        recipe = (*recipe, f"choices in the order {run.info.choice_order}")
    return Confidences(
        pairs=distribution.top_label_pairs(),
        judged="its own top label",
        recipe=recipe,
        missing=missing,
        distribution=distribution,
        answers=choice_texts(rows, distribution.top_index),
    )


# --- Choices that are missing from a list of likely tokens (decision 0013) ----------------------------------
#
# A server lists only its most likely tokens. The probability of an unlisted choice is unknown, but it is at
# most that of the last listed token, and at most what the list leaves over. If that is less than the
# probability of the most likely choice, the top label is certain and its share is bounded, although the whole
# distribution is unknown.


@dataclass(frozen=True, slots=True, eq=False)
class CompletedChoices:
    """Log-probabilities of the choices, with unlisted choices set to −inf where the top label is certain.

    Attributes
    ----------
    logprobs : pl.Series of List(Float64), shape (rows,)
        Log-probabilities; null entries remain where the top label may be an unlisted choice.
    max_excess : pl.Series of Float64, shape (rows,)
        How much too high the share of the top label can be; null in a row without unlisted choices.
    """

    logprobs: pl.Series
    max_excess: pl.Series


def complete_unlisted(run: AnswerRun, logprobs: pl.Series) -> CompletedChoices:
    """Complete the log-probabilities of a run whose file bounds the probability of an unlisted choice.

    Parameters
    ----------
    run : AnswerRun
        A run with the column `choice_logprob_floor`.
    logprobs : pl.Series of List(Float64), shape (rows,)
        Natural log-probabilities of the choices, null for an unlisted choice.
    """
    probs = logprobs.list.eval(pl.element().exp())
    frame = pl.DataFrame(
        {
            "logprobs": logprobs,
            "unlisted": probs.list.len() - probs.list.drop_nulls().list.len(),
            "known": probs.list.sum(),
            "top": probs.list.max(),
            "floor": column(run, "choice_logprob_floor").cast(pl.Float64).exp(),
            "other": column(run, "choice_other_mass").cast(pl.Float64).fill_null(0.0),
        }
    )
    rest = (1 - pl.col("known") - pl.col("other")).clip(lower_bound=0.0)
    unlisted_mass = pl.min_horizontal(pl.col("unlisted") * pl.col("floor"), rest)
    certain = (pl.col("unlisted") > 0) & (pl.min_horizontal("floor", rest) < pl.col("top"))
    upper, lower = pl.col("top") / pl.col("known"), pl.col("top") / (pl.col("known") + unlisted_mass)
    excess = frame.select(pl.when(certain & pl.col("floor").is_not_null()).then(upper - lower))
    is_filled = excess.to_series().is_not_null()
    filled = as_float64(logprobs).list.eval(pl.element().fill_null(-np.inf))
    return CompletedChoices(filled.zip_with(is_filled, logprobs), excess.to_series().alias("excess"))


def remark_unlisted(confidences: Confidences, max_excess: pl.Series, rows: NDArray[np.intp]) -> Confidences:
    """The same confidences, with remarks and without a distribution if a used row lacks a choice.

    Parameters
    ----------
    confidences : Confidences
        Confidences computed from completed log-probabilities.
    max_excess : pl.Series of Float64
        As in `CompletedChoices`.
    rows : NDArray[np.intp], shape (n,)
        Positions of the used rows.
    """
    excess = max_excess.gather(pl.Series(rows)).drop_nulls()
    if not excess.len():
        return confidences
    n_rows, largest = rows.size, float(np.max(excess.to_numpy()))
    have = "1 row has" if excess.len() == 1 else f"{excess.len():,} rows have"
    remark = (
        f"{have} a choice that is not among the listed tokens: it is taken to have probability 0, so the "
        f"confidence there is an upper bound, at most {largest:.3g} too high"
    )
    recipe = ("top label", f"{excess.len():,} of {n_rows:,} over the listed choices alone")
    return replace(
        confidences,
        recipe=(*confidences.recipe, *recipe),
        remarks=(*confidences.remarks, remark),
        distribution=None,
        no_distribution_reason=f"{have} a choice that is not among the listed tokens: such rows, mostly "
        "the most confident ones, have no complete distribution.",
    )


# --- Softmax over the choices -------------------------------------------------------------------------------


def _softmax_confidences(run: AnswerRun, _options: MethodOptions) -> Confidences:
    """Softmax of choice_logprobs, of choice_logits in rows that lack one of those, or else choice_probs."""
    if run.info.choices_are is not None:
        raise Unavailable("the probabilities are those of a decision, which the method choice takes")
    logprobs, stored_probs = as_float64(column(run, "choice_logprobs")), column(run, "choice_probs")
    logits = as_float64(column(run, "choice_logits"))
    completed = (
        complete_unlisted(run, logprobs)
        if run.has_columns("choice_logprobs", "choice_logprob_floor")
        else None
    )
    logprobs = logprobs if completed is None else completed.logprobs
    use_logits = logprobs.is_null() | (~is_complete(logprobs) & is_complete(logits))
    scores = logits.zip_with(use_logits, logprobs)
    use_stored = ~is_complete(scores) & is_complete(stored_probs)
    quantities = {"choice_logprobs": "log-probability", "choice_logits": "logit"}
    usable = choice_rows(
        run,
        as_float64(stored_probs).zip_with(use_stored, scores),
        next((quantity for name, quantity in quantities.items() if run.has_columns(name)), "probability"),
        ("every choice has probability 0", ~use_stored & (scores.list.max() == -np.inf)),
    )
    is_stored = use_stored.gather(usable.rows).to_numpy()
    if is_stored.all():
        probs, sizes = flatten_rows(stored_probs, usable.rows)
    else:
        probs, sizes = _softmax_or_stored(scores, stored_probs, usable.rows, is_stored)
    n_logits = int((use_logits & ~use_stored).gather(usable.rows).sum())
    softmax_phrase = _softmax_phrase(run, n_logits, int((~is_stored).sum()))
    recipe = origin_phrases(is_stored, softmax_phrase, "probabilities as stored")
    distribution = Distribution(
        probs, sizes, usable.target, usable.rows, computed=not is_stored.all(), normalised=True
    )
    confidences = top_label_confidences(run, distribution, usable.missing, recipe)
    if completed is None:
        return confidences
    return remark_unlisted(confidences, completed.max_excess, usable.rows)


def _softmax_phrase(run: AnswerRun, n_logits: int, n_rows: int) -> str:
    """The recipe's phrase for `n_rows` rows with a softmax, of which `n_logits` are taken from logits."""
    if not run.has_columns("choice_logits"):
        return "softmax over the choices"
    if n_logits == n_rows:
        return "softmax over the choices' logits"
    instead = f"in {plural(n_logits, 'row')}" if n_logits else "not"
    return f"softmax over the choices' log-probabilities, {instead} their logits"


def _softmax_or_stored(
    scores_of_rows: pl.Series, stored_probs: pl.Series, rows: NDArray[np.intp], is_stored: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Probabilities of the choices, row after row (float64), and the number of choices of each row."""
    scores, score_sizes = flatten_rows(scores_of_rows, rows[~is_stored])
    sizes = np.empty(rows.size, np.int64)
    sizes[~is_stored] = score_sizes
    stored, sizes[is_stored] = flatten_rows(stored_probs, rows[is_stored])
    probs = np.empty(sizes.sum())
    probs[np.repeat(~is_stored, sizes)] = softmax(scores, score_sizes)
    probs[np.repeat(is_stored, sizes)] = stored
    return probs, sizes


CHOICE_SOFTMAX: Final = Method(
    id="choice_softmax",
    title="logit, softmax over the choices",
    meaning=(
        "The probability of the model's choice, with the probabilities of all choices scaled to sum to 1."
    ),
    source="p_k = exp(ℓ_k) / Σ_j exp(ℓ_j); MMLU calibration replication after Kadavath et al. 2022",
    needs="the log-probability (choice_logprobs), logit (choice_logits) or probability (choice_probs) of "
    "every choice; gold",
    compute=_softmax_confidences,
    columns=("choice_logprobs", "choice_logits", "choice_probs"),
    requirement="a number for every choice is needed",
    display_rank=4,
    headline_rank=3,
    style=(2, "pentagon", "10px,3px,3px,3px"),
)


# --- Normalised by the length of the choice -----------------------------------------------------------------


def _length_normalised_confidences(run: AnswerRun, options: MethodOptions) -> Confidences:
    """exp(log-probability / length), renormalised over the choices unless the options say otherwise."""
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
    # The softmax of the quotients is their renormalised exponential, and does not underflow.
    probs = softmax(scores, sizes) if normalised else np.exp(scores)
    distribution = Distribution(
        probs, sizes, chosen.target, chosen.rows, computed=True, normalised=normalised
    )
    recipe = (phrase, "renormalised" if normalised else "not renormalised")
    return top_label_confidences(run, distribution, chosen.missing, recipe)


def _choice_lengths(run: AnswerRun) -> tuple[pl.Series, str]:
    """The length of each choice (List), and the recipe's phrase for the unit; one unit for the whole run."""
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
        "Like the softmax over the choices, but each choice's log-probability is first divided by its "
        "length, so that long choices are not penalised."
    ),
    source="p_k ∝ exp(ℓ_k / length_k); MMLU calibration replication after Kadavath et al. 2022",
    needs="the log-probability (choice_logprobs) and the length (choice_token_counts, choice_char_counts) "
    "of every choice; gold",
    compute=_length_normalised_confidences,
    columns=("choice_logprobs",),
    requirement="the log-probability of every choice is needed; a logit cannot be divided by a length",
    renormalises_by_default=True,
    style=(5, "star", "5px,5px"),
)
