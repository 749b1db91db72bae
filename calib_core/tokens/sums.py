"""What is known of a token-level run once every position has been read?  One additive state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from calib_core.tokens.float_bits import as_bits, to_float64
from calib_core.tokens.grid import GridSums

N_DRAWS: Final = 199
"""Draws of the null for the pooled sums."""

N_CLASS_DRAWS: Final = 19
"""Draws of the null kept by class: their size grows with the positions."""

MAX_EXAMPLES: Final = 64
"""Positions kept to be looked at one by one."""


@dataclass(frozen=True, eq=False)
class NullDraws:
    """Outcomes drawn from the model's own distributions: one class a position and draw, never one a cell.

    seed: of the draws, which differ between parts of one seed (`uniform`). top, all: int32 of shape (DRAWS,
    CELLS): how many drawn outcomes fell into each cell; `top` counts a draw where it is the top label, in the
    cell of the top label's confidence; `all` counts every draw, in the cell of the drawn class' probability.
    by_class: (CLASS_DRAWS' draw, class, cell, count), int32 of shape (n, 4), sorted, of the first CLASS_DRAWS
    draws; None where sums by class are not kept.
    """

    seed: int
    top_label: NDArray[np.int32]
    all_labels: NDArray[np.int32]
    by_class: NDArray[np.int32] | None

    def merge(self, other: NullDraws) -> NullDraws:
        """Draw for draw, the outcomes of both parts; the seed is the smaller one."""
        by_class = None
        if self.by_class is not None and other.by_class is not None:
            joined = np.concatenate([self.by_class, other.by_class])
            joined = joined[np.lexsort((joined[:, 2], joined[:, 1], joined[:, 0]))]
            new = np.ones(joined.shape[0], np.bool_)
            new[1:] = np.any(joined[1:, :3] != joined[:-1, :3], axis=1)
            by_class = joined[new]
            if by_class.size:
                by_class[:, 3] = np.add.reduceat(joined[:, 3], np.flatnonzero(new))
        return NullDraws(
            min(self.seed, other.seed),
            self.top_label + other.top_label,
            self.all_labels + other.all_labels,
            by_class,
        )


@dataclass(frozen=True, eq=False)
class UnstoredBounds:
    """What the entries that a top-k file does not store may be.

    positions: per served M (`grid.SERVED`), how many positions are ambiguous: their unstored mass may
    lie in other bins than the first; mass: per served M, the A_j of spec section 7, j = 1..M, float64 of
    shape (M,); fewest: the smallest number of stored entries of a position.
    """

    n_ambiguous: dict[int, int]
    mass_bounds: dict[int, NDArray[np.float64]]
    min_stored: int

    def merge(self, other: UnstoredBounds) -> UnstoredBounds:
        """Both parts together."""
        return UnstoredBounds(
            n_ambiguous={bins: n + other.n_ambiguous[bins] for bins, n in self.n_ambiguous.items()},
            mass_bounds={bins: mass + other.mass_bounds[bins] for bins, mass in self.mass_bounds.items()},
            min_stored=min(self.min_stored, other.min_stored),
        )


@dataclass(frozen=True, slots=True, eq=False)
class ExamplePosition:
    """One position as it was read.

    row: 0-based position in its file; target: right class; ids: classes of the largest probabilities,
    descending; probs: theirs, float64; target_prob: p_y; rest: probability of all classes not in `ids`;
    classes: K; width: bytes of the dtype the probabilities were stored in, which decides their bins.
    """

    row: int
    target: int
    ids: tuple[int, ...]
    probs: tuple[float, ...]
    target_prob: float
    rest: float
    classes: int
    width: int


@dataclass(frozen=True, eq=False)
class TokenSums:
    """Everything metrics, sweeps and nulls are read off; parts are merged by adding.

    rows: positions used; classes: K; top: one pair a position, its top label; all: K pairs a position,
    pooled; by_class: K pairs a position by class, None with `no_classes` saying why; occurrences:
    positions at which each class is the right one, int64 of shape (K,); excess: Σ |1 − Σ_k p_k| over the
    positions; unseen: None where every entry was stored; draws: None where none were made; examples: the
    first EXAMPLES positions.
    """

    rows: int
    classes: int
    top_label: GridSums
    all_labels: GridSums
    by_class: GridSums | None
    no_class_sums_reason: str | None
    occurrences: NDArray[np.int64]
    sum_deviation: float
    draws: NullDraws | None
    unstored: UnstoredBounds | None = None
    examples: tuple[ExamplePosition, ...] = ()

    def merge(self, other: TokenSums) -> TokenSums:
        """The sums of both parts together.

        Raises ValueError where K differs. What one part lacks (classes, draws) the whole lacks; parts
        keep their own draws, which depend on what is stored at a position and not on the seed alone.
        """
        if self.classes != other.classes:
            raise ValueError(f"parts of one run have one K, not {self.classes} and {other.classes}")
        both = self.by_class is not None and other.by_class is not None
        return TokenSums(
            rows=self.rows + other.rows,
            classes=self.classes,
            top_label=self.top_label.merge(other.top_label),
            all_labels=self.all_labels.merge(other.all_labels),
            by_class=_merge_optional(self.by_class, other.by_class),
            no_class_sums_reason=None if both else self.no_class_sums_reason or other.no_class_sums_reason,
            occurrences=self.occurrences + other.occurrences,
            sum_deviation=self.sum_deviation + other.sum_deviation,
            draws=_merge_optional(self.draws, other.draws),
            unstored=_merge_optional(self.unstored, other.unstored) or self.unstored or other.unstored,
            examples=(self.examples + other.examples)[:MAX_EXAMPLES],
        )


class _Mergeable(Protocol):
    def merge(self, other: Self) -> Self: ...


_MergeableT = TypeVar("_MergeableT", bound=_Mergeable)


def _merge_optional(left: _MergeableT | None, right: _MergeableT | None) -> _MergeableT | None:
    """Both together; None where one of them is missing."""
    return None if left is None or right is None else left.merge(right)


# MERGED examples: How is one position kept, to be looked at?

EXAMPLE_ENTRIES: Final = 20
"""Largest probabilities kept of a position."""


def example_from_row(row: int, values: NDArray[Any], target: int, large: NDArray[np.intp]) -> ExamplePosition:
    """One distribution, shape (K,), in short: its largest entries, equal ones in the order of the classes.

    large: classes whose probability no other class exceeds, ascending.
    """
    probs = to_float64(values)
    shown = min(EXAMPLE_ENTRIES, probs.size)
    ids = large
    if ids.size < shown:
        # Sorting whole numbers takes a millisecond; partition, with many equal ones, twenty times as long.
        order = as_bits(values)
        ids = np.flatnonzero(order >= np.sort(order)[-shown])
    ids = ids[np.argsort(-probs[ids], kind="stable")][:shown]
    others = np.ones(probs.size, np.bool_)
    others[ids] = False
    return ExamplePosition(
        row=row,
        target=target,
        ids=tuple(ids.tolist()),
        probs=tuple(probs[ids].tolist()),
        target_prob=float(probs[target]),
        rest=float(probs[others].sum()),
        classes=probs.size,
        width=values.dtype.itemsize,
    )
