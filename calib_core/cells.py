"""Which distinct confidences occur, and how many pairs and right outcomes has each?

No confidence is compared with an edge here: that is `bins`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class DistinctConfidences:
    """One cell per distinct stored confidence and class, sorted by (group, width, value), read-only.

    value: the confidence, float64, exactly as stored; width: bytes of its stored dtype (2, 4, 8);
    group: class of the pair; count: pairs; correct: Σy. All of shape (cells,).
    """

    value: NDArray[np.float64]
    itemsize: NDArray[np.uint8]
    group: NDArray[np.int32]
    count: NDArray[np.int64]
    correct: NDArray[np.int64]

    @property
    def n_pairs(self) -> int:
        """Number of pairs in all cells."""
        return int(self.count.sum())

    @property
    def squared_error_sum(self) -> float:
        """Σ (c − y)² over the pairs: ≥ 0, since no large sums are subtracted from one another."""
        right = self.correct * (1 - self.value) ** 2
        wrong = (self.count - self.correct) * self.value**2
        return float((right + wrong).sum())

    @property
    def log_loss(self) -> float:
        """Σ −ln c over the pairs with y = 1 and c > 0, in nats."""
        hit = (self.correct > 0) & (self.value > 0)
        return _log_loss_sum(self.value[hit], self.correct[hit])

    @property
    def impossible(self) -> int:
        """Pairs with y = 1 and c = 0."""
        return int(self.correct[self.value == 0].sum())


@dataclass(frozen=True, slots=True, eq=False)
class RawPairs:
    """Pairs as they were given: confidence in its stored dtype, outcome, class (None: all of one class)."""

    confidence: Floats
    correct: NDArray[np.bool_]
    group: NDArray[np.int32] | None

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return self.confidence.size

    @property
    def log_loss(self) -> float:
        """Σ −ln c over the pairs with y = 1 and c > 0, in nats."""
        right = self.confidence[self.correct].astype(np.float64)
        right = right[right > 0]
        return _log_loss_sum(right, np.ones(right.size, np.int64))

    @property
    def impossible(self) -> int:
        """Pairs with y = 1 and c = 0."""
        return int(np.count_nonzero(self.confidence[self.correct] == 0))

    def distinct(self) -> DistinctConfidences:
        """Added up by distinct confidence: the one thing here that sorts."""
        c = self.confidence
        return _aggregate_distinct(DistinctConfidences(
            value=c.astype(np.float64),
            itemsize=np.full(c.shape, c.dtype.itemsize, np.uint8),
            group=np.zeros(c.shape, np.int32) if self.group is None else self.group,
            count=np.ones(c.shape, np.int64),
            correct=self.correct.astype(np.int64),
        ))


def _log_loss_sum(confidence: NDArray[np.float64], counts: NDArray[np.int64]) -> float:
    """−Σ times · ln c, added up in order of c, so that the order of pairs changes no bit of it."""
    levels, level = np.unique(confidence, return_inverse=True)
    # From 0.0 downward, so that certainty everywhere gives 0 and not -0.
    return 0.0 - float((np.bincount(level, counts, minlength=levels.size) * np.log(levels)).sum())


def validate_pairs(confidence: ArrayLike, correct: ArrayLike, group: ArrayLike | None, groups: int) -> RawPairs:
    """A private copy of the pairs; raises ValueError where they are none (see `BinSums.from_pairs`)."""
    c, y = np.array(confidence), np.asarray(correct)
    if c.dtype.kind != "f" or c.dtype.itemsize > 8:
        c = c.astype(np.float64)
    if c.ndim != 1 or c.shape != y.shape:
        raise ValueError(f"confidence and correct: two lists of one length, not {c.shape} and {y.shape}")
    if not bool(np.all((c >= 0) & (c <= 1))):
        raise ValueError("a confidence is a number from 0 to 1")
    if not bool(np.all((y == 0) | (y == 1))):
        raise ValueError("an outcome is 0 or 1")
    of = None if group is None else np.array(group, np.int32)
    if of is not None and (of.shape != c.shape or bool(np.any((of < 0) | (of >= groups)))):
        raise ValueError(f"a class is one whole number a pair, from 0 to {groups - 1}")
    c += c.dtype.type(0)  # -0.0 is 0
    return RawPairs(c, y.astype(np.bool_), of)


def merge_distinct(parts: Sequence[DistinctConfidences]) -> DistinctConfidences:
    """The cells of all parts together; their order changes nothing."""
    return _aggregate_distinct(DistinctConfidences(
        value=np.concatenate([part.value for part in parts]),
        itemsize=np.concatenate([part.itemsize for part in parts]),
        group=np.concatenate([part.group for part in parts]),
        count=np.concatenate([part.count for part in parts]),
        correct=np.concatenate([part.correct for part in parts]),
    ))


def pool_classes(distinct: DistinctConfidences) -> DistinctConfidences:
    """The same pairs with all classes in one group."""
    group = np.zeros_like(distinct.group)
    return _aggregate_distinct(DistinctConfidences(distinct.value, distinct.itemsize, group, distinct.count, distinct.correct))


def segment_starts(*keys: NDArray[Any]) -> NDArray[np.intp]:
    """Where each run of equal keys begins; keys of one shape (n,), sorted."""
    new = np.ones(keys[0].shape, np.bool_)
    if new.size:
        new[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    return np.flatnonzero(new)


def _aggregate_distinct(distinct: DistinctConfidences) -> DistinctConfidences:
    """The same sums with one cell a key (group, width, value), sorted and read-only."""
    order = np.argsort(distinct.value, kind="stable")
    for key in (distinct.itemsize, distinct.group):
        if key.size and key.min() != key.max():
            order = order[np.argsort(key[order], kind="stable")]
    value, width, group = distinct.value[order], distinct.itemsize[order], distinct.group[order]
    start = segment_starts(value, width, group)
    added = DistinctConfidences(
        value=value[start],
        itemsize=width[start],
        group=group[start],
        count=np.add.reduceat(distinct.count[order], start),
        correct=np.add.reduceat(distinct.correct[order], start),
    )
    for array in (added.value, added.itemsize, added.group, added.count, added.correct):
        array.flags.writeable = False
    return added
