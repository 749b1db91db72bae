"""Are rows that lack a confidence right as often as those that have one?

Where a confidence is missing mostly from wrong answers, a calibrated model seems under-confident and a model
that answers badly seems accurate. Whether a row has a confidence is a group like any other, so the test is
that of `group_difference` with all rows in one stratum. How often it is wrong, and what it finds, is measured
in `benchmarks/missingness.md`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calib_core.inference.cluster_draws import too_few_clusters
from calib_core.inference.clusters import clustered_inflation
from calib_core.inference.group_difference import cluster_inflation, group_differences, stratum_counts
from calib_core.inference.verdict import SIGNIFICANCE_LEVEL
from calib_core.terms import TERMS, ProbabilityOf
from calib_core.wording import format_percent, join_names

MAX_FINDINGS: Final = 2
"""Of more differences, those that change the accuracy least are counted only."""

ROWS_WITH_ONE: Final = "they are left out"
"""What follows from it for numbers of the rows with a confidence."""


@dataclass(frozen=True, slots=True)
class Missingness:
    """Accuracy of the rows without a confidence beside that of the rows with one.

    Attributes
    ----------
    n, n_right : int
        Rows with an outcome and without a confidence, at least 1, and the right ones among them.
    n_with, n_right_with : int
        Rows with an outcome and a confidence, and the right ones among them.
    p : float or None
        Two-sided p-value of equal accuracy, in [0, 1].
    no_p_reason : str or None
        Why there is none.
    of : {"answer", "event"}
        What the confidences are probabilities of.
    weights : (float, float, float, float) or None
        Sums of weights of the four kinds of rows, in the order of their numbers, by which accuracies are
        then made; None where rows count alike.
    """

    n: int
    n_right: int
    n_with: int
    n_right_with: int
    p: float | None
    no_p_reason: str | None = None
    of: ProbabilityOf = "answer"
    weights: tuple[float, float, float, float] | None = None

    @property
    def _amounts(self) -> tuple[float, float, float, float]:
        return self.weights or (self.n, self.n_right, self.n_with, self.n_right_with)

    @property
    def accuracy_without(self) -> float:
        """Accuracy of the rows without a confidence, in [0, 1]."""
        rows, right, _, _ = self._amounts
        return right / rows

    @property
    def accuracy_with(self) -> float | None:
        """Accuracy of the rows with a confidence, in [0, 1]; None if there is none."""
        _, _, rows, right = self._amounts
        return right / rows if rows else None

    @property
    def shift(self) -> float:
        """By how much the accuracy of the rows with a confidence is off that of all rows, in [0, 1]."""
        rows, right, rows_with, right_with = self._amounts
        of_all = (right + right_with) / (rows + rows_with)
        return abs((self.accuracy_with or 0.0) - of_all)

    @property
    def is_clear(self) -> bool:
        """Whether rows without a confidence are clearly right more or less often."""
        return self.p is not None and self.p <= SIGNIFICANCE_LEVEL

    @property
    def direction(self) -> str:
        """Whether rows without a confidence are right "less" or "more" often."""
        return "less" if self.accuracy_without < (self.accuracy_with or 0.0) else "more"

    @property
    def finding(self) -> str:
        """The difference as a clause; "" where it is not clear.

        Examples
        --------
        >>> Missingness(117, 0, 683, 531, 1e-60).finding
        '117 of 800 rows have no confidence and are right less often (0.0 % against 77.7 %)'
        """
        if not self.is_clear:
            return ""
        terms, one = TERMS[self.of], self.n == 1
        rows = f"{self.n:,} of {self.n + self.n_with:,} rows {'has' if one else 'have'} no {terms.confidence}"
        outcome = terms.right_how_often(f"{self.direction} often", of_one=one)
        accuracies = f"{format_percent(self.accuracy_without)} against {format_percent(self.accuracy_with)}"
        return f"{rows} and {outcome} ({accuracies}{', weighted' if self.weights else ''})"

    @property
    def scope(self) -> str:
        """What a verdict is about if the difference is clear, with a space before it; "" where it is not."""
        return f" where it has a {TERMS[self.of].confidence}" if self.is_clear else ""

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, as the command line prints them, with both accuracies."""
        return {
            "n": self.n,
            "n_right": self.n_right,
            "p": self.p,
            "accuracy_without": self.accuracy_without,
            "accuracy_with": self.accuracy_with,
            "reason": self.no_p_reason,
        }


