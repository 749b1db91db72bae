"""What do parts of the samples say?  Codes, sizes N' and a seed → metrics of every draw.

Drawn without replacement: one order of its samples a question and repeat, whose first N' are the part of
size N'. The parts of one repeat lie inside one another, and adding a size changes no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.analysis.score import effective_scheme
from calib_core.bins import BinSums, Scheme
from calib_core.confidence.method import UnparseableRule
from calib_core.confidence.subsets import ABSENT_CODE, SubsampleConfidences, subsample_confidences
from calib_core.metrics import METRICS
from calib_core.metrics.brier import BRIER
from calib_core.metrics.metric import Metric, SamplingDefault

SELF_CONSISTENCY_METHODS: Final = SubsampleConfidences._fields
"""The three self-consistency methods, in the order in which `confidences_of` gives them."""

def _over_samples(*how: SamplingDefault) -> tuple[str, ...]:
    """Metrics given so, the proper scores first: the other numbers can fall while confidences get worse."""
    metrics = sorted(METRICS.values(), key=lambda metric: not metric.is_proper)
    return tuple(metric.id for metric in metrics if metric.sampling_default in how)


DEFAULT_METRICS: Final = _over_samples("shown", "offered")
"""Metrics that are computed together when none is named: one more costs little beside the draws."""

SHOWN: Final = _over_samples("shown")
"""Those given where none is named and each is one more to read."""

SamplingProgress = Callable[[float, str], object]
"""Told how much is done, 0 to 1, and in words."""

_MAX_SHUFFLED: Final = 500_000
"""Samples shuffled at once: few enough to stay in the processor's cache, many enough to be worth a call."""


@dataclass(frozen=True, slots=True)
class SamplingPlan:
    """What is to be drawn, and what is to be read off it.

    sizes: N', None: those of `samples_sizes.PAPER_SIZES` that most questions have; repeats: 1 or more; seed:
    0 or more; methods: ids among SELF_CONSISTENCY; metrics: ids of metrics of one confidence a row.
    """

    sizes: tuple[int, ...] | None = None
    repeats: int = 100
    seed: int = 0
    methods: tuple[str, ...] = SELF_CONSISTENCY_METHODS
    metrics: tuple[str, ...] = DEFAULT_METRICS


@dataclass(frozen=True, slots=True, eq=False)
class SubsampleDraws:
    """Every draw of one size N'. The methods are in the order of SELF_CONSISTENCY.

    values: metric id → float64 of shape (methods, draws), NaN where a draw does not define it; said: mean
    confidence, (methods, draws); right: share of right majority answers, (draws,); squares: mean over the
    draws of (c − y)² of each question, (methods, questions), NaN where no draw of it has a confidence;
    absent: draws of a question without a confidence, all questions together.
    """

    values: Mapping[str, NDArray[np.float64]]
    mean_confidence: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    squared_error: NDArray[np.float64]
    n_without_confidence: int


