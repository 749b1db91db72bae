"""Are the confidences of a run right? A score test of Cox's logistic recalibration, and the fitted curve.

Cox's model is logit P(y = 1) = α + β·x with x = logit(c). Calibration means α = 0 and β = 1. The score test
needs no fit: its statistic is a quadratic form in Σ(y − c) and Σ x(y − c), whose variances follow from c(1
− c). For independent rows everything is computed from the sums of the finest bins, which are additive, so
that a token-level run is tested from what it keeps.

References
----------
Cox (1958), "Two further applications of a model for binary regression", doi:10.2307/2333203.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calib_core.bins import Binned, BinSums
from calib_core.edges import FINEST_BINS, Floats64, Scheme, bin_of
from calib_core.inference.cluster_draws import (
    correlated_uniforms,
    count_clusters,
    residual_correlation,
    shared_probability,
)
from calib_core.wording import ROUNDING_TOLERANCE

FINEST: Final = Scheme("width", FINEST_BINS)
"""The bins whose centres stand for the confidences in x = logit(c), so that x is at most 8.7 in size."""

MIN_INFORMATION: Final = 25.0
"""With less information than this, in answers of variance 1, the p-value comes from draws and not from χ²."""

MIN_CLUSTERED_INFORMATION: Final = 10.0
"""The same for clustered rows, whose p-value is then the larger one of the two."""

FIRST_DRAWS: Final = 499
"""Number of draws made first."""

MAX_DRAWS: Final = 4999
"""Number of draws where the first ones leave the p-value below `MAX_P_OF_FIRST_DRAWS`."""

MAX_P_OF_FIRST_DRAWS: Final = 0.1
"""Up to this p-value, more draws are made."""

MAX_DRAWN_OUTCOMES: Final = 20_000_000
"""Number of outcomes drawn at most; fewer draws are made where rows are many."""

DRAW_SEED: Final = 0
"""Seed of the draws."""

MIN_SLOPE_SHARE: Final = 1e-9
"""A slope is tested only if Σ v (x − mean)² is more than this share of Σ v x² + Σ v."""

MAX_NEWTON_STEPS: Final = 30
"""Number of Newton steps of the fit at most."""

FIT_PENALTY: Final = 1e-3
"""Weight of the ridge penalty that keeps the fit finite where all answers are right."""

_DRAWN_AT_ONCE: Final = 100_000
"""Number of outcomes drawn together, so that they stay in the processor's cache."""

DrawnScores: TypeAlias = Callable[[np.random.Generator, int], tuple[Floats64, Floats64]]
"""Random generator and number of draws → Σ (y − c) and Σ x(y − c) of each draw, shape (draws,)."""