def compare_missing(
    correct: NDArray[np.bool_],
    has_confidence: NDArray[np.bool_],
    cluster: NDArray[np.intp] | None = None,
    *,
    of: ProbabilityOf = "answer",
    weight: NDArray[np.float64] | None = None,
) -> Missingness:
    """Compare the accuracy of rows without a confidence with that of rows with one.

    Parameters
    ----------
    correct : NDArray[np.bool_], shape (n,)
        Outcomes.
    has_confidence : NDArray[np.bool_], shape (n,)
        Which rows have a confidence; at least one has none.
    cluster : NDArray[np.intp], shape (n,), optional
        Question of each row, numbered from 0; None if none is repeated.
    of : {"answer", "event"}
        What the confidences are probabilities of.
    weight : NDArray[np.float64], shape (n,), optional
        Weight of each row, above 0; 1 each where omitted.

    Returns
    -------
    Missingness
        Its p is exact (twice the smaller tail of the hypergeometric distribution) or, where there are many
        rows, that of the normal distribution; of repeated questions the larger of the two, with the variance
        inflated by the correlation of their outcomes. Rows with weights count as their effective number
        of whole rows of equal weight (Kish 1965), with their weighted share right.

    Examples
    --------
    >>> right = np.array([True] * 9 + [False] * 3)
    >>> round(compare_missing(right, np.arange(12) < 9).p * 220, 6)
    2.0
    """
    n, n_right = np.bincount(has_confidence, minlength=2), np.bincount(has_confidence[correct], minlength=2)
    p: float | None = None
    reason = None if cluster is None else too_few_clusters(cluster, weight)
    weights = None
    if weight is not None:
        rows, right = (np.bincount(has_confidence, weight * times, 2).tolist() for times in (1, correct))
        weights = rows[0], right[0], rows[1], right[1]
    if not reason and weight is not None:
        p = _weighted_p_value(correct, has_confidence, cluster, weight)
        reason = None if has_confidence.any() else f"no row has a {TERMS[of].confidence}"
    elif not reason:
        stratum = np.zeros(correct.size, np.intp)
        group = has_confidence.astype(np.intp)
        count, count_right = stratum_counts(stratum, correct, group, 1)
        inflation = None if cluster is None else cluster_inflation(stratum, correct, group, 1, cluster)
        found = group_differences(
            count, count_right, np.array([correct.size]), np.array([n_right.sum()]), inflation
        )
        p = float(found.p[0])
        if np.isnan(p):
            p, reason = None, f"no row has a {TERMS[of].confidence}"
    return Missingness(int(n[0]), int(n_right[0]), int(n[1]), int(n_right[1]), p, reason, of, weights)


def _weighted_p_value(
    correct: NDArray[np.bool_],
    has_confidence: NDArray[np.bool_],
    cluster: NDArray[np.intp] | None,
    weight: NDArray[np.float64],
) -> float | None:
    """The p-value for rows with weights; None where no row has a confidence, or none as much as one."""
    if not has_confidence.any():
        return None
    total = np.bincount(has_confidence, weight)
    share = np.bincount(has_confidence, weight * correct) / total
    worth = total**2 / np.bincount(has_confidence, weight**2)
    inflation = 1.0
    if cluster is not None:
        influence = (correct - share[has_confidence.astype(np.intp)]) * np.where(has_confidence, 1.0, -1.0)
        influence /= total[has_confidence.astype(np.intp)]
        inflation = clustered_inflation(influence, cluster, weight=weight)
    whole = np.floor(worth).astype(np.int64)
    right = np.rint(whole * share).astype(np.int64)
    found = group_differences(
        whole[:1, None],
        right[:1, None],
        whole.sum(keepdims=True),
        right.sum(keepdims=True),
        np.array([inflation]),
    )
    return float(found.p[0])


def missing_caveat(
    named: Iterable[tuple[str, Missingness | None]],
    consequence: str = "",
    *,
    max_findings: int = MAX_FINDINGS,
) -> str:
    """Where rows without a confidence are right more or less often, in a sentence; "" if it is clear nowhere.

    Parameters
    ----------
    named : iterable of (str, Missingness or None)
        Where, such as "in B" or "by “p(True)”", "" if there is only one place, and what is missing there. Of
        many, those that matter most are told.
    consequence : str
        What follows for the numbers, as a clause; "" where the headline says it.
    max_findings : int
        Number of places that are told; of further ones only how many there are.

    Examples
    --------
    >>> print(missing_caveat([("in A", None), ("in B", Missingness(9, 0, 90, 60, 0.001))], "beware"))
    In B, 9 of 99 rows have no confidence and are right less often (0.0 % against 66.7 %): beware.
    """
    names_of: dict[Missingness, list[str]] = {}
    for name, missing in named:
        if missing is not None and missing.is_clear:
            names_of.setdefault(missing, []).append(name)
    if not names_of:
        return ""
    largest = sorted(names_of, key=lambda missing: -missing.shift)
    places = {each: join_names(list(dict.fromkeys(names_of[each]))) for each in largest[:max_findings]}
    findings = [f"{place}, {each.finding}" if place else each.finding for each, place in places.items()]
    if n_more := len(largest) - len(findings):
        findings.append(f"and {n_more} more differ")
    said = "; ".join(findings)
    return f"{said[0].upper()}{said[1:]}{consequence and f': {consequence}'}."
