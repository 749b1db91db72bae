"""Does an accuracy suggest that the file means something else than it was taken for?

Hardly a right answer, or fewer than guessing gives, comes from a misread gold, outcome or order of choices
more often than from a model. Such a number is computed all the same, and comes with a warning.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import permutations
from math import sqrt
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.errors import shorten
from calib_core.methods.answers.gold_match import has_gold
from calib_core.methods.answers.normalise import AnswerNormaliser
from calib_core.methods.answers.outcomes import prediction_matches_gold
from calib_core.methods.columns import column
from calib_core.methods.method import Confidences
from calib_core.pairs import Distribution
from calib_core.runs import AnswerRun
from calib_core.wording import join_names

MIN_ROWS: Final = 10
"""With fewer answers, none of them right is no surprise."""
FEW_RIGHT: Final = 0.02
"""Share of right answers up to which they are hardly any."""
FEW_MARKED: Final = 0.1
"""Share of samples with a readable answer up to which they are hardly any."""
MIN_ROWS_OF_ORDER: Final = 30
"""Answers from which on another order of the choices is looked for."""
BELOW_CHANCE: Final = 5.0
"""Standard deviations below guessing at which an accuracy is below it beyond doubt."""
NEAR_CHANCE: Final = 3.0
"""Standard deviations above guessing up to which another order of the choices is looked for …"""
ABOVE_CHANCE: Final = 6.0
"""… and by which that order must be above guessing. The best of 24 random orders is about 2 above it."""
CHOICE_COLUMNS: Final = ("choice_probs", "choice_logprobs", "choice_logits", "choices")
"""Columns with an entry for each choice."""
MAX_CONTRADICTING: Final = 0.05
"""Share of rows up to which outcomes may differ from a comparison of answer and gold."""
MAX_COMPARED_ROWS: Final = 1_000
"""First rows of a run in which they are compared."""
MAX_CHOICES: Final = 6
"""Choices up to which every order of them is tried."""
_MAX_CHARACTERS: Final = 60
_LOOK: Final = "Check which columns were taken for the outcome and the right answer."


def misreading_warnings(run: AnswerRun, confidences: Confidences) -> tuple[str, ...]:
    """Warnings about an accuracy that a misread file would have; () where nothing is suspicious.

    Parameters
    ----------
    run : AnswerRun
    confidences : Confidences
        Those of one method for the run.

    Returns
    -------
    tuple of str
        Sentences with the first wrong answer as an example, and what would explain it where that is known.
    """
    accuracy = tuple(_accuracy_warnings(run, confidences))
    order = _order_warnings(confidences.distribution)
    return (*(accuracy or _contradiction_warnings(run)), *order)


def unmarked_warnings(run: AnswerRun, n_samples: int, n_unparsed: int) -> tuple[str, ...]:
    """A warning where hardly one of the sampled answers can be read; () elsewhere.

    Parameters
    ----------
    run : AnswerRun
    n_samples, n_unparsed : int
        Its samples, and those in which no answer was found.
    """
    n_marked = n_samples - n_unparsed
    if n_samples < MIN_ROWS or n_marked > FEW_MARKED * n_samples:
        return ()
    first = column(run, "samples").drop_nulls().head(1).list.first().drop_nulls().to_list()
    shown = f" A sample is {shorten(first[0], _MAX_CHARACTERS)!r}, for example." if first else ""
    sentence = (
        f"Suspicious: an answer can be read in only {n_marked:,} of {n_samples:,} samples. Check that the "
        f"column holds answers, and how they are marked.{shown}"
    )
    return (sentence,)


def _accuracy_warnings(run: AnswerRun, confidences: Confidences) -> Iterator[str]:
    """A warning where hardly an answer is right, or fewer than guessing gives."""
    n, n_right = confidences.pairs.n, int(confidences.pairs.correct.sum())
    if n < MIN_ROWS:
        return
    reason = None
    n_choices = _choice_counts(run).gather(pl.Series(confidences.pairs.rows)).drop_nulls().to_numpy()
    chance = float(np.mean(1 / n_choices)) if n_choices.size == n else None
    if n_right <= FEW_RIGHT * n:
        count = "none" if n_right == 0 else f"only {n_right:,}"
        reason = f"{count} of {n:,} answers count{'s' if n_right < 2 else ''} as right"
    elif chance is not None:
        n_questions = column(run, "id").gather(pl.Series(confidences.pairs.rows)).drop_nulls().n_unique() or n
        if _distance_from_chance(n_right / n, n_questions, chance) < -BELOW_CHANCE:
            reason = f"accuracy {n_right / n:.3f} is far below the {chance:.3f} of guessing among the choices"
    if reason is not None:
        yield f"Suspicious: {reason}. {_LOOK}{_example(run, confidences)}"


def clear_contradiction_cache() -> None:
    """Release the run that was checked last."""
    _contradiction_warnings.cache_clear()


@lru_cache(maxsize=1)
def _contradiction_warnings(run: AnswerRun) -> tuple[str, ...]:
    """A warning where outcomes contradict answers and golds: equal and wrong, or different and right.

    A text that differs from its gold may be right, so of texts only equal ones count. Methods of a run are
    checked one after the other, so that of the last run is cached.
    """
    if not (run.has_columns("correct") and has_gold(run).any()):
        return ()
    first = replace(run, rows=run.rows.head(MAX_COMPARED_ROWS))
    is_same_text = column(first, "prediction") == column(first, "gold")
    if (is_same_text != first.rows["correct"]).mean() == 0:
        return ()  # as in most files, which takes no reading of the answers
    normaliser = AnswerNormaliser.for_run(first)
    matched, _ = prediction_matches_gold(first, normaliser)
    stored = first.rows["correct"]
    compared = matched.is_not_null() & stored.is_not_null()
    opposite = (compared & (matched != stored) & (matched | (normaliser.kind != "text"))).arg_true()
    n_compared = int(compared.sum())
    if not n_compared or opposite.len() <= MAX_CONTRADICTING * n_compared:
        return ()
    at = opposite[0]
    texts = {"answer": column(first, "prediction")[at], "gold": column(first, "gold")[at]}
    shown = join_names([f"{what} {shorten(text, _MAX_CHARACTERS)!r}" for what, text in texts.items() if text])
    counted = f"counts as {'right' if stored[at] else 'wrong'}{f' with {shown}' if shown else ''}"
    sentence = (
        f"Suspicious: in {opposite.len():,} of {n_compared:,} rows the outcome contradicts the answer: row "
        f"{first.rows['row'][at]} {counted}. {_LOOK}"
    )
    return (sentence,)


def _distance_from_chance(accuracy: float, n: int, chance: float) -> float:
    """How many standard deviations the accuracy is above guessing, for n questions; negative below it."""
    return (accuracy - chance) / sqrt(chance * (1 - chance) / n)


def _choice_counts(run: AnswerRun) -> pl.Series:
    """The number of choices of each row; null where the file does not say or there is one alone."""
    counts = pl.Series("n", [None], dtype=pl.UInt32).new_from_index(0, run.rows.height)
    names = [name for name in CHOICE_COLUMNS if run.has_columns(name)]
    if not names:
        return counts
    for name in names:
        counts = counts.fill_null(column(run, name).list.len())
    return counts.set((counts < 2).fill_null(value=False), None)


def _example(run: AnswerRun, confidences: Confidences) -> str:
    """The first wrong answer beside its gold, where the file has both."""
    wrong = np.flatnonzero(~confidences.pairs.correct)
    gold = column(run, "gold").gather(pl.Series(confidences.pairs.rows[wrong]))
    answers = confidences.answers
    if answers is None or not wrong.size:
        return ""
    for answer, right in zip(answers.gather(pl.Series(wrong)), gold, strict=True):
        if answer is not None and right is not None:
            shown = (repr(shorten(str(text), _MAX_CHARACTERS)) for text in (answer, right))
            return " Answer {}, for example, counts as wrong where gold is {}.".format(*shown)
    return ""


def _order_warnings(distribution: Distribution | None) -> Iterator[str]:
    """A warning where another order of the choices would turn the accuracy round.

    Rows of one question asked again count as rows: it is the order that is in question, not the model.
    """
    if distribution is None or distribution.sizes.size < MIN_ROWS_OF_ORDER:
        return
    n, n_choices = distribution.sizes.size, int(distribution.sizes[0])
    if not 2 <= n_choices <= MAX_CHOICES or np.any(distribution.sizes != n_choices):
        return
    counts = _counts_by_target(distribution, n_choices)
    n_right = int(np.trace(counts))
    if _distance_from_chance(n_right / n, n, 1 / n_choices) > NEAR_CHANCE:
        return
    rows = np.arange(n_choices)
    best = max(permutations(range(n_choices)), key=lambda order: int(counts[rows, list(order)].sum()))
    n_in_order = int(counts[rows, list(best)].sum())
    if _distance_from_chance(n_in_order / n, n, 1 / n_choices) >= ABOVE_CHANCE:
        yield (
            f"Suspicious: with the choices {_order_text(best)}, accuracy would be {n_in_order / n:.3f} "
            f"instead of {n_right / n:.3f}. Check the order of the choices, and whether gold counts from 0."
        )


def _counts_by_target(distribution: Distribution, n_choices: int) -> NDArray[np.int64]:
    """How often each choice is the top label where each is right; shape (target, top label)."""
    cell = distribution.target * n_choices + distribution.top_index
    return np.bincount(cell, minlength=n_choices**2).reshape(n_choices, n_choices)


def _order_text(order: tuple[int, ...]) -> str:
    """What distinguishes an order of the choices: right choice → the one that is taken instead."""
    n_choices = len(order)
    if n_choices == 2:
        return "swapped"
    if all(taken == (right - 1) % n_choices for right, taken in enumerate(order)):
        return "shifted by one (as if gold were counted from 1)"
    if all(taken == (right + 1) % n_choices for right, taken in enumerate(order)):
        return "shifted by one the other way (as if they were counted from 1 and gold from 0)"
    if list(order) == list(range(n_choices))[::-1]:
        return "in reverse order"
    return f"in the order {', '.join(str(taken + 1) for taken in order)}"
