"""Which pairs of (confidence, outcome) are pooled?

A row contributes one pair, its top label, or one pair per class. ECE, classwise ECE and Full-ECE are the same
sum over different pools (Full-ECE paper, eq. 3, 7 and 11–13).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calib_core.bins import BinSums
from calib_core.edges import Floats

Labels = Literal["top", "all"]
"""Whether a row of choices contributes one pair, its top label, or one pair per choice."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of confidence and outcome.

    Attributes
    ----------
    confidence : float array, shape (n,)
        Confidences in [0, 1]; float16, float32 or float64.
    correct : NDArray[np.bool_], shape (n,)
        Outcomes.
    used_rows : NDArray[np.intp] or None, shape (n,)
        Position of each pair's row in the `rows` of its run; None where each row has one pair, in their
        order.
    computed : bool
        Whether the confidences were computed here (float64) rather than stored in the file.
    weight : NDArray[np.float64] or None, shape (n,)
        Number of cases that each pair stands for, above 0; None where all count alike.
    """

    confidence: Floats
    correct: NDArray[np.bool_]
    used_rows: NDArray[np.intp] | None
    computed: bool
    weight: NDArray[np.float64] | None = None

    @property
    def n(self) -> int:
        """Number of pairs."""
        return self.confidence.size

    @property
    def rows(self) -> NDArray[np.intp]:
        """Position of each pair's row in the `rows` of its run, shape (n,)."""
        return np.arange(self.n) if self.used_rows is None else self.used_rows

    def take(self, positions: NDArray[np.intp]) -> Pairs:
        """The pairs at these positions, which may repeat."""
        return Pairs(
            self.confidence[positions],
            self.correct[positions],
            positions if self.used_rows is None else self.used_rows[positions],
            self.computed,
            None if self.weight is None else unequal(self.weight[positions]),
        )

    def sums(self) -> BinSums:
        """The additive state of these pairs."""
        return BinSums.from_pairs(
            self.confidence, self.correct, computed=self.computed, copy=False, weight=self.weight
        )


