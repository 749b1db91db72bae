"""What would a metric be if each row counted so many times?  The inside of every bootstrap."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calib_core.analysis.evidence import AnswerEvidence
from calib_core.bins import Scheme, assign_bins
from calib_core.cells import segment_starts
from calib_core.metrics.metric import Metric, WeightedForm, BootstrapUnits
from calib_core.pairs import Pairs


def resampling_units(pairs: Pairs, scheme: Scheme, cell: NDArray[np.intp]) -> tuple[BootstrapUnits, NDArray[np.intp]]:
    """Pairs added up by bin and cell, and the unit of each pair.

    cell: of each pair, shape (pairs,): pairs of one bin and one cell are one unit.
    """
    right = pairs.correct.astype(np.float64)
    gap = pairs.confidence.astype(np.float64) - right
    bin_ = assign_bins(pairs.confidence, scheme, computed=pairs.computed)
    order = np.lexsort((cell, bin_))
    first = segment_starts(bin_[order], cell[order])
    count = np.diff(first, append=order.size)
    unit = np.empty(order.size, np.intp)
    unit[order] = np.repeat(np.arange(first.size), count)
    gaps, squares, rights = (
        np.bincount(unit, values, first.size) / count for values in (gap, gap**2, right)
    )
    return BootstrapUnits(count, gaps, squares, rights, segment_starts(bin_[order][first])), unit


def form_of(metric: Metric, scheme: Scheme) -> WeightedForm | None:
    """The metric as a product of weights, or None: bins of equal mass move with every draw."""
    return metric.weighted_form if not metric.binned or scheme.binning == "width" else None


def recompute_metric(
    evidence: AnswerEvidence, metric: Metric, scheme: Scheme, positions: NDArray[np.intp]
) -> float:
    """The metric over these usable rows, positions in the evidence's pairs; NaN where it is not defined."""
    said = evidence.confidences
    if metric.needs == "pairs" and evidence.options.labels == "top":
        sums = said.pairs.take(positions).sums()
    elif said.distribution is None:
        raise RuntimeError("pairs of all labels, or of all classes, without a distribution")
    elif metric.needs == "pairs":
        sums = said.distribution.take(positions).all_label_pairs().sums()
    else:
        sums = said.distribution.take(positions).sums()
        sums = sums if metric.required_sums == "classes" else sums.pooled()
    value = metric.compute(sums, scheme)
    return np.nan if value is None else value
