"""Is the smooth ECE the bandwidth that is its own smoothed error?"""

from __future__ import annotations

from math import erf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core.bins import BinSums
from calib_core.edges import Scheme
from calib_core.metrics import METRICS
from calib_core.metrics.smooth_ece import (
    KERNEL_INTERVALS,
    SMOOTH_ECE,
    KernelSmoother,
    mean_absolute,
    spread_to_nodes,
)
from core import oracle
from core.edge_cases import confidences, some_pairs, sums_of
from core.oracle import Bins, Pair


def smooth_ece(sums: BinSums) -> float:
    """Its value, which is there."""
    value = SMOOTH_ECE.compute(sums, Scheme())
    assert value is not None
    return value


@given(some_pairs(max_size=12))
def test_it_is_the_number_of_the_definition(pairs: list[Pair]) -> None:
    value, expected = smooth_ece(sums_of(pairs)), oracle.smooth_ece(pairs, Bins())
    assert isinstance(expected, float)
    if expected > 0.01:  # below, the oracle's own points are too far apart
        assert value == pytest.approx(expected, abs=oracle.SMOOTH_TOLERANCE)
    else:
        assert value < 0.02


@given(some_pairs())
def test_it_lies_between_the_size_of_the_bias_and_the_error_of_the_finest_bins(pairs: list[Pair]) -> None:
    sums = sums_of(pairs)
    bias, finest = METRICS["bias"].compute(sums, Scheme()), METRICS["ece"].compute(sums, Scheme("natural"))
    assert bias is not None and finest is not None  # noqa: PT018 - both or neither
    step = 1 / KERNEL_INTERVALS
    assert abs(bias) - 1e-6 <= smooth_ece(sums) <= finest + step


@given(st.lists(st.tuples(confidences(8)), min_size=1, max_size=20))
def test_residuals_of_one_sign_give_the_bias_whatever_the_kernel(drawn: list[tuple[float]]) -> None:
    sums = BinSums.from_pairs([c for (c,) in drawn], [0] * len(drawn))
    assert smooth_ece(sums) == pytest.approx(sums.confidence_sum / len(drawn), abs=2e-7)


@pytest.mark.parametrize("bandwidth", [0.003, 0.02, 0.1])
def test_two_opposite_residuals_cancel_where_their_kernels_meet(bandwidth: float) -> None:
    # Far from the ends, ∫ |φ(t − a) − φ(t − b)| dt = 2·erf((b − a) / (2√2 σ)).
    nodes = spread_to_nodes(np.array([0.45, 0.55]), np.array([0.5, -0.5]))
    expected = erf(0.1 / (2 * sqrt(2) * bandwidth))
    assert mean_absolute(KernelSmoother(nodes).density(bandwidth)) == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize("at", [0.0, 1e-3, 0.5, 1.0])
@pytest.mark.parametrize("bandwidth", [0.001, 0.05, 1.0])
def test_the_kernel_is_reflected_so_that_nothing_is_lost_at_the_ends(at: float, bandwidth: float) -> None:
    density = KernelSmoother(spread_to_nodes(np.array([at]), np.array([1.0]))).density(bandwidth)
    assert density.min() >= -1e-9
    assert mean_absolute(density) == pytest.approx(1.0, abs=1e-9)
    t = np.linspace(0, 1, KERNEL_INTERVALS + 1)
    images = [s * at + 2 * k for k in range(-4, 5) for s in (1, -1)]
    kernel = sum(np.exp(-(((t - image) / bandwidth) ** 2) / 2) for image in images)
    scale = bandwidth * np.sqrt(2 * np.pi)
    assert density == pytest.approx(kernel / scale, abs=2e-3 / scale)


@given(some_pairs(), st.floats(0.001, 0.5), st.floats(1.0, 3.0))
def test_a_wider_kernel_never_finds_more(pairs: list[Pair], bandwidth: float, factor: float) -> None:
    residual = np.array([pair.correct - pair.confidence for pair in pairs]) / len(pairs)
    nodes = spread_to_nodes(np.array([pair.confidence for pair in pairs]), residual)
    smoother = KernelSmoother(nodes)
    wide, narrow = (mean_absolute(smoother.density(b)) for b in (bandwidth * factor, bandwidth))
    assert wide <= narrow + 1e-5


@pytest.mark.parametrize(
    ("n", "power", "published"), [(500, 2.0, 0.165319), (500, 1.0, 0.024244), (200, 0.5, 0.150777)]
)
def test_it_is_what_the_authors_own_program_gives(n: int, power: float, published: float) -> None:
    """`smECE` of relplot 1.0.3 on these rows, which looks for σ in steps of 1/1024 and has 200 points."""
    at = np.arange(n)
    confidence = (at * 0.6180339887498949) % 1
    correct = (at * 0.7548776662466927 + 0.3) % 1 < confidence**power
    assert smooth_ece(BinSums.from_pairs(confidence, correct)) == pytest.approx(published, abs=1e-3)


@pytest.mark.parametrize(("confidence", "outcomes"), [([0.5, 0.5], [0, 1]), ([0.0, 1.0], [0, 1])])
def test_without_any_gap_it_is_zero(confidence: list[float], outcomes: list[int]) -> None:
    assert smooth_ece(BinSums.from_pairs(confidence, outcomes)) == 0.0


def test_nothing_has_no_smooth_ece() -> None:
    assert SMOOTH_ECE.compute(BinSums.from_pairs([], []), Scheme()) is None
