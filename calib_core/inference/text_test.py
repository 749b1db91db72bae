"""The test of calibration for positions of texts, which depend on one another within a text.

Level, slope and curve are the scores of `calibration_test`, summed by text. Their covariance is estimated
from the texts by leaving out each in turn, whatever the dependence within them: nothing is drawn, and the
dependence needs no model.

References
----------
Liang & Zeger (1986), "Longitudinal data analysis using generalized linear models",
doi:10.1093/biomet/73.1.13.
Rao & Scott (1984), "On chi-squared tests for multiway contingency tables", doi:10.1214/aos/1176346391.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.edges import Floats64
from calib_core.inference.calibration_test import (
    MAX_GROUPS,
    MIN_CURVE_INFORMATION,
    SMALLEST_P,
    CalibrationParts,
    CalibrationSums,
    CalibrationTest,
    HiddenDeviation,
    cox_test_of_sums,
    fine_groups,
    groups_of_cells,
    joint_p,
)
from calib_core.inference.cluster_draws import MIN_CLUSTERS
from calib_core.inference.clusters import effective_number
from calib_core.tokens.texts import TEXT_CELL_OF, TEXT_CELLS, TextSums, text_logit
from calib_core.wording import ROUNDING_TOLERANCE, plural

DEPENDENT_POSITIONS: Final = "positions of a text depend on one another"
"""Why positions are tested by text or not at all."""


def too_few_texts(texts: TextSums) -> str | None:
    """Why these texts are too few for a test by text; None where they are enough.

    As for questions, at least `MIN_CLUSTERS` are needed, or texts of unequal length worth as many.
    """
    sizes = texts.sizes.astype(np.float64)
    effective = effective_number(sizes)
    if effective > MIN_CLUSTERS * (1 - ROUNDING_TOLERANCE):
        return None
    worth = f", worth {int(effective)} of one length" if sizes.size >= MIN_CLUSTERS else ""
    return f"only {plural(sizes.size, 'text')}{worth}: a p-value needs {MIN_CLUSTERS}"


@dataclass(frozen=True, eq=False)
class _Residuals:
    """Residuals and information by text and cell, and what each cell has in all texts together."""

    sums: CalibrationSums
    texts: TextSums

    @cached_property
    def text(self) -> NDArray[np.intp]:
        """Text of each row of `texts`, numbered from 0."""
        return np.unique(self.texts.text, return_inverse=True)[1]

    @property
    def n_texts(self) -> int:
        return int(self.text.max()) + 1

    @cached_property
    def variance(self) -> Floats64:
        """Σ c(1 − c) of each cell, shape (TEXT_CELLS,)."""
        return self._by_cell(self.sums.variance)

    def _by_cell(self, values: NDArray[np.float64 | np.int64]) -> Floats64:
        return np.bincount(TEXT_CELL_OF[self.sums.cell], values, TEXT_CELLS).astype(np.float64)

    @cached_property
    def residual(self) -> Floats64:
        """Σ (y − c) of each row, where the first and the last cell are as they stand in `sums`."""
        texts = self.texts
        moved = self._by_cell(self.sums.confidence) - np.bincount(texts.cell, texts.confidence, TEXT_CELLS)
        count = np.maximum(self._by_cell(self.sums.count), 1.0)
        return texts.correct - texts.confidence - texts.count * (moved / count)[texts.cell]

    @cached_property
    def information(self) -> Floats64:
        """Σ c(1 − c) of each row, as the average of its cell."""
        mean = self.variance / np.maximum(self._by_cell(self.sums.count), 1.0)
        return self.texts.count * mean[self.texts.cell]

    def by_text(self, values: Floats64, of_cell: Floats64) -> Floats64:
        """Σ over the cells of each text of values times what the cell has, shape (texts, …)."""
        weighted = values[:, None] * of_cell[self.texts.cell]
        summed = [np.bincount(self.text, column) for column in weighted.T]
        return np.column_stack(summed).astype(np.float64)

    def covariance(self, of_cell: Floats64) -> tuple[Floats64, Floats64, Floats64]:
        """Sums of residuals times what the cells have, their covariance, and each text's share in each sum.

        The covariance is the jackknife's, as in `clusters.sum_variance` of a single sum.
        """
        score = self.by_text(self.residual, of_cell)
        weight = self.by_text(self.information, of_cell**2)
        share = weight / np.maximum(weight.sum(axis=0), np.finfo(np.float64).tiny)
        total = score.sum(axis=0)
        error = (score - share * total) / np.maximum(1 - share, ROUNDING_TOLERANCE)
        return total, (self.n_texts - 1) / self.n_texts * (error.T @ error), share


def cox_test_by_text(sums: CalibrationSums, texts: TextSums) -> CalibrationTest:
    """The test of calibration for positions of texts.

    Parameters
    ----------
    sums : CalibrationSums
        Of all positions; at least one.
    texts : TextSums
        Of the same positions, by text.

    Notes
    -----
    With u_g the sums of a text g in the independent parts of the scores, each of variance 1 if positions
    were independent, their covariance is C = (G − 1)/G Σ r_g r_gᵀ with the residuals r_g = (u_g − h_g Σ u) /
    (1 − h_g) and the share h_g of the text in the information. No variance is taken to be less than 1. Level
    and slope are tested with Hotelling's T², and what remains of the groups with the sum of its squares
    over its mean variance (Rao & Scott, second order), both with 1/Σ h² − 1 degrees of freedom below.
    """
    from scipy.special import fdtrc  # noqa: PLC0415 - slow to import

    of = _Residuals(sums, texts)
    used = of.variance > 0
    group = np.zeros(TEXT_CELLS, np.intp)
    group[used] = groups_of_cells(of.variance[used], MAX_GROUPS, MIN_CURVE_INFORMATION)
    n_groups = int(group.max()) + 1
    x = text_logit(np.arange(TEXT_CELLS))
    design = np.column_stack([np.ones(TEXT_CELLS), x, np.eye(n_groups)[group]])
    parts = CalibrationParts.of_scores(x, of.variance, design.T @ (design * of.variance[:, None]))
    total, covariance, share = of.covariance(design @ parts.root)
    freedom = np.maximum(1 / np.maximum((share**2).sum(axis=0), ROUNDING_TOLERANCE) - 1, 1.0)

    def p_value(statistic: float, above: float, below: float) -> float:
        return max(float(fdtrc(above, below, statistic)), SMALLEST_P)

    values, vectors = np.linalg.eigh(covariance[:2, :2])
    logistic = (vectors * np.maximum(values, 1.0)) @ vectors.T
    level_p = p_value(total[0] ** 2 / logistic[0, 0], 1, freedom[0])
    slope_p, logistic_p, slope = None, level_p, None
    if parts.has_slope:
        slope_p = p_value(total[1] ** 2 / logistic[1, 1], 1, freedom[1])
        slope = -float(total[1] / math.sqrt(logistic[1, 1]))
        below = max(float(freedom[:2].min()), 2.0)
        squared = float(total[:2] @ np.linalg.solve(logistic, total[:2]))
        logistic_p = p_value(squared * (below - 1) / (2 * below), 2, below - 1)
    curve_p = None
    if parts.n_of_curve:
        independent = np.eye(parts.n_of_curve)
        rest = max(covariance[2:, 2:], independent, key=np.trace)
        trace = float(np.trace(rest))
        above = trace**2 / float((rest**2).sum())
        statistic = float((total[2:] ** 2).sum()) / trace
        curve_p = p_value(statistic, above, 1 / float((share[:, 2:].mean(axis=1) ** 2).sum()) - 1)

    fitted = cox_test_of_sums(sums, draw=False)
    gap = np.bincount(group[texts.cell], of.residual, n_groups).astype(np.float64)
    sign = np.where(gap < 0, -1.0, 1.0)[group]
    error = math.sqrt(max(float(of.covariance(sign[:, None])[1].item()), float(of.variance.sum())))
    group_deviation = float(np.abs(gap).sum()) / sums.n
    of_group = np.bincount(group[texts.cell], texts.count, n_groups).astype(np.float64)
    inflated = of.variance[used] * max(float(covariance[0, 0]), 1.0)
    fine, whole = fine_groups(group[used], inflated, sums.n)
    fine_of_cell = np.zeros(TEXT_CELLS, np.intp)
    fine_of_cell[used] = fine
    of_row = fine_of_cell[texts.cell]
    by_text = np.bincount(of.text * whole.size + of_row, of.residual, of.n_texts * whole.size)
    hidden = HiddenDeviation.of_fine(
        whole,
        np.bincount(of_row, texts.count, whole.size),
        np.bincount(of_row, of.residual, whole.size).astype(np.float64),
        (by_text.reshape(of.n_texts, -1) ** 2).sum(axis=0),
    )
    return replace(
        fitted,
        n_clusters=of.n_texts,
        p=logistic_p if curve_p is None else joint_p(logistic_p, curve_p),
        logistic_p=logistic_p,
        level_p=level_p,
        slope_p=slope_p,
        curve_p=curve_p,
        slope=slope,
        group_deviation=group_deviation,
        deviation_bound=max(fitted.deviation, hidden.deviation_bound(gap, of_group, error)),
        n_groups=n_groups,
        n_fine_groups=whole.size,
        correlation=_correlation(of, float(covariance[0, 0])),
    )


def _correlation(of: _Residuals, design_effect: float) -> float:
    """Intra-text correlation of residuals that has this design effect on the level, in [0, 1]."""
    spread = np.sqrt(of.information * of.texts.count)
    variance = max(float(of.variance.sum()), np.finfo(np.float64).tiny)
    all_alike = float((np.bincount(of.text, spread) ** 2).sum()) / variance
    return float(np.clip((design_effect - 1) / (all_alike - 1), 0.0, 1.0)) if all_alike > 1 else 0.0