def unequal(weight: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """The weights, or None where all are equal and so change nothing (decision 0018)."""
    return weight if weight.size and bool((weight != weight[0]).any()) else None


@dataclass(frozen=True, slots=True, eq=False)
class UnpairedOutcomes:
    """Outcomes of rows that have no confidence.

    Attributes
    ----------
    correct : NDArray[np.bool_], shape (n,)
        Outcomes.
    rows : NDArray[np.intp], shape (n,)
        Position of each in the `rows` of its run.
    """

    correct: NDArray[np.bool_]
    rows: NDArray[np.intp]

    def not_in(self, rows: NDArray[np.intp]) -> UnpairedOutcomes | None:
        """Those of other rows than these; None if there are none."""
        kept = ~np.isin(self.rows, rows)
        return UnpairedOutcomes(self.correct[kept], self.rows[kept]) if kept.any() else None


@dataclass(frozen=True, slots=True, eq=False)
class Distribution:
    """The probability of every choice, for rows with differing numbers of choices.

    Attributes
    ----------
    probs : float array, shape (Σ sizes,)
        Probabilities in [0, 1], row after row; float16, float32 or float64.
    sizes : NDArray[np.int64], shape (n,)
        Number of choices of each row, at least 1.
    target : NDArray[np.int64], shape (n,)
        Index of the right choice of each row, 0 ≤ target < size.
    rows : NDArray[np.intp], shape (n,)
        Position of each row in the `rows` of its run.
    computed : bool
        Whether the probabilities were computed here (float64) rather than stored in the file.
    normalised : bool
        Whether the probabilities of each row sum to 1, within 1e-3 or as printing them allows.
    preferred : NDArray[np.int64] or None, shape (n,)
        The choice that is the top label of each row where several are equally likely and it is one of them;
        −1 for none.
    weight : NDArray[np.float64] or None, shape (n,)
        As in `Pairs`, of each row.
    """

    probs: Floats
    sizes: NDArray[np.int64]
    target: NDArray[np.int64]
    rows: NDArray[np.intp]
    computed: bool
    normalised: bool
    preferred: NDArray[np.int64] | None = None
    weight: NDArray[np.float64] | None = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.sizes.size

    @property
    def n_classes(self) -> int:
        """K, the largest number of choices of any row."""
        return int(self.sizes.max(initial=0))

    @property
    def row_starts(self) -> NDArray[np.int64]:
        """Index in `probs` of each row's first choice, shape (n,)."""
        return np.cumsum(self.sizes) - self.sizes

    @property
    def class_index(self) -> NDArray[np.int64]:
        """Class 0..K-1 of each entry of `probs`."""
        return np.arange(self.probs.size) - np.repeat(self.row_starts, self.sizes)

    @property
    def is_correct(self) -> NDArray[np.bool_]:
        """Whether each entry of `probs` is the right choice of its row."""
        return self.class_index == np.repeat(self.target, self.sizes)

    @property
    def max_prob(self) -> Floats:
        """The largest probability of each row, shape (n,)."""
        return np.maximum.reduceat(self.probs, self.row_starts) if self.n else self.probs

    @property
    def top_index(self) -> NDArray[np.int64]:
        """Class 0..K-1 of each row's top label, of equal maxima the preferred or first, shape (n,)."""
        if not self.n:
            return np.zeros(0, np.int64)
        is_highest = self.probs == np.repeat(self.max_prob, self.sizes)
        first = np.minimum.reduceat(np.where(is_highest, self.class_index, self.n_classes), self.row_starts)
        if self.preferred is None:
            return first
        is_known = self.preferred >= 0
        is_preferred = is_known & is_highest[self.row_starts + np.where(is_known, self.preferred, 0)]
        return np.where(is_preferred, self.preferred, first)

    @property
    def last_top_index(self) -> NDArray[np.int64]:
        """Class 0..K-1 of the last of each row's equal maxima, where other tools may put the top label."""
        if not self.n:
            return np.zeros(0, np.int64)
        is_highest = self.probs == np.repeat(self.max_prob, self.sizes)
        return np.maximum.reduceat(np.where(is_highest, self.class_index, -1), self.row_starts)

    def take(self, positions: NDArray[np.intp]) -> Distribution:
        """The rows at these positions, which may repeat."""
        sizes = self.sizes[positions]
        starts = np.cumsum(sizes) - sizes
        index = np.arange(int(sizes.sum())) - np.repeat(starts - self.row_starts[positions], sizes)
        return replace(
            self,
            probs=self.probs[index],
            sizes=sizes,
            target=self.target[positions],
            rows=self.rows[positions],
            preferred=None if self.preferred is None else self.preferred[positions],
            weight=None if self.weight is None else unequal(self.weight[positions]),
        )

    def top_label_pairs(self) -> Pairs:
        """One pair per row: the probability of its top label, and whether that label is right."""
        return Pairs(self.max_prob, self.top_index == self.target, self.rows, self.computed, self.weight)

    def all_label_pairs(self) -> Pairs:
        """One pair per choice; `rows` and `weight` repeat those of each row once per choice."""
        rows = np.repeat(self.rows, self.sizes)
        return Pairs(self.probs, self.is_correct, rows, self.computed, self._weight_of_entries)

    @property
    def _weight_of_entries(self) -> NDArray[np.float64] | None:
        return None if self.weight is None else np.repeat(self.weight, self.sizes)

    def sums(self) -> BinSums:
        """The additive state of one pair per choice, by class."""
        return BinSums.from_pairs(
            self.probs,
            self.is_correct,
            group=self.class_index,
            n_rows=self.n if self.weight is None else float(self.weight.sum()),
            n_groups=max(self.n_classes, 1),
            computed=self.computed,
            copy=False,
            weight=self._weight_of_entries,
        )
