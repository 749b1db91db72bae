"""How often do answers pass, when a judge labels all of them and people only some?

The judge's rate is off by its errors. The labelled rows alone are not, but they are few. Prediction-powered
inference corrects the judge's rate by what the labelled rows show of its errors, and Rogan and Gladen solve
for the rate from sensitivity and specificity. All need the labelled rows to be a random part of the judged.

References
----------
Rogan & Gladen (1978), doi:10.1093/oxfordjournals.aje.a112510; Lang & Reiczigel (2014),
doi:10.1016/j.prevetmed.2013.09.015; Angelopoulos, Duchi & Zrnic (2023), "PPI++: Efficient prediction-powered
inference", arXiv 2311.01453.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from calib_core.inference.agreement import (
    Labels,
    clusters_within,
    few_questions,
    share_within,
)
from calib_core.inference.clusters import clustered_inflation, effective_clusters
from calib_core.inference.intervals import (
    Z_975,
    share_interval,
    t_975,
    unpaired_difference_interval,
    wilson_interval,
)
from calib_core.wording import plural

PassRateMethod: TypeAlias = Literal["judged", "rogan_gladen", "ppi", "labelled"]
"""How a pass rate is estimated."""

PASS_RATE_TITLES: Final[Mapping[PassRateMethod, str]] = MappingProxyType(
    {
        "judged": "As judged",
        "rogan_gladen": "Rogan–Gladen",
        "ppi": "PPI++",
        "labelled": "Labelled rows alone",
    }
)
"""Method → its name on screen."""

MIN_OF_EACH_LABEL: Final = 5
"""Labelled rows that pass, and that do not, from which on Rogan–Gladen is computed (benchmarks/judge.md)."""

ADDED_OF_EACH_KIND: Final = 0.5
"""Labelled rows of each pair of labels that the variance of PPI++ adds: 50 rows without a disagreement do
not show that there is none (benchmarks/judge.md)."""


@dataclass(frozen=True, slots=True)
class PassRate:
    """A pass rate by one method.

    Attributes
    ----------
    method : PassRateMethod
    value : float or None
        In [0, 1]; None where the method says nothing about these rows.
    interval : (float, float) or None
        Ends of the 95 % interval, in [0, 1].
    n, n_labelled : int
        Rows that the judge labelled, and rows that people labelled, too.
    reason : str
        Why there is no value, or no interval; "" where there are both.
    weight : float or None
        λ of PPI++, in [0, 1]: 0 leaves the judge out. None for another method.
    """

    method: PassRateMethod
    value: float | None
    interval: tuple[float, float] | None
    n: int
    n_labelled: int
    reason: str = ""
    weight: float | None = None

    @property
    def width(self) -> float:
        """Length of the interval; infinite without one."""
        return math.inf if self.interval is None else self.interval[1] - self.interval[0]


def pass_rates(
    judge: NDArray[np.bool_], human: NDArray[np.bool_], labelled: NDArray[np.bool_], cluster: Labels | None
) -> tuple[PassRate, ...]:
    """The pass rate by each method, in the order of `PASS_RATE_TITLES`.

    Parameters
    ----------
    judge : NDArray[np.bool_], shape (n,)
        Which rows pass by the judge; at least one row.
    human : NDArray[np.bool_], shape (n,)
        Which pass by people, where they labelled.
    labelled : NDArray[np.bool_], shape (n,)
        Which rows people labelled; at least two.
    cluster : NDArray[np.intp] or None, shape (n,)
        Question of each row, numbered from 0; None where none is repeated.
    """
    n, n_labelled = judge.size, int(labelled.sum())
    judged = PassRate(
        "judged",
        float(judge.mean()),
        None,
        n,
        n_labelled,
        "the judge's own rate, biased by its errors by an unknown amount",
    )
    return (
        judged,
        rogan_gladen(judge, human, labelled, cluster),
        prediction_powered(judge, human, labelled, cluster),
        labelled_alone(human, labelled, cluster, n),
    )


def shortest(rates: tuple[PassRate, ...]) -> PassRate:
    """The shorter interval of PPI++ and the labelled rows alone, of equal ones that of the labelled rows.

    Rogan–Gladen's is never among the candidates: of a random part of the rows it is longer than that of
    PPI++. Choosing the shorter of the two costs no coverage (benchmarks/judge.md).
    """
    candidates = [rate for rate in reversed(rates) if rate.method in ("ppi", "labelled")]
    return min(candidates, key=lambda rate: rate.width)


def labelled_alone(
    human: NDArray[np.bool_], labelled: NDArray[np.bool_], cluster: Labels | None, n: int
) -> PassRate:
    """The share that people pass among the rows they labelled, with Wilson's interval."""
    share = share_within(human, labelled, cluster)
    return PassRate("labelled", share.value, share.interval, n, share.n)