# --- Sums ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationSums:
    """Additive sums of pairs (c, y) by cell of the finest grid; sorted by cell.

    Attributes
    ----------
    cell : NDArray[np.intp], shape (cells,)
        Number of the cell, in 0..FINEST_BINS − 1.
    count, correct : NDArray[np.int64], shape (cells,)
        n and Σ y.
    confidence, variance : NDArray[np.float64], shape (cells,)
        Σ c and Σ c(1 − c).
    n_wrong_at_one, n_right_at_zero : int
        Wrong answers with confidence exactly 1, and right ones with exactly 0. Either is impossible for a
        calibrated model.
    """

    cell: NDArray[np.intp]
    count: NDArray[np.int64]
    correct: NDArray[np.int64]
    confidence: NDArray[np.float64]
    variance: NDArray[np.float64]
    n_wrong_at_one: int = 0
    n_right_at_zero: int = 0

    @classmethod
    def from_pairs(
        cls, confidence: ArrayLike, correct: ArrayLike, sums: BinSums | None = None
    ) -> CalibrationSums:
        """The sums of pairs, made from their `BinSums` if given.

        Raises
        ------
        ValueError
            As in `BinSums.from_pairs`, or if the sums are of another number of pairs.
        """
        sums = BinSums.from_pairs(confidence, correct) if sums is None else sums
        if sums.n_pairs != np.size(confidence):
            raise ValueError(f"sums of {sums.n_pairs} pairs, for {np.size(confidence)}")
        value, right = np.asarray(confidence), np.asarray(correct).astype(np.bool_)
        return cls.from_bins(
            sums.binned(FINEST),
            n_wrong_at_one=int(np.count_nonzero(~right[value == 1])),
            n_right_at_zero=int(np.count_nonzero(right[value == 0])),
        )

    @classmethod
    def from_bins(
        cls, binned: Binned, *, n_wrong_at_one: int = 0, n_right_at_zero: int = 0
    ) -> CalibrationSums:
        """The sums of bins of the scheme `FINEST` in one group.

        Raises
        ------
        ValueError
            If the bins are others.
        """
        if binned.scheme != FINEST or (binned.group != 0).any():
            raise ValueError(f"the test needs {FINEST_BINS} bins of equal width in one group")
        variance = np.maximum(binned.confidence - binned.squared_confidence, 0.0)
        return cls(
            binned.index,
            binned.count,
            binned.correct,
            binned.confidence,
            variance,
            n_wrong_at_one,
            n_right_at_zero,
        )

    def merge(self, other: CalibrationSums) -> CalibrationSums:
        """The sums of both parts together."""
        cell, place = np.unique(np.concatenate([self.cell, other.cell]), return_inverse=True)

        def added(one: NDArray[Any], two: NDArray[Any]) -> NDArray[np.float64]:
            return np.bincount(place, np.concatenate([one, two]), minlength=cell.size).astype(np.float64)

        return CalibrationSums(
            cell.astype(np.intp),
            added(self.count, other.count).astype(np.int64),
            added(self.correct, other.correct).astype(np.int64),
            added(self.confidence, other.confidence),
            added(self.variance, other.variance),
            self.n_wrong_at_one + other.n_wrong_at_one,
            self.n_right_at_zero + other.n_right_at_zero,
        )

    @property
    def n(self) -> int:
        """Number of pairs."""
        return int(self.count.sum())

    @property
    def x(self) -> NDArray[np.float64]:
        """logit(c) at the centre of each cell, shape (cells,)."""
        return cell_logit(self.cell)

    @property
    def residual(self) -> NDArray[np.float64]:
        """Σ (y − c) of each cell, shape (cells,)."""
        return self.correct - self.confidence

    @property
    def n_impossible(self) -> int:
        """Number of outcomes that a calibrated model cannot have."""
        return self.n_wrong_at_one + self.n_right_at_zero


def cell_logit(cell: NDArray[np.intp]) -> NDArray[np.float64]:
    """Logit of the centres of cells of the finest grid, in [−8.7, 8.7]."""
    centre = (cell + 0.5) / FINEST_BINS
    return np.log(centre) - np.log1p(-centre)


# --- The test -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CalibrationTest:
    """Result of the score test of α = 0 and β = 1, with the fitted curve.

    Attributes
    ----------
    n : int
        Number of rows.
    n_clusters : int or None
        Number of clusters; None for independent rows.
    p : float
        p-value of both parts together, in [0, 1]; 0 after an outcome that a calibrated model cannot have.
    level_p : float
        p-value of α = 0 where β = 1.
    slope_p : float or None
        p-value of β = 1 for any α; None if all confidences are equal.
    level : float
        Mean of c − y, in [−1, 1]: positive if the confidences are too high.
    slope : float or None
        Signed square root of the slope's statistic, in standard errors: positive if the confidences are too
        extreme (β < 1), negative if they are too timid.
    alpha, beta : float
        Fitted α, and β (1 if all confidences are equal).
    deviation : float
        Mean of |c − fitted curve|, in [0, 1].
    correlation : float
        Intra-cluster correlation of the residuals, in [0, 1]; 0 for independent rows.
    n_wrong_at_one, n_right_at_zero : int
        Outcomes that a calibrated model cannot have.
    n_draws : int
        Number of draws behind the p-values; 0 if they are those of χ².
    only_outcome : bool or None
        True if every answer is right, False if every one is wrong, so that no β fits best; else None.
    """

    n: int
    n_clusters: int | None
    p: float
    level_p: float
    slope_p: float | None
    level: float
    slope: float | None
    alpha: float
    beta: float
    deviation: float
    correlation: float
    n_wrong_at_one: int
    n_right_at_zero: int
    n_draws: int
    only_outcome: bool | None = None


