"""Is the greedy answer right, is the majority answer right?  Two outcomes of one row, kept apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import polars as pl

from calib_core.confidence.answers import Normaliser, choice_name, text_form
from calib_core.confidence.choices import choice_texts
from calib_core.confidence.clusters import Clusters, cluster, sample_texts
from calib_core.confidence.columns import column, first_reason, unanswered
from calib_core.confidence.method import Options
from calib_core.confidence.right import every_row, golds_of, has_gold, right, samples_against_gold
from calib_core.problems import Unavailable
from calib_core.records import AnswerOf, AnswerRun

JUDGED: Final[Mapping[AnswerOf, str]] = MappingProxyType(
    {
        "greedy": "greedy answer",
        "majority": "majority answer",
        "sample_0": "first sampled answer",
    }
)

SELDOM: Final = 0.02
"""Free text that equals its gold in no more than this share of rows was hardly meant to be judged so."""
ENOUGH: Final = 10
"""Fewer rows are too few to say that."""


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """Whether one answer of each row is right; series of shape (rows,).

    judged: which answer; correct: Boolean, null where unknown; why: String, why it is unknown, null
    where it is known; answers: String, the answer itself, null where the file does not say it;
    remarks: counted facts, each a short sentence; recipe: how it was found, where the file does not say it.
    """

    judged: str
    correct: pl.Series
    why: pl.Series
    answers: pl.Series
    remarks: tuple[str, ...] = ()
    recipe: tuple[str, ...] = ()


def greedy_correct(run: AnswerRun) -> pl.Series:
    """Whether the greedy answer of each row is right: Boolean, shape (rows,), null where unknown.

    The stored `correct` where the run has one; else prediction against gold, both normalised, else
    prediction_index against gold_index. A prediction that does not parse is not right; a row whose
    status says that there is nothing to judge is unknown.
    """
    return _greedy(run).correct.set(unanswered(run).is_not_null(), None)


def outcomes(run: AnswerRun, answer: AnswerOf, options: Options) -> Outcomes:
    """The outcome of the named answer of each row; raises Unavailable where no row has one."""
    if answer == "greedy":
        return some_known(_greedy(run))
    normaliser = Normaliser.of(run)
    if answer == "majority":
        return some_known(majority(run, normaliser, cluster(run, normaliser, options.unparseable)))
    return some_known(_first_sample(run, normaliser))


def some_known(judged: Outcomes) -> Outcomes:
    """The outcomes themselves; raises Unavailable, with the reason, where every one is unknown."""
    if judged.correct.null_count() < judged.correct.len():
        return judged
    reasons = judged.why.drop_nulls().unique().sort().to_list()
    if reasons in (["no gold"], []):
        raise Unavailable("no gold and no outcome to judge by")
    raise Unavailable(f"no {judged.judged} can be judged: {', '.join(reasons)}")


def majority(run: AnswerRun, normaliser: Normaliser, clusters: Clusters) -> Outcomes:
    """The outcome of the majority answer of each row.

    The answer against gold, else the stored judgement: of the majority's first sample
    (`sample_correct`), else of the file's own majority (`correct_majority`). Where the clusters are
    the file's own labels the stored judgement comes first: such answers need a judge.
    """
    first = pl.Series("first", clusters.first)
    first = first.set(first < 0, None)
    by_gold = samples_against_gold(run, normaliser, every_row(run), first)
    stored = _item(column(run, "sample_correct"), first).fill_null(column(run, "correct_majority"))
    labelled = pl.Series("labelled", clusters.labelled)
    correct = stored.fill_null(by_gold).zip_with(labelled, by_gold.fill_null(stored))
    return _of_sample(run, "majority", first, correct)


def _first_sample(run: AnswerRun, normaliser: Normaliser) -> Outcomes:
    first = pl.Series("first", [0], dtype=pl.Int64).new_from_index(0, run.rows.height)
    by_gold = samples_against_gold(run, normaliser, every_row(run), first)
    correct = by_gold.fill_null(_item(column(run, "sample_correct"), first))
    return _of_sample(run, "sample_0", first, correct)


def _of_sample(run: AnswerRun, answer: AnswerOf, position: pl.Series, correct: pl.Series) -> Outcomes:
    """The outcomes of one sample a row, with the reasons where there is none."""
    answers = _item(sample_texts(run), position)
    why = first_reason(
        run.rows.height,
        ("no gold", correct.is_null() & ~has_gold(run)),
        ("no sampled answer", correct.is_null() & ~_is_sampled(run, position)),
        ("the gold does not parse", correct.is_null()),
    )
    return Outcomes(JUDGED[answer], correct, why, answers.alias("answer"))


def _greedy(run: AnswerRun) -> Outcomes:
    prediction, index = column(run, "prediction"), column(run, "prediction_index")
    named = choice_texts(run.rows, index.cast(pl.Int64))
    answers = prediction.fill_null(named).alias("answer")
    if run.has("correct"):
        correct = run.rows["correct"]
        # Not filled in from prediction and gold: null may mean partly right, which is no outcome.
        why = first_reason(run.rows.height, ("no stored outcome", correct.is_null()))
        return Outcomes(JUDGED["greedy"], correct, why, answers)
    normaliser = Normaliser.of(run)
    correct, unread = _prediction_against_gold(run, normaliser)
    why = first_reason(
        run.rows.height,
        ("no gold", correct.is_null() & ~has_gold(run)),
        ("no prediction", correct.is_null() & answers.is_null()),
        ("the gold does not parse", correct.is_null()),
    )
    remarks = (*_unread(unread), *_hardly_ever_equal(normaliser, correct))
    kinds = " or ".join(normaliser.kinds(correct.is_not_null().arg_true()))
    recipe = (f"judged by prediction = gold, as {kinds}",)
    return Outcomes(JUDGED["greedy"], correct, why, answers, remarks, recipe)


def _unread(predictions: int) -> tuple[str, ...]:
    if not predictions:
        return ()
    said = "1 prediction does" if predictions == 1 else f"{predictions:,} predictions do"
    return (f"{said} not parse and count{'s' if predictions == 1 else ''} as wrong",)


def _hardly_ever_equal(normaliser: Normaliser, correct: pl.Series) -> tuple[str, ...]:
    """A warning that free text is judged by a rule too strict for it, where it looks so."""
    free = correct.filter(normaliser.kind == "text").drop_nulls()
    right = int(free.sum())
    if free.len() < ENOUGH or right > SELDOM * free.len():
        return ()
    equal = f"{right:,} of {free.len():,} predictions equal their gold as text"
    return (f"{equal}: free text needs an outcome judged by other means (correct)",)


def _prediction_against_gold(run: AnswerRun, normaliser: Normaliser) -> tuple[pl.Series, int]:
    """Whether each prediction is right, and how many are wrong because they do not parse."""
    prediction, gold = column(run, "prediction"), column(run, "gold")
    index = column(run, "prediction_index")
    named = choice_name(index.set(normaliser.kind != "choice", None))
    form = normaliser.readings(every_row(run), prediction).fill_null(named)
    golds = golds_of(run, normaliser)
    correct = right(every_row(run), form, golds).fill_null(index == column(run, "gold_index"))
    # Equal texts are equal answers, also where the kind's normaliser reads neither.
    same = text_form(prediction) == text_form(gold)
    correct = correct.set(correct.is_null() & same.fill_null(value=False), value=True)
    unread = correct.is_null() & prediction.is_not_null() & every_row(run).is_in(golds["row"].implode())
    return correct.set(unread, value=False), int(unread.sum())


def _is_sampled(run: AnswerRun, position: pl.Series) -> pl.Series:
    return (position < sample_texts(run).list.len()).fill_null(value=False)


def _item(lists: pl.Series, position: pl.Series) -> pl.Series:
    return lists.list.get(position, null_on_oob=True)
