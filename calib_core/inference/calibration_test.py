"""Are the confidences of a run right: in level, in slope, and one by one? And the fitted curve.

Cox's model is logit P(y = 1) = α + β·x with x = logit(c). Calibration means α = 0 and β = 1. The score test
needs no fit: its statistic is a quadratic form in Σ(y − c) and Σ x(y − c), whose variances follow from c(1
− c). What the two cannot see shows in the sums Σ(y − c) of groups of confidences: what remains of them
without their regression on level and slope is tested as Hosmer and Lemeshow test groups. For independent
rows everything is computed from the sums of the finest bins, which are additive, so that a token-level run is
tested from what it keeps.

References
----------
Cox (1958), "Two further applications of a model for binary regression", doi:10.2307/2333203.
Hosmer & Lemeshow (1980), "Goodness of fit tests for the multiple logistic regression model",
doi:10.1080/03610928008827941.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calib_core.bins import Binned, BinSums, Counts, segment_starts
from calib_core.edges import FINEST_BINS, Floats, Floats64, Scheme, bin_of
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

CURVE_SHARE: Final = 0.1
"""Share of the level of significance that belongs to the test of the curve; the rest to level and slope."""

MAX_STATED_CONFIDENCES: Final = 30
"""Up to so many different confidences, in cells of the finest grid, each is a group of its own."""

MAX_GROUPS: Final = 12
"""Number of groups of more confidences at most."""

FINE_GROUP_INFORMATION: Final = 3000.0
"""Groups are cut into n² / (this · Σ c(1 − c)) finer ones, to see what cancels within them: at 30,000 rows
and c(1 − c) = .2 into 50. Their noise is then about that of the groups' own bound."""

HIDDEN_ERRORS: Final = 0.5
"""Of what groups hide, as much counts beside their gaps as exceeds so many standard errors. With more, a
zigzag of .022 is found within .02 too often; with fewer, so are too few true deviations of .01."""

MIN_GROUP_INFORMATION: Final = 2.0
"""Least information of a group, in answers of variance 1."""

MIN_CURVE_INFORMATION: Final = 15.0
"""If a group has less, the p-value of the curve comes from draws and not from χ²."""

MIN_CURVE_SHARE: Final = 1e-6
"""A part of the groups counts if its variance is more than this share of the largest group's."""

SMALLEST_P: Final = 1e-300
"""No p-value is smaller."""

HALF_PRECISION: Final = 2.0**-12
"""Largest error of a float16 near 1."""

Z_95: Final = 1.6448536269514722
"""95 % quantile of the standard normal distribution."""

MAX_NEWTON_STEPS: Final = 30
"""Number of Newton steps of the fit at most."""

FIT_PENALTY: Final = 1e-3
"""Weight of the ridge penalty that keeps the fit finite where all answers are right."""

VALUES_AT_ONCE: Final = 2**13
"""Confidences looked at together to find how they are written, of which the first nearly always tell."""

_DRAWN_AT_ONCE: Final = 2**17
"""Number of outcomes drawn together, so that they stay in the processor's cache."""

_DRAWS_AT_ONCE: Final = 1000
"""Number of draws made together at most: of more, BLAS would share the product of their scores among threads,
which wait for one another where other programs keep the processor busy."""

_UNIFORMS_OF_A_CHUNK: Final = 2**18
_KEPT_CHUNKS: Final = 20
"""Uniform numbers made together, and how many chunks are kept for the next run: 20 MB, which are
`MAX_DRAWS` of 1,000 rows. All runs are drawn by the same numbers."""

DrawnScores: TypeAlias = Callable[[int, int], Floats64]
"""Number of draws made so far, and of those to make → scores of each of the latter, shape (draws, scores)."""


# --- Rounding -----------------------------------------------------------------------------------------------


def rounding_half_width(confidence: Floats) -> float:
    """How far a stated confidence may be from the one meant: half a unit of the coarsest way to write them.

    Parameters
    ----------
    confidence : float array, shape (n,)
        All confidences of a run, in [0, 1].

    Returns
    -------
    float
        Half a unit of the last decimal for up to three decimals (two where all are 0 or 1); otherwise half
        the distance of 1 from the number before it in bfloat16, float16, float32 or float64.

    Examples
    --------
    >>> rounding_half_width(np.array([0.25, 1.0])), rounding_half_width(np.array([0.5, 0.1]))
    (0.005, 0.05)
    """
    values = confidence.astype(np.float64, copy=False)
    precision = max(2.0**-23, float(np.finfo(confidence.dtype).eps) / 4)
    parts = [values[begin : begin + VALUES_AT_ONCE] for begin in range(0, values.size, VALUES_AT_ONCE)]
    for decimals in (1, 2, 3) if any(((part > 0) & (part < 1)).any() for part in parts) else (2,):
        unit = 10.0**-decimals
        if all((np.abs(part - np.rint(part / unit) * unit) <= precision).all() for part in parts):
            return unit / 2
    single = values.astype(np.float32)
    if (single != values).any():
        return 2.0**-54
    if not (single.view(np.uint32) & 0xFFFF).any():
        return 2.0**-9
    return HALF_PRECISION if (values.astype(np.float16) == values).all() else 2.0**-25


