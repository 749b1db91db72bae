"""Confidences for testing bins: strategies, one fixed set, and their `BinSums`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce

import numpy as np
from hypothesis import strategies as st

from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.metrics import METRICS
from calib_core.pairs import Distribution
from core import oracle
from core.oracle import Bins, Pair, Row

CHECKED_BINS = (1, 5, 10, 15, 20, 50, 100, 200, 500, 1000)
WIDTHS = (2, 4, 8)
TOLERANCE = 1e-12
MAX_PAIRS = 60
"""The largest number of pairs or rows that a strategy here draws."""
CELLS = ("value", "itemsize", "group", "count", "correct")


def values_around_edge(m: int, bins: int, width: int) -> list[float]:
    """Stored values at the edge m/M, a last digit beside it, and at and around the forgiven 1e-12."""
    dtype = np.dtype(f"f{width}").type
    values: list[float] = []
    for at in (m / bins, m / bins + 1e-12, m / bins - 1e-12, m / bins + 2e-12):
        value = dtype(at)
        values += [
            float(np.nextafter(value, dtype(0))),
            float(value),
            float(np.nextafter(value, dtype(1))),
        ]
    return [value for value in values if 0 <= value <= 1]


@st.composite
def _at_an_edge(draw: st.DrawFn, width: int) -> float:
    bins = draw(st.sampled_from(CHECKED_BINS))
    return draw(st.sampled_from(values_around_edge(draw(st.integers(0, bins)), bins, width)))


@st.composite
def _fraction_of_samples(draw: st.DrawFn, width: int) -> float:
    samples = draw(st.integers(1, 64))
    return oracle.as_stored(draw(st.integers(0, samples)) / samples, width)


def confidences(width: int) -> st.SearchStrategy[float]:
    """Stored confidences: k/N, 0, 1, on and around edges, and any other."""
    anywhere = st.floats(0, 1, width=16) if width == 2 else st.floats(0, 1, width=32 if width == 4 else 64)
    return st.one_of(
        _at_an_edge(width),
        _fraction_of_samples(width),
        st.sampled_from((0.0, 1.0)),
        anywhere,
    )


@st.composite
def some_pairs(
    draw: st.DrawFn, widths: Sequence[int] = WIDTHS, min_size: int = 1, max_size: int = MAX_PAIRS
) -> list[Pair]:
    """Pairs of mixed dtypes: mostly few, and often enough so many that a metric which needs 20 is defined."""
    width = st.sampled_from(widths)
    one = width.flatmap(lambda w: st.builds(Pair, confidences(w), st.just(w), st.integers(0, 1)))
    few, any_number = st.integers(min_size, min(max_size, 12)), st.integers(min_size, max_size)
    size = draw(st.one_of(few, any_number))
    return draw(st.lists(one, min_size=size, max_size=size))


@st.composite
def whole_rows(draw: st.DrawFn, max_classes: int = 5, *, ragged: bool = False) -> list[Row]:
    """Rows whose probabilities add to exactly 1: whole numbers of 1024ths, in any dtype."""
    classes = draw(st.integers(2, max_classes))
    rows: list[Row] = []
    for _ in range(draw(st.integers(1, 12))):
        own = draw(st.integers(1, classes)) if ragged else classes
        cuts = sorted(draw(st.lists(st.integers(0, 1024), min_size=own - 1, max_size=own - 1)))
        shares = np.diff([0, *cuts, 1024])
        probs = tuple(float(share) / 1024 for share in shares)
        rows.append(Row(probs, draw(st.sampled_from(WIDTHS)), draw(st.integers(0, own - 1))))
    return rows


@st.composite
def rounded_rows(draw: st.DrawFn, max_classes: int = 5) -> list[Row]:
    """Rows as a model stores them: shares rounded to their dtype, adding to 1 + ε."""
    rows: list[Row] = []
    classes = draw(st.integers(2, max_classes))
    for _ in range(draw(st.integers(1, 12))):
        weights = draw(st.lists(st.integers(0, 1000), min_size=classes, max_size=classes))
        total = sum(weights) or 1
        shares = [weight / total for weight in weights] if sum(weights) else [1.0] + [0.0] * (classes - 1)
        width = draw(st.sampled_from(WIDTHS))
        label = draw(st.integers(0, classes - 1))
        rows.append(Row(tuple(oracle.as_stored(share, width) for share in shares), width, label))
    return rows


def any_rows() -> st.SearchStrategy[list[Row]]:
    """Rows of one or of differing numbers of classes, exact or rounded."""
    return st.one_of(whole_rows(), whole_rows(ragged=True), rounded_rows())


def probability_excess(row: Row) -> Fraction:
    """ε: by how much the probabilities of a row pass 1."""
    return sum((Fraction(p) for p in row.probs), Fraction(-1))


def _merged(parts: Sequence[BinSums]) -> BinSums:
    return reduce(BinSums.merge, parts) if parts else BinSums.from_pairs([], [])


def sums_of(pairs: Sequence[Pair], *, computed: bool = False) -> BinSums:
    """The state of these pairs, each in its dtype."""
    parts = [
        BinSums.from_pairs(
            np.array([pair.confidence for pair in pairs if pair.width == width], f"f{width}"),
            np.array([pair.correct for pair in pairs if pair.width == width], np.int64),
            computed=computed,
        )
        for width in WIDTHS
        if any(pair.width == width for pair in pairs)
    ]
    return _merged(parts)


def same_sums(one: BinSums, other: BinSums) -> bool:
    """Whether two states are the same to the last bit."""
    arrays = all(np.array_equal(getattr(one, name), getattr(other, name)) for name in CELLS)
    return arrays and (one.n_rows, one.n_groups, one.computed) == (
        other.n_rows,
        other.n_groups,
        other.computed,
    )


def distribution_of(rows: Sequence[Row], width: int = 8) -> Distribution:
    """These rows, all in one dtype."""
    return Distribution(
        probs=np.array([p for row in rows for p in row.probs], f"f{width}"),
        sizes=np.array([len(row.probs) for row in rows], np.int64),
        target=np.array([row.label for row in rows], np.int64),
        rows=np.arange(len(rows)),
        computed=False,
        normalised=True,
    )


def class_sums_of(rows: Sequence[Row]) -> BinSums:
    """The state of these rows by class, each row in its dtype."""
    of_width = {width: [row for row in rows if row.width == width] for width in WIDTHS}
    return _merged([distribution_of(part, width).sums() for width, part in of_width.items() if part])


def close(value: float | None, exact: oracle.Exact, tolerance: float = TOLERANCE) -> bool:
    """Whether a number is the exact one to 1e-12; None and infinity are themselves."""
    if value is None or exact is None or exact == math.inf:
        return value == exact
    return math.isfinite(value) and abs(Fraction(value) - Fraction(exact)) <= Fraction(tolerance)


def tolerance_of(metric_id: str) -> float:
    """How far a metric may be from the oracle's value."""
    return oracle.SMOOTH_TOLERANCE if metric_id == "smooth_ece" else TOLERANCE


