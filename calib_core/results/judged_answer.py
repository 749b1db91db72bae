"""Every method judged by the outcome of the same answer, so that only the confidences differ."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Literal, get_args, overload

import numpy as np
import polars as pl

from calib_core.errors import Unavailable
from calib_core.methods.answers.cluster import has_samples
from calib_core.methods.answers.outcomes import JUDGED_ANSWER_NAMES, answer_outcomes
from calib_core.methods.method import MethodOptions
from calib_core.pairs import UnpairedOutcomes
from calib_core.results.evidence import AnswerEvidence, Evidence
from calib_core.runs import AnswerRun

JudgedChoice = Literal["own", "greedy", "majority"]
"""Which answer's outcome a method is judged by: that of its own answer, or for all methods of one answer."""


@overload
def judged_by(evidence: AnswerEvidence, judged_choice: JudgedChoice) -> AnswerEvidence: ...
@overload
def judged_by(evidence: Evidence, judged_choice: JudgedChoice) -> Evidence: ...
def judged_by(evidence: Evidence, judged_choice: JudgedChoice) -> Evidence:
    """The same confidences, judged by the outcome of the greedy or of the majority answer.

    Parameters
    ----------
    evidence : Evidence
    judged_choice : {"own", "greedy", "majority"}
        "own" changes nothing, and the probability of an event stays judged by that event.

    Raises
    ------
    Unavailable
        If no row has an outcome of that answer, as in a run of tokens.
    ValueError
        For another choice.
    """
    if judged_choice not in get_args(JudgedChoice):
        raise ValueError(f"judged must be one of {', '.join(get_args(JudgedChoice))}, not {judged_choice!r}")
    if judged_choice == "own" or evidence.terms.of == "event":
        return evidence
    if not isinstance(evidence, AnswerEvidence):
        raise Unavailable(f"A run of tokens has no {JUDGED_ANSWER_NAMES[judged_choice]}.")
    try:
        outcomes = answer_outcomes(evidence.run, judged_choice, evidence.options)
    except Unavailable:
        if judged_choice == "majority" and not has_samples(evidence.run):
            raise Unavailable("The run has no samples, so no majority answer.") from None
        raise
    confidences = evidence.confidences
    known = outcomes.correct.is_not_null().to_numpy()[confidences.pairs.rows]
    if not known.any():
        raise Unavailable(f"No row has both a confidence and a {outcomes.judged}.")
    pairs = confidences.pairs.take(np.flatnonzero(known))
    rows = pl.Series(pairs.rows, dtype=pl.UInt32)
    n_lost = int((~known).sum())
    missing = dict(confidences.missing) | ({f"no {outcomes.judged}": n_lost} if n_lost else {})
    recipe = (*confidences.recipe, *outcomes.recipe, judged_by_text(judged_choice))
    judged = replace(
        confidences,
        pairs=replace(pairs, correct=outcomes.correct.gather(rows).to_numpy().astype(np.bool_)),
        judged=outcomes.judged,
        recipe=recipe,
        missing=MappingProxyType(missing),
        distribution=None,
        answers=outcomes.answers.gather(rows),
        no_distribution_reason="each row has only one answer",
        unpaired=_judged_unpaired(confidences.unpaired, outcomes.correct),
    )
    return AnswerEvidence(evidence.run, evidence.method, evidence.options, judged)


def _judged_unpaired(unpaired: UnpairedOutcomes | None, correct: pl.Series) -> UnpairedOutcomes | None:
    """The same rows with these outcomes, without those that have none."""
    if unpaired is None:
        return None
    outcomes = correct.gather(pl.Series(unpaired.rows, dtype=pl.UInt32))
    known = outcomes.is_not_null().to_numpy()
    rows = unpaired.rows[known]
    return UnpairedOutcomes(outcomes.drop_nulls().to_numpy().astype(np.bool_), rows) if rows.size else None


def judged_by_text(judged_choice: Literal["greedy", "majority"]) -> str:
    """The recipe's note of the answer, such as "judged by the greedy answer"."""
    return f"judged by the {JUDGED_ANSWER_NAMES[judged_choice]}"


def judged_choices(run: AnswerRun, options: MethodOptions) -> tuple[JudgedChoice, ...]:
    """ "own", then "majority" and "greedy" where the run has both answers and their outcomes."""
    if not has_samples(run) and not run.has_columns("correct_majority"):
        return ("own",)
    try:
        for answer in ("greedy", "majority"):
            answer_outcomes(run, answer, options)
    except Unavailable:
        return ("own",)
    return "own", "majority", "greedy"
