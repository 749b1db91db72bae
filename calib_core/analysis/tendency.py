"""Is it over-confident, under-confident, both or neither, as far as the rows can tell?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from types import MappingProxyType
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from calib_core.analysis.limits import FEW
from calib_core.bins import Binned
from calib_core.wording import listed

Kind = Literal["few", "neither", "mixed", "over", "under"]
"""mixed: the averages agree and some bins do not."""

WITHIN: Final = "within chance"

WORDS: Final[Mapping[Kind, str]] = MappingProxyType({
    "over": "over-confident", "under": "under-confident", "mixed": "close on average only",
    "neither": WITHIN, "few": "too few rows to say",
})
"""What a run, a line or a step is called; in the order in which they are counted."""


@dataclass(frozen=True, slots=True, eq=False)
class Tendency:
    """What the gaps of some bins come to, beside what chance allows.

    kind: "few" below FEW pairs, else judged at 95 %; over, under: the gap of each bin towards that side, in
    pairs, ≥ 0, shape (bins,); limit: how large it may be by chance, all bins together at 95 %; clear: whether
    it is larger.
    """

    kind: Kind
    over: NDArray[np.float64]
    under: NDArray[np.float64]
    limit: NDArray[np.float64]
    clear: NDArray[np.bool_]


def tendency(binned: Binned, among: int = 1, alike: float = 1.0) -> Tendency:
    """Whether the average gap, or that of a bin, is more than chance gives.

    binned: pairs that do not depend on one another, but so many (`alike`, 1 or more) that may say the same
    (`trials.alike`); among: of how many verdicts this is one, all of which are to hold at 95 % together
    (Bonferroni), 1 or more.
    """
    signed = binned.confidence - binned.correct
    # If every confidence were exactly right, the gap of a bin would have variance Σ c(1 − c), in groups of
    # pairs that say the same, each of them the gap of one such group.
    variance = np.maximum(0.0, binned.confidence - binned.squared) / alike
    limit = alike * _chance(variance, tests=max(binned.size, 1) * among)
    clear = np.abs(signed) > limit
    excess = float(signed.sum())
    kind: Kind = "few" if int(binned.count.sum()) < FEW else "over" if excess > 0 else "under"
    if kind != "few" and abs(excess) <= alike * _chance_of_mean(binned, variance, excess, among):
        kind = "mixed" if clear.any() else "neither"
    return Tendency(kind, np.maximum(signed, 0.0), np.maximum(-signed, 0.0), limit, clear)


def counted(kinds: Sequence[Kind]) -> str:
    """"9 are over-confident, 1 is under-confident and 4 have too few rows to say"; at least one kind."""
    told = [f"{count} {being(kind, count)}" for kind in WORDS if (count := kinds.count(kind))]
    return listed(told)


def being(kind: Kind, count: int) -> str:
    """"is over-confident", or what several are: "have too few rows to say"."""
    one, several = ("has", "have") if kind == "few" else ("is", "are")
    return f"{one if count == 1 else several} {WORDS[kind]}"


def _chance_of_mean(
    binned: Binned, variance: NDArray[np.float64], excess: float, tests: int
) -> float:
    """How far apart Σc and Σy may be by chance, in groups of like pairs, towards the side of `excess`.

    Bonferroni's normal quantile z of σ, and the Cornish-Fisher term (z² − 1)/6 of the skew where it lengthens
    that side: of 100 answers 99.85 % sure one in seven sets has a wrong one, which is 2.2 σ.
    """
    z, total = _quantile(tests), float(variance.sum())
    if not total:
        return 0.0
    third = float((variance * (2 * binned.confidence / binned.count - 1)).sum())  # of Σc − Σy
    return z * total**0.5 + max(0.0, (z * z - 1) / 6 * third / total * (1 if excess > 0 else -1))


def _quantile(tests: int) -> float:
    """How many standard deviations 95 % of so many tests together stay within."""
    return NormalDist().inv_cdf(1 - 0.025 / tests)


def _chance(variance: NDArray[np.float64], tests: int) -> NDArray[np.float64]:
    """How far apart Σc and Σy of each bin may be, in groups of like pairs, all `tests` together at 95 %.

    Bonferroni's normal quantile z of σ = √variance, and (z² + 2)/6 rows for what a few rows have of skew
    and of steps: the Cornish-Fisher term with the largest skew there can be, and half a row.
    """
    z = _quantile(tests)
    return z * np.sqrt(variance) + (z * z + 2) / 6
