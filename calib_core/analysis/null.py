"""How large would the number be if every confidence were exactly right?

Outcomes are drawn from the confidences, once for every M together (`pair_draws`, `row_draws`; of a
token-level run as its positions are read), and each draw is put to the metric as the data is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from calib_core.analysis.redrawn import BinnedNullDraws
from calib_core.bins import Scheme
from calib_core.metrics.metric import Metric
from calib_core.wording import ROUNDING_TOLERANCE

NULL_QUANTILES: Final = (0.5, 0.05, 0.95)
"""Middle, low and high end of the null band."""

MAX_MISSING_SPREAD: Final = 0.1
"""Draws of a mass-weighted metric that may lack more of their spread than this share are no null."""


class NullSource(Protocol):
    """What outcomes can be drawn for: evidence, as far as a null distribution needs it."""

    @cached_property
    def nulls(self) -> dict[tuple[str, Scheme], tuple[int, NDArray[np.float64]]]:
        """Metric and scheme → seed and value of each draw; empty at first, filled here."""
        ...

    def redrawn(self, metric: Metric, scheme: Scheme) -> BinnedNullDraws | None:
        """The bins of this metric with outcomes drawn from the confidences; None where there is no null."""
        ...


@dataclass(frozen=True, slots=True)
class NullDistribution:
    """One metric at several M, over draws of the outcomes from the confidences themselves.

    draws: R; seed: of the draws; median, low, high: per M, the middle and the 5th and 95th percentile;
    p: per M, (1 + draws at least as large as the observed value) / (1 + R), None where nothing was observed;
    rsd_median, rsd_low, rsd_high: the same of the RSD over these M, since one draw serves all M; None
    where the RSD is not defined; rsd_p: share of draws with an RSD at least as large, counted likewise;
    change_p: likewise, of draws in which the number rises at least as much from the first M to the last.
    """

    n_draws: int
    seed: int
    median: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    p: tuple[float | None, ...]
    rsd_median: float | None = None
    rsd_low: float | None = None
    rsd_high: float | None = None
    rsd_p: float | None = None
    change_p: float | None = None

    @property
    def recipe_text(self) -> str:
        """What a recipe says of it: "p over R=199 draws, seed 0"."""
        return f"p over R={self.n_draws} draws, seed {self.seed}"


def null_distribution(
    evidence: NullSource,
    metric: Metric,
    schemes: Sequence[Scheme],
    observed: Sequence[float | None],
) -> NullDistribution | None:
    """The null of the metric under each scheme; None where one of them has none.

    observed: the metric's values there, None where there is none.
    """
    found = metric_draws(evidence, metric, schemes)
    if found is None:
        return None
    seed, table = found
    median, low, high = np.quantile(table, NULL_QUANTILES, axis=1)
    return NullDistribution(
        n_draws=table.shape[1],
        seed=seed,
        median=tuple(median.tolist()),
        low=tuple(low.tolist()),
        high=tuple(high.tolist()),
        p=tuple(
            None if value is None else monte_carlo_p_value(own, value)
            for own, value in zip(table, observed, strict=True)
        ),
    )


def metric_draws(
    evidence: NullSource, metric: Metric, schemes: Sequence[Scheme]
) -> tuple[int, NDArray[np.float64]] | None:
    """Seed and the metric of every draw under each scheme, shape (schemes, R); None where one has no null."""
    drawn: list[NDArray[np.float64]] = []
    seed = 0
    for scheme in schemes:
        values = _draws_of_scheme(evidence, metric, scheme)
        if values is None:
            return None
        seed, kept = values
        drawn.append(kept)
    if len({kept.size for kept in drawn}) != 1:  # no scheme, or some M of draws by class, which are fewer
        return None
    return seed, np.array(drawn)


def monte_carlo_p_value(draws: NDArray[np.float64], observed: float) -> float:
    """(1 + draws at least as large) / (1 + R): never 0, since the data is one of the draws under the null."""
    return (1 + int(np.count_nonzero(draws >= observed - ROUNDING_TOLERANCE))) / (1 + draws.size)


def relative_standard_deviation(values: NDArray[np.float64], ddof: int = 0) -> NDArray[np.float64]:
    """Standard deviation over mean along the first axis; NaN where the mean is 0 but for rounding.

    values: shape (M's, …); ddof: 0 of a population, as in the Full-ECE paper, or 1 of a sample.
    """
    mean = values.mean(axis=0)
    spread = values.std(axis=0, ddof=ddof) if values.shape[0] > ddof else np.full_like(mean, np.nan)
    return np.divide(spread, mean, out=np.full_like(mean, np.nan), where=mean > ROUNDING_TOLERANCE)


def with_rsd(
    null: NullDistribution, evidence: NullSource, metric: Metric, schemes: Sequence[Scheme], observed: Sequence[float],
    ddof: int,
) -> NullDistribution:
    """The null of the same schemes with the RSD over them, and the rise from the first to the last.

    observed: the metric's value under each scheme; ddof: of the RSD.
    """
    found = metric_draws(evidence, metric, schemes)
    return null if found is None else replace(null, **_rsd_null(found[1], observed, ddof))


def _rsd_null(draws: NDArray[np.float64], observed: Sequence[float], ddof: int) -> dict[str, float]:
    """The RSD part of a Null, and the rise from the first M to the last."""
    told = {"change_p": monte_carlo_p_value(draws[-1] - draws[0], observed[-1] - observed[0])}
    own, drawn = float(relative_standard_deviation(np.array(observed), ddof)), relative_standard_deviation(draws, ddof)
    if np.isnan(drawn).any() or np.isnan(own):
        return told
    median, low, high = np.quantile(drawn, NULL_QUANTILES).tolist()
    return told | {
        "rsd_median": median,
        "rsd_low": low,
        "rsd_high": high,
        "rsd_p": monte_carlo_p_value(drawn, own),
    }


def _draws_of_scheme(evidence: NullSource, metric: Metric, scheme: Scheme) -> tuple[int, NDArray[np.float64]] | None:
    """Seed and the metric of every draw; kept with the evidence."""
    key = (metric.id, scheme)
    if key not in evidence.nulls:
        redrawn = evidence.redrawn(metric, scheme)
        if redrawn is None:
            return None
        values = np.array([metric.compute(outcome, scheme) for outcome in redrawn], np.float64)
        if metric.required_sums == "squares" and redrawn.missing_spread > MAX_MISSING_SPREAD * np.median(values):
            return None
        values.flags.writeable = False
        evidence.nulls[key] = (redrawn.seed, values)
    return evidence.nulls[key]
