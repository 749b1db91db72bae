"""What is known of a token-level run once every position has been read?  One additive state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from calib_core.tokens.grid import Grid

DRAWS: Final = 199
"""Draws of the null for the pooled sums."""

CLASS_DRAWS: Final = 19
"""Draws of the null kept by class: their size grows with the positions."""

EXAMPLES: Final = 64
"""Positions kept to be looked at one by one."""


@dataclass(frozen=True, eq=False)
class Draws:
    """Outcomes drawn from the model's own distributions: one class a position and draw, never one a cell.

    seed: of the draws, which differ between parts of one seed (`uniform`). top, all: int32 of shape (DRAWS,
    CELLS): how many drawn outcomes fell into each cell; `top` counts a draw where it is the top label, in the
    cell of the top label's confidence; `all` counts every draw, in the cell of the drawn class' probability.
    by_class: (CLASS_DRAWS' draw, class, cell, count), int32 of shape (n, 4), sorted, of the first CLASS_DRAWS
    draws; None where sums by class are not kept.
    """

    seed: int
    top: NDArray[np.int32]
    all: NDArray[np.int32]
    by_class: NDArray[np.int32] | None

    def merge(self, other: Draws) -> Draws:
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
        return Draws(min(self.seed, other.seed), self.top + other.top, self.all + other.all, by_class)


@dataclass(frozen=True, eq=False)
class Unseen:
    """What the entries that a top-k file does not store may be.

    positions: per served M (`grid.SERVED`), how many positions are ambiguous: their unstored mass may
    lie in other bins than the first; mass: per served M, the A_j of spec section 7, j = 1..M, float64 of
    shape (M,); fewest: the smallest number of stored entries of a position.
    """

    positions: dict[int, int]
    mass: dict[int, NDArray[np.float64]]
    fewest: int

    def merge(self, other: Unseen) -> Unseen:
        """Both parts together."""
        return Unseen(
            positions={bins: n + other.positions[bins] for bins, n in self.positions.items()},
            mass={bins: mass + other.mass[bins] for bins, mass in self.mass.items()},
            fewest=min(self.fewest, other.fewest),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Example:
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
    top: Grid
    all: Grid
    by_class: Grid | None
    no_classes: str | None
    occurrences: NDArray[np.int64]
    excess: float
    draws: Draws | None
    unseen: Unseen | None = None
    examples: tuple[Example, ...] = ()

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
            top=self.top.merge(other.top),
            all=self.all.merge(other.all),
            by_class=_merged(self.by_class, other.by_class),
            no_classes=None if both else self.no_classes or other.no_classes,
            occurrences=self.occurrences + other.occurrences,
            excess=self.excess + other.excess,
            draws=_merged(self.draws, other.draws),
            unseen=_merged(self.unseen, other.unseen) or self.unseen or other.unseen,
            examples=(self.examples + other.examples)[:EXAMPLES],
        )


class _Part(Protocol):
    def merge(self, other: Self) -> Self: ...


_PartT = TypeVar("_PartT", bound=_Part)


def _merged(one: _PartT | None, other: _PartT | None) -> _PartT | None:
    """Both together; None where one of them is missing."""
    return None if one is None or other is None else one.merge(other)
