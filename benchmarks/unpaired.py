"""Measure whether two checkpoints of a token-level run may be compared without pairing their positions.

Their sums give an interval of the difference if positions are taken for independent, and the checkpoints
for independent of one another. Writes unpaired.md beside this script.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from benchmark_page import date_line, percent, points_known, table, write_page
from numpy.typing import NDArray

from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.inference.directional import BinMeans, directional_contrasts
from calib_core.inference.intervals import unpaired_difference_interval, wilson_interval
from calib_core.metrics.ece import ece

SEED: Final = 20261126
REPEATS: Final = 400
TEXTS: Final = 50
POSITIONS: Final = 100
"""Texts, and positions of each, in a data set."""
TRUTH_TEXTS: Final = 20_000
TEN_BINS: Final = Scheme("width", 10)
NOMINAL: Final = 0.95

Outcome = tuple[NDArray[np.float64], NDArray[np.bool_]]
"""Confidence and outcome of each position."""


@dataclass(frozen=True, slots=True)
class Texts:
    """How positions of a text depend on one another.

    Attributes
    ----------
    title : str
    common : float
        Standard deviation over the texts, in logits, of what makes both checkpoints right more often.
    own : float
        The same of what makes one checkpoint right more often: it has learned what the text is about.
    """

    title: str
    common: float
    own: float


SETTINGS: Final = (
    Texts("independent positions", 0.0, 0.0),
    Texts("some texts are easier, for both alike", 0.5, 0.0),
    Texts("some texts are easier for one, a little", 0.5, 0.1),
    Texts("some texts are easier for one", 0.5, 0.3),
)


def checkpoints(random: np.random.Generator, texts: Texts, n_texts: int) -> tuple[Outcome, Outcome]:
    """Two checkpoints on the same positions; the later one is right more often, and less over-confident."""
    shape = (n_texts, POSITIONS)
    difficulty = random.standard_normal(shape) + texts.common * random.standard_normal((n_texts, 1))
    shared, same = random.random(shape), random.random(shape) < 0.5

    def outcome(level: float, sharpness: float) -> Outcome:
        stated = level + difficulty
        chance = 1 / (1 + np.exp(-(stated + texts.own * random.standard_normal((n_texts, 1)))))
        luck = np.where(same, shared, random.random(shape))
        return (1 / (1 + np.exp(-sharpness * stated))).ravel(), (luck < chance).ravel()

    return outcome(0.4, 1.6), outcome(0.6, 1.3)


def accuracy_interval(first: Outcome, second: Outcome) -> tuple[float, float]:
    """The interval of second less first, from each one's Wilson interval."""
    ends: list[tuple[float, tuple[float, float]]] = []
    for _, right in (second, first):
        low, high = wilson_interval(np.array([right.sum()]), np.array([right.size]))
        ends.append((float(right.mean()), (float(low[0]), float(high[0]))))
    found = unpaired_difference_interval(*ends[0], *ends[1])
    assert found is not None
    return found


def ece_interval(first: Outcome, second: Outcome) -> tuple[float, float]:
    """The interval of second less first by the directional delta method, without a covariance of the two."""
    one, other = (
        BinMeans.from_bins(BinSums.from_pairs(*pairs).binned(TEN_BINS)) for pairs in (first, second)
    )
    n_first = one.mean.size
    covariance = np.zeros((n_first + other.mean.size,) * 2)
    covariance[:n_first, :n_first], covariance[n_first:, n_first:] = one.covariance, other.covariance
    both = BinMeans(np.concatenate([one.mean, other.mean]), covariance, one.n_clusters)
    weights = np.where(np.arange(both.mean.size) < n_first, -1.0, 1.0)
    low, high, _ = directional_contrasts(both, weights[None, :])
    return float(low[0]), float(high[0])


def ece_value(pairs: Outcome) -> float:
    """ECE with ten bins."""
    value = ece(BinSums.from_pairs(*pairs), TEN_BINS)
    assert value is not None
    return value


def coverages() -> Iterator[list[str]]:
    """How often each setting's intervals hold the true difference."""
    for number, texts in enumerate(SETTINGS):
        first, second = checkpoints(np.random.default_rng([SEED, number]), texts, TRUTH_TEXTS)
        true_accuracy = float(second[1].mean() - first[1].mean())
        true_ece = ece_value(second) - ece_value(first)
        held = np.zeros(2)
        for repeat in range(REPEATS):
            pair = checkpoints(np.random.default_rng([SEED, number, repeat]), texts, TEXTS)
            for index, (interval, truth) in enumerate(
                ((accuracy_interval, true_accuracy), (ece_interval, true_ece))
            ):
                low, high = interval(*pair)
                held[index] += low <= truth <= high
        yield [texts.title, *map(percent, held / REPEATS)]


def lines() -> Iterator[str]:
    """The page."""
    yield "# Two checkpoints, unpaired"
    yield ""
    yield (
        f"Written by `python benchmarks/unpaired.py`. How often a 95 % interval of the difference of two "
        f"checkpoints holds the true one, in {REPEATS} data sets of {TEXTS} texts of {POSITIONS} positions, "
        "if all that is known are the sums of each checkpoint: positions count as independent, and so do the "
        "checkpoints, though half of their luck is the same. The shares are known to "
        f"±{points_known(NOMINAL, REPEATS)} percentage points."
    )
    yield ""
    yield from table(("positions of one text", "accuracy", "ECE, 10 bins"), coverages())
    yield ""
    yield (
        "Leaving out the pairing errs on the safe side. Leaving out what the positions of one text have in "
        "common does not, and the sums do not say how much that is. So Calib shows no interval for a change "
        "between two token-level runs."
    )
    yield ""
    yield date_line()


if __name__ == "__main__":
    write_page(__file__, lines())
