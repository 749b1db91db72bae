"""Measure recalibration: how often a gain is reported that fresh rows from the same truth do not confirm.

A map gains if the 95 % interval of the difference in Brier score, out of fold, is below 0. Here the truth is
known, so that the map fitted to all rows, the one that is used afterwards, has an exact expected difference.
Writes recalibration.md beside this script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
from benchmark_page import date_line, percent, points_known, table, write_page
from numpy.typing import NDArray

from calib_core.inference.paired_test import paired_test
from calib_core.inference.recalibration import MAP_KINDS, Levels, MapKind, out_of_fold
from calib_core.results.recalibration import DEFAULT_FOLDS
from calib_core.results.uncertainty import MIN_OF_RARER_OUTCOME

SEED: Final = 20261126
REPEATS: Final = 200
FRESH_ROWS: Final = 20_000
ROWS: Final = (200, 500, 1_000, 5_000)
QUESTIONS: Final = (60, 200, 1_000)
TRIALS: Final = 5

Floats = NDArray[np.float64]
Truth = Callable[[np.random.Generator, int], tuple[Floats, Floats]]
"""Random generator and number of questions → what the model states, and how probable it is to be right."""


def logistic(logit: Floats) -> Floats:
    """1 / (1 + exp(−x))."""
    return 1 / (1 + np.exp(-logit))


def calibrated(random: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """Exactly right."""
    c = logistic(1 + random.standard_normal(n))
    return c, c


def nearly_certain(random: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """Exactly right, mostly above .99."""
    c = np.clip(random.beta(49.5, 0.5, n), 1e-9, 1 - 1e-9)
    return c, c


def votes(random: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """Exactly right, in tenths from .1 to .9."""
    c = np.clip(np.round(logistic(1 + 1.5 * random.standard_normal(n)), 1), 0.1, 0.9)
    return c, c


def hardly_over(random: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """About .02 too high."""
    x = 1 + random.standard_normal(n)
    return logistic(x), logistic(x - 0.1)


def over_confident(random: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """About .10 too high."""
    x = 1.5 + random.standard_normal(n)
    return logistic(x), logistic(x - 0.6)


def too_extreme(random: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """Right on average, and too far from it."""
    x = 2 * random.standard_normal(n)
    return logistic(x), logistic(0.5 * x)


def stated(random: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """Round numbers as models state them, 1 among them, right in .55 to .9."""
    levels, chances = np.array([0.7, 0.8, 0.9, 0.95, 1.0]), np.array([0.55, 0.6, 0.75, 0.8, 0.9])
    at = random.choice(5, n, p=[0.1, 0.2, 0.3, 0.25, 0.15])
    return levels[at], chances[at]


TRUTHS: Final[dict[str, Truth]] = {
    "calibrated": calibrated,
    "calibrated, mostly above .99": nearly_certain,
    "calibrated, tenths": votes,
    "over by .02": hardly_over,
    "over by .10": over_confident,
    "too extreme": too_extreme,
    "stated, over": stated,
}


def rows(
    random: np.random.Generator, truth: Truth, n: int, trials: int
) -> tuple[Floats, NDArray[np.bool_], NDArray[np.intp] | None]:
    """Confidences, outcomes and questions; trials state the same, and half of them share their luck."""
    c, chance = (np.repeat(values, trials) for values in truth(random, n))
    luck, shared = random.random(c.size), np.repeat(random.random(n), trials)
    luck = np.where(random.random(c.size) < 0.5 * (trials > 1), shared, luck)
    return c, luck < chance, None if trials == 1 else np.repeat(np.arange(n), trials)


def one_data_set(
    random: np.random.Generator, truth: Truth, kind: MapKind, n: int, trials: int, seed: int
) -> tuple[bool, bool, bool]:
    """Whether a gain is reported, whether fresh rows confirm one, and whether the interval holds theirs."""
    c, y, cluster = rows(random, truth, n, trials)
    after = out_of_fold(kind, c, y, cluster, DEFAULT_FOLDS, seed)
    of_question = np.arange(c.size) // trials
    if min(np.unique(of_question[y == right]).size for right in (True, False)) < MIN_OF_RARER_OUTCOME:
        return False, True, True  # no difference is tested
    change = (after - y) ** 2 - (c - y) ** 2
    test = paired_test(float(change.mean()), change - change.mean(), cluster)
    fresh, chance = truth(random, FRESH_ROWS)
    mapped = kind.apply(kind.fit(Levels.from_pairs(c, y)), fresh)
    really = float(((mapped - chance) ** 2 - (fresh - chance) ** 2).mean())
    return test.high < 0, really < 0, test.low <= really <= test.high


def cells() -> Iterator[tuple[str, str, dict[str, tuple[float, float, float]]]]:
    """Truth, size and for each map: gains reported, gains not confirmed, and coverage."""
    sizes = [(f"n = {n:,}", n, 1) for n in ROWS]
    sizes += [(f"{n:,} questions × {TRIALS}", n, TRIALS) for n in QUESTIONS]
    for place, (title, truth) in enumerate(TRUTHS.items()):
        for size, n, trials in sizes:
            shares: dict[str, tuple[float, float, float]] = {}
            for which, (id_, kind) in enumerate(MAP_KINDS.items()):
                random = np.random.default_rng([SEED, place, which, n, trials])
                found = np.array(
                    [one_data_set(random, truth, kind, n, trials, seed) for seed in range(REPEATS)]
                )
                gain, confirmed, held = found.T
                shares[id_] = (gain.mean(), (gain & ~confirmed).mean(), held.mean())
            print(title, size, shares, flush=True)
            yield title, size, shares


def page_lines() -> Iterator[str]:
    """What recalibration.md says, line by line."""
    measured = list(cells())
    worst = max(share[1] for _, _, shares in measured for share in shares.values())
    yield "# How far a gain from recalibration can be trusted"
    yield ""
    yield (
        f"Written by `python benchmarks/recalibration.py`: seed {SEED}; {REPEATS} data sets per cell and "
        f"map, {DEFAULT_FOLDS} folds. A gain is reported if the 95 % interval of the difference in Brier "
        "score out of fold is below 0. It is confirmed if the map fitted to all rows has a lower expected "
        f"Brier score than the confidences on {FRESH_ROWS:,} fresh rows, whose chances are known. A share "
        f"near 2.5 % is known to ± {points_known(0.025, REPEATS)} points. In trials of a question the "
        "confidence is the same, and half of them share their luck."
    )
    yield date_line()
    yield ""
    yield f"The most gains that are not confirmed are {percent(worst)}."
    for heading, column in (
        ("Gains reported that fresh rows do not confirm", 1),
        ("Gains reported", 0),
        ("Intervals that hold the expected difference of the map fitted to all rows", 2),
    ):
        yield ""
        yield f"## {heading}"
        yield ""
        yield from table(
            ["truth", "size", *MAP_KINDS],
            (
                [title, size, *(percent(shares[id_][column]) for id_ in MAP_KINDS)]
                for title, size, shares in measured
            ),
            n_texts=2,
        )


if __name__ == "__main__":
    write_page(__file__, page_lines())