def prediction_powered(
    judge: NDArray[np.bool_] | NDArray[np.float64],
    human: NDArray[np.bool_],
    labelled: NDArray[np.bool_],
    cluster: Labels | None = None,
) -> PassRate:
    """PPI++ with power tuning: the judge's rate on unlabelled rows, corrected on the labelled ones.

    Parameters
    ----------
    judge, human, labelled, cluster
        As in `pass_rates`.

    Notes
    -----
    λ·mean f(unlabelled) + mean (y − λf)(labelled), with λ as in ppi-python, whose interval is the estimate
    ± z standard errors. Here it is Wilson's with as many rows as a share of that variance would need, with
    `ADDED_OF_EACH_KIND` rows added to the variance, since ± z holds the truth in as little as 89 % of data
    sets of 50 labels (benchmarks/judge.md).

    Examples
    --------
    >>> judge = np.array([1, 1, 0, 0, 1, 1, 1, 0], bool)
    >>> human = np.array([1, 1, 0, 1, 0, 0, 0, 0], bool)
    >>> rate = prediction_powered(judge, human, np.arange(8) < 4)
    >>> round(rate.value, 4), round(rate.weight, 4)
    (0.8083, 0.2333)
    """
    said, truth = judge.astype(np.float64), human.astype(np.float64)
    n, n_labelled = judge.size, int(labelled.sum())
    n_rest = n - n_labelled
    if not n_rest:
        alone = labelled_alone(human, labelled, cluster, n)
        return PassRate("ppi", alone.value, alone.interval, n, n_labelled, weight=0.0)
    f, y, rest = said[labelled], truth[labelled], said[~labelled]
    spread = float(said.var(ddof=1))
    covariance = float(((y - y.mean()) * (f - f.mean())).mean())
    weight = min(1.0, max(0.0, covariance / ((1 + n_labelled / n_rest) * spread))) if spread > 0 else 0.0
    rectified = y - weight * f
    value = weight * float(rest.mean()) + float(rectified.mean())
    imputed = weight**2 * float(rest.var()) / n_rest
    added = np.array([1 - weight, -weight, 1.0, 0.0])
    total = n_labelled + ADDED_OF_EACH_KIND * added.size
    mean = (rectified.sum() + ADDED_OF_EACH_KIND * added.sum()) / total
    square = ((rectified**2).sum() + ADDED_OF_EACH_KIND * (added**2).sum()) / total
    variance = imputed + float(square - mean**2) / n_labelled
    quantile = t_975(n_labelled - 1)
    if reason := few_questions(None if cluster is None else cluster[labelled]):
        return PassRate("ppi", _cut(value), None, n, n_labelled, reason, weight)
    if cluster is not None:
        influence = np.empty(n)
        influence[labelled] = (rectified - rectified.mean()) / n_labelled
        influence[~labelled] = weight * (rest - rest.mean()) / n_rest
        variance *= clustered_inflation(influence, cluster, labelled.astype(np.intp))
        quantile = t_975(max(effective_clusters(cluster[labelled]) - 1, 1.0))
    # The rows that would have this variance, at a share that is nowhere 0 or 1.
    share = (float(y.sum()) + 2 * ADDED_OF_EACH_KIND) / (n_labelled + 4 * ADDED_OF_EACH_KIND)
    rows = min(share * (1 - share) / variance, float(n))
    value = _cut(value)
    return PassRate("ppi", value, _wilson(value, rows, quantile), n, n_labelled, weight=weight)


