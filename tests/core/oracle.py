"""The exact value of each metric, straight from its definition.

Fractions, loops over rows and bins, the standard library only: nothing here is shared with what it
judges. A stored confidence is a Python float and the bytes of the dtype it is stored in (2, 4 or 8).
"""

from __future__ import annotations

import decimal
import math
import struct
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Literal

Exact = Fraction | float | None
"""A number in exact form, infinity, or None where it is not defined."""

_PACKED = {2: "<e", 4: "<f", 8: "<d"}


@dataclass(frozen=True)
class Pair:
    """One confidence, the bytes of its dtype, and its outcome 0 or 1."""

    confidence: float
    width: int
    correct: int


@dataclass(frozen=True)
class Row:
    """The probabilities of every class of one row, the bytes of their dtype, the right class."""

    probs: tuple[float, ...]
    width: int
    label: int


@dataclass(frozen=True)
class Bins:
    """How pairs are put into bins: "width", "mass" or "natural"; M; whether values were computed."""

    binning: Literal["width", "mass", "natural"] = "width"
    bins: int = 10
    computed: bool = False


def as_stored(value: float, width: int) -> float:
    """`value` rounded to the dtype of so many bytes, half to even."""
    return struct.unpack(_PACKED[width], struct.pack(_PACKED[width], value))[0]


@cache
def edges(bins: int, width: int) -> tuple[float, ...]:
    """The inner edges m/M + 1e-12, in float64, then rounded to the dtype."""
    quotients = [float(Fraction(m, bins)) for m in range(1, bins)]
    forgiving = [float(Fraction(edge) + Fraction(1e-12)) for edge in quotients]
    return tuple(as_stored(edge, width) for edge in forgiving)


def bin_index(confidence: float, width: int, bins: int) -> int:
    """Bin from 0: how many edges lie below the confidence."""
    return bisect_left(edges(bins, width), confidence)


@cache
def level(confidence: float, *, computed: bool) -> Fraction:
    """What makes two confidences tied: the value, or for computed ones the value to 12 decimals."""
    exact = Fraction(confidence)
    return Fraction(round(exact * 10**12), 10**12) if computed else exact


def indices(pairs: Sequence[Pair], how: Bins) -> list[int]:
    """Bin of each pair, from 0."""
    if how.binning == "width":
        return [bin_index(pair.confidence, pair.width, how.bins) for pair in pairs]
    levels = [level(pair.confidence, computed=how.computed) for pair in pairs]
    in_order = sorted(levels)
    if how.binning == "natural":
        place = {own: at for at, own in enumerate(dict.fromkeys(in_order))}
        return [place[own] for own in levels]
    rank = {own: bisect_right(in_order, own) for own in set(levels)}  # how many are no larger
    return [math.ceil(Fraction(how.bins * rank[own], len(pairs))) - 1 for own in levels]


def members(pairs: Sequence[Pair], how: Bins) -> list[list[Pair]]:
    """The pairs of each non-empty bin, in the order of the bins."""
    inside: dict[int, list[Pair]] = {}
    for pair, at in zip(pairs, indices(pairs, how), strict=True):
        inside.setdefault(at, []).append(pair)
    return [inside[at] for at in sorted(inside)]


def gap_sum(pairs: Sequence[Pair], how: Bins) -> Fraction:
    """Σ_b |Σ y − Σ c|."""
    return sum((abs(_surplus(inside)) for inside in members(pairs, how)), Fraction(0))


def _surplus(pairs: Sequence[Pair]) -> Fraction:
    return sum((pair.correct - Fraction(pair.confidence) for pair in pairs), Fraction(0))


def ece(pairs: Sequence[Pair], how: Bins) -> Exact:
    return gap_sum(pairs, how) / len(pairs) if pairs else None


def mce(pairs: Sequence[Pair], how: Bins) -> Exact:
    return max((abs(_surplus(inside)) / len(inside) for inside in members(pairs, how)), default=None)


def ace(pairs: Sequence[Pair], how: Bins) -> Exact:
    return ece(pairs, Bins("mass", how.bins, how.computed))


def brier(pairs: Sequence[Pair], _how: Bins) -> Exact:
    if not pairs:
        return None
    return sum((Fraction(pair.confidence) - pair.correct) ** 2 for pair in pairs) / Fraction(len(pairs))


