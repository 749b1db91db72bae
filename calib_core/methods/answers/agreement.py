"""The self-consistency confidence F_PC, computed from cluster sizes without intermediate rounding."""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calib_core.methods.answers.unparseable import UnparseableRule


def pairwise_confidence(
    sizes: NDArray[np.integer[Any]], unparsed: NDArray[np.integer[Any]], rule: UnparseableRule
) -> NDArray[np.float64]:
    """F_PC = Π_{j≠i} n_i/(n_i + n_j) of each row's largest cluster i.

    It is a quotient of two whole numbers, rounded once; equal clusterings therefore have bitwise equal
    values. Numbers too large for a float are quotients of Python integers, each distinct clustering once.

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
    numerator, denominator = _products(clusterings, rule)
    is_large = denominator > _LARGEST_EXACT
    values[known] = numerator / np.where(is_large, np.nan, denominator)
    large = np.flatnonzero(is_large)
    if large.size:
        distinct, which = np.unique(clusterings[large], axis=0, return_inverse=True)
        quotients = np.array([_pairwise_of_clustering(row, rule) for row in distinct.tolist()])
        values[known[large]] = quotients[which]
    return values


_LARGEST_EXACT: Final = 2.0**53
"""Products of whole numbers are exact as floats up to here; a larger one is never rounded to less."""


def _products(
    clusterings: NDArray[np.integer[Any]], rule: UnparseableRule
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Numerator and denominator of F_PC of each clustering, shape (rows,)."""
    largest = clusterings[:, -1].astype(np.float64)
    others = clusterings[:, :-1] if rule == "one" else clusterings[:, 1:-1]
    alone = np.zeros_like(clusterings[:, 0]) if rule == "one" else clusterings[:, 0]
    is_there, size = others > 0, largest[:, None]
    with np.errstate(over="ignore"):  # those are computed again
        numerator = np.where(is_there, size, 1.0).prod(axis=1)
        denominator = np.where(is_there, size + others, 1.0).prod(axis=1)
        for number in range(int(alone.max())):  # a power need not be exact where a product is
            more = alone > number
            numerator[more] *= largest[more]
            denominator[more] *= largest[more] + 1
    return np.minimum(numerator, np.finfo(np.float64).max), denominator


def _pairwise_of_clustering(clustering: list[int], rule: UnparseableRule) -> float:
    """F_PC of one clustering: the samples that do not parse, then the cluster sizes, ascending."""
    alone, *others, largest = clustering
    if rule == "one":
        others.append(alone)
        alone = 0
    denominator = prod(largest + size for size in others) * (largest + 1) ** alone
    return largest ** (len(others) + alone) / denominator
