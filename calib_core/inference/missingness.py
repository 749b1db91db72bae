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
    """

    n: int
    n_right: int
    n_with: int
    n_right_with: int
    p: float | None
    no_p_reason: str | None = None
    of: ProbabilityOf = "answer"

    @property
    def accuracy_without(self) -> float:
        """Accuracy of the rows without a confidence, in [0, 1]."""
        return self.n_right / self.n

    @property
    def accuracy_with(self) -> float | None:
        """Accuracy of the rows with a confidence, in [0, 1]; None if there is none."""
        return self.n_right_with / self.n_with if self.n_with else None

    @property
    def shift(self) -> float:
        """By how much the accuracy of the rows with a confidence is off that of all rows, in [0, 1]."""
        of_all = (self.n_right + self.n_right_with) / (self.n + self.n_with)
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
        return (
            f"{rows} and {outcome} "
            f"({format_percent(self.accuracy_without)} against {format_percent(self.accuracy_with)})"
        )

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

    Returns
    -------
    Missingness
        Its p is exact (twice the smaller tail of the hypergeometric distribution) or, where there are many
        rows, that of the normal distribution; of repeated questions the larger of the two, with the variance
        inflated by the correlation of their outcomes.

    Examples
    --------
    >>> right = np.array([True] * 9 + [False] * 3)
    >>> round(compare_missing(right, np.arange(12) < 9).p * 220, 6)
    2.0
    """
    n, n_right = np.bincount(has_confidence, minlength=2), np.bincount(has_confidence[correct], minlength=2)
    p: float | None = None
    reason = None if cluster is None else too_few_clusters(cluster)
    if not reason:
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
    return Missingness(int(n[0]), int(n_right[0]), int(n[1]), int(n_right[1]), p, reason, of)


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
