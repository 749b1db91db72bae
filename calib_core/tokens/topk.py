"""Reduces positions of which only the k largest probabilities are stored to `TokenSums`.

The unstored classes share the remaining probability, all of which is counted in the first cell. `bounds` says
what Full-ECE can be where some of it may lie in other bins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calib_core.edges import Floats, bin_of
from calib_core.tokens.accumulators import CellSums, ClassCellSums
from calib_core.tokens.bounds import UnstoredMass
from calib_core.tokens.grid import GRID_CELLS, GridSums
from calib_core.tokens.null_draws import stratified_draws, stream_states
from calib_core.tokens.sums import (
    EXAMPLE_ENTRIES,
    MAX_EXAMPLES,
    N_DRAWS,
    ExamplePosition,
    NullDraws,
    TokenSums,
    UnstoredBounds,
)
from calib_core.tokens.texts import TextCellSums

# --- Known pairs --------------------------------------------------------------

ZERO_REST: Final = 1e-13
"""A remaining probability up to this is rounding error: the unstored classes then have probability 0."""


@dataclass(frozen=True, slots=True, eq=False)
class TopKEntries:
    """The stored entries of n positions, flattened.

    Attributes
    ----------
    probs : Floats, shape (entries,)
        Probabilities of the k largest classes of each position in any order, as stored (float16, float32 or
        float64).
    ids : NDArray of integers, shape (entries,)
        Their classes, each at most once per position.
    sizes : NDArray[np.int64], shape (n,)
        Number of entries of each position, at least 1.
    target : NDArray[np.int64], shape (n,)
        Right class.
    target_prob : Floats, shape (n,)
        Probability of the right class; only used where it is not among the entries.
    row : NDArray[np.int64], shape (n,)
        0-based position in the file.
    n_classes : int
        Number of classes, K.
    text : NDArray[np.int64] or None, shape (n,)
        Number of each position's text, as from `text_numbers`; None where it is not known of every one.

    Raises
    ------
    ValueError
        If shapes do not match, a position has no entry, or a class is not in 0..K − 1.
    """

    probs: Floats
    ids: NDArray[np.integer[Any]]
    sizes: NDArray[np.int64]
    target: NDArray[np.int64]
    target_prob: Floats
    row: NDArray[np.int64]
    n_classes: int
    text: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        text = self.row if self.text is None else self.text
        of_positions = (self.sizes, self.target, self.target_prob, self.row, text)
        shapes = {values.shape for values in of_positions}
        if len(shapes) > 1 or self.probs.shape != self.ids.shape or self.sizes.sum() != self.probs.size:
            raise ValueError("an id an entry; a size, a target, its probability, row and text a position")
        if self.sizes.size and self.sizes.min() < 1:
            raise ValueError("a position must have at least one stored entry")
        for classes in (self.ids, self.target):
            if classes.size and not 0 <= classes.min() <= classes.max() < self.n_classes:
                raise ValueError(f"a class must be a whole number from 0 to {self.n_classes - 1}")


@dataclass(frozen=True, slots=True, eq=False)
class KnownPairs:
    """All e pairs of n positions whose probability is known, position by position.

    The pairs of a position are its stored entries (largest first, ties by class), then the target if it is
    not among these, then the last class if only one is left: it has the remaining probability.

    Attributes
    ----------
    prob : NDArray[np.float64], shape (e,)
        Probability of each pair.
    cell : NDArray[np.intp], shape (e,)
        Its grid cell.
    is_correct : NDArray[np.bool_], shape (e,)
        Its outcome.
    class_index : NDArray[np.int64], shape (e,)
        Its class.
    start, end : NDArray[np.int64], shape (n,)
        Half-open range of the pairs of each position.
    target_prob : NDArray[np.float64], shape (n,)
        Probability of the right class.
    row_sum : NDArray[np.float64], shape (n,)
        Sum of the probabilities of all K classes.
    sum_deviation : NDArray[np.float64], shape (n,)
        |1 − row_sum|.
    order : NDArray[np.intp], shape (entries,)
        Permutation that sorts the entries.
    unstored : UnstoredMass
        Remaining probability of the positions with at least two classes left.
    n_zero_classes : int
        Number of unstored classes at positions without remaining probability.
    """

    prob: NDArray[np.float64]
    cell: NDArray[np.intp]
    is_correct: NDArray[np.bool_]
    class_index: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    target_prob: NDArray[np.float64]
    row_sum: NDArray[np.float64]
    sum_deviation: NDArray[np.float64]
    order: NDArray[np.intp]
    unstored: UnstoredMass
    n_zero_classes: int

    @property
    def n_rows(self) -> int:
        """Number of positions."""
        return self.start.size


def known_pairs(entries: TopKEntries) -> KnownPairs:
    """The known pairs of at least one position, with its remaining probability max(0, 1 − stored mass)."""
    sizes, probs = entries.sizes, entries.probs.astype(np.float64)
    owner = np.repeat(np.arange(sizes.size), sizes)
    order = _descending_order(probs, entries.ids, owner)
    is_target = entries.ids[order] == entries.target[owner]
    has_extra_target = np.ones(sizes.size, np.bool_)
    has_extra_target[owner[is_target]] = False
    target_prob = entries.target_prob.astype(np.float64)
    target_prob[owner[is_target]] = probs[order][is_target]
    first = np.cumsum(sizes) - sizes
    stored = np.add.reduceat(probs, first) + np.where(has_extra_target, target_prob, 0.0)
    n_left = entries.n_classes - sizes - has_extra_target
    rest = np.where(n_left > 0, np.maximum(1.0 - stored, 0.0), 0.0)
    rest[rest <= ZERO_REST] = 0.0
    has_last_class = (n_left == 1) & (rest > 0)

    end = np.cumsum(sizes + has_extra_target + has_last_class)
    start = end - sizes - has_extra_target - has_last_class
    prob = np.zeros(int(end[-1]))
    cell = np.zeros(int(end[-1]), np.intp)
    is_correct = np.zeros(int(end[-1]), np.bool_)
    class_index = np.zeros(int(end[-1]), np.int64)

    entry_pair = start[owner] + np.arange(owner.size) - first[owner]
    prob[entry_pair] = probs[order]
    cell[entry_pair] = bin_of(entries.probs, GRID_CELLS)[order]
    is_correct[entry_pair] = is_target
    class_index[entry_pair] = entries.ids[order]

    target_pair = (start + sizes)[has_extra_target]
    prob[target_pair] = target_prob[has_extra_target]
    cell[target_pair] = bin_of(entries.target_prob[has_extra_target], GRID_CELLS)
    is_correct[target_pair] = True
    class_index[target_pair] = entries.target[has_extra_target]

    last_pair = end[has_last_class] - 1
    prob[last_pair] = rest[has_last_class]
    cell[last_pair] = bin_of(rest[has_last_class], GRID_CELLS)
    # All class numbers add up to K(K−1)/2, so the difference is the class that is left.
    class_sum = entries.n_classes * (entries.n_classes - 1) // 2
    class_index[last_pair] = class_sum - np.add.reduceat(class_index, start)[has_last_class]

    smallest = entries.probs[order[first + sizes - 1]]
    unstored = _unstored_mass(smallest, rest, n_left, sizes)
    n_zero_classes = int(n_left.sum() - unstored.n_classes.sum() - np.count_nonzero(has_last_class))
    row_sum = stored + rest
    sum_deviation = np.abs(1.0 - row_sum)
    return KnownPairs(
        prob=prob,
        cell=cell,
        is_correct=is_correct,
        class_index=class_index,
        start=start,
        end=end,
        target_prob=target_prob,
        row_sum=row_sum,
        sum_deviation=sum_deviation,
        order=order,
        unstored=unstored,
        n_zero_classes=n_zero_classes,
    )


def _descending_order(
    probs: NDArray[np.float64], ids: NDArray[np.integer[Any]], owner: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Permutation that sorts each position's entries in descending order, ties by class."""
    is_sorted = (probs[1:] < probs[:-1]) | ((probs[1:] == probs[:-1]) & (ids[1:] > ids[:-1]))
    # Most files are sorted already.
    if bool(np.all(is_sorted | (owner[1:] > owner[:-1]))):
        return np.arange(probs.size)
    return np.lexsort((ids, -probs, owner))