def log_loss(pairs: Sequence[Pair], _how: Bins) -> Exact:
    if not pairs:
        return None
    if any(pair.confidence == 1 - pair.correct for pair in pairs):
        return math.inf
    with decimal.localcontext() as context:
        context.prec = 50
        given = [decimal.Decimal(float(pair.confidence)) for pair in pairs]
        logs = [(c if pair.correct else 1 - c).ln() for c, pair in zip(given, pairs, strict=True)]
        return Fraction(-sum(logs, decimal.Decimal(0)) / len(pairs))


def accuracy(pairs: Sequence[Pair], _how: Bins) -> Exact:
    return Fraction(sum(pair.correct for pair in pairs), len(pairs)) if pairs else None


def bias(pairs: Sequence[Pair], _how: Bins) -> Exact:
    return -_surplus(pairs) / len(pairs) if pairs else None


def auroc(pairs: Sequence[Pair], how: Bins) -> Exact:
    right = [level(pair.confidence, computed=how.computed) for pair in pairs if pair.correct]
    wrong = [level(pair.confidence, computed=how.computed) for pair in pairs if not pair.correct]
    if not right or not wrong:
        return None
    wrong.sort()
    won_twice = sum(bisect_left(wrong, own) + bisect_right(wrong, own) for own in right)  # a tie is half won
    return Fraction(won_twice, 2 * len(right) * len(wrong))


def ece_debiased_sq(pairs: Sequence[Pair], how: Bins) -> Exact:
    """Over ordered pairs of different rows of a bin: the mean product of their gaps, weighted by n_b/n."""
    if not pairs:
        return None
    total = Fraction(0)
    for inside in members(pairs, how):
        gaps = [Fraction(pair.confidence) - pair.correct for pair in inside]
        whole, others = sum(gaps, Fraction(0)), len(gaps) - 1
        if others:
            products = sum((gap * (whole - gap) for gap in gaps), Fraction(0))
            total += Fraction(len(inside), len(pairs)) * products / (len(gaps) * others)
    return total


def brier_skill(pairs: Sequence[Pair], how: Bins) -> Exact:
    right = accuracy(pairs, how)
    if right is None or right in (0, 1):
        return None
    constant = [Pair(float(pair.correct), pair.width, pair.correct) for pair in pairs]
    reference = sum((Fraction(right) - pair.correct) ** 2 for pair in constant) / Fraction(len(pairs))
    return 1 - Fraction(brier(pairs, how) or 0) / reference


@cache
def recalibrated(pairs: tuple[Pair, ...], *, computed: bool) -> list[Fraction]:
    """The isotonic fit at each pair, by the min-max formula over the sorted levels."""
    levels = [level(pair.confidence, computed=computed) for pair in pairs]
    distinct = sorted(set(levels))
    right_below, below = [0], [0]
    for at in distinct:
        inside = [pair.correct for pair, own in zip(pairs, levels, strict=True) if own == at]
        right_below.append(right_below[-1] + sum(inside))
        below.append(below[-1] + len(inside))

    def average(first: int, last: int) -> Fraction:
        return Fraction(right_below[last + 1] - right_below[first], below[last + 1] - below[first])

    fit: dict[Fraction, Fraction] = {}  # the largest, over beginnings, of the least from a level on
    for first in range(len(distinct)):
        least = Fraction(1)
        for last in reversed(range(first, len(distinct))):
            least = min(least, average(first, last))
            fit[distinct[last]] = max(fit.get(distinct[last], least), least)
    return [fit[own] for own in levels]


def _recalibrated_brier(pairs: Sequence[Pair], how: Bins) -> Fraction:
    fit = recalibrated(tuple(pairs), computed=how.computed)
    errors = sum(((p - pair.correct) ** 2 for p, pair in zip(fit, pairs, strict=True)), Fraction(0))
    return errors / len(pairs)


def brier_miscalibration(pairs: Sequence[Pair], how: Bins) -> Exact:
    return Fraction(brier(pairs, how) or 0) - _recalibrated_brier(pairs, how) if pairs else None


def brier_discrimination(pairs: Sequence[Pair], how: Bins) -> Exact:
    return Fraction(brier_uncertainty(pairs, how) or 0) - _recalibrated_brier(pairs, how) if pairs else None