@dataclass(frozen=True, slots=True)
class StatedEnd:
    """The confidences of a run that are exactly 0, or exactly 1.

    Attributes
    ----------
    end : float
        0 or 1.
    n, n_right : int
        Number of them, and of the right answers among them; sums of weights (float) where pairs have them.
    settled : float
        What they stand for: that point of what rounds to them that is nearest to the outcomes.
    half_width : float
        How far what rounds to them may be from them, as from `rounding_half_width`.
    """

    end: float
    n: float
    n_right: float
    settled: float
    half_width: float

    @property
    def moved(self) -> float:
        """How much larger Σ c is at what they stand for."""
        return self.n * (self.settled - self.end)


def stated_ends(
    confidence: Floats, correct: NDArray[np.bool_], weight: Floats64 | None = None
) -> tuple[StatedEnd, StatedEnd]:
    """The confidences that are exactly 0, and those that are exactly 1, of what `within_rounding` takes."""
    at_end = {end: confidence == end for end in (0.0, 1.0)}
    half = rounding_half_width(confidence) if any(there.any() for there in at_end.values()) else 0.0

    def settled(end: float, there: NDArray[np.bool_]) -> StatedEnd:
        times = np.ones(there.sum(), np.int64) if weight is None else weight[there]
        n, n_right = times.sum().item(), times[correct[there]].sum().item()
        point = min(max(n_right / n if n else end, end - half, 0.0), end + half, 1.0)
        return StatedEnd(end, n, n_right, point, half)

    at_zero, at_one = (settled(end, there) for end, there in at_end.items())
    return at_zero, at_one


def within_rounding(
    confidence: Floats, correct: NDArray[np.bool_], weight: Floats64 | None = None
) -> tuple[Floats64, NDArray[np.intp]]:
    """The confidences, with 0 and 1 at that point of what rounds to them that is nearest to the outcomes.

    Near 0 and 1 rounding goes to one side only, so that "1.00" stands for less than 1.

    Parameters
    ----------
    confidence : float array, shape (n,)
        Confidences in [0, 1].
    correct : NDArray[np.bool_], shape (n,)
        Outcomes.
    weight : NDArray[np.float64], shape (n,), optional
        Weight of each, above 0; 1 each where omitted.

    Returns
    -------
    value : NDArray[np.float64], shape (n,)
        The confidences.
    cell : NDArray[np.intp], shape (n,)
        Cell of each in the finest grid, by the edges of the dtype given.

    Examples
    --------
    >>> value, cell = within_rounding(np.array([0.25, 1.0, 1.0]), np.array([False, True, False]))
    >>> value.tolist(), cell.tolist()
    ([0.25, 0.995, 0.995], [749, 2984, 2984])
    """
    value, cell = confidence.astype(np.float64), bin_of(confidence, FINEST_BINS)
    for end in stated_ends(confidence, correct, weight):
        there = value == end.end
        value[there] = end.settled
        cell[there] = _cell_of(end.settled)
    return value, cell


def _at_ends(moved: Floats64, at_zero: NDArray[np.bool_], at_one: NDArray[np.bool_]) -> tuple[float, float]:
    return float(moved[at_zero].sum()), float(moved[at_one].sum())


def _cell_of(value: float) -> int:
    return int(bin_of(np.array([value]), FINEST_BINS)[0])