def _unstored_mass(
    smallest: Floats, rest: NDArray[np.float64], n_left: NDArray[np.int64], sizes: NDArray[np.int64]
) -> UnstoredMass:
    """Remaining probability r of the positions with at least two classes left.

    None of these classes exceeds min(u, r), where u is the smallest stored probability.
    """
    has_several = (n_left > 1) & (rest > 0)
    largest = np.minimum(smallest, rest.astype(smallest.dtype))[has_several]
    return UnstoredMass(
        mass=rest[has_several],
        max_prob=largest.astype(np.float64),
        cell=bin_of(largest, GRID_CELLS),
        n_classes=n_left[has_several],
        n_stored=sizes[has_several],
    )


# --- Reduction ----------------------------------------------------------------

NO_CLASS_SUMS: Final = (
    "Only the largest entries of each position are stored, and metrics by class need the probability of "
    "every class at every position."
)
CLASS_SUMS_MISMATCH: Final = (
    "The sums by class stored beside the list do not fit its positions: they may be of other positions, or "
    "rows were left out. Metrics by class need sums over exactly these."
)
_FIT_TOLERANCE: Final = 1e-3
"""Tolerance per position for stored sums by class, as for the sum of one distribution."""

_DRAW_BLOCK: Final = 2048
"""Number of positions whose outcomes are drawn at once."""


