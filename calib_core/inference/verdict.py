"""Is it over-confident, under-confident, both or neither, as far as the rows can tell?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from types import MappingProxyType
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from calib_core.bins import Binned
from calib_core.wording import join_names

# MERGED limits: From how many rows on is something said, and how small a p is more than chance?

MIN_ROWS: Final = 30
"""Fewer rows, positions or questions are too few to say, and a bin of fewer is drawn faded."""

SIGNIFICANCE_LEVEL: Final = 0.05
"""A number with p up to here is more than chance."""


VerdictKind = Literal["few", "neither", "mixed", "over", "under"]
"""mixed: the averages agree and some bins do not."""

WITHIN_CHANCE: Final = "within chance"

VERDICT_WORDS: Final[Mapping[VerdictKind, str]] = MappingProxyType(
    {
        "over": "over-confident",
        "under": "under-confident",
        "mixed": "close on average only",
        "neither": WITHIN_CHANCE,
        "few": "too few rows to say",
    }
)
"""What a run, a line or a step is called; in the order in which they are counted."""


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """What the gaps of some bins come to, beside what chance allows.

    kind: "few" below FEW pairs, else judged at 95 %; over, under: the gap of each bin towards that side, in
    pairs, ≥ 0, shape (bins,); limit: how large it may be by chance, all bins together at 95 %; clear: whether
    it is larger.
    """

    kind: VerdictKind
    over_gap: NDArray[np.float64]
    under_gap: NDArray[np.float64]
    chance_limit: NDArray[np.float64]
    significant: NDArray[np.bool_]


def judge_calibration(binned: Binned, n_verdicts: int = 1, design_effect: float = 1.0) -> Verdict:
    """Whether the average gap, or that of a bin, is more than chance gives.

    binned: pairs that do not depend on one another, but so many (`alike`, 1 or more) that may say the same
    (`trials.alike`); among: of how many verdicts this is one, all of which are to hold at 95 % together
    (Bonferroni), 1 or more.
    """
    signed = binned.confidence - binned.correct
    # If every confidence were exactly right, the gap of a bin would have variance Σ c(1 − c), in groups of
    # pairs that say the same, each of them the gap of one such group.
    variance = np.maximum(0.0, binned.confidence - binned.squared) / design_effect
    limit = design_effect * _bin_gap_limits(variance, n_tests=max(binned.size, 1) * n_verdicts)
    clear = np.abs(signed) > limit
    excess = float(signed.sum())
    kind: VerdictKind = "few" if int(binned.count.sum()) < MIN_ROWS else "over" if excess > 0 else "under"
    if kind != "few" and abs(excess) <= design_effect * _mean_gap_limit(binned, variance, excess, n_verdicts):
        kind = "mixed" if clear.any() else "neither"
    return Verdict(kind, np.maximum(signed, 0.0), np.maximum(-signed, 0.0), limit, clear)


def count_verdicts(kinds: Sequence[VerdictKind]) -> str:
    """ "9 are over-confident, 1 is under-confident and 4 have too few rows to say"; at least one kind."""
    told = [
        f"{count} {verdict_phrase(kind, count)}" for kind in VERDICT_WORDS if (count := kinds.count(kind))
    ]
    return join_names(told)


def verdict_phrase(kind: VerdictKind, count: int) -> str:
    """ "is over-confident", or what several are: "have too few rows to say"."""
    one, several = ("has", "have") if kind == "few" else ("is", "are")
    return f"{one if count == 1 else several} {VERDICT_WORDS[kind]}"


def _mean_gap_limit(binned: Binned, variance: NDArray[np.float64], signed_gap: float, n_tests: int) -> float:
    """How far apart Σc and Σy may be by chance, in groups of like pairs, towards the side of `excess`.

    Bonferroni's normal quantile z of σ, and the Cornish-Fisher term (z² − 1)/6 of the skew where it lengthens
    that side: of 100 answers 99.85 % sure one in seven sets has a wrong one, which is 2.2 σ.
    """
    z, total = _bonferroni_quantile(n_tests), float(variance.sum())
    if not total:
        return 0.0
    third = float((variance * (2 * binned.confidence / binned.count - 1)).sum())  # of Σc − Σy
    return z * total**0.5 + max(0.0, (z * z - 1) / 6 * third / total * (1 if signed_gap > 0 else -1))


def _bonferroni_quantile(n_tests: int) -> float:
    """How many standard deviations 95 % of so many tests together stay within."""
    return NormalDist().inv_cdf(1 - 0.025 / n_tests)


def _bin_gap_limits(variance: NDArray[np.float64], n_tests: int) -> NDArray[np.float64]:
    """How far apart Σc and Σy of each bin may be, in groups of like pairs, all `tests` together at 95 %.

    Bonferroni's normal quantile z of σ = √variance, and (z² + 2)/6 rows for what a few rows have of skew
    and of steps: the Cornish-Fisher term with the largest skew there can be, and half a row.
    """
    z = _bonferroni_quantile(n_tests)
    return z * np.sqrt(variance) + (z * z + 2) / 6
