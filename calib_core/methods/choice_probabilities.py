"""How probable is each choice per token (or character) of its text?"""

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

# MERGED choices: What does a row of choices say: which choice is right, and how probable is each?


@dataclass(frozen=True, slots=True, eq=False)
class ChoiceRows:
    """The usable rows of a run of choices: positions, the right choice of each, and what is missing."""

    rows: NDArray[np.intp]
    target: NDArray[np.int64]
    missing: Mapping[str, int]


def choice_rows(
    run: AnswerRun, values: pl.Series, quantity: str, *reasons: tuple[str, pl.Series]
) -> ChoiceRows:
    """The rows with a number for every choice and one right choice, by the position its reader found.

    values: List of floats, shape (rows,); what: their name ("log-probability"); more: further reasons
    against a row, as in `columns.first_reason`. Raises Unavailable where no row is left.
    """
    if not any(run.has_columns(name) for name in ("gold", "gold_index", "gold_all")):
        raise Unavailable(
            f"{missing_columns_phrase(run, 'gold')}: a top label is judged against gold, not by a stored outcome"
        )
    count = values.list.len().cast(pl.Int64)
    label = column(run, "gold_index").cast(pl.Int64)
    why = first_reason(
        run.rows.height,
        (f"no {quantity} of the choices", values.is_null() | (count == 0)),
        (f"a choice's {quantity} is unknown", ~is_complete(values)),
        *reasons,
        ("several right choices", column(run, "gold_all").list.n_unique() > 1),
        ("no gold", label.is_null()),
    )
    rows, missing = usable_rows(run, why)
    return ChoiceRows(rows, label.gather(pl.Series(rows)).to_numpy(), missing)


def is_complete(values: pl.Series) -> pl.Series:
    """Whether each row has a number for every one of its choices: Boolean, never null."""
    count = values.list.len()
    return ((count > 0) & (values.list.drop_nulls().list.len() == count)).fill_null(value=False)


def softmax(scores: NDArray[np.float64], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """exp(score)/Σ exp(score) within each row, its largest score subtracted first.

    scores: rows end to end, shape (Σ sizes,), −inf for probability 0, no row all −inf. Float64 in [0, 1].
    """
    start = np.cumsum(sizes) - sizes
    weight = np.exp(scores - np.repeat(np.maximum.reduceat(scores, start), sizes))
    return weight / np.repeat(np.add.reduceat(weight, start), sizes)


def top_label_confidences(
    run: AnswerRun, distribution: Distribution, missing: Mapping[str, int], recipe: tuple[str, ...]
) -> Confidences:
    """The confidences of a method on choices: each row's top label, right or not by gold."""
    rows = pl.DataFrame({"choices": column(run, "choices").gather(pl.Series(distribution.rows))})
    return Confidences(
        pairs=distribution.top_label_pairs(),
        judged="its own top label",
        recipe=recipe,
        missing=missing,
        distribution=distribution,
        answers=choice_texts(rows, distribution.top_index),
    )


# MERGED listed: How probable is the top label where a choice is missing from the list of likely tokens?
#
# A server lists its likeliest tokens only. A choice that is not among them is not known: it is at most as
# probable as the last of the list, and at most what the list leaves over. Where that is less than the likeliest
# choice has, the top label is certain and its share has bounds; the whole distribution stays unknown.


@dataclass(frozen=True, slots=True, eq=False)
class CompletedChoices:
    """Log-probabilities of the choices, those not listed taken for impossible where the top label is certain.

    logprobs: List(Float64), shape (rows,), a null left where the top label may be an unlisted choice; excess:
    Float64, by how much the share of the top label may be too high, null in a row without unlisted choices.
    """

    logprobs: pl.Series
    max_excess: pl.Series


def complete_unlisted(run: AnswerRun, logprobs: pl.Series) -> CompletedChoices:
    """The log-probabilities of a run whose file says how probable an unlisted choice can be at most."""
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
    more = pl.min_horizontal(pl.col("unlisted") * pl.col("floor"), rest)
    certain = (pl.col("unlisted") > 0) & (pl.min_horizontal("floor", rest) < pl.col("top"))
    upper, lower = pl.col("top") / pl.col("known"), pl.col("top") / (pl.col("known") + more)
    excess = frame.select(pl.when(certain & pl.col("floor").is_not_null()).then(upper - lower))
    partly = excess.to_series().is_not_null()
    filled = as_float64(logprobs).list.eval(pl.element().fill_null(-np.inf))
    return CompletedChoices(filled.zip_with(partly, logprobs), excess.to_series().alias("excess"))


def remark_unlisted(confidences: Confidences, max_excess: pl.Series, rows: NDArray[np.intp]) -> Confidences:
    """What is said of top labels, without a whole distribution where a used row lacks a choice.

    excess: as in `Closed`; rows: the used ones.
    """
    over = max_excess.gather(pl.Series(rows)).drop_nulls()
    if not over.len():
        return confidences
    whole, largest = rows.size, float(np.max(over.to_numpy()))
    have = "1 row has" if over.len() == 1 else f"{over.len():,} rows have"
    remark = (
        f"{have} a choice that is not among the listed tokens: it is taken for impossible, so that the "
        f"confidence there is an upper bound, at most {largest:.3g} too high"
    )
    recipe = ("top label", f"{over.len():,} of {whole:,} over the listed choices alone")
    return replace(
        confidences,
        recipe=(*confidences.recipe, *recipe),
        remarks=(*confidences.remarks, remark),
        distribution=None,
        no_distribution_reason=f"{have} a choice that is not among the listed tokens: of such rows, mostly the "
        "surest, no whole distribution is known.",
    )


# MERGED choice_softmax: How probable is each choice, among the choices?


def _softmax_confidences(run: AnswerRun, _options: MethodOptions) -> Confidences:
    """Softmax of choice_logprobs; choice_probs as stored in a row that lacks one of them.

    A choice that a list of likely tokens leaves out: see `listed`.
    """
    if not run.has_columns("choice_logprobs") and not run.has_columns("choice_probs"):
        lack = missing_columns_phrase(run, "choice_logprobs", "choice_probs")
        raise Unavailable(f"{lack}: a number for every choice is needed")
    raw, own = as_float64(column(run, "choice_logprobs")), column(run, "choice_probs")
    listed = (
        complete_unlisted(run, raw) if run.has_columns("choice_logprobs", "choice_logprob_floor") else None
    )
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
    distribution = Distribution(
        probs, sizes, chosen.target, chosen.rows, computed=True, normalised=normalised
    )
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