class TopKReducer:
    """Adds positions up block by block; the draws depend neither on the blocks nor on their order.

    Parameters
    ----------
    n_classes : int
        Number of classes, K.
    seed : int
        Seed of the null draws, which also depend on the stored values.
    class_prob_sums : NDArray[np.float64] or None, shape (K,)
        Σp by class over all positions, unstored probabilities included; None where they are not known.

    Raises
    ------
    ValueError
        If `class_prob_sums` has another shape.
    """

    def __init__(self, classes: int, seed: int, class_prob_sums: NDArray[np.float64] | None = None) -> None:
        if class_prob_sums is not None and class_prob_sums.shape != (classes,):
            raise ValueError(f"one sum per class, not {class_prob_sums.shape} for {classes}")
        self._class_prob_sums = class_prob_sums
        self._by_class = None if class_prob_sums is None else ClassCellSums(classes)
        self._classes = classes
        self._seed = seed
        self._n_rows = 0
        self._top_label, self._all_labels = CellSums(), CellSums()
        self._log_loss_sum, self._n_infinite_losses = 0.0, 0
        self._occurrences = np.zeros(classes, np.int64)
        self._sum_deviation = 0.0
        self._unstored_mass = 0.0
        self._unstored: UnstoredBounds | None = None
        self._drawn_top_label, self._drawn_all_labels = (
            np.zeros((N_DRAWS, GRID_CELLS), np.int32) for _ in range(2)
        )
        self._texts: TextCellSums | None = TextCellSums()
        self._examples: list[ExamplePosition] = []

    def add(self, entries: TopKEntries) -> None:
        """Adds positions.

        Raises
        ------
        ValueError
            If K differs from the reducer's.
        """
        if entries.n_classes != self._classes:
            raise ValueError(f"{entries.n_classes} classes after {self._classes}")
        if not entries.sizes.size:
            return
        known = known_pairs(entries)
        self._n_rows += known.n_rows
        self._add_pairs(known)
        self._add_texts(known, entries.text)
        self._occurrences += np.bincount(entries.target, minlength=self._classes)
        self._sum_deviation += float(known.sum_deviation.sum())
        unstored = known.unstored.to_bounds()
        self._unstored = (
            self._unstored.merge(unstored) if self._unstored and unstored else self._unstored or unstored
        )
        self._draw(known, entries)
        n_wanted = MAX_EXAMPLES - len(self._examples)
        self._examples += [
            _example_from_topk(entries, known, at) for at in range(min(n_wanted, known.n_rows))
        ]

    def result(self) -> TokenSums:
        """The sums of all positions so far."""
        by_class, reason = self._class_sums()
        return TokenSums(
            n_rows=self._n_rows,
            n_classes=self._classes,
            top_label=self._top_label.grid(self._n_rows),
            all_labels=self._all_labels.grid(self._n_rows, self._log_loss_sum, self._n_infinite_losses),
            by_class=by_class,
            no_class_sums_reason=reason,
            occurrences=self._occurrences.copy(),
            sum_deviation=self._sum_deviation,
            draws=NullDraws(self._seed, self._drawn_top_label.copy(), self._drawn_all_labels.copy(), None),
            unstored=self._unstored,
            examples=tuple(self._examples),
            texts=None if self._texts is None else self._texts.sums(),
        )

    def _class_sums(self) -> tuple[GridSums | None, str | None]:
        """Sums by class, with unstored probability in the first cell; or why there are none."""
        if self._class_prob_sums is None or self._by_class is None:
            return None, NO_CLASS_SUMS
        unlisted = self._class_prob_sums - self._by_class.listed_sums()
        deviation = max(-float(unlisted.min()), abs(float(unlisted.sum()) - self._unstored_mass))
        if deviation > _FIT_TOLERANCE * max(self._n_rows, 1):
            return None, CLASS_SUMS_MISMATCH
        return self._by_class.grid(self._occurrences, np.maximum(unlisted, 0.0)), None

    def _add_pairs(self, known: KnownPairs) -> None:
        """Adds the known pairs and, in the first cell, the unstored ones, of which only the sum is known."""
        self._all_labels.add(known.cell, known.prob)
        self._all_labels.add_correct(known.cell[known.is_correct], known.prob[known.is_correct])
        self._all_labels.count[0] += int(known.unstored.n_classes.sum()) + known.n_zero_classes
        self._all_labels.confidence[0] += float(known.unstored.mass.sum())
        self._unstored_mass += float(known.unstored.mass.sum())
        if self._by_class is not None:
            self._by_class.add_pairs(known.class_index, known.cell, known.prob)
            right = known.is_correct
            self._by_class.add_correct(known.class_index[right], known.cell[right], known.prob[right])
        if known.unstored.mass.size:
            self._all_labels.squared_confidence[0] = (
                np.nan
            )  # unknown: depends on how the unstored mass is split
        top = known.start
        self._top_label.add(known.cell[top], known.prob[top])
        top = top[known.is_correct[top]]
        self._top_label.add_correct(known.cell[top], known.prob[top])
        nonzero = known.target_prob[known.target_prob > 0]
        self._log_loss_sum -= float(np.log(nonzero).sum())
        self._n_infinite_losses += known.n_rows - nonzero.size

    def _add_texts(self, known: KnownPairs, text: NDArray[np.int64] | None) -> None:
        if text is None:
            self._texts = None
        elif self._texts is not None:
            top = known.start
            self._texts.add(text, known.cell[top], known.prob[top], known.is_correct[top])

    def _draw(self, known: KnownPairs, entries: TopKEntries) -> None:
        """Draws one class per position and draw, from the position's own distribution.

        An unstored class counts in the first cell, where it lies at every M at which Full-ECE is exact.
        """
        state = stream_states(self._seed, entries.row, entries.target, known.target_prob + 0.0, known.row_sum)
        for begin in range(0, known.n_rows, _DRAW_BLOCK):
            block = slice(begin, begin + _DRAW_BLOCK)
            start, end = known.start[block], known.end[block]
            first = int(start[0])
            pairs = slice(first, int(end[-1]))
            owner = np.repeat(np.arange(start.size), end - start)
            cumulative = np.cumsum(known.prob[pairs])
            cumulative -= (cumulative[start - first] - known.prob[start])[owner]
            key = owner + np.minimum(cumulative / known.row_sum[block][owner], 1.0)
            numbers, draw = stratified_draws(state[block], N_DRAWS)
            drawn = np.arange(start.size)[:, None] + numbers
            entry = np.searchsorted(key, drawn.ravel(), side="right").reshape(drawn.shape) + first
            is_stored = entry < end[:, None]
            cell = np.where(is_stored, known.cell[np.minimum(entry, known.cell.size - 1)], 0)
            flat_index = cell + draw * GRID_CELLS
            self._drawn_all_labels += _count_draws(flat_index.ravel())
            self._drawn_top_label += _count_draws(flat_index[entry == start[:, None]])


def _count_draws(flat_index: NDArray[np.intp]) -> NDArray[np.int32]:
    """Counts of each draw · GRID_CELLS + cell, as an array of shape (N_DRAWS, GRID_CELLS)."""
    return (
        np.bincount(flat_index, minlength=N_DRAWS * GRID_CELLS).astype(np.int32).reshape(N_DRAWS, GRID_CELLS)
    )


def _example_from_topk(entries: TopKEntries, known: KnownPairs, at: int) -> ExamplePosition:
    """One position with its largest `EXAMPLE_ENTRIES` stored entries."""
    start = int(known.start[at])
    first, size = int(entries.sizes[:at].sum()), min(int(entries.sizes[at]), EXAMPLE_ENTRIES)
    probs = known.prob[start : start + size]
    return ExamplePosition(
        row=int(entries.row[at]),
        target=int(entries.target[at]),
        ids=tuple(entries.ids[known.order[first : first + size]].tolist()),
        probs=tuple(probs.tolist()),
        target_prob=float(known.target_prob[at]),
        rest_mass=max(0.0, float(known.row_sum[at] - probs.sum())),
        n_classes=entries.n_classes,
        itemsize=entries.probs.dtype.itemsize,
    )
