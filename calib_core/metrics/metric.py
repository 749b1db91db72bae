"""What is a metric? The class of the registry's entries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calib_core.bins import Sums
from calib_core.edges import Binning, Scheme
from calib_core.terms import Terms

Direction = Literal["lower", "higher", "zero"]
"""Which values are better: lower ones, higher ones, or those nearest to 0."""

RequiredSums = Literal["bins", "squares", "classes", "values", "cuts", "distances", "ranks"]
"""What the sums must hold: n, Σ y and Σ c by bin; also Σ c² and Σ c·y; also by class; every confidence; the
squares of P(level ≥ t) for each cut t of a scale; how far the expected level is from the right one; or the
ranks of what a server calls its confidence."""

ORDERED_SUMS: Final = ("cuts", "distances")
"""What only the levels of a scale have."""

IntervalMethod = Literal["bootstrap", "wilson", "mean", "auroc", "directional", "none"]
"""Basic bootstrap, Wilson's for a share, Student's t for a mean, DeLong's for the AUROC, the directional
delta method for Σ |gap| over bins, or none."""

Linearisation = Callable[
    [NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64] | None], tuple[float, NDArray[np.float64]]
]
"""Confidences, outcomes and weights if any, shape (pairs,) → the value, and how far each pair moves it from
there for its weight."""

SamplingDefault = Literal["shown", "offered", "named"]
"""In curves over the number of samples, a metric is shown by default, offered beside, or only if named."""


@dataclass(frozen=True, slots=True, eq=False)
class BootstrapUnits:
    """Pairs that a bootstrap draws together, sorted by bin.

    Attributes
    ----------
    count : NDArray[np.int64], shape (units,)
        Number of pairs in each unit.
    gap : NDArray[np.float64], shape (units,)
        Mean of c − y.
    squared_error : NDArray[np.float64], shape (units,)
        Mean of (c − y)².
    accuracy : NDArray[np.float64], shape (units,)
        Mean of y.
    starts : NDArray[np.intp], shape (non-empty bins,)
        Index of the first unit of each bin.
    """

    count: NDArray[np.int64]
    gap: NDArray[np.float64]
    squared_error: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    starts: NDArray[np.intp]


WeightedForm = Callable[[BootstrapUnits, NDArray[np.float64]], NDArray[np.float64]]
"""Units, and weights of shape (draws, units) → the metric in each draw, shape (draws,)."""


PairTerm = Callable[[NDArray[np.float64], NDArray[np.bool_]], NDArray[np.float64]]
"""Confidences and outcomes, shape (pairs,) → a term of the mean for each pair, shape (pairs,)."""


class EventWords(NamedTuple):
    """What replaces the fields of these names where the probabilities are of an event; None leaves one."""

    meaning: str
    title: str | None = None
    title_in_sentence: str | None = None
    recipe_name: str | None = None
    source: str | None = None
    no_interval_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: how it is computed, and all that other modules need to know about it.

    Attributes
    ----------
    id : str
        Key used in URLs and on the command line.
    title : str
        Name shown to people.
    title_in_sentence : str
        The title within a sentence: "accuracy", but "ECE" and "Brier score".
    recipe_name : str
        Name in a recipe: "ECE-L1".
    meaning : str
        One plain sentence for the help text, which says which direction is better.
    source : str
        Paper and equation, or formula.
    low, high : float or None
        Range for distributions that sum to 1 (a sum of 1 + ε may exceed `high` by ε); None means unbounded.
    compute : callable
        Sums and scheme → the value, or None if it is not defined (no rows, one outcome only). The caller
        checks that the scheme and the sums suit the metric.
    needs : {"pairs", "distribution"}
        One confidence per row, or the probability of every choice, with sums by class.
    direction : {"lower", "higher", "zero"}
        Which values are better.
    binned : bool
        Whether the value depends on the bins.
    remark : callable or None
        Sums → what a reader must know about this value, or None.
    binning : {"width", "mass", "natural"} or None
        The one binning that the metric is defined for; None means any.
    required_sums : {"bins", "squares", "classes", "values", "cuts", "distances", "ranks"}
        What the sums must hold.
    weighted_by_confidence : bool
        Whether each pair counts by its confidence, as if the answer were sampled from the distribution.
    has_ceiling : bool
        Whether 2·mean(1 − p_y) is an upper bound, where p_y is the probability of the right class.
    all_labels : bool
        Whether a metric of pairs also makes sense if every label of a row is a pair.
    is_proper : bool
        Whether the metric is a strictly proper score: only the true probabilities minimise its expectation.
    shown_in_percent : bool
        Whether the value is shown in percent.
    in_default_sweep : bool
        Whether a sweep over M includes the metric by default; only for a binned metric.
    sampling_default : {"shown", "offered", "named"}
        Whether curves over the number of samples include the metric by default; only for a metric of pairs.
    divisor : callable or None
        Sums → number that Σ |gap| over the bins is divided by; only for a metric that is such a sum.
    interval_method : {"bootstrap", "wilson", "mean", "auroc", "directional", "none"}
        Kind of 95 % interval.
    no_interval_reason : str or None
        Why the metric has no interval, as the end of a sentence; only with `interval_method` "none".
    pair_term : callable or None
        Confidences and outcomes of shape (pairs,) → what each pair adds to the sum whose mean over pairs, or
        over rows where the metric needs a distribution, is the metric; only for `interval_method="mean"`.
    interval_coverage : (int, int) or None
        Lowest and highest simulated coverage of the interval, in percent of data sets
        (benchmarks/interval_coverage.md); None if it was not simulated.
    weighted_form : callable or None
        Computes the metric in all bootstrap draws at once, for fixed bins; if None, each draw is summed
        separately, which is slower and allows fewer draws.
    event_words : EventWords or None
        How the metric is named and explained where the probabilities are of an event, if not as here.
    takes_weights : bool
        Whether the metric is defined where rows have weights.
    linearise : callable or None
        At least one confidence and outcome, with weights or None → the value (NaN if not defined) and the
        influence of each pair, for its weight; only for a smooth function of several means over pairs, as one
        mean needs nothing but `pair_term`.
    """

    id: str
    title: str
    title_in_sentence: str
    recipe_name: str
    meaning: str
    source: str
    high: float | None
    compute: Callable[[Sums, Scheme], float | None]
    needs: Literal["pairs", "distribution"] = "pairs"
    low: float | None = 0.0
    direction: Direction = "lower"
    binned: bool = False
    remark: Callable[[Sums], str | None] | None = None
    binning: Binning | None = None
    required_sums: RequiredSums = "bins"
    weighted_by_confidence: bool = False
    has_ceiling: bool = False
    all_labels: bool = False
    is_proper: bool = False
    shown_in_percent: bool = False
    in_default_sweep: bool = False
    sampling_default: SamplingDefault = "named"
    divisor: Callable[[Sums], float] | None = None
    interval_method: IntervalMethod = "bootstrap"
    no_interval_reason: str | None = None
    pair_term: PairTerm | None = None
    interval_coverage: tuple[int, int] | None = None
    weighted_form: WeightedForm | None = None
    event_words: EventWords | None = None
    linearise: Linearisation | None = None
    takes_weights: bool = True

    def worded(self, terms: Terms) -> Metric:
        """The same metric in these terms: accuracy of an event is its share of yes."""
        if terms.of != "event" or self.event_words is None:
            return self
        words = {field: word for field, word in self.event_words._asdict().items() if word is not None}
        return replace(self, **words, event_words=None)

    @property
    def name(self) -> str:
        """The short name, which is the recipe's without its norm: "ECE", "Brier"."""
        return self.recipe_name.removesuffix("-L1")

    @property
    def is_smooth(self) -> bool:
        """Whether the metric is a smooth function of means over pairs, so that each pair has an influence."""
        return self.linearise is not None or (self.pair_term is not None and self.needs == "pairs")

    def value_and_influence(
        self,
        confidence: NDArray[np.float64],
        correct: NDArray[np.bool_],
        weight: NDArray[np.float64] | None = None,
    ) -> tuple[float, NDArray[np.float64]]:
        """The value of a smooth metric, and the influence of each pair on it.

        Parameters
        ----------
        confidence : NDArray[np.float64], shape (n,)
            In [0, 1]; at least one.
        correct : NDArray[np.bool_], shape (n,)
        weight : NDArray[np.float64], shape (n,), optional
            Above 0; 1 each where omitted.

        Returns
        -------
        value : float
            NaN if not defined.
        influence : NDArray[np.float64], shape (n,)
            With the mean 0: the value errs by about the mean influence of the pairs.

        Raises
        ------
        ValueError
            If the metric is not smooth.
        """
        if self.linearise is not None:
            value, influence = self.linearise(confidence, correct, weight)
        elif self.pair_term is None or self.needs != "pairs":
            raise ValueError(f"{self.id} is not a smooth function of means over pairs")
        else:
            terms = self.pair_term(confidence, correct)
            value = float(np.average(terms, weights=weight))
            influence = terms - value
        return value, influence if weight is None else influence * (weight / weight.mean())

    @property
    def help(self) -> str:
        """Meaning, direction and formula, for help texts."""
        return f"{self.meaning} {self.source}."
