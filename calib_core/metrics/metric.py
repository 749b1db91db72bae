"""What is a metric?  One entry of the registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calib_core.bins import Sums
from calib_core.edges import Binning, Scheme

Direction = Literal["lower", "higher", "zero"]

RequiredSums = Literal["bins", "squares", "classes", "values"]
"""What sums have to keep: n, Σy and Σc of the bins; Σc² and Σcy as well; each class apart; or every value."""


IntervalMethod = Literal["bootstrap", "wilson"]

SamplingDefault = Literal["shown", "offered", "named"]
"""Metrics over the number of samples: shown where none is named, offered beside those, or only if named."""


@dataclass(frozen=True, slots=True, eq=False)
class BootstrapUnits:
    """Pairs that a bootstrap draws together, sorted by bin.

    Attributes
    ----------
    count : int64 array, shape (units,)
        Pairs of each unit.
    gap : float64 array, shape (units,)
        Mean c − y.
    square : float64 array, shape (units,)
        Mean (c − y)².
    right : float64 array, shape (units,)
        Mean y.
    start : intp array, shape (non-empty bins,)
        The first unit of each bin.
    """

    count: NDArray[np.int64]
    gap: NDArray[np.float64]
    squared_error: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    starts: NDArray[np.intp]


WeightedForm = Callable[[BootstrapUnits, NDArray[np.float64]], NDArray[np.float64]]
"""Units, and weights of shape (draws, units) → the metric of each draw, shape (draws,)."""


def _no_remark(_sums: Sums) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Metric:
    """All that is known of one number read off the sums; every list of metrics is derived from these entries.

    Attributes
    ----------
    id : str
        As in addresses and on the command line.
    title : str
        For people.
    in_sentence : str
        The title within a sentence: "accuracy", but "ECE" and "Brier score".
    recipe : str
        The name in a recipe line: "ECE-L1".
    meaning : str
        One plain sentence for the help text; it says which direction is better.
    source : str
        Paper and equation, or formula.
    needs : {"pairs", "distribution"}
        One confidence a row, or every choice's probability, with sums kept by class.
    low, high : float or None
        The range for distributions that sum to 1 (one off by ε may pass `high` by as much); None = unbounded.
    better : {"lower", "higher", "zero"}
        Which direction is better.
    binned : bool
        Whether the number depends on the bins.
    of : callable
        Sums and bins → the number, or None where it is not defined (no rows, one outcome only …). It does
        not check whether the bins are of `binning`, nor what the sums keep: `analysis` does, once for all.
    remark : callable
        Sums → what a reader must know of this value, or None.
    binning : str or None
        The one binning the metric is defined on; None = any.
    reads : {"bins", "squares", "classes", "values"}
        What the sums must keep for it.
    ceiled : bool
        Whether it cannot pass 2·mean(1 − p_y), p_y being the probability of the right class.
    all_labels : bool
        Whether a metric of pairs keeps a meaning when every label of a row is a pair.
    proper : bool
        Whether it is a strictly proper score: best, on average, for the true probabilities alone.
    percent : bool
        Whether it is shown in percent.
    swept : bool
        Whether a sweep over M has it where no metric is named; only of a binned metric.
    over_samples : {"shown", "offered", "named"}
        Whether it is given over the number of samples where no metric is named; only of a metric of pairs.
    interval : {"bootstrap", "wilson"}
        Which 95 % interval it has; Wilson's is that of the share of right rows.
    coverage : (int, int) or None
        The least and the most percent of simulated data sets whose truth is in the bootstrap's interval
        (benchmarks/coverage.md); None where that was not simulated.
    reweighted : callable or None
        The metric of a bootstrap's draws as a product of weights, for fixed bins; where it is None each draw
        is added up anew, which takes longer and allows fewer draws.
    """

    id: str
    title: str
    title_in_sentence: str
    recipe_name: str
    meaning: str
    source: str
    needs: Literal["pairs", "distribution"]
    low: float | None
    high: float | None
    direction: Direction
    binned: bool
    compute: Callable[[Sums, Scheme], float | None]
    remark: Callable[[Sums], str | None] = _no_remark
    binning: Binning | None = None
    required_sums: RequiredSums = "bins"
    has_ceiling: bool = False
    all_labels: bool = False
    is_proper: bool = False
    shown_in_percent: bool = False
    in_default_sweep: bool = False
    sampling_default: SamplingDefault = "named"
    interval_method: IntervalMethod = "bootstrap"
    bootstrap_coverage: tuple[int, int] | None = None
    weighted_form: WeightedForm | None = None

    @property
    def name(self) -> str:
        """The short name, the recipe's without its norm: "ECE", "Brier"."""
        return self.recipe_name.removesuffix("-L1")

    @property
    def help(self) -> str:
        """What it is, its direction and its formula, for the help text wherever it is chosen or shown."""
        return f"{self.meaning} {self.source}."
