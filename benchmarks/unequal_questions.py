"""Measure how often intervals hold the truth where questions are asked unequally often.

Draws data sets of questions with 5, 1 to 50, or mostly few and sometimes very many rows, and writes
unequal_questions.md beside this script.
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
QUESTIONS: Final = (30, 60, 200)
CONFIDENCE: Final = 0.75
SIZES: Final[dict[str, Callable[[np.random.Generator, int], NDArray[np.int64]]]] = {
    "5 rows each": lambda _random, n: np.full(n, 5),
    "1 to 50 rows": lambda random, n: random.integers(1, 51, n),
    "mostly few, at most 200": lambda random, n: np.clip(np.ceil(random.pareto(1.2, n)), 1, 200).astype(int),
}


def coverages() -> Iterator[list[str]]:
    """Sizes of questions, whether their rows end alike, their number, what they are worth, and coverages."""
    brier_right, brier_wrong = (1 - CONFIDENCE) ** 2, CONFIDENCE**2
    truth = np.array([2 / 3, 2 / 3 * brier_right + brier_wrong / 3])
    for place, (title, sizes) in enumerate(SIZES.items()):
        for alike in (True, False):
            for n in QUESTIONS:
                random = np.random.default_rng([SEED, place, alike, n])
                held, worth = np.zeros(2), 0.0
                for _ in range(REPEATS):
                    size = sizes(random, n)
                    chance = random.beta(4, 2, n)
                    n_right = size * (random.random(n) < chance) if alike else random.binomial(size, chance)
                    cluster = np.repeat(np.arange(n), size)
                    correct = (
                        np.arange(cluster.size) - np.repeat(np.cumsum(size) - size, size) < n_right[cluster]
                    )
                    worth += effective_clusters(cluster) / REPEATS
                    low, high = share_interval(correct, cluster)
                    total = n_right * brier_right + (size - n_right) * brier_wrong
                    ends = mean_interval(total, size.astype(float), (brier_right, brier_wrong))
                    held += [low <= truth[0] <= high, ends[0] <= truth[1] <= ends[1]]
                how = "alike" if alike else "each by itself"
                yield [title, how, f"{n}", f"{worth:.0f}", *map(percent, held / REPEATS)]


def lines() -> Iterator[str]:
    """The page, line by line."""
    yield "# How often intervals hold the truth where questions are asked unequally often"
    yield ""
    yield (
        f"Written by `python benchmarks/unequal_questions.py`: seed {SEED}, {REPEATS:,} data sets per cell, "
        f"95 % known to ± {points_known(0.95, REPEATS)} points. Each question is right with a probability "
        f"from beta(4, 2); all confidences are {CONFIDENCE}. “Worth”: as many questions of one size."
    )
    yield ""
    head = ["rows of a question", "they end", "questions", "worth", "accuracy", "Brier score"]
    yield from table(head, coverages(), n_texts=3)
    yield from ("", date_line())


if __name__ == "__main__":
    write_page(__file__, lines())