def brier_uncertainty(pairs: Sequence[Pair], _how: Bins) -> Exact:
    """Half the share of ordered pairs of rows, with repetition, whose outcomes differ."""
    if not pairs:
        return None
    right = sum(pair.correct for pair in pairs)
    differ = 2 * right * (len(pairs) - right)
    return Fraction(differ, 2 * len(pairs) ** 2)


def aurc(pairs: Sequence[Pair], how: Bins) -> Exact:
    levels = [level(pair.confidence, computed=how.computed) for pair in pairs]
    everywhere = sorted(levels)
    wrong = sorted(own for own, pair in zip(levels, pairs, strict=True) if not pair.correct)

    def risk(threshold: Fraction) -> Fraction:
        """Of what is answered from here on, the share that is wrong."""
        answered = len(everywhere) - bisect_left(everywhere, threshold)
        return Fraction(len(wrong) - bisect_left(wrong, threshold), answered)

    return sum(map(risk, levels), Fraction(0)) / len(levels) if levels else None


SMOOTH_POINTS = 200
SMOOTH_TOLERANCE = 1e-3
"""Points at which the kernel is summed, and what the smooth ECE here is then good for."""


def smoothed_error(pairs: Sequence[Pair], bandwidth: float) -> float:
    """∫ |Σ K(t, c)·(y − c)| dt / n by the midpoint rule, with the kernel as a sum of reflected images."""
    weights: dict[float, float] = {}
    for pair in pairs:
        weights[pair.confidence] = weights.get(pair.confidence, 0.0) + pair.correct - pair.confidence
    images = [
        (sign * c + 2 * turn, weight)
        for c, weight in weights.items()
        for turn in (-2, -1, 0, 1, 2)
        for sign in (1, -1)
        if -9 * bandwidth < sign * c + 2 * turn < 1 + 9 * bandwidth
    ]
    total = 0.0
    for number in range(SMOOTH_POINTS):
        t = (number + 0.5) / SMOOTH_POINTS
        total += abs(sum(w * math.exp(-(((t - at) / bandwidth) ** 2) / 2) for at, w in images))
    return total / (SMOOTH_POINTS * len(pairs) * bandwidth * math.sqrt(2 * math.pi))


@cache
def _smooth_ece(pairs: tuple[Pair, ...]) -> float:
    low, high = 0.0, 1.0
    while high - low > SMOOTH_TOLERANCE / 4:
        middle = (low + high) / 2
        low, high = (middle, high) if smoothed_error(pairs, middle) > middle else (low, middle)
    return high


def smooth_ece(pairs: Sequence[Pair], _how: Bins) -> Exact:
    """The bandwidth that is its own error; not exact, but to `SMOOTH_TOLERANCE` from about 0.01 on."""
    return _smooth_ece(tuple(pairs)) if pairs else None


def class_pairs(rows: Sequence[Row], of_class: int) -> list[Pair]:
    """The pairs of one class: the rows that have it."""
    return [
        Pair(row.probs[of_class], row.width, int(row.label == of_class))
        for row in rows
        if of_class < len(row.probs)
    ]


def classes(rows: Sequence[Row]) -> int:
    """K: the largest number of classes of a row."""
    return max((len(row.probs) for row in rows), default=0)


def all_pairs(rows: Sequence[Row]) -> list[Pair]:
    """One pair a class of every row."""
    return [pair for k in range(classes(rows)) for pair in class_pairs(rows, k)]


def brier_multi(rows: Sequence[Row], _how: Bins) -> Exact:
    if not rows:
        return None
    errors = sum((Fraction(pair.confidence) - pair.correct) ** 2 for pair in all_pairs(rows))
    return errors / Fraction(len(rows))


def nll(rows: Sequence[Row], _how: Bins) -> Exact:
    if not rows:
        return None
    if any(row.probs[row.label] == 0 for row in rows):
        return math.inf
    with decimal.localcontext() as context:
        context.prec = 50
        logs = [decimal.Decimal(row.probs[row.label]).ln() for row in rows]
        return Fraction(-sum(logs, decimal.Decimal(0)) / len(rows))


