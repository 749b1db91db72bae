"""How probable is each choice of a decision, as the server that decided states it?

A decision has its whole distribution in the file: over options, over the levels of a scale, or over yes and
no. Its top label is judged against gold; of a scale, so is each P(level ≥ t).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.errors import Unavailable
from calib_core.methods.answers.normalise import choice_texts
from calib_core.methods.columns import as_float64, column, first_reason, flatten_rows, usable_rows
from calib_core.methods.method import Confidences, Method, MethodOptions
from calib_core.pairs import Distribution, Pairs
from calib_core.runs import AnswerRun, kept_for_last_run
from calib_core.wording import format_number, plural

YES_NO: Final = ("yes", "no")
"""The choices of an event, yes first, so that it is the top label at a probability of 0.5."""

TRAILS: Final = 0.005
"""A stored choice that is less likely than the likeliest by more than this is told."""

AT_LEAST: Final = "at_least"
"""How the id of a method begins that asks whether the level is at least a certain one."""

_CUT_ID: Final = re.compile(rf"{AT_LEAST}\.([1-9][0-9]{{0,3}})")
_EXACT_SUM: Final = 1e-6


@kept_for_last_run  # of a scale, for every level
def _choice_confidences(run: AnswerRun, options: MethodOptions) -> Confidences:
    """The stored distribution; of an event, p over yes and 1 − p over no."""
    if run.info.choices_are is None:
        raise Unavailable(
            "not a decision: no column choices_are says that there are options, such as yes and no, or levels"
        )
    stored, event_prob = as_float64(column(run, "choice_probs")), column(run, "event_prob").cast(pl.Float64)
    is_event = stored.is_null() & event_prob.is_not_null()
    of_event = pl.select(pl.concat_list(event_prob, 1 - event_prob)).to_series()
    probs = of_event.zip_with(is_event, stored)
    of_outcome = column(run, "event").replace_strict({True: 0, False: 1}, default=None, return_dtype=pl.Int64)
    target = of_outcome.zip_with(is_event, column(run, "gold_index").cast(pl.Int64))
    reason = first_reason(
        run.rows.height,
        ("no probability of the choices", probs.is_null() | (probs.list.len() == 0)),
        ("several right choices", ~is_event & (column(run, "gold_all").list.n_unique() > 1)),
        ("no gold", target.is_null()),
    )
    rows, missing = usable_rows(run, reason)
    used = pl.Series(rows)
    flat, sizes = flatten_rows(probs, rows)
    choices = column(run, "choices").zip_with(
        ~is_event, pl.Series([list(YES_NO)]).new_from_index(0, probs.len())
    )
    chosen = _positions(choices.gather(used), column(run, "prediction").gather(used))
    distribution = Distribution(
        flat,
        sizes,
        target.gather(used).to_numpy(),
        rows,
        computed=bool(is_event.any() or options.renormalise),
        normalised=True,
        preferred=chosen,
    )
    remarks = (*_sum_remark(distribution), *_trailing_remark(distribution, chosen))
    recipe = ("probabilities as stored",)
    if options.renormalise:
        sums = np.repeat(np.add.reduceat(flat, distribution.row_starts), sizes)
        distribution, recipe = replace(distribution, probs=flat / sums), ("renormalised",)
    frame = pl.DataFrame({"choices": choices.gather(used)})
    return Confidences(
        pairs=distribution.top_label_pairs(),
        judged="its own top label",
        recipe=recipe,
        missing=missing,
        remarks=remarks,
        distribution=distribution,
        answers=choice_texts(frame, distribution.top_index),
    )


def _positions(choices: pl.Series, answers: pl.Series) -> NDArray[np.int64]:
    """Position of each answer among the choices of its row, −1 where it is none of them."""
    found = [
        -1
        if texts is None or answer is None or answer not in (listed := list(texts))
        else listed.index(answer)
        for texts, answer in zip(choices.to_list(), answers.to_list(), strict=True)
    ]
    return np.array(found, np.int64)


def _sum_remark(distribution: Distribution) -> tuple[str, ...]:
    """Which sums miss 1, and the worst of them."""
    sums = np.add.reduceat(distribution.probs, distribution.row_starts)
    error = np.abs(sums - 1)
    n_inexact = int(np.count_nonzero(error > _EXACT_SUM))
    if not n_inexact:
        return ()
    worst = format_number(float(sums[np.argmax(error)]), ".4g")
    have = "has" if n_inexact == 1 else "have"
    return (
        f"{plural(n_inexact, 'row')} {have} probabilities that do not sum to 1 as printed, at worst {worst}",
    )


def _trailing_remark(distribution: Distribution, chosen: NDArray[np.int64]) -> tuple[str, ...]:
    """How often the stored choice is clearly less likely than the likeliest."""
    is_known = chosen >= 0
    own = distribution.probs[distribution.row_starts + np.where(is_known, chosen, 0)]
    lag = np.where(is_known, distribution.max_prob - own, 0.0)
    n_trailing = int(np.count_nonzero(lag > TRAILS))
    if not n_trailing:
        return ()
    largest = format_number(float(lag.max()), ".2g")
    where = f"in {plural(n_trailing, 'row')} the stored choice is not the likeliest, by up to {largest}"
    return (f"{where}: the likeliest is judged",)


CHOICE: Final = Method(
    id="choice",
    title="top label of the decision",
    meaning="The probability of the likeliest choice of a decision, as the file states it.",
    source="max_k p_k as stored; for yes or no max(p, 1 − p)",
    needs="a decision (choices_are); the probability of every choice (choice_probs) with gold, or of yes "
    "(event_prob) with whether it is true (event)",
    compute=_choice_confidences,
    columns=("choice_probs", "event_prob"),
    requirement="the probability of every choice of a decision is needed",
    renormalises_by_default=False,
    headline_rank=0,
    style=(4, "hexagram", "3px,3px,9px,3px"),
)


# --- Levels of a scale --------------------------------------------------------------------------------------


def cut_of(id_: str) -> int | None:
    """The level t of a method "at_least.t"; None for any other id.

    Examples
    --------
    >>> cut_of("at_least.2"), cut_of("at_least.0"), cut_of("choice")
    (2, None, None)
    """
    match = _CUT_ID.fullmatch(id_)
    return int(match[1]) if match else None


def cuts_of(run: AnswerRun) -> list[str]:
    """The ids of the methods that ask whether the level is at least t, for every t of the run's scale."""
    if run.info.choices_are != "levels" or not run.has_columns("choice_probs"):
        return []
    most = int(run.rows["choice_probs"].list.len().drop_nulls().to_numpy().max())
    return [f"{AT_LEAST}.{cut}" for cut in range(1, most)]