@dataclass(frozen=True, slots=True)
class _Information:
    """Variances of the scores under the null hypothesis.

    Attributes
    ----------
    level : float
        Variance of Σ (y − c).
    cross : float
        Covariance of Σ (y − c) and Σ x(y − c).
    slope : float or None
        Variance of what remains of Σ x(y − c) without its regression on Σ (y − c); None if x is constant.
    effective : float
        Effective number of answers of variance 1 behind the weaker of the two parts.
    """

    level: float
    cross: float
    slope: float | None
    effective: float

    @classmethod
    def from_moments(
        cls, x: Floats64, variance: Floats64, moments: tuple[float, float, float]
    ) -> _Information:
        """From x and Σ c(1 − c) of rows or cells, and the variances and the covariance of both scores."""
        v, xv, x2v = moments
        independent = float(variance.sum())
        if v <= 0 or independent <= 0:
            return cls(0.0, 0.0, None, 0.0)
        remaining = x2v - xv * xv / v
        effective = independent / (v / independent)
        if remaining <= MIN_SLOPE_SHARE * (x2v + v):
            return cls(v, xv, None, effective)
        centred = (x - xv / v) ** 2
        second, fourth = float((variance * centred).sum()), float((variance * centred**2).sum())
        return cls(v, xv, remaining, min(effective, second**2 / fourth / (remaining / second)))

    def statistics(self, level_score: Floats64, slope_score: Floats64) -> tuple[Floats64, Floats64]:
        """Signed roots of the χ² statistics of level and slope; their squares add up to that of both."""
        level = level_score / math.sqrt(self.level)
        if self.slope is None:
            return level, np.zeros_like(level)
        rest = slope_score - self.cross / self.level * level_score
        return level, rest / math.sqrt(self.slope)


def cox_test(
    confidence: ArrayLike,
    correct: ArrayLike,
    cluster: NDArray[np.intp] | None = None,
    *,
    sums: CalibrationSums | None = None,
) -> CalibrationTest:
    """The score test of calibration for rows.

    Parameters
    ----------
    confidence : array_like, shape (n,)
        Confidences in [0, 1].
    correct : array_like, shape (n,)
        Outcomes, 0 or 1.
    cluster : NDArray[np.intp], shape (n,), optional
        Cluster of each row, any numbers of at least 0; None if the rows are independent.
    sums : CalibrationSums, optional
        The sums of these rows; computed where omitted.

    Raises
    ------
    ValueError
        As in `BinSums.from_pairs`, or if there are no rows.

    Notes
    -----
    The variance of Σ z_i (y_i − c_i), with z = 1 or x, is Σ z² v for independent rows, where v = c(1 − c).
    For clusters it is (1 − ρ) Σ z² v + ρ Σ_q (Σ_{i∈q} z_i √v_i)², with ρ from `residual_correlation`.

    Few or skewed answers make χ² wrong: of 100 answers at .9985, one in seven sets holds a wrong one by
    chance, which χ² calls significant. With an effective information Σ v (for the slope (Σ z² v)² / Σ z⁴ v,
    with z = x less its mean) below `MIN_INFORMATION`, outcomes are drawn from the confidences instead,
    which is exact for independent rows. For clusters they are drawn as in `cluster_draws`, and the larger
    p-value is taken.
    """
    sums = CalibrationSums.from_pairs(confidence, correct) if sums is None else sums
    if cluster is None:
        return cox_test_of_sums(sums)
    said, right = np.asarray(confidence), np.asarray(correct).astype(np.bool_)
    said = said if said.dtype.kind == "f" else said.astype(np.float64)
    n_clusters = count_clusters(cluster)
    if cluster.size == n_clusters:
        return cox_test_of_sums(sums)
    x, c = cell_logit(bin_of(said, FINEST_BINS)), said.astype(np.float64)
    variance = c * (1 - c)
    correlation = residual_correlation(c, right, cluster)
    spread = np.sqrt(variance)
    ones: Floats64 = np.bincount(cluster, spread).astype(np.float64)
    xs: Floats64 = np.bincount(cluster, spread * x).astype(np.float64)

    def inflated(own: Floats64, one: Floats64, two: Floats64) -> float:
        return float((1 - correlation) * own.sum() + correlation * (one @ two))

    information = _Information.from_moments(
        x,
        variance,
        (
            inflated(variance, ones, ones),
            inflated(variance * x, ones, xs),
            inflated(variance * x * x, xs, xs),
        ),
    )
    float32 = c.astype(np.float32)

    def drawn_scores(random: np.random.Generator, n_draws: int) -> tuple[Floats64, Floats64]:
        shared = shared_probability(c, right, cluster)
        residuals = ((correlated_uniforms(random, cluster, shared) < float32) - c for _ in range(n_draws))
        scores = np.array([(residual.sum(), residual @ x) for residual in residuals])
        return scores[:, 0], scores[:, 1]

    return _result(sums, information, drawn_scores, c.size, (correlation, n_clusters))


