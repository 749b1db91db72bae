"""What would the bins hold if the outcomes were drawn from the confidences themselves?

Draws are kept cell by cell; here they are added up into the bins of one scheme, so that a metric is read
off a draw by the very function that reads it off the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calib_core.binned import FINEST, Binned, Scheme, Sums
from calib_core.problems import Unavailable


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """One draw as sums of one scheme: the bins of the data, with outcomes drawn anew."""

    bins: Binned
    rows: int
    groups: int
    pairs: int

    @property
    def right(self) -> int:
        """Σ y of this draw."""
        return int(self.bins.correct.sum())

    @property
    def said(self) -> float:
        """Σ c."""
        return float(self.bins.confidence.sum())

    @property
    def squared_error(self) -> float:
        """Σ (c − y)² of this draw."""
        return max(0.0, float((self.bins.squared - 2 * self.bins.confident_correct).sum()) + self.right)

    @property
    def log_loss(self) -> float:
        """Raises Unavailable: a draw keeps no single confidence."""
        raise Unavailable("A draw keeps no single confidence.")

    @property
    def impossible(self) -> int:
        """None: what has probability 0 is never drawn."""
        return 0

    def binned(self, scheme: Scheme) -> Binned:
        """The bins; raises Unavailable for another scheme than the draw was added up for."""
        if scheme != self.bins.scheme:
            raise Unavailable("A draw is added up for one scheme.")
        return self.bins

    def pooled(self) -> Outcome:
        """Itself: a draw is added up over the classes or by class, as it was asked for."""
        return self

    def levels(self) -> Binned:
        """Raises Unavailable: a draw keeps no single confidence."""
        raise Unavailable("A draw keeps no single confidence.")


@dataclass(frozen=True, slots=True, eq=False)
class Likely:
    """The pairs of each cell that are drawn right: mean, and at most the variance, of their confidence."""

    mean: NDArray[np.float64]
    spread: NDArray[np.float64]

    @classmethod
    def of(
        cls, count: NDArray[np.int64], confidence: NDArray[np.float64], squared: NDArray[np.float64]
    ) -> Likely:
        """From n, Σc and Σc² of each cell of the finest grid: drawn is a pair as often as it is confident.

        Its mean confidence is then Σc²/Σc. With confidences within 1/FINEST of one another their variance
        is no more than the plain one times the largest over the mean, and no more than 1/(2·FINEST)².
        """
        some = confidence > 0
        mean = np.divide(squared, confidence, out=np.zeros(some.size), where=some)
        plain = confidence / count
        variance = squared / count - plain**2
        variance[variance < 1e-13 * plain**2] = 0.0  # what rounding leaves of equal confidences
        most = variance * np.divide(plain + 1 / FINEST, plain, out=np.ones(some.size), where=some)
        return cls(mean, np.minimum(most, 0.25 / FINEST**2))


@dataclass(frozen=True, slots=True, eq=False)
class Redrawn:
    """Draws for the bins of one scheme; iterating gives each draw as sums.

    binned: of the data; rows, groups: as in `Sums`; draws: R; seed: of the draws; bins: number of a draw
    → `binned` with its outcomes; blur: what the Σcy of the draws may lack of their spread, added up over the
    bins and divided by the rows: within a cell every confidence counts as their mean.
    """

    binned: Binned
    rows: int
    groups: int
    draws: int
    seed: int
    bins: Callable[[int], Binned]
    blur: float = 0.0

    def __iter__(self) -> Iterator[Outcome]:
        pairs = int(self.binned.count.sum())
        for number in range(self.draws):
            yield Outcome(self.bins(number), self.rows, self.groups, pairs)


def added_up(
    binned: Binned,
    sums: Sums,
    seed: int,
    drawn: NDArray[np.int32],
    place: NDArray[np.intp],
    likely: Likely | None = None,
) -> Redrawn:
    """Draws kept for every cell.

    drawn: right outcomes, shape (R, cells); place: bin of each cell, as a position in `binned`, each bin
    having a cell, shape (cells,); likely: the pairs that are drawn right there, None where nothing but
    their number is asked for.
    """
    likely = likely or Likely(np.zeros(place.size), np.zeros(place.size))
    order = np.argsort(place, kind="stable")
    start = np.searchsorted(place[order], np.arange(binned.size))
    drawn = drawn[:, order]
    right = np.add.reduceat(drawn, start, axis=1) if binned.size else drawn[:, :0]
    weighed = np.add.reduceat(drawn * likely.mean[order], start, axis=1) if binned.size else right * 1.0

    def bins(number: int) -> Binned:
        correct = right[number].astype(np.int64)
        return binned.drawn(correct, weighed[number])

    lacking = np.bincount(place[order], drawn.mean(axis=0) * likely.spread[order], minlength=binned.size)
    blur = float(np.sqrt(lacking).sum()) / max(sums.rows, 1)
    return Redrawn(binned, sums.rows, sums.groups, drawn.shape[0], seed, bins, blur)


def scattered(
    binned: Binned,
    sums: Sums,
    seed: int,
    draws: int,
    draw: NDArray[np.int32],
    place: NDArray[np.intp],
    right: NDArray[np.int32],
) -> Redrawn:
    """Draws kept only where something was drawn: `right` outcomes of draw `draw` in bin `place`.

    draw: ascending; place: a position in `binned`, which may come again; shape (n,) each.
    """
    start = np.searchsorted(draw, np.arange(draws + 1))

    def bins(number: int) -> Binned:
        part = slice(int(start[number]), int(start[number + 1]))
        correct = np.bincount(place[part], right[part], minlength=binned.size).astype(np.int64)
        return binned.drawn(correct, np.full(binned.size, np.nan))

    return Redrawn(binned, sums.rows, sums.groups, draws, seed, bins)
