"""Measure the price of believing a confidence: how often its 95 % interval holds the truth.

Confidences have a known chance of being right, so the cost of any threshold is known exactly. Writes
threshold_cost.md beside this script.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from benchmark_page import date_line, percent, points_known, table, write_page
from numpy.typing import NDArray

from calib_core.inference.decision_loss import ErrorCosts, decision_loss
from calib_core.results.uncertainty import MIN_OF_RARER_OUTCOME

SEED: Final = 20261128
REPEATS: Final = 300
QUESTIONS: Final = (60, 300, 1_000)
TRIALS: Final = 5
COSTS: Final = (ErrorCosts(2, 1), ErrorCosts(10, 1))
LEVELS: Final = 20
"""Confidences are .025, .075, … .975."""
BIAS: Final = {"calibrated": (1.0, 0.0), "over-confident": (0.6, -1.0), "under-confident": (1.3, 0.8)}
"""Name → slope and level of the logit of being right against that of the confidence."""

Floats = NDArray[np.float64]


def logistic(logit: Floats) -> Floats:
    """1 / (1 + exp(−x))."""
    return 1 / (1 + np.exp(-logit))


def measured(
    bias: tuple[float, float], costs: ErrorCosts, n: int, trials: int
) -> tuple[int, float, float, float, float]:
    """Data sets, the true price, the mean one found, the shares of intervals that hold it and are above 0.

    Only data sets with as many right and wrong answers as a price needs.
    """
    random = np.random.default_rng([SEED, n, trials, int(costs.wrong), *map(ord, str(bias))])
    confidence = (np.arange(LEVELS)[::-1] + 0.5) / LEVELS
    weight = confidence**2 / (confidence**2).sum()
    chance = logistic(bias[0] * np.log(confidence / (1 - confidence)) + bias[1])
    saved = chance * costs.handed_on + (1 - chance) * (costs.handed_on - costs.wrong)
    saves = np.concatenate([[0.0], np.cumsum(weight * saved)])  # each threshold, against answering nothing
    believed = int(np.count_nonzero(confidence >= costs.calibrated_threshold - 1e-9)) - 1
    price = float(saves.max() - saves[believed + 1])
    found: list[tuple[float, bool, bool]] = []
    for repeat in range(REPEATS):
        step = np.repeat(random.choice(LEVELS, n, p=weight), trials)
        right = np.repeat(random.random(n), trials) < chance[step]  # trials of a question agree
        if min(right.sum(), (~right).sum()) < MIN_OF_RARER_OUTCOME * trials:
            continue
        cluster = None if trials == 1 else np.repeat(np.arange(n), trials)
        loss = decision_loss(step, right, believed, costs, cluster, repeat)
        found.append((loss.value, loss.low <= price + 1e-12 and price <= loss.high, loss.low > 0))
    value, held, clear = np.mean(np.array(found, dtype=float), axis=0)
    return len(found), price, float(value), float(held), float(clear)


def page() -> Iterator[str]:
    """The page, line by line as it is measured."""
    yield "# The price of believing a confidence"
    yield ""
    yield (
        f"Written by `python benchmarks/threshold_cost.py`: seed {SEED}; {REPEATS} data sets drawn per row; "
        f"confidences at {LEVELS} levels. The price is the cost of the threshold that a calibrated "
        "confidence implies, minus that of the threshold that is cheapest in the long run. Found: against "
        "the cheapest one on the rows themselves, on average. Held: the share of 95 % intervals that hold "
        f"the price, known to ± {points_known(0.95, REPEATS)} points at 95 % by {REPEATS}. Clear: the share "
        f"that lies above 0. Data sets with fewer than {MIN_OF_RARER_OUTCOME} right or wrong answers have no "
        "price and do not count."
    )
    yield date_line()
    yield ""
    yield from table(
        (
            "confidences",
            "wrong : handed on",
            "trials",
            "questions",
            "data sets",
            "price",
            "found",
            "held",
            "clear",
        ),
        (
            (
                name,
                f"{costs.wrong:g} : {costs.handed_on:g}",
                str(trials),
                f"{n:,}",
                str(n_sets),
                f"{price:.3f}",
                f"{value:.3f}",
                percent(held),
                percent(clear),
            )
            for name, bias in BIAS.items()
            for costs in COSTS
            for trials in (1, TRIALS)
            for n in QUESTIONS
            for n_sets, price, value, held, clear in [measured(bias, costs, n, trials)]
        ),
        4,
    )


if __name__ == "__main__":
    write_page(__file__, page())
