"""The sums that are kept of a token-level run; the sums of two parts can be merged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from calib_core.errors import Refused
from calib_core.tokens.float_bits import as_bits, to_float64
from calib_core.tokens.grid import GRID_CELLS, GridSums, positions_in_union
from calib_core.tokens.texts import TextSums

N_DRAWS: Final = 199
"""Number of null draws for the pooled sums; a prime number, as `null_draws.stratified_draws` wants it."""

N_CLASS_DRAWS: Final = 19
"""Number of null draws kept by class, whose size grows with the number of positions."""

MAX_EXAMPLES: Final = 64
"""Number of positions kept as examples."""

MAX_POSITIONS: Final = 2**31 - 1
"""Limit for the positions of a run, as null draws are counted in 32 bits."""


@dataclass(frozen=True, eq=False)
class NullDraws:
    """Outcomes drawn from the model's own distributions: one class per position and draw.

    Attributes
    ----------
    seed : int
        Seed of the draws.
    top_label : NDArray[np.int32], shape (N_DRAWS, GRID_CELLS)
        Positions at which the top label was drawn, by the cell of its confidence.
    all_labels : NDArray[np.int32], shape (N_DRAWS, GRID_CELLS)
        Positions by the cell of the drawn class's probability.
    by_class : NDArray[np.int32] or None, shape (n, 4)
        Sorted rows of (draw, class, cell, count) for the first `N_CLASS_DRAWS` draws; None without sums by
        class.
    """

    seed: int
    top_label: NDArray[np.int32]
    all_labels: NDArray[np.int32]
    by_class: NDArray[np.int32] | None

    def merge(self, other: NullDraws) -> NullDraws:
        """The outcomes of both parts, draw by draw; the seed is the smaller one."""
        by_class = None
        if self.by_class is not None and other.by_class is not None:
            parts = self.by_class, other.by_class
            n_classes = 1 + max(int(part[:, 1].max(initial=0)) for part in parts)
            draw, class_index, cell = np.concatenate(parts)[:, :3].T.astype(np.int64)
            key = (draw * n_classes + class_index) * GRID_CELLS + cell
            n, here, there = positions_in_union(key[: len(parts[0])], key[len(parts[0]) :])
            by_class = np.zeros((n, 4), np.int32)
            by_class[here] = self.by_class
            by_class[there, :3] = other.by_class[:, :3]
            by_class[there, 3] += other.by_class[:, 3]
        return NullDraws(
            min(self.seed, other.seed),
            self.top_label + other.top_label,
            self.all_labels + other.all_labels,
            by_class,
        )


@dataclass(frozen=True, eq=False)
class UnstoredBounds:
    """Bounds on the probabilities that a top-k file does not store.

    Attributes
    ----------
    n_ambiguous : dict[int, int]
        Served M → number of positions whose unstored mass may lie outside the first bin.
    mass_bounds : dict[int, NDArray[np.float64]]
        Served M → upper bounds A_j, j = 1..M, of the unstored mass of these positions in each bin.
    min_stored : int
        Smallest number of stored entries of a position.
    """

    n_ambiguous: dict[int, int]
    mass_bounds: dict[int, NDArray[np.float64]]
    min_stored: int

    def merge(self, other: UnstoredBounds) -> UnstoredBounds:
        """The bounds of both parts together."""
        return UnstoredBounds(
            n_ambiguous={bins: n + other.n_ambiguous[bins] for bins, n in self.n_ambiguous.items()},
            mass_bounds={bins: mass + other.mass_bounds[bins] for bins, mass in self.mass_bounds.items()},
            min_stored=min(self.min_stored, other.min_stored),
        )


@dataclass(frozen=True, slots=True, eq=False)
class ExamplePosition:
    """One position as it was read.

    Attributes
    ----------
    row : int
        0-based position in the file.
    target : int
        Right class.
    ids : tuple[int, ...]
        Classes of the largest probabilities, in descending order.
    probs : tuple[float, ...]
        These probabilities.
    target_prob : float
        Probability of the right class, p_y.
    rest_mass : float
        Probability of all classes not in `ids`.
    n_classes : int
        Number of classes, K.
    itemsize : int
        Bytes of the stored dtype, which decides the bins of the probabilities.
    """

    row: int
    target: int
    ids: tuple[int, ...]
    probs: tuple[float, ...]
    target_prob: float
    rest_mass: float
    n_classes: int
    itemsize: int


@dataclass(frozen=True, eq=False)
class TokenSums:
    """Everything from which metrics, sweeps and null distributions of a run are computed.

    Attributes
    ----------
    n_rows : int
        Number of positions used.
    n_classes : int
        Number of classes, K.
    top_label : GridSums
        One pair per position: its top label.
    all_labels : GridSums
        K pairs per position, pooled over the classes.
    by_class : GridSums or None
        K pairs per position, by class.
    no_class_sums_reason : str or None
        Why `by_class` is None.
    occurrences : NDArray[np.int64], shape (K,)
        Number of positions at which each class is the right one.
    sum_deviation : float
        Σ |1 − Σ_k p_k| over the positions.
    draws : NullDraws or None
        Null draws; None where none were made.
    unstored : UnstoredBounds or None
        Bounds on unstored probabilities; None where all probabilities are known.
    examples : tuple[ExamplePosition, ...]
        The first `MAX_EXAMPLES` positions.
    texts : TextSums or None
        The top labels by text; None where it is not known of every position.
    """

    n_rows: int
    n_classes: int
    top_label: GridSums
    all_labels: GridSums
    by_class: GridSums | None
    no_class_sums_reason: str | None
    occurrences: NDArray[np.int64]
    sum_deviation: float
    draws: NullDraws | None
    unstored: UnstoredBounds | None = None
    examples: tuple[ExamplePosition, ...] = ()
    texts: TextSums | None = None

    def merge(self, other: TokenSums) -> TokenSums:
        """The sums of both parts.

        Sums by class or by text and draws that one part lacks are missing in the result. Each part keeps its
        own draws, which depend on the stored values as well as on the seed.

        Raises
        ------
        ValueError
            If K differs.
        Refused
            If both together have more than `MAX_POSITIONS`.
        """
        if self.n_classes != other.n_classes:
            raise ValueError(f"parts of one run have one K, not {self.n_classes} and {other.n_classes}")
        if self.n_rows + other.n_rows > MAX_POSITIONS:
            raise Refused(
                f"A run has at most {MAX_POSITIONS:,} positions, and the parts of this one have "
                f"{self.n_rows + other.n_rows:,}. Reduce it in several parts, each under its own name."
            )
        both_by_class = self.by_class is not None and other.by_class is not None
        return TokenSums(
            n_rows=self.n_rows + other.n_rows,
            n_classes=self.n_classes,
            top_label=self.top_label.merge(other.top_label),
            all_labels=self.all_labels.merge(other.all_labels),
            by_class=_merge_optional(self.by_class, other.by_class),
            no_class_sums_reason=None
            if both_by_class
            else self.no_class_sums_reason or other.no_class_sums_reason,
            occurrences=self.occurrences + other.occurrences,
            sum_deviation=self.sum_deviation + other.sum_deviation,
            draws=_merge_optional(self.draws, other.draws),
            unstored=_merge_optional(self.unstored, other.unstored) or self.unstored or other.unstored,
            examples=(self.examples + other.examples)[:MAX_EXAMPLES],
            texts=_merge_optional(self.texts, other.texts),
        )


class Mergeable(Protocol):
    """Something additive, such as sums."""

    def merge(self, other: Self) -> Self:
        """What both parts together amount to."""
        ...


_MergeableT = TypeVar("_MergeableT", bound=Mergeable)


def _merge_optional(left: _MergeableT | None, right: _MergeableT | None) -> _MergeableT | None:
    """The merged sums; None where either is None."""
    return None if left is None or right is None else left.merge(right)


class MergeTree(Generic[_MergeableT]):
    """Merges parts in a tree whose shape depends only on their number.

    Floating-point addition is not associative, so the order decides the last bits of a sum. Here the parts
    number 2ᵏ·j to 2ᵏ·(j + 1) − 1 are always merged with one another first, whoever merges them: a tree of
    such parts, merged elsewhere, may be added in their place. Merging n parts takes memory for log₂ n.
    """

    def __init__(self) -> None:
        self._n_parts = 0
        self._subtrees: list[tuple[int, _MergeableT]] = []

    def add(self, part: _MergeableT, n_parts: int = 1) -> None:
        """Adds the next part, or the total of the next `n_parts` parts.

        Raises
        ------
        ValueError
            If the number of parts before is no multiple of the power of two from `n_parts` on.
        """
        size = 1 << max(0, n_parts - 1).bit_length()
        if n_parts < 1 or self._n_parts % size:
            raise ValueError(f"{n_parts} parts after {self._n_parts} are not a subtree")
        self._n_parts += n_parts
        while self._subtrees and self._subtrees[-1][0] == n_parts:
            _, before = self._subtrees.pop()
            part, n_parts = before.merge(part), 2 * n_parts
        self._subtrees.append((n_parts, part))

    def total(self) -> _MergeableT | None:
        """All parts merged; None without any."""
        total: _MergeableT | None = None
        for _, subtree in reversed(self._subtrees):
            total = subtree if total is None else subtree.merge(total)
        return total


# --- Example positions --------------------------------------------------------

EXAMPLE_ENTRIES: Final = 20
"""Number of probabilities kept of an example."""


def example_from_row(row: int, values: NDArray[Any], target: int, large: NDArray[np.intp]) -> ExamplePosition:
    """An example: the largest entries of one distribution, ties in the order of the classes.

    Parameters
    ----------
    row : int
        0-based position in the file.
    values : NDArray, shape (K,)
        The distribution in the stored dtype.
    target : int
        Right class.
    large : NDArray[np.intp]
        Ascending classes whose probabilities no other class exceeds.
    """
    probs = to_float64(values)
    n_shown = min(EXAMPLE_ENTRIES, probs.size)
    ids = large
    if ids.size < n_shown:
        # Sorting integers takes a millisecond; partition takes twenty times as long if many are equal.
        bits = as_bits(values)
        ids = np.flatnonzero(bits >= np.sort(bits)[-n_shown])
    ids = ids[np.argsort(-probs[ids], kind="stable")][:n_shown]
    is_other = np.ones(probs.size, np.bool_)
    is_other[ids] = False
    return ExamplePosition(
        row=row,
        target=target,
        ids=tuple(ids.tolist()),
        probs=tuple(probs[ids].tolist()),
        target_prob=float(probs[target]),
        rest_mass=float(probs[is_other].sum()),
        n_classes=probs.size,
        itemsize=values.dtype.itemsize,
    )
