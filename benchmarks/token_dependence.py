"""Measure the verdict on positions of texts, which depend on one another within a text.

Draws token-level runs, judges each by text as the program does, and writes token_dependence.md beside this
script. The verdict that takes positions as independent stands beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from benchmark_page import date_line, percent, points_known, table, write_page
from numpy.typing import NDArray
from scipy.special import expit, ndtr

from calib_core.edges import FINEST_BINS, bin_of
from calib_core.inference.calibration_test import FINEST, CalibrationSums, cox_test_of_sums
from calib_core.inference.verdict import SIGNIFICANCE_LEVEL, judge_texts
from calib_core.tokens.accumulators import CellSums
from calib_core.tokens.texts import TextCellSums

SEED: Final = 20261128
REPEATS: Final = 300
TEXT_SPREAD: Final = 0.7
"""Standard deviation of the mean of logit(c) over texts, as some are easier than others."""

Draw = Callable[[np.random.Generator, tuple[int, int]], NDArray[np.float64]]
"""Random generator and shape (texts, positions) → one number for each position."""


def logit_normal(mean: float, spread: float) -> Draw:
    """Confidences whose logits are normal, about a mean that differs between texts."""

    def draw(random: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.float64]:
        of_text = random.normal(mean, TEXT_SPREAD, (shape[0], 1))
        return expit(of_text + random.normal(0, spread, shape))

    return draw


def five_values(random: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.float64]:
    """One of five confidences."""
    return random.choice([0.55, 0.65, 0.75, 0.85, 0.95], shape)


def independent(random: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.float64]:
    """Normal numbers without dependence."""
    return random.normal(size=shape)


def one_effect(random: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.float64]:
    """Normal numbers of which 15 % of the variance belongs to the text."""
    return np.sqrt(0.15) * random.normal(size=(shape[0], 1)) + np.sqrt(0.85) * random.normal(size=shape)


def autoregressive(random: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.float64]:
    """Normal numbers of which neighbours have the correlation .8."""
    number = random.normal(size=shape)
    for place in range(1, shape[1]):
        number[:, place] = 0.8 * number[:, place - 1] + 0.6 * number[:, place]
    return number


CONFIDENCES: Final[dict[str, Draw]] = {
    "logit normal (1.2, 2)": logit_normal(1.2, 2.0),
    "logit normal (4.5, 1), mostly above .9": logit_normal(4.5, 1.0),
    "logit normal (7, 1), errors are rare": logit_normal(7.0, 1.0),
    "five values": five_values,
}

DEPENDENCES: Final[dict[str, Draw]] = {
    "none": independent,
    "15 % of the text": one_effect,
    "autoregressive, .8": autoregressive,
}

SIZES: Final[dict[str, tuple[int, int, float]]] = {
    "60 × 20": (60, 20, 0.0),
    "60 × 200": (60, 200, 0.0),
    "1,000 × 20": (1_000, 20, 0.0),
    "300 × about 50, log-normal": (300, 50, 0.8),
}
"""Texts, positions of each, and the standard deviation of the logarithm of their number."""

SIZES_OF_POWER: Final = ("60 × 200", "300 × about 50, log-normal")


@dataclass(frozen=True, slots=True)
class Error:
    """How the truth differs from c: logit P(right) = slope·logit(c) − shift."""

    slope: float = 1.0
    shift: float = 0.0


ERRORS: Final[dict[str, Error]] = {
    "too high, by .01 on average": Error(shift=0.078),
    "too extreme, β = .95": Error(slope=0.95),
}


def rejected(
    random: np.random.Generator,
    confidences: Draw,
    dependence: Draw,
    size: tuple[int, int, float],
    error: Error,
) -> tuple[bool, bool]:
    """Whether one data set is called miscalibrated: by text, and as if positions were independent."""
    n_texts, length, spread = size
    lengths = np.maximum(np.rint(length * np.exp(random.normal(0, spread, n_texts))), 2)
    shape = (n_texts, int(lengths.max()))
    kept = np.arange(shape[1]) < lengths[:, None]
    c = confidences(random, shape).astype(np.float32).astype(np.float64)
    truth = expit(error.slope * (np.log(c) - np.log1p(-np.minimum(c, 1 - 2.0**-24))) - error.shift)
    right = ndtr(dependence(random, shape)) < (truth if error != Error() else c)
    text = np.broadcast_to(np.arange(n_texts)[:, None], shape)[kept]
    c, right = c[kept], right[kept]
    cell, grid, by_text = bin_of(c, FINEST_BINS), CellSums(), TextCellSums()
    grid.add(cell, c)
    grid.add_correct(cell[right], c[right])
    by_text.add(text, cell, c, right)
    sums = CalibrationSums.from_bins(grid.grid(c.size).binned(FINEST))
    ps = judge_texts(sums, by_text.sums()).p, cox_test_of_sums(sums, draw=False).p
    by_text_rejects, independent_rejects = (p is not None and p <= SIGNIFICANCE_LEVEL for p in ps)
    return by_text_rejects, independent_rejects


def shares(
    confidences: Draw, dependence: Draw, size: tuple[int, int, float], error: Error = Error()
) -> list[str]:
    """The two shares of data sets that are called miscalibrated."""
    random = np.random.default_rng(SEED)
    found = [rejected(random, confidences, dependence, size, error) for _ in range(REPEATS)]
    return [percent(share) for share in np.mean(found, axis=0)]


def calibrated() -> Iterator[list[str]]:
    """False alarms."""
    for name, confidences in CONFIDENCES.items():
        for kind, dependence in DEPENDENCES.items():
            for size in SIZES:
                yield [name, kind, size, *shares(confidences, dependence, SIZES[size])]


def miscalibrated() -> Iterator[list[str]]:
    """Errors that are found."""
    confidences = CONFIDENCES["logit normal (1.2, 2)"]
    for name, error in ERRORS.items():
        for kind, dependence in DEPENDENCES.items():
            for size in SIZES_OF_POWER:
                yield [name, kind, size, *shares(confidences, dependence, SIZES[size], error)]


def lines() -> Iterator[str]:
    """The page, line by line."""
    yield "# How often the verdict on positions of texts is right"
    yield ""
    yield (
        f"Written by `python benchmarks/token_dependence.py`: seed {SEED}; {REPEATS} data sets per cell, so "
        f"that a share near 5 % is known to ± {points_known(0.05, REPEATS)} points. Texts are given as "
        "texts × positions; some are easier than others. A position is right if a number, uniform over all "
        "texts, is below its confidence; the numbers of one text depend on one another as said."
    )
    yield from ("", "## Calibrated positions called miscalibrated at p ≤ .05", "")
    columns = ["texts", "by text", "as if independent"]
    yield from table(["confidences", "dependence", *columns], calibrated(), n_texts=3)
    yield from ("", "## Miscalibrated positions found at p ≤ .05", "")
    yield (
        "Where positions depend on one another, the last column finds more because it also finds what is not "
        "there."
    )
    yield ""
    yield from table(["error", "dependence", *columns], miscalibrated(), n_texts=3)
    yield from ("", date_line())


if __name__ == "__main__":
    write_page(__file__, lines())