# --- Sums ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CalibrationSums:
    """Sums of pairs (c, y) by cell of the finest grid; sorted by cell.

    Attributes
    ----------
    cell : NDArray[np.intp], shape (cells,)
        Number of the cell, in 0..FINEST_BINS − 1.
    count, correct : NDArray[np.int64], shape (cells,)
        n and Σ y; Σ w and Σ w·y where pairs have weights (NDArray[np.float64]).
    confidence, variance : NDArray[np.float64], shape (cells,)
        Σ c and Σ c(1 − c); Σ w·c and Σ w²·c(1 − c) where pairs have weights.
    n_wrong_at_one, n_right_at_zero : int
        Wrong answers with confidence exactly 1, and right ones with exactly 0.
    moved : (float, float)
        How much larger Σ c is at what 0, and what 1, stands for; see `StatedEnd`.
    half_width : float
        How far what rounds to 0 and 1 may be from them; 0 where no confidence is 0 or 1.
    """

    cell: NDArray[np.intp]
    count: Counts
    correct: Counts
    confidence: NDArray[np.float64]
    variance: NDArray[np.float64]
    n_wrong_at_one: int = 0
    n_right_at_zero: int = 0
    moved: tuple[float, float] = (0.0, 0.0)
    half_width: float = 0.0

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
        ends = stated_ends(value if value.dtype.kind == "f" else value.astype(np.float64), right)
        return cls._of_cells(sums.binned(FINEST)).with_ends(ends)

    @classmethod
    def from_rows(
        cls, stated: Floats, right: NDArray[np.bool_], weight: Floats64 | None = None
    ) -> CalibrationSums:
        """The sums of the confidences that the stated ones stand for; see `within_rounding`."""
        value, cell = within_rounding(stated, right, weight)
        times = np.ones(value.size) if weight is None else weight
        count = np.bincount(cell, minlength=FINEST_BINS)
        used = np.flatnonzero(count)

        def added(values: Floats64 | NDArray[np.bool_]) -> Floats64:
            return np.bincount(cell, times * values, FINEST_BINS)[used].astype(np.float64)

        return cls(
            used,
            count[used].astype(np.int64) if weight is None else added(np.ones(value.size)),
            added(right).astype(np.int64) if weight is None else added(right),
            added(value),
            added(times * value * (1 - value)),
            int(np.count_nonzero(~right[stated == 1])),
            int(np.count_nonzero(right[stated == 0])),
            _at_ends(times * (value - stated), stated == 0, stated == 1),
            stated_ends(stated, right)[0].half_width,
        )

    @classmethod
    def from_bins(cls, binned: Binned) -> CalibrationSums:
        """The sums of bins of the scheme `FINEST` in one group, of probabilities of half precision or finer.

        Raises
        ------
        ValueError
            If the bins are others.
        """
        if binned.scheme != FINEST or (binned.group != 0).any():
            raise ValueError(f"the test needs {FINEST_BINS} bins of equal width in one group")
        made = cls._of_cells(binned)
        mean = made.confidence / made.count
        at_end = np.isin(made.cell, (0, FINEST_BINS - 1))
        settled = np.clip(made.correct / made.count, mean - HALF_PRECISION, mean + HALF_PRECISION).clip(0, 1)
        confidence = np.where(at_end, made.count * settled, made.confidence)
        return replace(
            made,
            confidence=confidence,
            moved=_at_ends(confidence - made.confidence, made.cell == 0, made.cell == FINEST_BINS - 1),
            variance=np.where(at_end, made.count * settled * (1 - settled), made.variance),
        )

    def with_ends(self, ends: tuple[StatedEnd, StatedEnd]) -> CalibrationSums:
        """These sums, with 0 and 1 at what they stand for."""
        if not any(end.n for end in ends):
            return self
        count, correct = np.zeros((2, FINEST_BINS), np.int64)
        confidence, variance = np.zeros((2, FINEST_BINS))
        for dense, own in (
            (count, self.count),
            (correct, self.correct),
            (confidence, self.confidence),
            (variance, self.variance),
        ):
            dense[self.cell] = own
        for end in ends:
            for cell, n, value in (
                (_cell_of(end.end), -end.n, end.end),
                (_cell_of(end.settled), end.n, end.settled),
            ):
                count[cell] += n
                correct[cell] += end.n_right if n > 0 else -end.n_right
                confidence[cell] += n * value
                variance[cell] += n * value * (1 - value)
        used = np.flatnonzero(count)
        at_zero, at_one = ends
        return CalibrationSums(
            used,
            count[used],
            correct[used],
            confidence[used],
            variance[used],
            int(at_one.n - at_one.n_right),
            int(at_zero.n_right),
            (at_zero.moved, at_one.moved),
            at_zero.half_width,
        )

    @classmethod
    def _of_cells(cls, binned: Binned) -> CalibrationSums:
        variance = np.maximum(binned.confidence - binned.squared_confidence, 0.0)
        return cls(binned.index, binned.count, binned.correct, binned.confidence, variance)

    @property
    def n(self) -> int:
        """Number of pairs where they have no weights."""
        return int(self.count.sum())

    @property
    def total(self) -> float:
        """Number of pairs, or the sum of their weights."""
        return float(self.count.sum())

    @property
    def x(self) -> NDArray[np.float64]:
        """logit(c) at the centre of each cell, shape (cells,)."""
        return cell_logit(self.cell)

    @property
    def residual(self) -> NDArray[np.float64]:
        """Σ (y − c) of each cell, shape (cells,)."""
        return self.correct - self.confidence

    @property
    def level(self) -> float:
        """Mean of c − y as stated, in [−1, 1]; there must be pairs."""
        return (0.0 - float(self.residual.sum()) - sum(self.moved)) / self.total

    @cached_property
    def groups(self) -> NDArray[np.intp]:
        """Group of each cell, numbered from 0 by confidence, shape (cells,).

        Where few confidences are stated each is a group, else there are up to `MAX_GROUPS` of equal
        information Σ c(1 − c). Neighbours share one until they have `MIN_GROUP_INFORMATION`.
        """
        few = self.cell.size <= MAX_STATED_CONFIDENCES
        return groups_of_cells(self.variance, math.inf if few else MAX_GROUPS, MIN_GROUP_INFORMATION)

    @property
    def n_groups(self) -> int:
        """Number of groups, at least 1."""
        return int(self.groups.max(initial=0)) + 1

    @cached_property
    def design(self) -> Floats64:
        """1, x and the indicators of the groups, shape (cells, 2 + groups)."""
        return np.column_stack([np.ones(self.cell.size), self.x, np.eye(self.n_groups)[self.groups]])


def groups_of_cells(information: Floats64, n_groups: float, least: float) -> NDArray[np.intp]:
    """Group of each cell, numbered from 0, shape (cells,).

    Parameters
    ----------
    information : NDArray[np.float64], shape (cells,)
        Σ c(1 − c) of each cell, by confidence.
    n_groups : float
        Number of groups at most; they have about the same information.
    least : float
        Least information of a group; neighbours share one until they have it.
    """
    wanted = max(float(information.sum()) / n_groups * (1 - ROUNDING_TOLERANCE), least)
    group, so_far, number = np.zeros(information.size, np.intp), 0.0, 0
    for place, own in enumerate(information.tolist()):
        group[place] = number
        so_far += own
        if so_far >= wanted:
            number, so_far = number + 1, 0.0
    return np.minimum(group, max(number - 1, 0))  # what is left over belongs to the last whole group


