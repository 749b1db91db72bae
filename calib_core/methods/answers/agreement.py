"""The self-consistency confidence F_PC, computed from cluster sizes without intermediate rounding."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calib_core.methods.answers.unparseable import UnparseableRule


def pairwise_confidence(
    sizes: NDArray[np.integer[Any]], unparsed: NDArray[np.integer[Any]], rule: UnparseableRule
) -> NDArray[np.float64]:
    """F_PC = Π_{j≠i} n_i/(n_i + n_j) of each row's largest cluster i.

    Each distinct clustering is computed once, as a quotient of Python integers, which Python rounds
    correctly; equal clusterings therefore have bitwise equal values.

    Parameters
    ----------
    sizes : integer array, shape (rows, k)
        Sizes ≥ 0 of the clusters of samples that parse, each row ascending; 0 = no such cluster.
    unparsed : integer array, shape (rows,)
        Samples that do not parse.
    rule : {"own", "one", "drop"}
        Whether each of those is a cluster by itself, all of them are one, or none counts.

    Returns
    -------
    float64 array, shape (rows,)
        In (0, 1]; NaN where a row has no cluster.

    References
    ----------
    Wang et al. 2024, arXiv:2403.09849.
    """
    values = np.full(sizes.shape[0], np.nan)
    known = np.flatnonzero(sizes[:, -1]) if sizes.size else np.empty(0, np.intp)
    if not known.size:
        return values
    alone = np.zeros_like(unparsed) if rule == "drop" else unparsed
    clusterings = np.column_stack([alone, sizes])[known]
    # As bytes, short rows are compared at once; the narrowest dtype makes them short.
    clusterings = clusterings.astype(np.min_scalar_type(int(clusterings.max())))
    distinct, which = np.unique(clusterings, axis=0, return_inverse=True)
    values[known] = np.array([_pairwise_of_clustering(row, rule) for row in distinct.tolist()])[which]
    return values


def _pairwise_of_clustering(clustering: list[int], rule: UnparseableRule) -> float:
    """F_PC of one clustering: the samples that do not parse, then the cluster sizes, ascending."""
    alone, *others, largest = clustering
    if rule == "one":
        others.append(alone)
        alone = 0
    denominator = prod(largest + size for size in others) * (largest + 1) ** alone
    return largest ** (len(others) + alone) / denominator
