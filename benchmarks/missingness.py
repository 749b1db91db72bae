"""Measure the test of confidences missing from wrong answers: size, power, and what it guards against.

Draws data sets in which confidences are missing by chance, or from a share of the wrong rows, compares them
as the program does, and writes missingness.md beside this script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Final

import numpy as np
from benchmark_page import date_line, percent, points_known, table, write_page
from numpy.typing import NDArray

from calib_core.inference.missingness import compare_missing
from calib_core.inference.verdict import SIGNIFICANCE_LEVEL, judge

SEED: Final = 20261128
REPEATS: Final = 2_000
REPEATS_OF_POWER: Final = 500
ROWS: Final = (100, 300, 800, 2_000)
ACCURACIES: Final = (0.5, 0.7, 0.95)
SHARES_MISSING: Final = (0.02, 0.1, 0.4)
SHARES_OF_WRONG: Final = (0.1, 0.2, 0.4)
CLUSTERS: Final = (60, 200)
SPREADS_OF_WEIGHTS: Final = (0.5, 1.0)
TRIALS: Final = 5
ALIKE: Final = (1.0, 0.5)
"""Correlation of the outcomes of one question: identical trials, and trials that are partly alike."""

Flags = NDArray[np.bool_]
Generator = np.random.Generator
Missing = Callable[[Generator, int, float], Flags]
"""Random generator, number of questions and share → which of their rows have no confidence."""


def of_rows(random: Generator, n_clusters: int, share: float) -> Flags:
    """Single rows lack a confidence."""
    return random.random(n_clusters * TRIALS) < share


def of_questions(random: Generator, n_clusters: int, share: float) -> Flags:
    """Whole questions lack a confidence."""
    return np.repeat(random.random(n_clusters) < share, TRIALS)


def of_some_trials(random: Generator, n_clusters: int, share: float) -> Flags:
    """The first two trials of some questions lack a confidence."""
    return of_questions(random, n_clusters, share) & (np.tile(np.arange(TRIALS), n_clusters) < 2)


MISSING: Final[dict[str, Missing]] = {
    "single rows": of_rows,
    "whole questions": of_questions,
    "two trials of a question": of_some_trials,
}


def is_clear(
    correct: Flags,
    missing: Flags,
    cluster: NDArray[np.intp] | None = None,
    weight: NDArray[np.float64] | None = None,
) -> bool:
    """Whether the program calls the difference clear."""
    return bool(missing.any()) and compare_missing(correct, ~missing, cluster, weight=weight).is_clear


def outcomes_by_question(random: Generator, n_clusters: int, accuracy: float, alike: float) -> Flags:
    """Outcomes with the given correlation within questions."""
    shared = np.repeat(random.random(n_clusters) < accuracy, TRIALS)
    own = random.random(n_clusters * TRIALS) < accuracy
    return np.where(random.random(n_clusters * TRIALS) < np.sqrt(alike), shared, own)


def sizes_of_rows() -> Iterator[list[str]]:
    """Share of data sets with a clear difference, though confidences are missing by chance."""
    for accuracy, share in product(ACCURACIES, SHARES_MISSING):
        cells: list[str] = []
        for n in ROWS:
            random = np.random.default_rng([SEED, n, round(100 * accuracy), round(100 * share)])
            clear = sum(
                is_clear(random.random(n) < accuracy, random.random(n) < share) for _ in range(REPEATS)
            )
            cells.append(percent(clear / REPEATS))
        yield [percent(accuracy), percent(share), *cells]


def sizes_of_clusters() -> Iterator[list[str]]:
    """The same where each question is asked five times; each cell is identical trials, partly alike ones."""
    for (place, (title, missing)), accuracy in product(enumerate(MISSING.items()), ACCURACIES):
        cells: list[str] = []
        for n_clusters, share in product(CLUSTERS, SHARES_MISSING[1:]):
            found: list[str] = []
            for alike in ALIKE:
                random = np.random.default_rng(
                    [SEED, place, n_clusters, *(round(100 * part) for part in (accuracy, share, alike))]
                )
                cluster = np.repeat(np.arange(n_clusters), TRIALS)
                clear = sum(
                    is_clear(
                        outcomes_by_question(random, n_clusters, accuracy, alike),
                        missing(random, n_clusters, share),
                        cluster,
                    )
                    for _ in range(REPEATS)
                )
                found.append(percent(clear / REPEATS))
            cells.append(", ".join(found))
        yield [title, percent(accuracy), *cells]


def sizes_of_weighted() -> Iterator[list[str]]:
    """Share of data sets with a clear difference by chance, where rows have weights."""
    for spread, accuracy, share in product(SPREADS_OF_WEIGHTS, ACCURACIES[1:], SHARES_MISSING[1:]):
        cells: list[str] = []
        for n in ROWS[1::2]:
            random = np.random.default_rng(
                [SEED, n, *(round(100 * one) for one in (accuracy, share, spread))]
            )
            clear = np.zeros(2)
            for _ in range(REPEATS_OF_POWER):
                n_questions = n // TRIALS
                cluster = np.repeat(np.arange(n_questions), TRIALS)
                weight = np.exp(spread * random.standard_normal(n))
                missing = random.random(n) < share
                clear[0] += is_clear(random.random(n) < accuracy, missing, None, weight)
                correct = outcomes_by_question(random, n_questions, accuracy, ALIKE[1])
                clear[1] += is_clear(correct, missing, cluster, np.repeat(weight[:n_questions], TRIALS))
            cells += map(percent, clear / REPEATS_OF_POWER)
        yield [f"{spread:g}", percent(accuracy), percent(share), *cells]


def weighted() -> Iterator[str]:
    """Missing by chance, with weights."""
    yield from ("", "## The same where rows have weights", "")
    yield (
        f"Weights are exp(s·z) with a standard normal z. Independent rows, then {TRIALS} trials of each "
        "question, of one weight and with outcomes that have a correlation of one half. "
        f"{REPEATS_OF_POWER} data sets per cell."
    )
    yield ""
    titles = (f"n = {n:,}{what}" for n in ROWS[1::2] for what in ("", ", trials"))
    yield from table(["s", "accuracy", "without confidence", *titles], sizes_of_weighted(), n_texts=3)


def calibrated(random: Generator, n: int) -> tuple[NDArray[np.float64], Flags]:
    """Confidences of a calibrated model, .7 on average, and outcomes."""
    confidence = random.beta(7, 3, n)
    return confidence, random.random(n) < confidence


def found_missing() -> Iterator[list[str]]:
    """Share of data sets in which the difference is clear, and in which a calibrated model is called off."""
    for share in SHARES_OF_WRONG:
        cells: list[str] = []
        for n in ROWS:
            random = np.random.default_rng([SEED, n, round(100 * share)])
            clear = off = unsaid = 0
            for _ in range(REPEATS_OF_POWER):
                confidence, correct = calibrated(random, n)
                missing = ~correct & (random.random(n) < share)
                alarm = judge(confidence[~missing], correct[~missing]).miscalibrated
                said = is_clear(correct, missing)
                clear, off, unsaid = clear + said, off + alarm, unsaid + (alarm and not said)
            cells.append(", ".join(percent(count / REPEATS_OF_POWER) for count in (clear, off, unsaid)))
        yield [percent(share), *cells]


def page() -> Iterator[str]:
    """The page, line by line."""
    known = points_known(SIGNIFICANCE_LEVEL, REPEATS)
    yield "# Confidences that are missing from wrong answers"
    yield ""
    yield (
        f"Written by `python benchmarks/missingness.py`: seed {SEED}, {REPEATS:,} data sets per cell, "
        f"{REPEATS_OF_POWER} for the last table. A share near 5 % is known to ± {known} points. Clear means "
        f"p ≤ {SIGNIFICANCE_LEVEL}."
    )
    yield ""
    yield "## Missing by chance: a difference is called clear"
    yield ""
    yield from table(
        ["accuracy", "without confidence", *(f"n = {n:,}" for n in ROWS)], sizes_of_rows(), n_texts=2
    )
    yield ""
    yield "## The same with five trials of each question"
    yield ""
    yield "Each cell: identical trials, and trials whose outcomes have a correlation of one half."
    yield ""
    titles = (
        f"{n} questions, {percent(share)} missing" for n, share in product(CLUSTERS, SHARES_MISSING[1:])
    )
    yield from table(["missing are", "accuracy", *titles], sizes_of_clusters(), n_texts=2)
    yield from weighted()
    yield ""
    yield "## Missing from wrong answers of a calibrated model that is right 70 % of the time"
    yield ""
    yield (
        "Each cell: the difference is clear; the verdict on the rows with a confidence calls the model "
        "miscalibrated; the verdict does so and nothing is said of what is missing."
    )
    yield ""
    yield from table(["wrong rows without", *(f"n = {n:,}" for n in ROWS)], found_missing())
    yield ""
    yield date_line()


if __name__ == "__main__":
    write_page(__file__, page())
