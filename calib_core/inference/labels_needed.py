"""How many labels by people make a pass rate, or a judge's agreement, known to within ± x?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calib_core.inference.agreement import Labels
from calib_core.inference.cluster_draws import residual_correlation
from calib_core.inference.clusters import design_effect
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
    The variance is σ²(1 + ρ(m − 1))/n_labelled, where ρ is the correlation of two rows of a question and
    m − 1 the number of further labelled rows of a row's question: as many as now, and with more labels as
    many more as it takes to reach all of its rows with all labels.
    """
    known = hit[labelled]
    share = (float(known.sum()) + 1) / (known.size + 2)
    rho = 0.0 if cluster is None else _correlation(known, cluster[labelled])
    return _curve(share * (1 - share), 0.0, rho, labelled, cluster)


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
    both labels, here with half a row of each pair of labels added. Each part is inflated as in
    `labels_for_share`, with the correlation of the judge's labels, of which there are most.

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
    rho = 0.0 if cluster is None else _correlation(judge, cluster)
    by_ppi, alone = (_curve(variance, part, rho, labelled, cluster) for part in (explained, 0.0))
    return by_ppi, alone


def _correlation(outcome: NDArray[np.bool_], cluster: Labels) -> float:
    """Correlation of two rows of a question; 0 where all outcomes are alike."""
    rate = np.full(outcome.size, float(outcome.mean()))
    return residual_correlation(rate, outcome, cluster) if 0 < rate[0] < 1 else 0.0


def _curve(
    variance: float,
    explained: float,
    correlation: float,
    labelled: NDArray[np.bool_],
    cluster: Labels | None,
) -> LabelsNeeded:
    """The variance as a function of the number of labels."""
    n, n_labelled = labelled.size, int(labelled.sum())
    beside_all = design_effect(cluster) - 1
    beside = 0.0 if cluster is None else design_effect(cluster[labelled]) - 1
    # Further rows of a row's question that are labelled: beside + slope · (labels − n_labelled).
    slope = (beside_all - beside) / max(n - n_labelled, 1)
    start = 1 + correlation * (beside - slope * n_labelled)
    return LabelsNeeded(
        variance * (explained * (1 + correlation * beside_all) / n + (1 - explained) * correlation * slope),
        variance * (1 - explained) * start,
        n,
        n_labelled,
    )
