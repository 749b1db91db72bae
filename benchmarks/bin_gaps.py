"""Measure how often any bin of a calibrated run is called clearly off, ten bins together at 5 %.

Draws calibrated data sets of independent rows, of rounded confidences and of repeated questions, and writes
bin_gaps.md beside this script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
from benchmark_page import date_line, percent, points_known, table, write_page
from numpy.typing import NDArray

from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.inference.bin_gaps import bin_gaps
from calib_core.inference.calibration_test import stated_ends
from calib_core.inference.clusters import design_effect

SEED: Final = 20261129
REPEATS: Final = 2_000
ROWS: Final = (100, 1_000, 10_000)
QUESTIONS: Final = (60, 200, 1_000)
TRIALS: Final = 5

Drawn = tuple[NDArray[np.float64], NDArray[np.float64]]
"""What is meant and what is written, each of shape (n,)."""


def written(
    meant: Callable[[np.random.Generator, int], NDArray[np.float64]],
    write: Callable[[NDArray[np.float64]], NDArray[np.float64]] = lambda c: c,
) -> Callable[[np.random.Generator, int], Drawn]:
    """Draws of confidences meant, with how they are written."""

    def draw(random: np.random.Generator, n: int) -> Drawn:
        c = meant(random, n)
        return c, write(c)

    return draw


CONFIDENCES: Final = {
    "beta(4, 2)": written(lambda random, n: random.beta(4, 2, n)),
    "beta(49.5, .5), mostly above .99": written(lambda random, n: random.beta(49.5, 0.5, n)),
    ".6, .8 or .95": written(lambda random, n: random.choice([0.6, 0.8, 0.95], n)),
    "beta(20, 1) to two decimals": written(lambda random, n: random.beta(20, 1, n), lambda c: c.round(2)),
    "beta(20, 1) to one decimal": written(lambda random, n: random.beta(20, 1, n), lambda c: c.round(1)),
    "beta(49.5, .5) to two decimals": written(
        lambda random, n: random.beta(49.5, 0.5, n), lambda c: c.round(2)
    ),
    "beta(20, 1) to float16": written(
        lambda random, n: random.beta(20, 1, n), lambda c: c.astype(np.float16).astype(np.float64)
    ),
    "beta(.2, .2) to two decimals": written(lambda random, n: random.beta(0.2, 0.2, n), lambda c: c.round(2)),
}


def any_clear(random: np.random.Generator, drawn: Drawn, trials: int) -> tuple[bool, bool]:
    """Whether any bin is called off, and whether any were if 0 and 1 stood for exactly that.

    The trials of a question end alike.
    """
    meant, c = (np.repeat(each, trials) for each in drawn)
    cluster = np.repeat(np.arange(drawn[0].size), trials) if trials > 1 else None
    y = np.repeat(random.random(drawn[0].size), trials) < meant
    binned, effect = BinSums.from_pairs(c, y).binned(Scheme()), design_effect(cluster)
    at_zero, at_one = stated_ends(c, y)
    clear = bin_gaps(binned, (at_zero.moved, at_one.moved), effect).clear
    return bool(clear.any()), bool(bin_gaps(binned, design_effect=effect).clear.any())


def shares(sizes: tuple[int, ...], trials: int) -> Iterator[list[str]]:
    """Confidences, and for each size the shares of `any_clear`."""
    for place, (title, draw) in enumerate(CONFIDENCES.items()):
        cells = []
        for n in sizes:
            random = np.random.default_rng([SEED, place, n, trials])
            called = np.mean([any_clear(random, draw(random, n), trials) for _ in range(REPEATS)], axis=0)
            cells.append(" / ".join(map(percent, called)))
        yield [title, *cells]


def lines() -> Iterator[str]:
    """The page, line by line."""
    yield "# How often a bin of a calibrated run is called clearly off"
    yield ""
    yield (
        f"Written by `python benchmarks/bin_gaps.py`: seed {SEED}, {REPEATS:,} data sets per cell, 5 % known "
        f"to ± {points_known(0.05, REPEATS)} points; ten bins, of which at most 5 % of data sets should have "
        "one that is called off. The outcomes follow the confidences meant, the bins hold those written, of "
        "which 0 and 1 stand for what rounds to them; after the stroke, as if they stood for exactly that. "
        "One decimal is off by up to .05, which is a miscalibration of the number stated and is found as one."
    )
    yield ""
    yield from table(["meant and written", *(f"{n:,} rows" for n in ROWS)], shares(ROWS, 1))
    yield from ("", f"## Questions asked {TRIALS} times whose trials end alike", "")
    yield from table(
        ["meant and written", *(f"{n:,} questions" for n in QUESTIONS)], shares(QUESTIONS, TRIALS)
    )
    yield from ("", date_line())


if __name__ == "__main__":
    write_page(__file__, lines())