def fine_groups(
    group: NDArray[np.intp], information: Floats64, total: float
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Groups cut into finer ones, as many as rows allow; the fewer the more their sums vary.

    Parameters
    ----------
    group : NDArray[np.intp], shape (cells,)
        Group of each cell, numbered from 0 by confidence.
    information : NDArray[np.float64], shape (cells,)
        Variance of the sum of residuals of each cell.
    total : float
        Number of rows, or the sum of their weights.

    Returns
    -------
    fine : NDArray[np.intp], shape (cells,)
        Finer group of each cell, numbered from 0.
    whole : NDArray[np.intp], shape (finer groups,)
        The group that each is part of.
    """
    n_groups, needed = int(group.max(initial=0)) + 1, FINE_GROUP_INFORMATION * float(information.sum())
    if total**2 <= needed * n_groups or not needed > 0:
        return group, np.arange(n_groups)
    n_wanted = total**2 / max(needed, total**2 / FINEST_BINS)
    cut = groups_of_cells(information, n_wanted, MIN_GROUP_INFORMATION)
    pairs, fine = np.unique(np.stack([group, cut], axis=1), axis=0, return_inverse=True)
    return fine.ravel(), pairs[:, 0]


@dataclass(frozen=True, slots=True, eq=False)
class HiddenDeviation:
    """What gaps that cancel within groups of confidences hide.

    Attributes
    ----------
    square : NDArray[np.float64], shape (groups,)
        Estimate of the mean squared deviation from the group's own, without bias; may be below 0.
    error : NDArray[np.float64], shape (groups,)
        Its standard error.
    n_fine : int
        Number of the finer groups that it stands on.
    """

    square: Floats64
    error: Floats64
    n_fine: int

    @classmethod
    def of_fine(
        cls, whole: NDArray[np.intp], count: Counts, gap: Floats64, noise: Floats64
    ) -> HiddenDeviation:
        """From sums by finer group.

        Parameters
        ----------
        whole : NDArray[np.intp], shape (finer groups,)
            The group that each is part of, numbered from 0.
        count, gap, noise : NDArray[np.float64], shape (finer groups,)
            n, Σ (y − c), and the variance of the latter as its terms show it: Σ (y − c)² of independent rows.
            Where rows have weights w, Σ w, Σ w(y − c) and Σ w²(y − c)².

        Notes
        -----
        With e the gaps less their share of the gap of their group, Σ (e² − var e) / (N count) over a group of
        N rows has the expectation of the mean square (Kumar, Liang & Ma 2019), and the variance
        4 Σ e² var e / (N count)² − 2 Σ (var e / (N count))², or what it is where nothing is hidden. As k
        finer groups share the gap of theirs, it is k / (k − 1) times as large.
        """

        def summed(values: Floats64 | Counts) -> Floats64:
            return np.bincount(whole, values, n_groups).astype(np.float64)

        n_groups = int(whole.max(initial=0)) + 1
        share = count / summed(count)[whole]
        rest = gap - share * summed(gap)[whole]
        variance = noise * (1 - 2 * share) + share**2 * summed(noise)[whole]
        scale = 1 / (count * summed(count)[whole])
        least = 2 * summed((variance * scale) ** 2)
        spread = np.maximum(4 * summed(rest**2 * variance * scale**2) - least, least)
        n_parts = np.bincount(whole)
        spread *= n_parts / np.maximum(n_parts - 1, 1)
        return cls(summed((rest**2 - variance) * scale), np.sqrt(spread), whole.size)

    def deviation_bound(self, gap: Floats64, count: Floats64, error: float) -> float:
        """Upper end of a one-sided 95 % interval of the mean of |c − P(right)|.

        Parameters
        ----------
        gap, count : NDArray[np.float64], shape (groups,)
            Σ (y − c) and n of each group, weighted where rows have weights.
        error : float
            Standard error of Σ |gap|.

        Notes
        -----
        In a group of mean deviation m, whose mean square about m is s, the mean of the size is at most
        √(m² + s). Two bounds are made, and the larger one counts: of these roots with as much of s as exceeds
        `HIDDEN_ERRORS`, and of √s alone, in which the errors of the groups partly cancel.
        """
        share, total = count / count.sum(), float(count.sum())
        clear = np.maximum(self.square - HIDDEN_ERRORS * self.error, 0.0)
        at_most = np.maximum(self.square + Z_95 / math.sqrt(share.size) * self.error, 0.0)
        with_gaps = float(share @ np.sqrt((gap / count) ** 2 + clear)) + Z_95 * error / total
        return max(with_gaps, float(share @ np.sqrt(at_most)))


def cell_logit(cell: NDArray[np.intp]) -> NDArray[np.float64]:
    """Logit of the centres of cells of the finest grid, in [−8.7, 8.7]."""
    centre = (cell + 0.5) / FINEST_BINS
    return np.log(centre) - np.log1p(-centre)


# --- The test -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CalibrationTest:
    """Result of the test of calibration in its three parts, with the fitted curve.

    Attributes
    ----------
    n : int
        Number of rows.
    n_clusters : int or None
        Number of clusters; None for independent rows.
    p : float
        p-value of all parts together, in (0, 1].
    logistic_p : float
        p-value of level and slope together.
    level_p : float
        p-value of α = 0 where β = 1.
    slope_p : float or None
        p-value of β = 1 for any α; None if all confidences are equal.
    curve_p : float or None
        p-value of no other error than those of level and slope; None if groups of confidences leave nothing
        else to test.
    level : float
        Mean of c − y, in [−1, 1]: positive if the confidences are too high.
    accuracy : float
        Share of right answers, in [0, 1].
    slope : float or None
        Signed square root of the slope's statistic, in standard errors: positive if the confidences are too
        extreme (β < 1), negative if they are too timid.
    alpha, beta : float
        Fitted α, and β (1 if all confidences are equal).
    deviation : float
        Mean of |c − fitted curve|, in [0, 1].
    group_deviation : float
        Mean over the rows of the size of their group's gap, in [0, 1].
    deviation_bound : float
        Upper end of a one-sided 95 % interval of the mean of |c − P(right)| over the groups; at least
        `deviation`. What groups hide is seen where it shows in the finer ones.
    n_groups, n_fine_groups : int
        Number of groups, and of the finer ones that they are cut into.
    correlation : float
        Intra-cluster correlation of the residuals, in [0, 1]; 0 for independent rows.
    n_wrong_at_one, n_right_at_zero : int
        Wrong answers with confidence exactly 1, and right ones with exactly 0.
    n_draws : int
        Number of draws behind the p-values of level and slope; 0 if they are those of χ².
    only_outcome : bool or None
        True if every answer is right, False if every one is wrong, so that no β fits best; else None.
    half_width : float
        As in `CalibrationSums`.
    """

    n: int
    n_clusters: int | None
    p: float
    logistic_p: float
    level_p: float
    slope_p: float | None
    curve_p: float | None
    level: float
    accuracy: float
    slope: float | None
    alpha: float
    beta: float
    deviation: float
    group_deviation: float
    deviation_bound: float
    n_groups: int
    n_fine_groups: int
    correlation: float
    n_wrong_at_one: int
    n_right_at_zero: int
    n_draws: int
    only_outcome: bool | None = None
    half_width: float = 0.0

    @property
    def n_parts(self) -> int:
        """Number of parts that are tested: the level, and slope and curve where they can be."""
        return 1 + (self.slope_p is not None) + (self.curve_p is not None)


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationParts:
    """Which independent parts the scores have under the null hypothesis.

    The scores are Σ (y − c), Σ x(y − c), and Σ (y − c) of each group of confidences.

    Attributes
    ----------
    root : NDArray[np.float64], shape (scores, parts)
        Scores @ root are level, slope and what remains of the groups, independent and of variance 1.
    has_level, has_slope : bool
        Whether the first two vary at all; where one does not, its column is 0.
    effective : float
        Effective number of answers of variance 1 behind the weaker one of level and slope.
    """

    root: Floats64
    has_level: bool
    has_slope: bool
    effective: float

    @property
    def n_of_curve(self) -> int:
        """Number of parts that are neither level nor slope."""
        return self.root.shape[1] - 2

    @classmethod
    def of_scores(cls, x: Floats64, variance: Floats64, covariance: Floats64) -> CalibrationParts:
        """From x and Σ c(1 − c) of rows or cells, and the covariance of the scores."""
        n_scores = covariance.shape[0]
        root = np.zeros((n_scores, 2))
        v, independent = float(covariance[0, 0]), float(variance.sum())
        if v <= 0 or independent <= 0:
            return cls(root, has_level=False, has_slope=False, effective=0.0)
        root[0, 0] = 1 / math.sqrt(v)
        effective = independent / (v / independent)
        share = float(covariance[0, 1]) / v
        remaining = float(covariance[1, 1]) - share * float(covariance[0, 1])
        has_slope = remaining > MIN_SLOPE_SHARE * (float(covariance[1, 1]) + v)
        if has_slope:
            root[:2, 1] = np.array([-share, 1.0]) / math.sqrt(remaining)
            centred = (x - share) ** 2
            second, fourth = float((variance * centred).sum()), float((variance * centred**2).sum())
            effective = min(effective, second**2 / fourth / (remaining / second))
        # What remains of the groups without their regression on level and slope.
        rest = np.eye(n_scores)[:, 2:] - root @ (root.T @ covariance[:, 2:])
        values, vectors = np.linalg.eigh(rest.T @ covariance @ rest)
        kept = values > MIN_CURVE_SHARE * max(float(np.diag(covariance)[2:].max()), 0.0)
        curve = rest @ (vectors[:, kept] / np.sqrt(values[kept]))
        return cls(np.hstack([root, curve]), has_level=True, has_slope=has_slope, effective=effective)

    def widened(self, independent: Floats64, squares: Floats64, products: Floats64) -> CalibrationParts:
        """The same parts, with slope and curve as variable as the residuals of a question show them to be.

        The covariances of the scores are those for independent rows, Σ z zᵀ v and Σ z zᵀ e², and that of the
        sums of z e by cluster.
        """
        expected, own, shared = (
            np.einsum("sp,st,tp->p", self.root, covariance, self.root)[1:]
            for covariance in (independent, squares, products)
        )
        varies = own > 0
        factor = np.where(varies, expected * shared / np.where(varies, own, 1.0), 1.0)
        factor[1:] = factor[1:].mean() if self.n_of_curve else 1.0
        return replace(self, root=self.root / np.sqrt(np.maximum(np.append(1.0, factor), 1.0)))

    def widened_by(self, covariance: Floats64) -> CalibrationParts:
        """The same parts, as variable as this covariance of the scores says, where that is more."""
        variance = np.einsum("sp,st,tp->p", self.root, covariance, self.root)
        variance[2:] = variance[2:].mean() if self.n_of_curve else 1.0
        return replace(self, root=self.root / np.sqrt(np.maximum(variance, 1.0)))

    def statistics(self, scores: Floats64) -> Floats64:
        """χ² statistics of level and slope together, level, slope and curve, shape (…, 4)."""
        squares = (scores @ self.root) ** 2
        logistic, curve = squares[..., :2], squares[..., 2:].sum(axis=-1)
        return np.stack([logistic.sum(axis=-1), logistic[..., 0], logistic[..., 1], curve], axis=-1)


def cox_test(
    confidence: ArrayLike,
    correct: ArrayLike,
    cluster: NDArray[np.intp] | None = None,
    weight: Floats64 | None = None,
) -> CalibrationTest:
    """The test of calibration for rows.

    Parameters
    ----------
    confidence : array_like, shape (n,)
        Confidences in [0, 1].
    correct : array_like, shape (n,)
        Outcomes, 0 or 1.
    cluster : NDArray[np.intp], shape (n,), optional
        Cluster of each row, any numbers of at least 0; None if the rows are independent.
    weight : NDArray[np.float64], shape (n,), optional
        Weight of each row, above 0; 1 each where omitted.

    Raises
    ------
    ValueError
        As in `BinSums.from_pairs`, or if there are no rows.

    Notes
    -----
    The variance of Σ z_i (y_i − c_i), with z = 1, x or a group's indicator, is Σ z² v for independent rows,
    where v = c(1 − c). For clusters it is (1 − ρ) Σ z² v + ρ Σ_q (Σ_{i∈q} z_i √v_i)², with ρ from
    `residual_correlation`. As rows of a question may be less alike in their slope than in their level, or
    more, the parts beyond the level have that variance or the one that the products of their own residuals
    within clusters show, whichever is larger.

    Few or skewed answers make χ² wrong: of 100 answers at .9985, one in seven sets holds a wrong one by
    chance, which χ² calls significant. With an effective information Σ v (for the slope (Σ z² v)² / Σ z⁴ v,
    with z = x less its mean) below `MIN_INFORMATION`, outcomes are drawn from the confidences instead,
    which is exact for independent rows. For clusters they are drawn as in `cluster_draws`, and the larger
    p-value is taken.

    Weighted rows are tested as clusters of their own. With weights w of which Σ w is the effective number of
    rows (Σ w)²/Σ w², the scores are Σ w z (y − c) and the variance Σ z² w² v, if c is right at every weight.
    If it is right on the weighted average only, y − c depends on w, and the variance is Σ z² w² (y − c)². As
    (y − c)² = v + (1 − 2c)(y − c), and Σ w z² (1 − 2c)(y − c) then is 0 on average, it is estimated by
    Σ z² (w² v + w (w − 1)(1 − 2c)(y − c)), which is the former where all weights are 1. Each part of the test
    has the larger of the two.
    """
    repeats = cluster is not None and cluster.size > count_clusters(cluster)
    if weight is None and not repeats:
        return cox_test_of_sums(CalibrationSums.from_pairs(confidence, correct))
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

    said, right = np.asarray(confidence), np.asarray(correct).astype(np.bool_)
    said = said if said.dtype.kind == "f" else said.astype(np.float64)
    times = np.ones(said.size) if weight is None else weight * (weight.sum() / (weight @ weight))
    sums = CalibrationSums.from_rows(said, right, None if weight is None else times)
    (c, cell), n = within_rounding(said, right, None if weight is None else times), said.size
    x, variance, residual = cell_logit(cell), c * (1 - c), right - c
    group = sums.groups[np.searchsorted(sums.cell, cell)]
    unit = np.arange(n) if cluster is None or not repeats else cluster
    scores = (
        np.stack([times, times * x, times], axis=1).ravel(),
        np.stack([0 * group, 0 * group + 1, group + 2], 1).ravel(),
    )
    design = csr_array((*scores, np.arange(0, 3 * n + 1, 3)), shape=(n, sums.n_groups + 2))

    def products(factor: Floats64, unit: NDArray[np.intp]) -> Floats64:
        """Σ over units of the products of their sums of scores times a factor."""
        of_unit = csr_array((factor, (unit, np.arange(n)))) @ design
        return np.asarray((of_unit.T @ of_unit).toarray(), np.float64)

    spread, rows = np.sqrt(variance), np.arange(n)
    correlation = residual_correlation(c, right, unit)
    independent = products(spread, rows)
    covariance = (1 - correlation) * independent + correlation * products(spread, unit)
    parts = CalibrationParts.of_scores(x, times**2 * variance, covariance)
    parts = parts.widened(independent, products(residual, rows), products(residual, unit))
    if weight is not None:
        # Each row of the design holds its weight once, and the products of two rows hold it twice.
        uneven = (1 - 1 / times) * (1 - 2 * c) * residual
        more = np.asarray((design.T @ (csr_array((uneven, (rows, rows))) @ design)).toarray(), np.float64)
        parts = parts.widened_by(covariance + more)
        covariance = covariance + more * (np.trace(more[2:, 2:]) > 0)
    float32, random = c.astype(np.float32), np.random.default_rng(DRAW_SEED)

    def drawn_scores(_first: int, n_draws: int) -> Floats64:
        shared = shared_probability(c, right, unit)
        residuals = [(correlated_uniforms(random, unit, shared) < float32) - c for _ in range(n_draws)]
        return np.asarray(np.array(residuals) @ design, np.float64)

    inflated = sums.variance * (covariance[0, 0] / max(float(independent[0, 0]), SMALLEST_P))
    fine, whole = fine_groups(sums.groups, inflated, sums.total)
    of_row = fine[np.searchsorted(sums.cell, cell)]
    by_unit = csr_array((times * residual, (unit, of_row)), shape=(int(unit.max()) + 1, whole.size))
    hidden = HiddenDeviation.of_fine(
        whole,
        np.bincount(fine, sums.count),
        np.bincount(fine, sums.residual).astype(np.float64),
        np.asarray(by_unit.multiply(by_unit).sum(axis=0), np.float64).ravel(),
    )
    clusters = correlation, count_clusters(unit)
    tested = _result(sums, parts, covariance, drawn_scores, n, clusters, hidden)
    return replace(tested, n=n, n_clusters=tested.n_clusters if repeats else None)


def cox_test_of_sums(sums: CalibrationSums, *, draw: bool = True) -> CalibrationTest:
    """The test of calibration for independent rows; ValueError if there are none.

    Parameters
    ----------
    sums : CalibrationSums
    draw : bool
        Whether outcomes are drawn where χ² would mislead.
    """
    if not sums.total:
        raise ValueError("the test needs rows")
    x, variance = sums.x, sums.variance
    design = sums.design
    covariance = design.T @ (design * variance[:, None])
    parts = CalibrationParts.of_scores(x, variance, covariance)
    chance = np.clip(sums.confidence / sums.count, 0.0, 1.0)
    count = np.asarray(sums.count, np.int64)
    one_a_row = sums.n <= 2 * chance.size  # comparing single rows with uniform numbers is faster then
    times = count if one_a_row else 1
    row_x, group = np.repeat(x, times), np.repeat(sums.groups, times)
    start, threshold = segment_starts(group), _float32_at_least(np.repeat(chance, times))
    random = np.random.default_rng(DRAW_SEED)

    def scores_of(right: NDArray[Any], sum_type: type[np.generic]) -> Floats64:
        """The scores of right answers, shape (draws, rows or cells), by sums and not by a product."""
        of_group = np.add.reduceat(right, start, axis=1, dtype=sum_type)
        of_slope = np.einsum("dr,r->d", right, row_x)
        return np.column_stack([of_group.sum(axis=1), of_slope, of_group]).astype(np.float64)

    expected = scores_of(np.repeat(chance, times)[None] if one_a_row else (count * chance)[None], np.float64)

    def drawn_scores(first: int, n_draws: int) -> Floats64:
        n = row_x.size
        if one_a_row:
            right = _uniforms(first * n, n_draws * n).reshape(n_draws, n) < threshold
            return scores_of(right.view(np.uint8), np.uint16) - expected
        return scores_of(random.binomial(count, chance, size=(n_draws, n)), np.int64) - expected

    fine, whole = fine_groups(sums.groups, variance, sums.total)
    noise = variance + (1 - 2 * chance) * sums.residual  # Σ (y − c)², as c hardly varies within a cell
    sums_of_cells = (sums.count, sums.residual, noise)
    of_fine = (np.bincount(fine, values).astype(np.float64) for values in sums_of_cells)
    hidden = HiddenDeviation.of_fine(whole, *of_fine)
    drawn = drawn_scores if draw else None
    return _result(sums, parts, covariance, drawn, row_x.size, None, hidden)


def _uniforms(first: int, n: int) -> NDArray[np.float32]:
    """Some of the numbers in [0, 1) that `DRAW_SEED` gives, from this place on."""
    size = _UNIFORMS_OF_A_CHUNK
    parts = [
        (_kept_chunk if number < _KEPT_CHUNKS else _chunk)(number)[
            max(first - number * size, 0) : first + n - number * size
        ]
        for number in range(first // size, -(-(first + n) // size))
    ]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _chunk(number: int) -> NDArray[np.float32]:
    bits = np.random.PCG64(DRAW_SEED)
    values = np.random.Generator(bits.advance(number * _UNIFORMS_OF_A_CHUNK // 2)).random(
        _UNIFORMS_OF_A_CHUNK, np.float32
    )
    values.flags.writeable = False
    return values


_kept_chunk: Final = cache(_chunk)


def _float32_at_least(value: Floats64) -> NDArray[np.float32]:
    """The smallest float32 of at least each value: a float32 is below the one where it is below the other."""
    nearest = value.astype(np.float32)
    return np.where(nearest < value, np.nextafter(nearest, np.float32(2.0)), nearest)


def _result(
    sums: CalibrationSums,
    parts: CalibrationParts,
    covariance: Floats64,
    drawn_scores: DrawnScores | None,
    n_outcomes: int,
    clusters: tuple[float, int] | None,
    hidden: HiddenDeviation,
) -> CalibrationTest:
    """The result of a test; `clusters` is ρ and their number, `n_outcomes` is drawn at a time."""
    scores = sums.residual @ sums.design
    ps, n_draws = np.ones(4), 0
    if parts.has_level:
        statistics = parts.statistics(scores)
        ps = _chi_square_p_values(statistics, parts)
        few = parts.effective < (MIN_INFORMATION if clusters is None else MIN_CLUSTERED_INFORMATION)
        skewed = (
            parts.n_of_curve > 0
            and float(np.bincount(sums.groups, sums.variance).min()) < MIN_CURVE_INFORMATION
        )
        if drawn_scores is not None and (few or skewed):
            drawn, n_draws = _drawn_p_values(statistics, parts, drawn_scores, n_outcomes)
            if clusters is not None:
                drawn = np.maximum(ps, drawn)
            ps = np.where([few, few, few, True], drawn, ps)
    logistic_p, level_p, slope_p, curve_p = (float(p) for p in ps)
    alpha, beta, deviation = fit_recalibration(sums, fit_slope=sums.cell.size > 1)
    gap = scores[2:]
    sign = np.where(gap < 0, -1.0, 1.0)
    error = math.sqrt(max(0.0, float(sign @ covariance[2:, 2:] @ sign)))
    group_deviation = float(np.abs(gap).sum()) / sums.total
    of_group = np.bincount(sums.groups, sums.count).astype(np.float64)
    correlation, n_clusters = clusters or (0.0, None)
    return CalibrationTest(
        n=sums.n,
        n_clusters=n_clusters,
        p=joint_p(logistic_p, curve_p) if parts.n_of_curve else logistic_p,
        logistic_p=logistic_p,
        level_p=level_p,
        slope_p=slope_p if parts.has_slope else None,
        curve_p=curve_p if parts.n_of_curve else None,
        level=sums.level,
        accuracy=float(sums.correct.sum()) / sums.total,
        slope=-float(scores @ parts.root[:, 1]) if parts.has_slope else None,
        alpha=alpha,
        beta=beta,
        deviation=deviation,
        group_deviation=group_deviation,
        deviation_bound=max(deviation, hidden.deviation_bound(gap, of_group, error)),
        n_groups=sums.n_groups,
        n_fine_groups=hidden.n_fine,
        correlation=correlation,
        n_wrong_at_one=sums.n_wrong_at_one,
        n_right_at_zero=sums.n_right_at_zero,
        n_draws=n_draws,
        only_outcome={0.0: False, sums.total: True}.get(float(sums.correct.sum())),
        half_width=sums.half_width,
    )


def joint_p(logistic_p: float, curve_p: float) -> float:
    """p-value of two tests that divide the level of significance as `CURVE_SHARE` says (Bonferroni).

    Examples
    --------
    >>> round(joint_p(0.045, 0.5), 9), round(joint_p(0.9, 0.001), 9), joint_p(0.95, 0.5)
    (0.05, 0.01, 1.0)
    """
    return min(1.0, logistic_p / (1 - CURVE_SHARE), curve_p / CURVE_SHARE)


def _chi_square_p_values(statistics: Floats64, parts: CalibrationParts) -> Floats64:
    """p-values of level and slope together, level, slope and curve, from χ², shape (4,)."""
    from scipy.special import chdtrc  # noqa: PLC0415 - slow to import

    freedom = np.array([1 + parts.has_slope, 1, 1, max(parts.n_of_curve, 1)])
    return np.maximum(np.asarray(chdtrc(freedom, statistics), np.float64), SMALLEST_P)


def _drawn_p_values(
    statistics: Floats64, parts: CalibrationParts, drawn_scores: DrawnScores, n_outcomes: int
) -> tuple[Floats64, int]:
    """The same p-values from draws, (1 + draws at least as far) / (1 + draws), and the number of draws."""
    n_draws, n_far = 0, np.zeros(4, np.int64)
    for wanted in (FIRST_DRAWS, min(MAX_DRAWS, MAX_DRAWN_OUTCOMES // n_outcomes)):
        while n_draws < wanted:
            batch = min(wanted - n_draws, _DRAWS_AT_ONCE, max(1, _DRAWN_AT_ONCE // n_outcomes))
            drawn = parts.statistics(drawn_scores(n_draws, batch))
            n_far += np.count_nonzero(drawn >= statistics - ROUNDING_TOLERANCE * (1 + statistics), axis=0)
            n_draws += batch
        if min(n_far[0], n_far[3]) + 1 > MAX_P_OF_FIRST_DRAWS * (1 + n_draws):
            break
    return (1 + n_far) / (1 + n_draws), n_draws


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
    deviation = np.abs(sums.confidence - count * _expit(curve(theta))).sum() / sums.total
    beta = float(theta[1]) if fit_slope else 1.0
    return float(theta[0]), beta, float(deviation)


def _expit(logit: Floats64) -> Floats64:
    return 0.5 * (1 + np.tanh(logit / 2))