def agrees(metric_id: str, data: Sequence[Pair] | Sequence[Row], how: Bins) -> bool:
    """Whether the registered metric gives what the definition says of this data."""
    metric = METRICS[metric_id]
    scheme = Scheme(metric.binning or how.binning, how.bins)
    if metric.needs == "pairs":
        pairs = [item for item in data if isinstance(item, Pair)]
        expected = oracle.OF_PAIRS[metric_id](pairs, how)
        value = metric.compute(sums_of(pairs, computed=how.computed), scheme)
        return close(value, expected, tolerance_of(metric_id))
    rows = [item for item in data if isinstance(item, Row)]
    return close(metric.compute(class_sums_of(rows), scheme), oracle.OF_ROWS[metric_id](rows, how))


def schemes() -> st.SearchStrategy[Bins]:
    """Every binning at the checked numbers of bins and at any other."""
    bins = st.one_of(st.sampled_from(CHECKED_BINS), st.integers(1, 1000))
    return st.builds(Bins, st.sampled_from(("width", "mass", "natural")), bins)


def widths_only() -> st.SearchStrategy[Bins]:
    """Equal-width bins."""
    return schemes().map(lambda how: Bins("width", how.bins))


def fixed_pairs(bins: int) -> list[Pair]:
    """Edges of this M, k/N for N = 16 and 7, 0 and 1, in every dtype; outcomes by turns."""
    values = [
        (value, width)
        for width in WIDTHS
        for value in (
            *(
                v
                for m in {0, 1, bins // 3, bins // 2, bins - 1, bins}
                for v in values_around_edge(m, bins, width)
            ),
            *(oracle.as_stored(k / samples, width) for samples in (16, 7) for k in range(samples + 1)),
        )
    ]
    return [Pair(value, width, int(at * 7 % 5 < 3)) for at, (value, width) in enumerate(values)]
