"""How many labels by people make a pass rate, or a judge's agreement, known to within ± x?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calib_core.inference.agreement import Labels, clustered_inflation
from calib_core.inference.intervals import Z_975


@dataclass(frozen=True, slots=True)
class LabelsNeeded:
    """How far a share is from the truth, as the number of labels grows.

    Attributes
    ----------
    variance : float
        Of one labelled row, as if questions were independent.
    explained : float
        Share of that variance that the judge's label explains, in [0, 1]; 0 where the share is of labelled
        rows alone, or the judge is what it is about.
    n, n_labelled : int
        Rows that can be labelled, and those that are.
    """

    variance: float
    explained: float
    n: int
    n_labelled: int

    def half_width(self, n_labels: NDArray[np.float64]) -> NDArray[np.float64]:
        """Half the length of the 95 % interval with so many labels, about; the same shape."""
        rest = self.explained / self.n + (1 - self.explained) / n_labels
        return Z_975 * np.sqrt(self.variance * rest)

    def needed(self, within: float) -> int | None:
        """Labels that it takes to know the share to ± `within`; None if all n rows are too few.

        Parameters
        ----------
        within : float
            Above 0.

        Examples
        --------
        >>> LabelsNeeded(0.25, 0.0, 1000, 100).needed(0.05)
        385
        """
        of_labels = (within / Z_975) ** 2 - self.variance * self.explained / self.n
        if not of_labels > 0:
            return None
        count = max(2, math.ceil(self.variance * (1 - self.explained) / of_labels))
        return count if count <= self.n else None


def labels_for_share(hit: NDArray[np.bool_], n: int, cluster: Labels | None = None) -> LabelsNeeded:
    """How many labels a share of labelled rows needs, such as the agreement.

    Parameters
    ----------
    hit : NDArray[np.bool_], shape (n_labelled,)
        Of the labelled rows.
    n : int
        Rows that can be labelled.
    cluster : NDArray[np.intp] or None, shape (n_labelled,)
        Question of each labelled row.
    """
    share = (float(hit.sum()) + 1) / (hit.size + 2)
    inflation = (
        1.0 if cluster is None else clustered_inflation(hit.astype(np.float64) - float(hit.mean()), cluster)
    )
    return LabelsNeeded(inflation * share * (1 - share), 0.0, n, hit.size)


def labels_for_pass_rate(
    judge: NDArray[np.bool_], human: NDArray[np.bool_], n: int, cluster: Labels | None = None
) -> LabelsNeeded:
    """How many labels the pass rate by PPI++ needs.

    Parameters
    ----------
    judge, human : NDArray[np.bool_], shape (n_labelled,)
        Which of the labelled rows pass.
    n, cluster
        As in `labels_for_share`.

    Notes
    -----
    With the best λ the variance of PPI++ is σ²(ρ²/n + (1 − ρ²)/n_labelled), where ρ is the correlation of
    both labels, here with half a row of each pair of labels added.

    References
    ----------
    Angelopoulos, Duchi & Zrnic (2023), arXiv 2311.01453.
    """
    table = np.full((2, 2), 0.5)
    np.add.at(table, (judge.astype(np.intp), human.astype(np.intp)), 1.0)
    table /= table.sum()
    said, truth = float(table[1].sum()), float(table[:, 1].sum())
    covariance = float(table[1, 1]) - said * truth
    variance = truth * (1 - truth)
    explained = max(0.0, covariance) ** 2 / (variance * said * (1 - said))
    inflation = (
        1.0
        if cluster is None
        else clustered_inflation(human.astype(np.float64) - float(human.mean()), cluster)
    )
    return LabelsNeeded(inflation * variance, explained, n, human.size)
