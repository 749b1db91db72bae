"""Measure thresholds with a guarantee: how often they miss their target on new questions, and are found.

A threshold is chosen on a data set and judged by the accuracy, above it, of a million new answers. Writes
threshold.md beside this script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from benchmark_page import date_line, percent, points_known, table, write_page
from numpy.typing import NDArray

from calib_core.results.abstention import (
    GuaranteedThreshold,
    OperatingPoint,
    abstention_curve,
    guaranteed_threshold,
)
from calib_core.results.evidence import gather_evidence
from calib_core.runs import AnswerRun, RowCounts, RunInfo

SEED: Final = 20261126
REPEATS: Final = 1_000
REPEATS_OF_MANY_REPEATED: Final = 400
"""Data sets of 1,000 questions that are asked several times."""
NEW_ROWS: Final = 1_000_000
TARGET: Final = 0.9
CONFIDENCE: Final = 0.95
SURE: Final = 0.9957
"""A twentieth of the confidences of `wrong_when_sure` are higher."""
WRONG_WHEN_SURE: Final = 0.8
"""Chance of being right there."""
ROWS: Final = (50, 100, 200, 500, 1_000, 10_000)
QUESTIONS: Final = (60, 200, 1_000)
TRIALS: Final = 5

Floats = NDArray[np.float64]
Outcomes = NDArray[np.bool_]


def logistic(logit: Floats) -> Floats:
    """1 / (1 + exp(−x))."""
    return 1 / (1 + np.exp(-logit))


@dataclass(frozen=True, slots=True)
class Model:
    """How confidences and outcomes come about.

    Attributes
    ----------
    title : str
    answer : callable
        Random generator, logit of the chance of each row → confidences and chances of being right.
    centre, spread : float
        Mean and standard deviation of these logits.
    """

    title: str
    answer: Callable[[np.random.Generator, Floats], tuple[Floats, Floats]]
    centre: float = 1.5
    spread: float = 1.5


def calibrated(random: np.random.Generator, logit: Floats) -> tuple[Floats, Floats]:
    """Confidences that are the chances."""
    del random
    return logistic(logit), logistic(logit)


def over_confident(random: np.random.Generator, logit: Floats) -> tuple[Floats, Floats]:
    """Noisy confidences that are too high."""
    return logistic(1.3 * logit + 1 + random.standard_normal(logit.size)), logistic(logit)


def votes(random: np.random.Generator, logit: Floats) -> tuple[Floats, Floats]:
    """Shares of ten votes: many rows of equal confidence."""
    return random.binomial(10, logistic(logit)) / 10, logistic(logit)


def stated(random: np.random.Generator, logit: Floats) -> tuple[Floats, Floats]:
    """Confidences of 0 and 1 only."""
    return (random.random(logit.size) < logistic(logit)).astype(np.float64), logistic(logit)


def wrong_when_sure(random: np.random.Generator, logit: Floats) -> tuple[Floats, Floats]:
    """Confidences that are the chances, but for the highest, which belong to answers that are often wrong."""
    del random
    chance = logistic(logit)
    return chance, np.where(chance > SURE, WRONG_WHEN_SURE, chance)


def just_below(random: np.random.Generator, logit: Floats) -> tuple[Floats, Floats]:
    """Confidences that say nothing about the outcome, which is right a little less often than the target."""
    return random.random(logit.size), np.full(logit.size, TARGET - 1e-6)


def constant_below(random: np.random.Generator, logit: Floats) -> tuple[Floats, Floats]:
    """The same for a single confidence."""
    del random
    return np.full(logit.size, 0.95), np.full(logit.size, TARGET - 1e-6)


MODELS: Final = (
    Model("calibrated", calibrated),
    Model("over-confident", over_confident),
    Model("ten votes", votes),
    Model("0 and 1", stated, centre=3.0),
    Model("wrong when most sure", wrong_when_sure, centre=3.0),
    Model("just below the target", just_below),
    Model("just below, one confidence", constant_below),
)
CLUSTERED: Final = (
    ("identical trials", 1.0),
    ("half of the luck shared", 0.5),
    ("a tenth shared", 0.1),
)
"""Title → share of trials whose luck is that of their question."""


def drawn(
    random: np.random.Generator, model: Model, n_questions: int, trials: int, shared: float
) -> tuple[Floats, Outcomes]:
    """Confidences and outcomes, trial by trial; all trials of a question have its chance."""
    logit = model.centre + model.spread * random.standard_normal(n_questions)
    of_question = np.repeat(np.arange(n_questions), trials)
    if shared == 1:
        confidence, chance = (part[of_question] for part in model.answer(random, logit))
    else:
        confidence, chance = model.answer(random, logit[of_question])
    luck = random.random(n_questions)[of_question]
    own = random.random(of_question.size)
    luck = np.where(random.random(of_question.size) < (shared if trials > 1 else 0), luck, own)
    return confidence, luck < chance


@dataclass(frozen=True, slots=True)
class NewAnswers:
    """Answers to new questions, the most confident first."""

    confidence: Floats
    accuracy: Floats

    @classmethod
    def of(cls, model: Model) -> NewAnswers:
        """Draws them; where the chances are known to be the same, the accuracy is exact."""
        random = np.random.default_rng((SEED, 1))
        logit = model.centre + model.spread * random.standard_normal(NEW_ROWS)
        confidence, chance = model.answer(random, logit)
        order = np.argsort(-confidence)
        return cls(confidence[order], np.cumsum(chance[order]) / np.arange(1, NEW_ROWS + 1))

    def misses(self, point: OperatingPoint) -> bool:
        """Whether the accuracy from this threshold on is below the target."""
        answered = int(np.searchsorted(-self.confidence, -point.threshold, side="right"))
        return bool(self.accuracy[max(answered, 1) - 1] < TARGET)


def counted(model: Model, n_questions: int, trials: int, shared: float, repeats: int) -> list[str]:
    """The cells of one row: missed, found and answered of each kind of threshold.

    These are the guaranteed and the empirical one and, where questions are repeated, that of one row each.
    """
    random = np.random.default_rng((SEED, n_questions, trials, round(10 * shared)))
    new = NewAnswers.of(model)
    missed, found, share = np.zeros(3), np.zeros(3), np.zeros(3)
    for _ in range(repeats):
        confidence, correct = drawn(random, model, n_questions, trials, shared)
        result = threshold_of(confidence, correct, trials)
        points = [result.point, result.empirical]
        if trials > 1:
            points.append(threshold_of(confidence[::trials], correct[::trials], 1).point)
        for place, point in enumerate(points):
            if point is not None:
                found[place] += 1
                missed[place] += new.misses(point)
                share[place] += point.coverage
    cells: list[str] = []
    for place in range(2 + (trials > 1)):
        answered = percent(share[place] / found[place]) if found[place] else "–"
        cells += [percent(missed[place] / repeats), percent(found[place] / repeats), answered]
    return cells


def threshold_of(confidence: Floats, correct: Outcomes, trials: int) -> GuaranteedThreshold:
    """The thresholds of these answers, as the program finds them."""
    curve = abstention_curve(gather_evidence(run_of(confidence, correct, trials), "given"))
    return guaranteed_threshold(curve, TARGET, CONFIDENCE)


def run_of(confidence: Floats, correct: Outcomes, trials: int) -> AnswerRun:
    """A run with these answers."""
    rows = pl.DataFrame({"row": np.arange(1, correct.size + 1), "confidence": confidence, "correct": correct})
    if trials > 1:
        question = np.repeat(np.arange(correct.size // trials), trials)
        rows = rows.with_columns(trial_of=pl.Series(question).cast(pl.String))
    return AnswerRun("made", "table", "made", RunInfo(), rows, RowCounts(n_rows=correct.size))


COLUMNS: Final = ("missed", "found", "answered", "empirical: missed", "found", "answered")


def page() -> Iterator[str]:
    """The page, line by line."""
    yield "# How often a threshold with a guarantee misses its target"
    yield ""
    yield (
        f"Written by `python benchmarks/threshold.py`: seed {SEED}; {REPEATS:,} data sets per row, "
        f"{REPEATS_OF_MANY_REPEATED} of 1,000 questions that are asked several times; accuracy "
        f"{percent(TARGET)} with {percent(CONFIDENCE)} confidence. Missed: the share of data sets whose "
        "threshold has a lower accuracy on a million new answers, at most 5 % by design; 5 % is known to ± "
        f"{points_known(0.05, REPEATS)} points ({REPEATS_OF_MANY_REPEATED}: ± "
        f"{points_known(0.05, REPEATS_OF_MANY_REPEATED)}). Answered: on average over the data "
        "sets in which a threshold was found. The last three columns are of the empirical threshold, the "
        "smallest whose accuracy on the data set itself reaches the target."
    )
    yield date_line()
    yield ""
    yield "## Each question asked once"
    yield ""
    yield from table(
        ("confidences", "n", *COLUMNS),
        ((model.title, f"{n:,}", *counted(model, n, 1, 0, REPEATS)) for model in MODELS for n in ROWS),
        2,
    )
    yield ""
    yield f"## Each question asked {TRIALS} times"
    yield ""
    yield "The last three columns: Clopper–Pearson on one row of each question, not chosen (decision 0016)."
    yield ""
    yield from table(
        ("confidences", "trials", "questions", *COLUMNS, "one row each: missed", "found", "answered"),
        (
            (model.title, title, f"{n:,}", *counted(model, n, TRIALS, shared, repeats_of(n)))
            for model in (MODELS[0], MODELS[2], MODELS[4], MODELS[5])
            for title, shared in CLUSTERED
            for n in QUESTIONS
        ),
        3,
    )


def repeats_of(n_questions: int) -> int:
    """Number of data sets of so many repeated questions."""
    return REPEATS if n_questions < 1_000 else REPEATS_OF_MANY_REPEATED


if __name__ == "__main__":
    write_page(__file__, page())