def no_levels_reason(run: AnswerRun) -> str | None:
    """Why a run has no scale with an order that its rows share; None where it has."""
    if run.info.choices_are != "levels":
        return "the choices are not the levels of a scale (choices_are), so they have no order"
    sizes = column(run, "choice_probs").list.len().drop_nulls()
    if sizes.n_unique() > 1:
        low, high = int(sizes.to_numpy().min()), int(sizes.to_numpy().max())
        return f"the scales have {low} to {high} levels, and numbers of different scales are not pooled"
    return None


def at_least_pairs(distribution: Distribution, cuts: NDArray[np.int64]) -> Pairs:
    """P(level ≥ t) of each row, and whether its right level is at least t.

    Parameters
    ----------
    distribution : Distribution
        Over levels from the lowest to the highest, the same number K in each row.
    cuts : NDArray[np.int64], shape (m,)
        Levels t from 1 to K − 1, counted from 0.

    Returns
    -------
    Pairs
        m pairs for each row. A probability that printing puts above 1 is 1.
    """
    probs = distribution.probs.astype(np.float64).reshape(distribution.n, -1)
    above = np.cumsum(probs[:, ::-1], axis=1)[:, ::-1]
    return Pairs(
        np.clip(above[:, cuts], 0.0, 1.0).ravel(),
        (distribution.target[:, None] >= cuts).ravel(),
        np.repeat(distribution.rows, cuts.size),
        computed=True,
        weight=None if distribution.weight is None else np.repeat(distribution.weight, cuts.size),
    )


def at_least(cut: int) -> Method:
    """The method "at_least.t": the probability that the level is at least t, counted from 0, against gold."""

    def compute(run: AnswerRun, options: MethodOptions) -> Confidences:
        if (reason := no_levels_reason(run)) is not None:
            raise Unavailable(reason)
        confidences = _choice_confidences(run, options)
        distribution = confidences.distribution
        if distribution is None or cut >= distribution.n_classes:
            raise Unavailable(f"the scale has no level {cut}")
        return replace(
            confidences,
            pairs=at_least_pairs(distribution, np.array([cut])),
            judged=f"level at least {cut}",
            recipe=(*confidences.recipe, f"summed from level {cut} on"),
            distribution=None,
            answers=None,
        )

    return replace(
        CHOICE,
        id=f"{AT_LEAST}.{cut}",
        title=f"level at least {cut}",
        meaning=f"The probability that the level is {cut} or higher, counted from 0, against whether it is.",
        source="Σ p_k over the levels k ≥ t",
        needs="the probability of every level (choice_probs) of a scale (choices_are); gold",
        compute=compute,
        columns=("choice_probs",),
        requirement="the probability of every level is needed",
        probability_of="event",
        headline_rank=100,
        style=None,
    )