class _DrawCollector:
    """The draws of one size as they come in."""

    def __init__(self, questions: int, metrics: Sequence[Metric], scheme: Scheme) -> None:
        self._metrics = [(metric, effective_scheme(metric, scheme)) for metric in metrics]
        self._values: dict[str, list[list[float]]] = {metric.id: [] for metric in metrics}
        self._said: list[list[float]] = []
        self._right: list[float] = []
        self._squares = np.zeros((len(SELF_CONSISTENCY_METHODS), questions))
        self._present = np.zeros(questions, np.int64)
        self._draws = 0

    def add(self, codes: NDArray[np.int32], correct: NDArray[np.int8], unparseable: UnparseableRule) -> None:
        """part: shape (draws, questions, N'), as `SampleCodes.code`; correct: that of the same questions."""
        draws, questions, size = codes.shape
        confidences, majority, _ = subsample_confidences(codes.reshape(-1, size), unparseable)
        known = ~np.isnan(confidences[0])
        at = np.where(known, majority, 0)
        right = correct[np.arange(known.size) % questions, at] == 1
        present = known.reshape(draws, questions)
        brier = np.full((draws, len(SELF_CONSISTENCY_METHODS)), np.nan)
        for place, confidence in enumerate(confidences):
            squares = np.where(known, (confidence - right) ** 2, 0.0).reshape(draws, questions)
            self._squares[place] += squares.sum(0)
            # What the registered Brier score would be: its squares are at hand, and sums need no second pass.
            np.divide(squares.sum(1), present.sum(1), out=brier[:, place], where=present.any(1))
        self._present += present.sum(0)
        self._draws += draws
        if BRIER.id in self._values:
            self._values[BRIER.id] += brier.tolist()
        for start in range(0, known.size, questions):
            used = start + np.flatnonzero(known[start : start + questions])
            self._add_draw([confidence[used] for confidence in confidences], right[used])

    def _add_draw(self, confidences: Sequence[NDArray[np.float64]], right: NDArray[np.bool_]) -> None:
        """One draw of every question: the metrics of each method but the Brier score, which `add` has."""
        others = [(metric, scheme) for metric, scheme in self._metrics if metric.id != BRIER.id]
        sums = [BinSums.from_pairs(each, right, computed=True) for each in confidences] if others else []
        for metric, scheme in others:
            found = [metric.compute(each, scheme) for each in sums]
            self._values[metric.id].append([np.nan if value is None else value for value in found])
        pairs = max(right.size, 1)
        self._said.append([float(each.sum()) / pairs if right.size else np.nan for each in confidences])
        self._right.append(int(right.sum()) / pairs if right.size else np.nan)

    def draws(self) -> SubsampleDraws:
        """What has come in."""
        often = np.where(self._present, self._present, np.nan)
        return SubsampleDraws(
            values={id_: np.array(values).T for id_, values in self._values.items()},
            mean_confidence=np.array(self._said).T,
            accuracy=np.array(self._right),
            squared_error=self._squares / often,
            n_without_confidence=self._draws * self._present.size - int(self._present.sum()),
        )


def draw_subsamples(
    code: NDArray[np.int32],
    correct: NDArray[np.int8],
    sizes: Sequence[int],
    metrics: Sequence[Metric],
    scheme: Scheme,
    unparseable: UnparseableRule,
    plan: SamplingPlan,
    progress: SamplingProgress,
) -> dict[int, SubsampleDraws]:
    """The draws of each size.

    code, correct: as in `SampleCodes`, of questions that have as many samples as the largest size or more;
    metrics: of pairs; scheme: the bins
    of those with bins. A size that is every sample of every question has one draw, in the file's order.
    """
    counted = (code != ABSENT_CODE).sum(1)
    whole = int(counted.min()) if np.all(counted == counted[0]) else None
    tallies = {size: _DrawCollector(code.shape[0], metrics, scheme) for size in sizes}
    drawn = [size for size in sizes if size != whole]
    if whole in tallies:
        tallies[whole].add(code[None, :, :whole], correct, unparseable)
    done = 0
    for shuffled in _shuffled_samples(code, plan.repeats if drawn else 0, max(drawn, default=0), plan.seed):
        for place, size in enumerate(drawn):
            progress((done + shuffled.shape[0] * place / len(drawn)) / plan.repeats, f"N' = {size}")
            tallies[size].add(shuffled[:, :, :size], correct, unparseable)
        done += shuffled.shape[0]
        progress(done / plan.repeats, f"{done:,} of {plan.repeats:,} repeats")
    return {size: tally.draws() for size, tally in tallies.items()}


def _shuffled_samples(
    code: NDArray[np.int32], repeats: int, max_size: int, seed: int
) -> Iterator[NDArray[np.int32]]:
    """The first `longest` of each question's samples in random order: (some repeats, questions, longest).

    How many repeats come at once changes no number: the keys are drawn one after the other.
    """
    random = np.random.default_rng(seed)
    absent = code == ABSENT_CODE
    at_once = max(1, _MAX_SHUFFLED // code.size)
    for start in range(0, repeats, at_once):
        keys = random.random((min(at_once, repeats - start), *code.shape))
        keys[:, absent] = np.inf
        order = np.argsort(keys, axis=2)[:, :, :max_size]
        yield np.take_along_axis(code[None], order, axis=2)
