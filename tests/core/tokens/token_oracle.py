"""The exact value of each token-level number.

Counts in units of 2⁻¹⁰⁷⁴, in which every float is an integer, and loops over the non-zero entries. Edges come
from `core.oracle`; this module shares no code with what it tests.
"""

from __future__ import annotations

import decimal
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from core.oracle import edges

ONE = 1 << 1074


@dataclass(frozen=True)
class Distribution:
    """The entries above 0 of one row by class, K, the bytes of the dtype, the right class."""

    probs: dict[int, float]
    classes: int
    width: int
    label: int

    @cached_property
    def entries(self) -> list[tuple[int, float, int]]:
        """Class, probability, and the same in units of 2⁻¹⁰⁷⁴."""
        return [(k, p, in_smallest_units(p)) for k, p in self.probs.items()]

    @cached_property
    def _indices(self) -> dict[int, list[int]]:
        return {}

    def indices(self, bins: int) -> list[int]:
        """The bin of each entry: how many inner edges lie below its probability."""
        if bins not in self._indices:
            inner = edges(bins, self.width)
            self._indices[bins] = [bisect_left(inner, p) for p in self.probs.values()]
        return self._indices[bins]


def distributions(values: NDArray[Any], target: Iterable[int]) -> list[Distribution]:
    """Rows of an array, each value as stored."""
    classes, width = values.shape[1], values.dtype.itemsize
    return [
        Distribution({k: p for k, p in enumerate(row.tolist()) if p}, classes, width, int(label))
        for row, label in zip(values, target, strict=True)
    ]


def in_smallest_units(value: float) -> int:
    """A float in units of 2⁻¹⁰⁷⁴."""
    numerator, denominator = value.as_integer_ratio()
    return numerator * (ONE // denominator)


def bin_index(value: float, width: int, bins: int) -> int:
    """How many inner edges lie below the value."""
    return bisect_left(edges(bins, width), value)


def full_ece(rows: Sequence[Distribution], bins: int) -> Fraction:
    gaps: dict[int, int] = defaultdict(int)
    for row in rows:
        for (k, _, units), at in zip(row.entries, row.indices(bins), strict=True):
            gaps[at] += ONE * (k == row.label) - units
        gaps[0] += ONE * (row.label not in row.probs)
    return Fraction(sum(map(abs, gaps.values())), ONE * len(rows))


def cw_ece_sum(rows: Sequence[Distribution], bins: int) -> Fraction:
    gaps: dict[tuple[int, int], int] = defaultdict(int)
    for row in rows:
        for (k, _, units), at in zip(row.entries, row.indices(bins), strict=True):
            gaps[k, at] += ONE * (k == row.label) - units
        gaps[row.label, 0] += ONE * (row.label not in row.probs)
    return Fraction(sum(map(abs, gaps.values())), ONE * len(rows))


def full_ece_mass(rows: Sequence[Distribution], bins: int) -> Fraction:
    gaps: dict[int, int] = defaultdict(int)
    for row in rows:
        for (k, _, units), at in zip(row.entries, row.indices(bins), strict=True):
            gaps[at] += units * (ONE * (k == row.label) - units)
    return Fraction(sum(map(abs, gaps.values())), ONE * ONE * len(rows))


def top(row: Distribution) -> tuple[int, float]:
    """The first class of the largest probability."""
    return min(row.probs.items(), key=lambda entry: (-entry[1], entry[0]))


def ece(rows: Sequence[Distribution], bins: int) -> Fraction:
    gaps: dict[int, int] = defaultdict(int)
    for row in rows:
        k, p = top(row)
        gaps[bin_index(p, row.width, bins)] += ONE * (k == row.label) - in_smallest_units(p)
    return Fraction(sum(map(abs, gaps.values())), ONE * len(rows))


def brier_multi(rows: Sequence[Distribution]) -> Fraction:
    total = 0
    for row in rows:
        total += sum(units**2 for _, _, units in row.entries) + ONE * ONE
        total -= 2 * ONE * in_smallest_units(row.probs.get(row.label, 0.0))
    return Fraction(total, ONE * ONE * len(rows))


def log_loss(rows: Sequence[Distribution]) -> Fraction:
    """Σ −ln p_y over the rows with p_y > 0, to 50 digits."""
    with decimal.localcontext() as context:
        context.prec = 50
        logs = [decimal.Decimal(row.probs[row.label]).ln() for row in rows if row.label in row.probs]
        return Fraction(-sum(logs, decimal.Decimal(0)))


def counts(rows: Sequence[Distribution], cells: int) -> dict[tuple[int, int], int]:
    """Pairs by class and cell; classes whose probability is 0 are in the first cell."""
    found = Counter(pair for row in rows for pair in zip(row.probs, row.indices(cells), strict=True))
    for k in range(rows[0].classes):
        found[k, 0] += sum(k not in row.probs for row in rows)
    return {key: n for key, n in found.items() if n}
