"""Measure how often intervals hold the truth where questions are asked unequally often.

Draws data sets of questions with 5, 1 to 50, or mostly few and sometimes very many rows, which are right two
thirds or nine tenths of the time, and writes unequal_questions.md beside this script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
from benchmark_page import date_line, percent, points_known, table, write_page
from numpy.typing import NDArray

from calib_core.inference.clusters import effective_clusters
from calib_core.inference.intervals import mean_interval, share_interval

SEED: Final = 20261128
REPEATS: Final = 2_000
CHANCES: Final = ((4, 2), (18, 2))
"""Beta distributions of the probability that a question is answered right."""
QUESTIONS: Final = (30, 60, 200)
CONFIDENCE: Final = 0.75
SIZES: Final[dict[str, Callable[[np.random.Generator, int], NDArray[np.int64]]]] = {
    "5 rows each": lambda _random, n: np.full(n, 5),
    "1 to 50 rows": lambda random, n: random.integers(1, 51, n),
    "mostly few, at most 200": lambda random, n: np.clip(np.ceil(random.pareto(1.2, n)), 1, 200).astype(int),
}


def coverages() -> Iterator[list[str]]:
    """Sizes of questions, whether their rows end alike, their number, what they are worth, and coverages."""
    for place, (title, sizes) in enumerate(SIZES.items()):
        for alike in (True, False):
            for n in QUESTIONS:
                cells: list[str] = []
                worth = 0.0
                for right, wrong in CHANCES:
                    random = np.random.default_rng([SEED, place, alike, n, right])
                    drawn = [held(random, sizes, n, (right, wrong), alike=alike) for _ in range(REPEATS)]
                    *shares, worth = np.mean(drawn, axis=0).tolist()
                    cells += map(percent, shares)
                yield [title, "alike" if alike else "each by itself", f"{n}", f"{worth:.0f}", *cells]


def held(
    random: np.random.Generator,
    sizes: Callable[[np.random.Generator, int], NDArray[np.int64]],
    n: int,
    chances: tuple[float, float],
    *,
    alike: bool,
) -> tuple[bool, bool, float]:
    """Whether intervals hold accuracy and Brier score of one data set, and what its questions are worth."""
    size, chance = sizes(random, n), random.beta(*chances, n)
    n_right = size * (random.random(n) < chance) if alike else random.binomial(size, chance)
    cluster = np.repeat(np.arange(n), size)
    correct = np.arange(cluster.size) - np.repeat(np.cumsum(size) - size, size) < n_right[cluster]
    brier_right, brier_wrong = (1 - CONFIDENCE) ** 2, CONFIDENCE**2
    accuracy = chances[0] / sum(chances)
    brier = accuracy * brier_right + (1 - accuracy) * brier_wrong
    low, high = share_interval(correct, cluster)
    total = n_right * brier_right + (size - n_right) * brier_wrong
    ends = mean_interval(total, size.astype(float), (brier_right, brier_wrong))
    return low <= accuracy <= high, ends[0] <= brier <= ends[1], effective_clusters(cluster)


def lines() -> Iterator[str]:
    """The page, line by line."""
    yield "# How often intervals hold the truth where questions are asked unequally often"
    yield ""
    yield (
        f"Written by `python benchmarks/unequal_questions.py`: seed {SEED}, {REPEATS:,} data sets per cell, "
        f"95 % known to ± {points_known(0.95, REPEATS)} points. Each question is right with a probability "
        f"from beta(4, 2), whose mean is two thirds, or beta(18, 2), whose mean is .9; all confidences are "
        f"{CONFIDENCE}. “Worth”: as many questions of one size."
    )
    yield ""
    head = ["rows of a question", "they end", "questions", "worth"]
    head += [f"{what}, {share} right" for share in ("⅔", ".9") for what in ("accuracy", "Brier score")]
    yield from table(head, coverages(), n_texts=3)
    yield from ("", date_line())


if __name__ == "__main__":
    write_page(__file__, lines())
