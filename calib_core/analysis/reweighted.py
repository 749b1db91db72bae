"""What would a metric be if each row counted so many times?  The inside of every bootstrap."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calib_core.analysis.evidence import AnswerEvidence
from calib_core.bins import Scheme, assign
from calib_core.cells import starts
from calib_core.metrics.metric import Metric, Reweighted, Units
from calib_core.pairs import Pairs


def units_of(pairs: Pairs, scheme: Scheme, cell: NDArray[np.intp]) -> tuple[Units, NDArray[np.intp]]:
    """Pairs added up by bin and cell, and the unit of each pair.

    cell: of each pair, shape (pairs,): pairs of one bin and one cell are one unit.
    """
    right = pairs.correct.astype(np.float64)
    gap = pairs.confidence.astype(np.float64) - right
    bin_ = assign(pairs.confidence, scheme, computed=pairs.computed)
    order = np.lexsort((cell, bin_))
    first = starts(bin_[order], cell[order])
    count = np.diff(first, append=order.size)
    unit = np.empty(order.size, np.intp)
    unit[order] = np.repeat(np.arange(first.size), count)
    gaps, squares, rights = (
        np.bincount(unit, values, first.size) / count for values in (gap, gap**2, right)
    )
    return Units(count, gaps, squares, rights, starts(bin_[order][first])), unit


def form_of(metric: Metric, scheme: Scheme) -> Reweighted | None:
    """The metric as a product of weights, or None: bins of equal mass move with every draw."""
    return metric.reweighted if not metric.binned or scheme.binning == "width" else None


def added_up_anew(
    evidence: AnswerEvidence, metric: Metric, scheme: Scheme, rows: NDArray[np.intp]
) -> float:
    """The metric over these usable rows, positions in the evidence's pairs; NaN where it is not defined."""
    said = evidence.confidences
    if metric.needs == "pairs" and evidence.options.labels == "top":
        sums = said.pairs.take(rows).sums()
    elif said.distribution is None:
        raise RuntimeError("pairs of all labels, or of all classes, without a distribution")
    elif metric.needs == "pairs":
        sums = said.distribution.take(rows).every_label().sums()
    else:
        sums = said.distribution.take(rows).sums()
        sums = sums if metric.reads == "classes" else sums.pooled()
    value = metric.of(sums, scheme)
    return np.nan if value is None else value