def rogan_gladen(
    judge: NDArray[np.bool_], human: NDArray[np.bool_], labelled: NDArray[np.bool_], cluster: Labels | None
) -> PassRate:
    """The rate at which a judge of this sensitivity and specificity would pass as many as it did.

    Parameters
    ----------
    judge, human, labelled, cluster
        As in `pass_rates`.

    Returns
    -------
    PassRate
        Without a value where people gave a label fewer than `MIN_OF_EACH_LABEL` times, or where it is not
        clear that the judge passes more of what people pass than of the rest.

    Notes
    -----
    The estimate is that of Rogan and Gladen on all rows. It equals the mean of people's rate on labelled rows
    and of the corrected rate on the others, which err independently: the interval of the first is Wilson's,
    of the second that of Lang and Reiczigel, and the two are combined by squaring and adding. Repeated
    questions divide all numbers of rows by the `clustered_inflation` of the estimate.
    """
    n, n_labelled = judge.size, int(labelled.sum())

    def missing(reason: str) -> PassRate:
        return PassRate("rogan_gladen", None, None, n, n_labelled, reason)

    passes, fails = labelled & human, labelled & ~human
    fewest = min(int(passes.sum()), int(fails.sum()))
    rarer = (~human if passes.sum() > fails.sum() else human)[labelled]
    if fewest < MIN_OF_EACH_LABEL:
        what = "pass" if passes.sum() == fewest else "fail"
        return missing(f"people {what} {plural(fewest, 'row')}, but {MIN_OF_EACH_LABEL} are needed")
    if reason := few_questions(None if cluster is None else cluster[labelled], rarer):
        return missing(reason)
    sensitivity, false_pass = share_within(judge, passes, cluster), share_within(judge, fails, cluster)
    advantage = unpaired_difference_interval(
        sensitivity.value, sensitivity.interval, false_pass.value, false_pass.interval
    )
    if advantage is None or not advantage[0] > 0:
        return missing("sensitivity + specificity − 1 is not clearly above 0")
    gain = sensitivity.value - false_pass.value
    rest = ~labelled
    alone = float(human[labelled].mean())
    alone_low, alone_high = share_interval(human[labelled], clusters_within(cluster, labelled))
    if not rest.any():
        return PassRate("rogan_gladen", alone, (alone_low, alone_high), n, n_labelled)
    of_rest = (float(judge[rest].mean()) - false_pass.value) / gain
    part = n_labelled / n
    raw = (float(judge.mean()) - false_pass.value) / gain
    inflation, quantile = 1.0, Z_975
    if cluster is not None:
        influence = (judge - judge.mean()) / gain
        influence -= raw / gain * sensitivity.influence + (1 - raw) / gain * false_pass.influence
        inflation = clustered_inflation(influence, cluster, np.where(labelled, 1 + human, 0))
        quantile = t_975(max(effective_clusters(cluster[labelled]) - 1, 1.0))
    low, high = lang_reiczigel(
        (float(judge[rest].mean()), int(rest.sum()) / inflation),
        (sensitivity.value, sensitivity.n / inflation),
        (1 - false_pass.value, false_pass.n / inflation),
        quantile,
    )
    # Cut to [0, 1] as the interval is, so that it holds the estimate.
    of_rest = _cut(of_rest)
    low, high = min(low, of_rest), max(high, of_rest)
    value = part * alone + (1 - part) * of_rest
    below = math.hypot(part * (alone - alone_low), (1 - part) * (of_rest - low))
    above = math.hypot(part * (alone_high - alone), (1 - part) * (high - of_rest))
    interval = _cut(value - below), _cut(value + above)
    return PassRate("rogan_gladen", value, interval, n, n_labelled)


def lang_reiczigel(
    judged: tuple[float, float],
    sensitivity: tuple[float, float],
    specificity: tuple[float, float],
    quantile: float = Z_975,
) -> tuple[float, float]:
    """95 % interval of a rate, from those of a test whose sensitivity and specificity are estimated.

    Parameters
    ----------
    judged, sensitivity, specificity : (float, float)
        A share, and the rows that it was found on, of three independent parts; sensitivity and specificity,
        with one hit and one miss added to each, come to more than 1.
    quantile : float
        97.5 % quantile.

    Returns
    -------
    low, high : float
        In [0, 1].

    References
    ----------
    Lang & Reiczigel (2014), doi:10.1016/j.prevetmed.2013.09.015.

    Examples
    --------
    >>> low, high = lang_reiczigel((0.3, 300), (0.9, 100), (0.8, 100))
    >>> round(low, 4), round(high, 4)
    (0.0069, 0.2556)
    """
    z = quantile
    n, n_pass, n_fail = judged[1] + z**2, sensitivity[1] + 2, specificity[1] + 2
    rate = (judged[1] * judged[0] + z**2 / 2) / n
    hit, rejected = ((rows * share + 1) / (rows + 2) for share, rows in (sensitivity, specificity))
    gain = hit + rejected - 1
    corrected = (rate + rejected - 1) / gain
    of_hit, of_rejected = hit * (1 - hit) / n_pass, rejected * (1 - rejected) / n_fail
    shift = 2 * z**2 * (corrected * of_hit - (1 - corrected) * of_rejected)
    variance = rate * (1 - rate) / n + corrected**2 * of_hit + (1 - corrected) ** 2 * of_rejected
    half = z * math.sqrt(variance) / gain
    return max(0.0, corrected + shift - half), min(1.0, corrected + shift + half)


def _cut(share: float) -> float:
    return min(1.0, max(0.0, share))


def _wilson(share: float, rows: float, quantile: float) -> tuple[float, float]:
    """Wilson's interval of a share on rows that need not be whole."""
    low, high = wilson_interval(np.array([share * rows]), np.array([rows]), quantile=quantile)
    return float(low[0]), float(high[0])
