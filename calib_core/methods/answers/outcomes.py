"""Is the greedy answer right, and is the majority answer right?

A row has a separate outcome for each, with which its confidence is paired.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.errors import Unavailable
from calib_core.methods.answers.cluster import Clusters, cluster_samples, sample_texts
from calib_core.methods.answers.gold_match import (
    gold_forms,
    has_gold,
    matches_gold,
    row_positions,
    samples_match_gold,
)
from calib_core.methods.answers.normalise import AnswerNormaliser, choice_label, choice_texts, text_form
from calib_core.methods.columns import (
    column,
    fill_reasons,
    first_reason,
    unanswered_reason,
    usable_rows_if_not_all,
)
from calib_core.methods.method import Confidences, MethodOptions
from calib_core.pairs import Pairs, UnpairedOutcomes
from calib_core.runs import AnswerRun, AnswerSource, Run, TokenRun, kept_for_last_run

JUDGED_ANSWER_NAMES: Final[Mapping[AnswerSource, str]] = MappingProxyType(
    {
        "greedy": "greedy answer",
        "majority": "majority answer",
        "sample_0": "first sampled answer",
    }
)

RARE_MATCH_SHARE: Final = 0.02
"""Free text that equals its gold in at most this share of rows was probably not meant to be compared so."""
MIN_FREE_TEXT_ROWS: Final = 10
"""Fewer rows than this are too few for that warning."""


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """Whether one answer of each row is right.

    Attributes
    ----------
    judged : str
        The answer that is judged, in words.
    correct : pl.Series of Boolean, shape (rows,)
        Null where unknown.
    unknown_reason : pl.Series of String, shape (rows,)
        Why the outcome is unknown; null where it is known.
    answers : pl.Series of String, shape (rows,)
        The answer itself; null where the file does not contain it.
    remarks : tuple of str
        Counted facts, each a short sentence.
    recipe : tuple of str
        How the outcome was decided, if not by the file.
    """

    judged: str
    correct: pl.Series
    unknown_reason: pl.Series
    answers: pl.Series
    remarks: tuple[str, ...] = ()
    recipe: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class RowConfidences:
    """One confidence per row, without outcomes.

    Attributes
    ----------
    values : pl.Series of Float16, Float32 or Float64, shape (rows,)
        Confidences in [0, 1]; null where a row has none.
    recipe, remarks : tuple of str
        As in `Confidences`.
    computed : bool
        As in `Pairs`.
    missing_reason : pl.Series of String or None, shape (rows,)
        Why a row has no confidence, null where it has one; None if every null is an empty cell.
    """

    values: pl.Series
    recipe: tuple[str, ...]
    computed: bool
    missing_reason: pl.Series | None = None
    remarks: tuple[str, ...] = ()


def pair_with_outcomes(run: AnswerRun, confidences: RowConfidences, outcomes: Outcomes) -> Confidences:
    """The pairs of all rows that have both a confidence and an outcome; confidences keep their dtype.

    Raises
    ------
    Unavailable
        If no row has both.
    """
    reason = confidences.missing_reason
    if reason is None:
        reason = first_reason(confidences.values.len(), ("empty confidence", confidences.values.is_null()))
    rows, missing = usable_rows_if_not_all(run, fill_reasons(reason, outcomes.unknown_reason))
    used = [confidences.values, outcomes.correct, outcomes.answers]
    if rows is not None:
        used = [values.gather(pl.Series(rows)) for values in used]
    confidence, correct, answers = used
    pairs = Pairs(
        confidence=confidence.to_numpy(),
        correct=correct.to_numpy().astype(np.bool_),
        used_rows=rows,
        computed=confidences.computed,
    )
    return Confidences(
        pairs=pairs,
        judged=outcomes.judged,
        recipe=(*confidences.recipe, *outcomes.recipe),
        missing=missing,
        remarks=(*confidences.remarks, *outcomes.remarks),
        answers=answers,
        unpaired=None if rows is None else _unpaired(run, rows, outcomes.correct),
    )


def _unpaired(run: AnswerRun, paired: NDArray[np.intp], correct: pl.Series) -> UnpairedOutcomes | None:
    """The outcomes of the rows that are not paired, which lack a confidence; None if there are none."""
    is_lacking = correct.is_not_null() & unanswered_reason(run).is_null()
    rows = np.setdiff1d(is_lacking.arg_true().to_numpy(), paired, assume_unique=True).astype(np.intp)
    if not rows.size:
        return None
    return UnpairedOutcomes(correct.gather(pl.Series(rows)).to_numpy().astype(np.bool_), rows)


def greedy_correct(run: AnswerRun) -> pl.Series:
    """Whether the greedy answer of each row is right; Boolean, shape (rows,), null where unknown.

    The stored `correct` decides if the run has it; otherwise prediction and gold are compared, both
    normalised, or prediction_index and gold_index. A prediction that does not parse is wrong; a row whose
    status says that there is no answer to judge is unknown.
    """
    return _greedy_outcomes(run).correct.set(unanswered_reason(run).is_not_null(), None)


def with_assumed_outcomes(run: Run) -> Run:
    """The run with an outcome for all rows: “wrong” or “no” where it is unknown; and with right choices.

    Methods pair a confidence with an outcome. On this run they give the rows without one a confidence, too;
    what it says about outcomes is to be thrown away. The outcomes of majority answers, and token-level runs,
    are left as they are.
    """
    if isinstance(run, TokenRun):
        return run
    assumed = [greedy_correct(run).fill_null(value=False).alias("correct")]
    if any(name.startswith("choice_") for name in run.rows.columns):
        assumed.append(column(run, "gold_index").fill_null(0).alias("gold_index"))
    if run.has_columns("event_prob"):
        assumed.append(column(run, "event").fill_null(value=False).alias("event"))
    return replace(run, rows=run.rows.with_columns(assumed))


def answer_outcomes(run: AnswerRun, answer: AnswerSource, options: MethodOptions) -> Outcomes:
    """The outcome of the named answer of each row; raises Unavailable where no row has one."""
    answer = run.info.judged if answer == "greedy" else answer
    if answer == "greedy":
        return require_known(_greedy_outcomes(run))
    normaliser = AnswerNormaliser.for_run(run)
    if answer == "majority":
        return require_known(
            majority_outcomes(run, normaliser, cluster_samples(run, normaliser, options.unparseable))
        )
    return require_known(_first_sample_outcomes(run, normaliser))


def require_known(outcomes: Outcomes) -> Outcomes:
    """The outcomes themselves; raises Unavailable, with the reason, where every one is unknown."""
    if outcomes.correct.null_count() < outcomes.correct.len():
        return outcomes
    reasons = outcomes.unknown_reason.drop_nulls().unique().sort().to_list()
    if reasons in (["no gold"], []):
        raise Unavailable("no gold and no outcome to judge by")
    raise Unavailable(f"no {outcomes.judged} can be judged: {', '.join(reasons)}")


def majority_outcomes(run: AnswerRun, normaliser: AnswerNormaliser, clusters: Clusters) -> Outcomes:
    """The outcome of the majority answer of each row.

    The answer against gold, else the stored judgement: of the majority's first sample
    (`sample_correct`), else of the file's own majority (`correct_majority`). Where the clusters are
    the file's own labels the stored judgement comes first: such answers need a judge.
    """
    first = pl.Series("first", clusters.majority_first)
    first = first.set(first < 0, None)
    by_gold = samples_match_gold(run, normaliser, row_positions(run), first)
    stored = _item_at(column(run, "sample_correct"), first).fill_null(column(run, "correct_majority"))
    labelled = pl.Series("labelled", clusters.has_labels)
    correct = stored.fill_null(by_gold).zip_with(labelled, by_gold.fill_null(stored))
    return _sample_outcomes(run, "majority", first, correct)


def _first_sample_outcomes(run: AnswerRun, normaliser: AnswerNormaliser) -> Outcomes:
    first = pl.Series("first", [0], dtype=pl.Int64).new_from_index(0, run.rows.height)
    by_gold = samples_match_gold(run, normaliser, row_positions(run), first)
    correct = by_gold.fill_null(_item_at(column(run, "sample_correct"), first))
    return _sample_outcomes(run, "sample_0", first, correct)


def _sample_outcomes(
    run: AnswerRun, answer: AnswerSource, position: pl.Series, correct: pl.Series
) -> Outcomes:
    """The outcomes of one sample a row, with the reasons where there is none."""
    answers = _item_at(sample_texts(run), position)
    why = first_reason(
        run.rows.height,
        ("no gold", correct.is_null() & ~has_gold(run)),
        ("no sampled answer", correct.is_null() & ~_has_sample_at(run, position)),
        ("the gold does not parse", correct.is_null()),
    )
    return Outcomes(JUDGED_ANSWER_NAMES[answer], correct, why, answers.alias("answer"))


def _greedy_outcomes(run: AnswerRun) -> Outcomes:
    answers = column(run, "prediction").alias("answer")
    if run.has_columns("prediction_index"):
        answers = answers.fill_null(choice_texts(run.rows, run.rows["prediction_index"].cast(pl.Int64)))
    if run.has_columns("correct"):
        correct = run.rows["correct"]
        # Not filled in from prediction and gold: null may mean partly right, which is no outcome.
        why = first_reason(run.rows.height, ("no stored outcome", correct.is_null()))
        return Outcomes(JUDGED_ANSWER_NAMES["greedy"], correct, why, answers)
    normaliser, correct, unread = _judged_by_gold(run)
    why = first_reason(
        run.rows.height,
        ("no gold", correct.is_null() & ~has_gold(run)),
        ("no prediction", correct.is_null() & answers.is_null()),
        ("the gold does not parse", correct.is_null()),
    )
    remarks = (*_unparsed_remark(unread), *_rarely_equal_remark(normaliser, correct))
    kinds = " or ".join(normaliser.kinds(correct.is_not_null().arg_true()))
    recipe = (f"judged by prediction = gold, as {kinds}",)
    return Outcomes(JUDGED_ANSWER_NAMES["greedy"], correct, why, answers, remarks, recipe)


@kept_for_last_run
def _judged_by_gold(run: AnswerRun) -> tuple[AnswerNormaliser, pl.Series, int]:
    """The normaliser of the run, and what `prediction_matches_gold` makes of it."""
    normaliser = AnswerNormaliser.for_run(run)
    return normaliser, *prediction_matches_gold(run, normaliser)


def _unparsed_remark(n: int) -> tuple[str, ...]:
    if not n:
        return ()
    said = "1 prediction does" if n == 1 else f"{n:,} predictions do"
    return (f"{said} not parse and count{'s' if n == 1 else ''} as wrong",)


def _rarely_equal_remark(normaliser: AnswerNormaliser, correct: pl.Series) -> tuple[str, ...]:
    """A warning that free text is judged by a rule too strict for it, where it looks so."""
    free = correct.filter(normaliser.kind == "text").drop_nulls()
    right = int(free.sum())
    if free.len() < MIN_FREE_TEXT_ROWS or right > RARE_MATCH_SHARE * free.len():
        return ()
    equal = f"{right:,} of {free.len():,} predictions equal their gold as text"
    return (f"{equal}: free text needs a separate judgement in the column correct",)


def prediction_matches_gold(run: AnswerRun, normaliser: AnswerNormaliser) -> tuple[pl.Series, int]:
    """Whether each prediction is right (null where unknown), and how many don't parse and so are wrong."""
    prediction, gold = column(run, "prediction"), column(run, "gold")
    index = column(run, "prediction_index")
    named = choice_label(index.set(normaliser.kind != "choice", None))
    form = normaliser.output_forms(row_positions(run), prediction).fill_null(named)
    golds = gold_forms(run, normaliser)
    correct = matches_gold(row_positions(run), form, golds).fill_null(index == column(run, "gold_index"))
    # Equal texts are equal answers, also where the kind's normaliser reads neither.
    same = text_form(prediction) == text_form(gold)
    correct = correct.set(correct.is_null() & same.fill_null(value=False), value=True)
    unread = correct.is_null() & prediction.is_not_null() & row_positions(run).is_in(golds["row"].implode())
    return correct.set(unread, value=False), int(unread.sum())


def _has_sample_at(run: AnswerRun, position: pl.Series) -> pl.Series:
    return (position < sample_texts(run).list.len()).fill_null(value=False)


def _item_at(lists: pl.Series, position: pl.Series) -> pl.Series:
    return lists.list.get(position, null_on_oob=True)
