"""Which of several p-values are still clear, given how many there are?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def benjamini_hochberg(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """The q-value of each p-value: the false discovery rate at which it is just still a discovery.

    Parameters
    ----------
    p_values : sequence of (float or None)
        In [0, 1]; None belongs to no test, and to the family neither.

    Returns
    -------
    tuple of (float or None)
        In [0, 1], in the same order; None where the p-value is None.

    References
    ----------
    Benjamini & Hochberg (1995), doi:10.1111/j.2517-6161.1995.tb02031.x. The rate holds for independent tests
    and for positively dependent ones.

    Examples
    --------
    >>> benjamini_hochberg([0.01, None, 0.04, 0.03])
    (0.03, None, 0.04, 0.04)
    """
    known = np.array([p for p in p_values if p is not None])
    order = np.argsort(-known, kind="stable")
    ranks = np.arange(known.size, 0, -1)
    q_values = np.empty_like(known)
    q_values[order] = np.minimum.accumulate(np.minimum(1.0, known[order] * known.size / ranks))
    q_by_test = iter(q_values.tolist())
    return tuple(None if p is None else next(q_by_test) for p in p_values)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """The p-value of each test, corrected so that among all of them hardly any is clear by chance.

    Parameters
    ----------
    p_values : sequence of float
        In [0, 1].

    Returns
    -------
    tuple of float
        In [0, 1], in the same order. At most .05 for any true hypothesis in at most 5 % of data sets,
        however the tests depend on each other.

    References
    ----------
    Holm (1979), https://www.jstor.org/stable/4615733.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    (0.03, 0.06, 0.06)
    """
    known = np.array(p_values, np.float64)
    order = np.argsort(known, kind="stable")
    corrected = np.empty_like(known)
    corrected[order] = np.maximum.accumulate(np.minimum(1.0, known[order] * np.arange(known.size, 0, -1)))
    return tuple(corrected.tolist())