def cox_test_of_sums(sums: CalibrationSums) -> CalibrationTest:
    """The score test of calibration for independent rows; ValueError if there are none."""
    x, variance = sums.x, sums.variance
    information = _Information.from_moments(
        x, variance, (float(variance.sum()), float((variance * x).sum()), float((variance * x * x).sum()))
    )
    chance = np.clip(sums.confidence / sums.count, 0.0, 1.0)
    one_a_row = sums.n <= 2 * chance.size  # comparing single rows with uniform numbers is faster then
    row_chance, row_x = (np.repeat(values, sums.count if one_a_row else 1) for values in (chance, x))
    design = np.stack([np.ones_like(row_x), row_x], axis=1)
    expected = (row_chance if one_a_row else sums.count * chance) @ design
    threshold = _float32_at_least(row_chance)

    def drawn_scores(random: np.random.Generator, n_draws: int) -> tuple[Floats64, Floats64]:
        shape = (n_draws, row_chance.size)
        drawn = (
            random.random(shape, np.float32) < threshold
            if one_a_row
            else random.binomial(sums.count, chance, size=shape)
        )
        scores = drawn.astype(np.float64) @ design - expected
        return scores[:, 0], scores[:, 1]

    return _result(sums, information, drawn_scores, row_chance.size, None)


def _float32_at_least(value: Floats64) -> NDArray[np.float32]:
    """The smallest float32 of at least each value: a float32 is below the one where it is below the other."""
    nearest = value.astype(np.float32)
    return np.where(nearest < value, np.nextafter(nearest, np.float32(2.0)), nearest)


def _result(
    sums: CalibrationSums,
    information: _Information,
    drawn_scores: DrawnScores,
    n_outcomes: int,
    clusters: tuple[float, int] | None,
) -> CalibrationTest:
    """The result of a test; `clusters` is ρ and their number, `n_outcomes` is drawn at a time."""
    if not sums.n:
        raise ValueError("the test needs rows")
    ps, slope, n_draws = (1.0, 1.0, 1.0), None, 0
    if information.level:
        residual, x = sums.residual, sums.x
        observed = information.statistics(np.array([residual.sum()]), np.array([(residual * x).sum()]))
        slope = None if information.slope is None else -float(observed[1][0])
        ps = _chi_square_p_values(observed, information)
        if information.effective < (MIN_INFORMATION if clusters is None else MIN_CLUSTERED_INFORMATION):
            drawn, n_draws = _drawn_p_values(observed, information, drawn_scores, n_outcomes)
            ps = drawn if clusters is None else tuple(map(max, ps, drawn))
    joint_p, level_p, slope_p = ps
    alpha, beta, deviation = fit_recalibration(sums, fit_slope=sums.cell.size > 1)
    correlation, n_clusters = clusters or (0.0, None)
    return CalibrationTest(
        n=sums.n,
        n_clusters=n_clusters,
        p=0.0 if sums.n_impossible else joint_p,
        level_p=level_p,
        slope_p=None if information.slope is None else slope_p,
        level=-float(sums.residual.sum()) / sums.n,
        slope=slope,
        alpha=alpha,
        beta=beta,
        deviation=deviation,
        correlation=correlation,
        n_wrong_at_one=sums.n_wrong_at_one,
        n_right_at_zero=sums.n_right_at_zero,
        n_draws=n_draws,
        only_outcome={0.0: False, float(sums.n): True}.get(float(sums.correct.sum())),
    )


