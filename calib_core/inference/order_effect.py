"""Does a judge's verdict turn when two answers swap places?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calib_core.inference.intervals import share_interval


@dataclass(frozen=True, slots=True)
class OrderEffect:
    """Verdicts on the same pairs of answers in both orders.

    Attributes
    ----------
    n_pairs : int
        Pairs of answers with a verdict in both orders.
    n_consistent : int
        Those on which both verdicts say the same.
    n_first, n_second : int
        Of the others, those that lean towards whichever answer is shown first, or second; what leans to
        neither is in none of the two.
    low, high : float
        95 % interval of the share that is consistent, in [0, 1].
    p : float
        Exact two-sided p-value of leaning to neither place, in (0, 1].
    """

    n_pairs: int
    n_consistent: int
    n_first: int
    n_second: int
    low: float
    high: float
    p: float

    @property
    def consistent(self) -> float:
        """Share of pairs on which both verdicts say the same, in [0, 1]."""
        return self.n_consistent / self.n_pairs


def order_effect(first_order: NDArray[np.intp], second_order: NDArray[np.intp]) -> OrderEffect:
    """Compare the verdicts on pairs of answers with those on the same pairs swapped.

    Parameters
    ----------
    first_order, second_order : NDArray[np.intp], shape (n,)
        The place of the better answer by each verdict: 1 for the one shown first, −1 for the one shown
        second, 0 for neither; at least one pair.

    Returns
    -------
    OrderEffect
        A judge that looks at answers alone says 1 and −1, −1 and 1, or 0 and 0. A sum above 0 leans towards
        the answer shown first.

    Notes
    -----
    McNemar's test in its exact form: under no effect, either lean is as likely as the other.

    References
    ----------
    McNemar (1947), doi:10.1007/BF02295996.

    Examples
    --------
    >>> effect = order_effect(np.array([1, 1, 1, 1, -1]), np.array([1, 1, 1, -1, 1]))
    >>> effect.n_consistent, effect.n_first, effect.p
    (2, 3, 0.25)
    """
    lean = first_order + second_order
    n_first, n_second = int((lean > 0).sum()), int((lean < 0).sum())
    consistent = lean == 0
    return OrderEffect(
        lean.size,
        int(consistent.sum()),
        n_first,
        n_second,
        *share_interval(consistent),
        mcnemar_p(n_first, n_second),
    )


def mcnemar_p(n_one: int, n_other: int) -> float:
    """Exact two-sided p-value of as many changes one way as the other, in (0, 1].

    Examples
    --------
    >>> mcnemar_p(0, 6), mcnemar_p(3, 3)
    (0.03125, 1.0)
    """
    from scipy.special import bdtr  # noqa: PLC0415 - slow to import

    total = n_one + n_other
    tail = float(bdtr(min(n_one, n_other), total, 0.5)) if total else 1.0
    return math.nan if math.isnan(tail) else min(1.0, 2 * tail)
