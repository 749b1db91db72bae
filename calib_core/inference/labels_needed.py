"""How many labels by people make a pass rate, or a judge's agreement, known to within ± x?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calib_core.inference.agreement import Labels
from calib_core.inference.clusters import clustered_inflation, design_effect
from calib_core.inference.intervals import Z_975


@dataclass(frozen=True, slots=True)
class LabelsNeeded:
    """How far a share is from the truth, as the number of labels grows.

    Attributes
    ----------
    fixed, by_label : float
        Of n labels the variance is fixed + by_label / n.
    n, n_labelled : int
        Rows that can be labelled, and those that are.
    """

    fixed: float
    by_label: float
    n: int
    n_labelled: int

    def half_width(self, n_labels: NDArray[np.float64]) -> NDArray[np.float64]:
        """Half the length of the 95 % interval with so many labels, about; the same shape."""
        return Z_975 * np.sqrt(self.fixed + self.by_label / n_labels)

    def needed(self, within: float) -> int | None:
        """Labels that it takes to know the share to ± `within`; None if all n rows are too few.

        Parameters
        ----------
        within : float
            Above 0.

        Examples
        --------
        >>> LabelsNeeded(0.0, 0.25, 1000, 100).needed(0.05)
        385
        """
        of_labels = (within / Z_975) ** 2 - self.fixed
        if not of_labels > 0:
            return None
        count = max(2, math.ceil(self.by_label / of_labels))
        return count if count <= self.n else None


def labels_for_share(
    hit: NDArray[np.bool_], labelled: NDArray[np.bool_], cluster: Labels | None = None
) -> LabelsNeeded:
    """How many labels a share of labelled rows needs, such as the agreement.

    Parameters
    ----------
    hit : NDArray[np.bool_], shape (n,)
        Where labelled.
    labelled : NDArray[np.bool_], shape (n,)
        Which rows are; at least one.
    cluster : NDArray[np.intp] or None, shape (n,)
        Question of each row, numbered from 0; None where none is repeated.

    Notes
    -----
    The variance is σ²(1 + ρ(m − 1))/n_labelled, where ρ is the correlation of two rows of a question, as
    large as makes it that of the interval at hand, and m − 1 the number of further labelled rows of a row's
    question: as many as now, and with more labels as many more as it takes to reach all of its rows with all
    labels.
    """
    known = hit[labelled]
    share = (float(known.sum()) + 1) / (known.size + 2)
    own = _correlation(known.astype(np.float64), labelled, cluster)
    return _curve(share * (1 - share), 0.0, (0.0, own), labelled, cluster)


def labels_for_pass_rate(
    judge: NDArray[np.bool_],
    human: NDArray[np.bool_],
    labelled: NDArray[np.bool_],
    cluster: Labels | None = None,
) -> tuple[LabelsNeeded, LabelsNeeded]:
    """How many labels the pass rate needs: by PPI++, and by the labelled rows alone.

    Parameters
    ----------
    judge, human : NDArray[np.bool_], shape (n,)
        Which rows pass by the judge, and, where labelled, by people.
    labelled, cluster
        As in `labels_for_share`.

    Notes
    -----
    With the best λ the variance of PPI++ is σ²(r²/n + (1 − r²)/n_labelled), where r is the correlation of
    both labels, here with half a row of each pair of labels added. The first part is inflated as in
    `labels_for_share` with the correlation of the judge's labels, the second with that of people's after the
    judge's, or by themselves. What is foretold is half the length of later intervals to within a tenth
    (benchmarks/judge.md).

    References
    ----------
    Angelopoulos, Duchi & Zrnic (2023), arXiv 2311.01453.
    """
    table = np.full((2, 2), 0.5)
    np.add.at(table, (judge[labelled].astype(np.intp), human[labelled].astype(np.intp)), 1.0)
    table /= table.sum()
    said, truth = float(table[1].sum()), float(table[:, 1].sum())
    covariance = float(table[1, 1]) - said * truth
    variance = truth * (1 - truth)
    explained = max(0.0, covariance) ** 2 / (variance * said * (1 - said))
    of_judge = _correlation(judge.astype(np.float64), np.ones(judge.size, bool), cluster)
    slope = max(0.0, covariance) / (said * (1 - said))
    curves: list[LabelsNeeded] = []
    for part, weight in ((explained, slope), (0.0, 0.0)):
        rectified = human[labelled].astype(np.float64) - weight * judge[labelled]
        own = _correlation(rectified, labelled, cluster, of_judge)
        curves.append(_curve(variance, part, (of_judge, own), labelled, cluster))
    return curves[0], curves[1]


def _correlation(
    value: NDArray[np.float64],
    labelled: NDArray[np.bool_],
    cluster: Labels | None,
    otherwise: float | None = None,
) -> float:
    """Correlation of two labelled rows of a question that comes to their `clustered_inflation`, in [0, 1].

    The less a row has others of its question beside it, fewer than one, the more counts what holds otherwise.
    """
    beside = 0.0 if cluster is None else design_effect(cluster[labelled]) - 1
    if cluster is None or not beside > 0:
        return otherwise or 0.0
    residual = value - float(value.mean())
    found = min(1.0, (clustered_inflation(residual, cluster[labelled]) - 1) / beside)
    known = 1.0 if otherwise is None else min(1.0, beside)
    return known * found + (1 - known) * (otherwise or 0.0)


def _curve(
    variance: float,
    explained: float,
    correlations: tuple[float, float],
    labelled: NDArray[np.bool_],
    cluster: Labels | None,
) -> LabelsNeeded:
    """The variance as a function of the number of labels.

    The correlations are those of the judge's labels, and of what people's labels add to them.
    """
    n, n_labelled = labelled.size, int(labelled.sum())
    of_judge, own = correlations
    beside_all = design_effect(cluster) - 1
    beside = 0.0 if cluster is None else design_effect(cluster[labelled]) - 1
    # Further rows of a row's question that are labelled: beside + slope · (labels − n_labelled).
    slope = (beside_all - beside) / max(n - n_labelled, 1)
    start = 1 + own * (beside - slope * n_labelled)
    return LabelsNeeded(
        variance * (explained * (1 + of_judge * beside_all) / n + (1 - explained) * own * slope),
        variance * (1 - explained) * start,
        n,
        n_labelled,
    )