def _chi_square_p_values(
    roots: tuple[Floats64, Floats64], information: _Information
) -> tuple[float, float, float]:
    """p-values of both parts together, of the level and of the slope, from χ² with 2, 1 and 1 d.o.f."""
    level, slope = float(roots[0][0]), float(roots[1][0])
    level_p, slope_p = (math.erfc(abs(root) / math.sqrt(2)) for root in (level, slope))
    joint_p = level_p if information.slope is None else math.exp(-(level**2 + slope**2) / 2)
    return joint_p, level_p, slope_p


def _drawn_p_values(
    roots: tuple[Floats64, Floats64], information: _Information, drawn_scores: DrawnScores, n_outcomes: int
) -> tuple[tuple[float, float, float], int]:
    """The same p-values from draws, (1 + draws at least as far) / (1 + draws), and the number of draws."""
    random = np.random.default_rng(DRAW_SEED)
    observed = _distances(*roots)
    n_draws, n_far = 0, np.zeros(3, np.int64)
    for wanted in (FIRST_DRAWS, min(MAX_DRAWS, MAX_DRAWN_OUTCOMES // n_outcomes)):
        while n_draws < wanted:
            batch = min(wanted - n_draws, max(1, _DRAWN_AT_ONCE // n_outcomes))
            drawn = _distances(*information.statistics(*drawn_scores(random, batch)))
            n_far += np.count_nonzero(drawn >= observed - ROUNDING_TOLERANCE * (1 + observed), axis=1)
            n_draws += batch
        if n_far[0] + 1 > MAX_P_OF_FIRST_DRAWS * (1 + n_draws):
            break
    joint, level, slope = ((1 + n_far) / (1 + n_draws)).tolist()
    return (joint, level, slope), n_draws


def _distances(level: Floats64, slope: Floats64) -> Floats64:
    """Statistics of both parts together, of the level and of the slope, shape (3, draws)."""
    return np.array([level**2 + slope**2, level**2, slope**2])


# --- The fitted curve ---------------------------------------------------------------------------------------


def fit_recalibration(sums: CalibrationSums, *, fit_slope: bool = True) -> tuple[float, float, float]:
    """Fit logit P(y = 1) = α + β·x by maximum likelihood.

    Parameters
    ----------
    sums : CalibrationSums
        Sums of at least one pair.
    fit_slope : bool
        Whether β is fitted too; otherwise it is 1.

    Returns
    -------
    alpha, beta : float
        A ridge penalty of `FIT_PENALTY`·(α² + (β − 1)²)/2 keeps them finite where all answers are right.
    deviation : float
        Mean over the pairs of |c − fitted curve|.
    """
    x, count = sums.x, sums.count
    design = np.stack([np.ones_like(x), x if fit_slope else np.zeros_like(x)])
    offset = np.zeros_like(x) if fit_slope else x
    start = np.array([0.0, 1.0 if fit_slope else 0.0])

    def curve(theta: Floats64) -> Floats64:
        return offset + theta @ design

    def loss(theta: Floats64) -> float:
        logit = curve(theta)
        likelihood = float((sums.correct * logit - count * np.logaddexp(0.0, logit)).sum())
        return FIT_PENALTY / 2 * float(((theta - start) ** 2).sum()) - likelihood

    theta: Floats64 = start
    current = loss(theta)
    for _ in range(MAX_NEWTON_STEPS):
        fitted = _expit(curve(theta))
        gradient = design @ (sums.correct - count * fitted) - FIT_PENALTY * (theta - start)
        hessian = (design * (count * fitted * (1 - fitted))) @ design.T + FIT_PENALTY * np.eye(2)
        step: Floats64 = np.linalg.solve(hessian, gradient).astype(np.float64)
        while (proposed := loss(theta + step)) > current and np.abs(step).max() > 1e-10:
            step = step / 2
        if np.abs(step).max() <= 1e-9:
            break
        theta, current = theta + step, proposed
    deviation = np.abs(sums.confidence - count * _expit(curve(theta))).sum() / sums.n
    beta = float(theta[1]) if fit_slope else 1.0
    return float(theta[0]), beta, float(deviation)


def _expit(logit: Floats64) -> Floats64:
    return 0.5 * (1 + np.tanh(logit / 2))
