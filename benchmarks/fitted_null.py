"""Measure how well the rise of ECE over M is split into noise and gaps that cancel.

Draws data sets whose true ECE at every M is known, sweeps them as the program does, and writes
fitted_null.md beside this script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import polars as pl
from benchmark_page import date_line, table, write_page
from numpy.typing import NDArray

from calib_core.edges import FINEST_BINS, bin_of
from calib_core.inference.cluster_draws import correlated_uniforms
from calib_core.inference.fitted_null import cross_fitted_probabilities, isotonic_curve
from calib_core.inference.verdict import SIGNIFICANCE_LEVEL
from calib_core.results.evidence import AnswerEvidence, gather_evidence
from calib_core.results.robustness import PAPER_BINS, SweepCurve, sweep_bins
from calib_core.runs import AnswerRun, RowCounts, RunInfo

SEED: Final = 20261126
REPEATS: Final = 100
REPEATS_AGAIN: Final = 500
ROWS: Final = (300, 1_000, 10_000)
CLUSTERS: Final = (60, 200)
TRIALS: Final = 5
ENDLESS: Final = 2_000_000
ISOTONIC_DRAWS: Final = 99
WIDEST, NARROWEST = PAPER_BINS[0], PAPER_BINS[-1]

Floats64 = NDArray[np.float64]


@dataclass(frozen=True)
class Truth:
    """Rows whose confidences and chances of being right are known."""

    title: str
    confidences: Callable[[np.random.Generator, int], Floats64]
    chance: Callable[[Floats64], Floats64]

    @cached_property
    def values(self) -> tuple[float, float]:
        """True ECE at the smallest and the largest M."""
        c = self.confidences(np.random.default_rng(SEED), ENDLESS)
        cell, gap = bin_of(c, FINEST_BINS), c - self.chance(c)
        low, high = (ece(cell, gap, bins) for bins in (WIDEST, NARROWEST))
        return low, high

    def drawn(self, n: int, random: np.random.Generator) -> AnswerEvidence:
        """A number of independent rows."""
        confidence = self.confidences(random, n)
        return evidence_of(confidence, random.random(n) < self.chance(confidence))

    def drawn_clusters(self, n: int, shared: float, random: np.random.Generator) -> AnswerEvidence:
        """Questions asked several times, whose answers are as alike as λ = `shared` makes them."""
        cluster = np.repeat(np.arange(n), TRIALS)
        confidence = self.confidences(random, n)[cluster]
        correct = correlated_uniforms(random, cluster, shared) < self.chance(confidence)
        return evidence_of(confidence, correct, [f"q{question}" for question in cluster])


def ece(cell: NDArray[np.intp], gap: Floats64, bins: int) -> float:
    """Σ |Σ gap| / n over bins of equal width."""
    return float(np.abs(np.bincount(cell // (FINEST_BINS // bins), gap)).sum()) / gap.size


def evidence_of(
    confidence: Floats64, correct: NDArray[np.bool_], trial_of: Sequence[str] | None = None
) -> AnswerEvidence:
    """The evidence of a table with these columns."""
    columns = {"row": np.arange(1, confidence.size + 1), "confidence": confidence, "correct": correct}
    rows = pl.DataFrame(columns if trial_of is None else {**columns, "trial_of": trial_of})
    run = AnswerRun("made", "table", "made", RunInfo(), rows, RowCounts(n_rows=confidence.size))
    return gather_evidence(run, "given")


def from_zero(random: np.random.Generator, n: int) -> Floats64:
    """Uniform confidences."""
    return random.random(n)


def from_fifth(random: np.random.Generator, n: int) -> Floats64:
    """Uniform confidences from .2 to 1."""
    return 0.2 + 0.8 * random.random(n)


def from_half(random: np.random.Generator, n: int) -> Floats64:
    """Uniform confidences from ½ to 1."""
    return 0.5 + 0.5 * random.random(n)


def in_the_middle(random: np.random.Generator, n: int) -> Floats64:
    """Confidences around 2/3."""
    return random.beta(4, 2, n)


def swing(size: float, waves: int, off: float = 0.0) -> Callable[[Floats64], Floats64]:
    """Confidence less `off`, and less a wave of this size."""
    return lambda c: np.clip(c - off - size * np.sin(2 * np.pi * waves * c), 0, 1)


NO_RISE: Final = (
    Truth("calibrated, c uniform", from_zero, lambda c: c),
    Truth("calibrated, c beta(4, 2)", in_the_middle, lambda c: c),
    Truth(".03 over-confident", from_fifth, lambda c: c - 0.03),
    Truth(".10 over-confident", from_fifth, lambda c: c - 0.10),
    Truth(".05 over-confident, c beta(20, 1)", lambda random, n: random.beta(20, 1, n), lambda c: c * 0.95),
    Truth("accuracy c²", from_zero, lambda c: c**2),
    Truth("gap of one sign, accuracy not rising", from_fifth, lambda c: c - 0.2 * np.sin(5 * np.pi * c) ** 2),
)
"""Gaps of one sign within each of the five bins: true ECE does not depend on M."""

RISES: Final = (
    Truth("accuracy rises in 5 steps", from_zero, lambda c: (np.floor(c * 5) + 0.5) / 5),
    Truth("too extreme, accuracy .2 + .6c", from_zero, lambda c: 0.2 + 0.6 * c),
    Truth("swing .33, 2 waves", from_zero, swing(0.33, 2)),
    Truth("swing .30, 4 waves, .10 over", from_half, swing(0.30, 4, 0.1)),
    Truth("swing .20, 3 waves", in_the_middle, swing(0.2, 3)),
    Truth("swing .15, 10 waves", from_fifth, swing(0.15, 10)),
    Truth("swing .08, 10 waves, .05 over", from_fifth, swing(0.08, 10, 0.05)),
)
"""Gaps that cancel within the five bins."""


def swept(evidence: AnswerEvidence) -> SweepCurve:
    """ECE over M."""
    (curve,) = sweep_bins(evidence, ("ece",)).curves
    return curve


def rise(curve: SweepCurve) -> float:
    """The rise from the smallest to the largest M."""
    return (curve.values[-1] or 0.0) - (curve.values[0] or 0.0)


def isotonic_p(evidence: AnswerEvidence, observed: float, random: np.random.Generator) -> float:
    """The p-value of the rise in draws of the isotonic fit as it is, whose gaps may cancel."""
    pairs = evidence.pairs
    confidence = pairs.confidence.astype(np.float64)
    fitted = cross_fitted_probabilities(
        pairs.confidence, pairs.correct, evidence.cluster, curves=[isotonic_curve]
    )
    cell = bin_of(pairs.confidence, FINEST_BINS)
    draws = [
        ece(cell, gap, NARROWEST) - ece(cell, gap, WIDEST)
        for gap in (confidence - (random.random(cell.size) < fitted) for _ in range(ISOTONIC_DRAWS))
    ]
    return float(1 + np.count_nonzero(np.array(draws) >= observed)) / (1 + ISOTONIC_DRAWS)


def clear(p: float | None) -> bool:
    """Whether p ≤ .05."""
    return p is not None and p <= SIGNIFICANCE_LEVEL


def whole_percent(found: Sequence[bool]) -> str:
    """A share in whole percent."""
    return f"{100 * np.mean(found):.0f} %"


def sizes() -> Iterator[list[str]]:
    """How often p ≤ .05 where the true ECE does not rise."""
    for place, truth in enumerate(NO_RISE):
        for n in ROWS:
            random = np.random.default_rng([SEED, place, n])
            found: list[tuple[bool, bool, bool]] = []
            for _ in range(REPEATS):
                evidence = truth.drawn(n, random)
                curve = swept(evidence)
                fitted = curve.fitted
                if fitted is None:
                    raise RuntimeError(curve.not_fitted)
                plain = isotonic_p(evidence, rise(curve), random)
                found.append((clear(fitted.change_p), clear(fitted.rsd_p), clear(plain)))
            yield [truth.title, f"{n:,}", *(whole_percent(column) for column in zip(*found, strict=True))]


def sizes_of_clusters() -> Iterator[list[str]]:
    """The same for questions asked several times."""
    for place, truth in enumerate(NO_RISE[i] for i in (0, 1, 3)):
        for how, shared in (("identical", 1.0), ("partly alike", 0.7)):
            for n in CLUSTERS:
                random = np.random.default_rng([SEED, 100 + place, n])
                curves = [swept(truth.drawn_clusters(n, shared, random)) for _ in range(REPEATS)]
                fitted = [curve.fitted for curve in curves if curve.fitted]
                if len(fitted) < REPEATS:
                    raise RuntimeError(curves[0].not_fitted)
                yield [
                    f"{truth.title}, trials {how}",
                    f"{n:,}",
                    whole_percent([clear(one.change_p) for one in fitted]),
                    whole_percent([clear(one.rsd_p) for one in fitted]),
                ]


def sizes_again() -> Iterator[list[str]]:
    """The two cells of the largest shares with other data sets, and more of them."""
    calibrated = NO_RISE[0]
    random = np.random.default_rng([SEED, 300])
    for title, n, drawn in (
        (calibrated.title, "1,000 rows", lambda: calibrated.drawn(1_000, random)),
        (
            f"{calibrated.title}, trials partly alike",
            "200 questions",
            lambda: calibrated.drawn_clusters(200, 0.7, random),
        ),
    ):
        found: list[tuple[bool, bool]] = []
        for _ in range(REPEATS_AGAIN):
            curve = swept(drawn())
            if curve.fitted is None:
                raise RuntimeError(curve.not_fitted)
            found.append((clear(curve.fitted.change_p), clear(curve.fitted.rsd_p)))
        yield [title, n, *(f"{100 * np.mean(column):.1f} %" for column in zip(*found, strict=True))]


def splits() -> Iterator[list[str]]:
    """What the rise is split into, and what is said of it, where the true ECE rises."""
    for place, truth in enumerate(RISES):
        low, high = truth.values
        for n in ROWS:
            random = np.random.default_rng([SEED, 200 + place, n])
            parts: list[tuple[float, float]] = []
            said: list[tuple[bool, bool]] = []
            for _ in range(REPEATS):
                curve = swept(truth.drawn(n, random))
                if curve.fitted is None or curve.null is None:
                    raise RuntimeError(curve.not_fitted)
                noise = curve.fitted.change_median or 0.0
                parts.append((noise, rise(curve) - noise))
                said.append((not clear(curve.null.change_p), clear(curve.fitted.change_p)))
            noise, rest = np.mean(parts, axis=0)
            yield [
                truth.title,
                f"{low:.3f} → {high:.3f}",
                f"{n:,}",
                f"{noise:.3f}",
                f"{rest:.3f}",
                f"{high - low:.3f}",
                *(whole_percent(column) for column in zip(*said, strict=True)),
            ]


def lines() -> Iterator[str]:
    """The page, line by line."""
    yield "# What the rise of ECE over M is made of"
    yield ""
    yield (
        f"Written by `python benchmarks/fitted_null.py`: {REPEATS} data sets per cell, seed {SEED}; ECE from "
        f"M = {WIDEST} to {NARROWEST}, RSD over {', '.join(map(str, PAPER_BINS))}. A share near 5 % is known "
        "to ± 4 points. The fitted model is isotonic or smooth, cross-fitted, with gaps of one sign within "
        f"each bin at M = {WIDEST} (`calib_core/inference/fitted_null.py`)."
    )
    yield from ("", "## p ≤ .05 where the true ECE is the same at every M", "")
    yield (
        "The last column is the isotonic fit as it is: its own gaps cancel, and the model's true ECE is too "
        "large at the smallest M, so that a calibrated model seems to rise too much; and it can't follow an "
        "accuracy that falls while the confidence rises."
    )
    yield ""
    yield from table(["truth", "n", "rise", "RSD", "rise, isotonic fit alone"], sizes())
    yield from ("", f"## The same for {TRIALS} trials of each question", "")
    yield from table(["truth", "questions", "rise", "RSD"], sizes_of_clusters())
    yield from ("", f"## Again, with {REPEATS_AGAIN} other data sets", "")
    yield "Cells that had a large share, to ± 1.9 points."
    yield ""
    yield from table(["truth", "n", "rise", "RSD"], sizes_again())
    yield from ("", "## Where the true ECE rises", "")
    yield (
        "Means of the two parts that the program names; their sum is the observed rise. “Rest” should be the "
        "true rise. “Old sentence” is how often p > .05 against a perfectly calibrated model, once worded "
        "“no more than thinner bins bring by chance”; “new” is how often the rest is called more than noise. "
        "Otherwise the rise is called one that noise alone can explain, which does not rule out gaps that "
        "cancel."
    )
    yield ""
    yield from table(
        [
            "truth",
            "true ECE",
            "n",
            "noise",
            "rest",
            "true rise",
            "old sentence: chance",
            "new: more than noise",
        ],
        splits(),
        2,
    )
    yield from ("", date_line())


if __name__ == "__main__":
    write_page(__file__, lines())