def cw_ece(rows: Sequence[Row], how: Bins) -> Exact:
    total = cw_ece_sum(rows, how)
    return total / classes(rows) if total is not None else None


def cw_ece_sum(rows: Sequence[Row], how: Bins) -> Exact:
    if not rows:
        return None
    return sum((gap_sum(class_pairs(rows, k), how) for k in range(classes(rows))), Fraction(0)) / len(rows)


def full_ece(rows: Sequence[Row], how: Bins) -> Exact:
    return gap_sum(all_pairs(rows), how) / len(rows) if rows else None


def full_ece_mass(rows: Sequence[Row], how: Bins) -> Exact:
    if not rows:
        return None
    total = Fraction(0)
    for inside in members(all_pairs(rows), how):
        weights = [Fraction(pair.confidence) for pair in inside]
        drawn_right = sum((w * pair.correct for w, pair in zip(weights, inside, strict=True)), Fraction(0))
        total += abs(drawn_right - sum((w * w for w in weights), Fraction(0)))
    return total / len(rows)


def rsd(values: Sequence[Fraction], ddof: int = 0) -> Exact:
    """Standard deviation over mean, to 50 digits; None where it is not defined."""
    mean = sum(values, Fraction(0)) / len(values)
    if not mean or len(values) <= ddof:
        return None
    variance = sum(((value - mean) ** 2 for value in values), Fraction(0)) / (len(values) - ddof)
    with decimal.localcontext() as context:
        context.prec = 50
        root = (decimal.Decimal(variance.numerator) / decimal.Decimal(variance.denominator)).sqrt()
        return Fraction(root) / mean


def ceiling(rows: Sequence[Row]) -> Fraction:
    """The ceiling of Full-ECE and of K·cw-ECE: the mean of 1 + Σp − 2·p_y."""
    each = (
        1 + sum((Fraction(p) for p in row.probs), Fraction(0)) - 2 * Fraction(row.probs[row.label])
        for row in rows
    )
    return sum(each, Fraction(0)) / len(rows)


def rps(rows: Sequence[Row], _how: Bins) -> Exact:
    """Σ over the cuts of a scale of (P(level < t) − [label < t])², over K − 1, averaged over rows."""
    each: list[Fraction] = []
    for row in rows:
        below = [sum(map(Fraction, row.probs[:cut]), Fraction(0)) for cut in range(1, len(row.probs))]
        gaps = [p - (row.label < cut) for cut, p in enumerate(below, 1)]
        each.append(sum((gap**2 for gap in gaps), Fraction(0)) / len(gaps))
    return sum(each, Fraction(0)) / len(each) if each else None


def expectation_error(rows: Sequence[Row], _how: Bins) -> Exact:
    """Mean |Σ level · p − label|."""
    each = [
        abs(sum((level * Fraction(p) for level, p in enumerate(row.probs)), Fraction(0)) - row.label)
        for row in rows
    ]
    return sum(each, Fraction(0)) / len(each) if each else None


OF_PAIRS: dict[str, Callable[[Sequence[Pair], Bins], Exact]] = {
    "ece": ece,
    "mce": mce,
    "ace": ace,
    "brier": brier,
    "accuracy": accuracy,
    "bias": bias,
    "auroc": auroc,
    "ece_debiased_sq": ece_debiased_sq,
    "smooth_ece": smooth_ece,
    "brier_skill": brier_skill,
    "brier_miscalibration": brier_miscalibration,
    "brier_discrimination": brier_discrimination,
    "brier_uncertainty": brier_uncertainty,
    "aurc": aurc,
    "log_loss": log_loss,
}
OF_ROWS: dict[str, Callable[[Sequence[Row], Bins], Exact]] = {
    "brier_multi": brier_multi,
    "nll": nll,
    "cw_ece": cw_ece,
    "cw_ece_sum": cw_ece_sum,
    "full_ece": full_ece,
    "full_ece_mass": full_ece_mass,
}
OF_SCALES: dict[str, Callable[[Sequence[Row], Bins], Exact]] = {
    "rps": rps,
    "expectation_error": expectation_error,
}
"""Of rows whose classes are the levels of a scale."""
OF_RANKS: dict[str, Callable[[Sequence[Pair], Bins], Exact]] = {"server_auroc": auroc}
"""Of what a server calls its confidence, and outcomes."""
