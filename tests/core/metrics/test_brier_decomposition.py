"""The Brier score decomposes as stated in the literature, and the isotonic fit is that of its formula."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from calib_core.bins import Binned
from calib_core.edges import Scheme
from calib_core.metrics import METRICS
from calib_core.metrics.brier_decomposition import recalibrated_accuracy
from core.edge_cases import TOLERANCE, some_pairs, sums_of
from core.oracle import Pair

schemes = st.builds(Scheme, st.sampled_from(("width", "mass", "natural")), st.integers(1, 1000))


def brier_decomposition(binned: Binned) -> float:
    """Reliability − resolution + uncertainty + within-bin variance − 2·within-bin covariance.

    Stephenson, Coelho and Jolliffe 2008, eq. 11; (co)variances are population ones, by count.
    """
    n, count = binned.count.sum(), binned.count
    accuracy, confidence = binned.correct / count, binned.confidence / count
    overall = binned.correct.sum() / n
    reliability = (count * (confidence - accuracy) ** 2).sum() / n
    resolution = (count * (accuracy - overall) ** 2).sum() / n
    variance = (binned.squared_confidence - count * confidence**2).sum() / n
    covariance = (binned.correct_confidence - count * confidence * accuracy).sum() / n
    return float(reliability - resolution + overall * (1 - overall) + variance - 2 * covariance)


@given(some_pairs(), schemes)
def test_the_brier_score_is_the_sum_of_its_five_terms(pairs: list[Pair], scheme: Scheme) -> None:
    sums = sums_of(pairs)
    brier = METRICS["brier"].compute(sums, scheme)
    assert brier_decomposition(sums.binned(scheme)) == pytest.approx(brier, rel=0, abs=TOLERANCE)


def min_max(levels: list[tuple[int, int]], at: int) -> Fraction:
    """Max over starts ≤ at of the min over ends ≥ at of the mean outcome between (Robertson et al. 1988)."""

    def mean(first: int, last: int) -> Fraction:
        inside = levels[first : last + 1]
        return Fraction(sum(right for _, right in inside), sum(count for count, _ in inside))

    return max(min(mean(first, last) for last in range(at, len(levels))) for first in range(at + 1))


@given(
    st.lists(
        st.integers(1, 5).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), min_size=1, max_size=9
    )
)
def test_the_isotonic_fit_is_that_of_the_min_max_formula(levels: list[tuple[int, int]]) -> None:
    count, right = (np.array(column) for column in zip(*levels, strict=True))
    expected = [float(min_max(levels, at)) for at in range(len(levels))]
    assert recalibrated_accuracy(count, right).tolist() == pytest.approx(expected)


@pytest.mark.parametrize("n", [2**15, 2**15 + 1, 200_000])
@pytest.mark.parametrize("slope", [0.0, 1.0, -1.0])
def test_the_isotonic_fit_of_many_confidences_is_that_of_all_at_once(n: int, slope: float) -> None:
    random, at = np.random.default_rng(n), np.linspace(0.0, 1.0, n)
    right = (random.random(n) < 0.5 + slope * (at - 0.5)).astype(np.int8)
    expected = scipy.optimize.isotonic_regression(right.astype(float)).x
    np.testing.assert_allclose(recalibrated_accuracy(np.ones(n, np.int64), right), expected, rtol=1e-12)


def test_the_isotonic_fit_of_many_rising_accuracies_pools_none() -> None:
    count = np.full(70_000, 70_000)
    assert recalibrated_accuracy(count, np.arange(70_000)).tolist() == (np.arange(70_000) / 70_000).tolist()
