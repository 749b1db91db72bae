"""How many samples are enough?  A run with samples and a set of N' → the metrics over N'.

Self-consistency paper (Wang et al., arXiv 2403.09849), Figure 2. How parts are drawn: samples_draws.py;
what is enough: samples_enough.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.bins import BinSums
from calib_core.edges import DEFAULT_SCHEME, Scheme
from calib_core.errors import Unavailable
from calib_core.inference.bootstrap import BOOTSTRAP_DRAWS
from calib_core.inference.verdict import MIN_ROWS
from calib_core.methods import METHODS
from calib_core.methods.answers.cluster import ABSENT_CODE
from calib_core.methods.answers.subsample import SubsampleConfidences, sample_matrix, subsample_confidences
from calib_core.methods.answers.unparseable import UnparseableRule
from calib_core.methods.method import MethodOptions
from calib_core.metrics import METRICS
from calib_core.metrics.brier import BRIER
from calib_core.metrics.metric import Metric, SamplingDefault
from calib_core.results.evidence import AnswerEvidence, gather_evidence, get_metric, restrict_rows
from calib_core.results.recipe import recipe_text, rows_text, scheme_text
from calib_core.results.score import effective_scheme
from calib_core.runs import AnswerRun, Run
from calib_core.wording import join_names, plural

# MERGED samples_sizes: Which N' can be drawn, from which questions, and of which is the spread to be believed?
#
# All sizes stand on the same questions: those with as many samples as the largest size.

PAPER_SIZES: Final = (4, 8, 16, 32, 64)
"""The N of the self-consistency paper's Figure 2."""


@dataclass(frozen=True, slots=True, eq=False)
class SubsampleSizes:
    """What is drawn.

    sizes: N', ascending; rows: the questions drawn from, ascending positions in the run, shape (n,); samples:
    the fewest and the most samples of these; greyed: size → why its spread is not to be believed; refused:
    size asked for → why it is not among `sizes`; against: the largest size not greyed, None where all are.
    """

    sizes: tuple[int, ...]
    question_rows: NDArray[np.intp]
    sample_range: tuple[int, int]
    spread_caveats: Mapping[int, str]
    unavailable: Mapping[int, str]
    reference_size: int | None


def subsample_sizes(
    n_samples: NDArray[np.int64], usable: NDArray[np.intp], requested: Sequence[int] | None = None
) -> SubsampleSizes:
    """The sizes that at least half of the usable questions have samples for, and those questions.

    counted: samples of each row, shape (rows,); usable: rows that may be drawn from; asked: sizes, None:
    `usual` ones. Raises Unavailable where no size is left.
    """
    held = n_samples[usable]
    if not held.size:
        raise Unavailable("Not one question has samples that are all judged.")
    common = int(np.sort(held)[::-1][(held.size - 1) // 2])
    if requested is None:
        requested = default_sizes(common)
    refused = {size: why for size in requested if (why := _size_unavailable_reason(size, held, common))}
    sizes = tuple(sorted({int(size) for size in requested} - refused.keys()))
    if not sizes:
        reasons = " ".join(dict.fromkeys(refused.values()))
        raise Unavailable(reasons or "At least one number of samples N' is needed.")
    rows = usable[held >= sizes[-1]]
    fewest, most = int(n_samples[rows].min()), int(n_samples[rows].max())
    greyed = {size: _overlap_caveat(size, fewest, most) for size in sizes if 2 * size > fewest}
    clear = [size for size in sizes if size not in greyed]
    return SubsampleSizes(sizes, rows, (fewest, most), greyed, refused, clear[-1] if clear else None)


def default_sizes(n_samples: int) -> tuple[int, ...]:
    """Those of PAPER_SIZES that there are; 2 besides where 8 is greyed, to have something to compare 4 with.

    All samples where there are fewer than four.
    """
    least = (2,) if PAPER_SIZES[0] <= n_samples < 2 * PAPER_SIZES[1] else ()
    return (*least, *(size for size in PAPER_SIZES if size <= n_samples)) or (n_samples,)


def _size_unavailable_reason(size: int, n_samples: NDArray[np.int64], common: int) -> str | None:
    if size < 2:
        return f"N' = {size}: one sample agrees with itself and gives no self-consistency."
    if size <= common:
        return None
    have = int((n_samples >= size).sum())
    of = plural(n_samples.size, "question")
    whom = f"{have:,} of {of} {'has' if have == 1 else 'have'}" if have else "no question has"
    return f"N' = {size}: {whom} so many samples; up to {common} can be drawn here."


def _overlap_caveat(size: int, fewest: int, most: int) -> str:
    if size == fewest == most:
        return f"N' = {size} is every sample: there is one subset only, and no spread."
    return (
        f"N' = {size} is more than half of {fewest} samples: subsets overlap, "
        "so they differ less than new samples would."
    )


# MERGED samples_draws: What do parts of the samples say?  Codes, sizes N' and a seed → metrics of every draw.
#
# Drawn without replacement: one order of its samples a question and repeat, whose first N' are the part of
# size N'. The parts of one repeat lie inside one another, and adding a size changes no other.

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


# MERGED samples_enough: How many samples are enough?  Squared errors of each question at each N' → the smallest N' that will do.
#
# Paired: both sizes judge the same questions, and what differs from one question to the next is taken out.

BRIER_TOLERANCE: Final = 0.005
"""A Brier score no farther off is as good as the same."""


@dataclass(frozen=True, slots=True)
class BrierDifference:
    """Mean over the questions of the squared error at one N' less that at the reference, and its interval.

    value, low, high: the basic bootstrap's 95 % over `questions`.
    """

    value: float
    low: float
    high: float
    n_questions: int

    def within_tolerance(self, tolerance: float) -> bool:
        """Whether the whole interval is within ± `within`."""
        return -tolerance <= self.low and self.high <= tolerance


@dataclass(frozen=True, slots=True)
class SufficientSize:
    """The smallest N' of one method that does as well as the reference, None where none below it does."""

    method: str
    size: int | None
    reference_size: int
    tolerance: float


def brier_differences(
    squared_error: Mapping[int, NDArray[np.float64]], sizes: Sequence[int], reference_size: int, seed: int
) -> list[dict[int, BrierDifference]]:
    """Size → gap to `against`, one mapping a method; sizes: those that are compared.

    squares: size → float64 of shape (methods, questions), NaN where a question has none. A question counts
    where both sizes have it; a size with fewer than two such questions has no gap. The same questions are
    drawn for all methods and sizes.
    """
    reference = squared_error[reference_size]
    columns = [squared_error[size] - reference for size in sizes]
    if not columns:
        return [{} for _ in reference]
    stacked = np.concatenate(columns)
    known = ~np.isnan(stacked)
    ends = _bootstrap_means(np.where(known, stacked, 0.0), known, seed)
    found: list[dict[int, BrierDifference]] = [{} for _ in reference]
    for at, (value, low, high) in enumerate(ends):
        if (questions := int(known[at].sum())) > 1 and np.isfinite(low):
            place, method = divmod(at, len(found))
            found[method][sizes[place]] = BrierDifference(value, low, high, questions)
    return found


def _bootstrap_means(
    values: NDArray[np.float64], defined: NDArray[np.bool_], seed: int
) -> list[tuple[float, float, float]]:
    """Mean and reflected 95 % ends of each row of values; NaN ends where a draw has not one known value."""
    random = np.random.default_rng(seed)
    questions: int = values.shape[1]
    both = np.concatenate([values, defined])
    sums = np.empty((BOOTSTRAP_DRAWS, both.shape[0]))
    for draw in range(BOOTSTRAP_DRAWS):
        drawn = random.integers(questions, size=questions)
        sums[draw] = both @ np.bincount(drawn, minlength=questions)
    count = sums[:, len(values) :]
    drawn_means = sums[:, : len(values)] / np.where(count, count, np.nan)
    total = defined.sum(1)
    mean = values.sum(1) / np.where(total, total, np.nan)
    low, high = np.quantile(drawn_means, (0.025, 0.975), axis=0)
    ends = zip(mean, 2 * mean - high, 2 * mean - low, strict=True)
    return [(float(value), float(below), float(above)) for value, below, above in ends]


def sufficient_size(
    method: str, differences: Mapping[int, BrierDifference], reference_size: int, tolerance: float
) -> SufficientSize:
    """The smallest size whose gap is within; within: above 0."""
    size = next((size for size, gap in sorted(differences.items()) if gap.within_tolerance(tolerance)), None)
    return SufficientSize(method, size, reference_size, tolerance)


def sufficient_size_headline(
    sufficient_sizes: Sequence[SufficientSize],
    differences: Mapping[str, Mapping[int, BrierDifference]],
    names: Mapping[str, str],
) -> str:
    """What is enough, in one sentence; gaps: by method and size; names: method → "F_CS"."""
    if not sufficient_sizes:
        return "Every N' here is more than half of the samples, so there is none to compare the others with."
    against = sufficient_sizes[0].reference_size
    if not any(differences.values()):
        return f"Only N' = {against} is not greyed, so there is no smaller N' to compare with it."
    whom: dict[int, list[str]] = {}
    for each in sufficient_sizes:
        if each.size is not None:
            whom.setdefault(each.size, []).append(names[each.method])
    parts = [f"{size} samples are enough for {join_names(methods)}" for size, methods in sorted(whom.items())]
    lower = _sizes_with_lower_brier(
        [each for each in sufficient_sizes if each.size is None], differences, names
    )
    parts += [
        f"{join_names(methods)} {'do' if len(methods) > 1 else 'does'} better with {size} than with {against}"
        for size, methods in lower.items()
    ]
    better = {name for methods in lower.values() for name in methods}
    lacking = [names[each.method] for each in sufficient_sizes if each.size is None]
    if lacking := [name for name in lacking if name not in better]:
        parts.append(f"fewer than {against} are not enough for {join_names(lacking)}")
    said = "; ".join(parts)
    return f"{said[0].upper()}{said[1:]}."


def sufficiency_definition(
    sufficient_sizes: Sequence[SufficientSize],
    differences: Mapping[str, Mapping[int, BrierDifference]],
    names: Mapping[str, str],
    n_questions: int,
) -> str:
    """What `read_enough` calls enough, over how many questions, and where fewer samples do better."""
    if not any(differences.values()) or not sufficient_sizes:
        return ""
    against, within = sufficient_sizes[0].reference_size, sufficient_sizes[0].tolerance
    on = f"{plural(n_questions, 'question')}{', too few to rely on' if n_questions < MIN_ROWS else ''}"
    how = f"within ±{within:g} of that at N' = {against}, by its paired 95 % interval over {on}"
    better = "".join(
        f" That of {join_names(methods)} is lower, so better, at N' = {size}."
        for size, methods in _sizes_with_lower_brier(sufficient_sizes, differences, names).items()
    )
    return f"Enough is a Brier score {how}.{better}"


def _sizes_with_lower_brier(
    sufficient_sizes: Sequence[SufficientSize],
    differences: Mapping[str, Mapping[int, BrierDifference]],
    names: Mapping[str, str],
) -> dict[int, list[str]]:
    """Where fewer samples do better than the reference: the smallest such N' of each method, ascending."""
    whom: dict[int, list[str]] = {}
    for each in sufficient_sizes:
        lower = [size for size, gap in sorted(differences[each.method].items()) if gap.high < 0]
        if lower:
            whom.setdefault(lower[0], []).append(names[each.method])
    return dict(sorted(whom.items()))


# MERGED samples_baselines: What do other methods say of the same questions, for which nothing is sampled?

BASELINE_METHODS: Final = tuple(id_ for id_, method in METHODS.items() if method.is_baseline)
"""The self-consistency paper's own baselines."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """One metric of a method that needs no samples.

    n: questions among those drawn from; judged: whose outcome it is ("greedy answer"), which need not be
    the majority's.
    """

    method: str
    metric: str
    value: float
    n_questions: int
    judged: str
    recipe: str


def baselines_on_rows(
    run: AnswerRun,
    options: MethodOptions,
    rows: NDArray[np.intp],
    metrics: Sequence[Metric],
    scheme: Scheme,
) -> tuple[tuple[Baseline, ...], dict[str, str]]:
    """The baselines that the run has on these rows, and method → why it lacks another.

    rows: positions in the run. A metric that is not defined on these rows has no baseline.
    """
    found: list[Baseline] = []
    lacking: dict[str, str] = {}
    for method in BASELINE_METHODS:
        try:
            evidence = restrict_rows(gather_evidence(run, method, replace(options, labels="top")), rows)
        except Unavailable as reason:
            lacking[method] = str(reason)
            continue
        if not evidence.n_used:
            lacking[method] = "not one of these questions has this confidence"
        for metric in metrics if evidence.n_used else ():
            own = effective_scheme(metric, scheme)
            value = metric.compute(evidence.sums_for(metric, own), own)
            if value is not None:
                how = recipe_text(evidence, metric, own if metric.binned else None)
                found.append(Baseline(method, metric.id, value, evidence.n_used, evidence.judged, how))
    return tuple(found), lacking


# MERGED samples_result: What is known of a run over the number of samples N'?  Curves, gaps, baselines, as one frozen result.

METHOD_SYMBOLS: Final = MappingProxyType({id_: METHODS[id_].short_title for id_ in SELF_CONSISTENCY_METHODS})
"""Method id → "F_CN", "F_CS", "F_PC"."""


@dataclass(frozen=True, slots=True, eq=False)
class SampleSizeCurve:
    """One metric of one method over N'.

    mean, std: over the draws that define the metric, one per size, None where none does; std: the
    population's (ddof 0), None where there is one draw only.
    """

    method: str
    metric: str
    mean: tuple[float | None, ...]
    std: tuple[float | None, ...]
    recipe: str


@dataclass(frozen=True, slots=True, eq=False)
class SampleSizeSweep:
    """The metrics of one run over N'; every size stands on the same `n_used` questions.

    sizes: ascending; samples: the fewest and the most samples of these questions; greyed: size → why its
    spread is not to be believed; refused: size asked for → why it is not among `sizes`; draws: size → draws;
    absent: size → draws of a question in which no sample parses, left out; said: method → mean confidence
    at each size; right: share of right majority answers at each size; gaps: method → size → paired Brier
    difference to `against`, the largest size not greyed (None: all are); enough: one a method; baselines:
    of other methods, on the same questions; lacking: method → why it has none; reading: what is enough;
    measure: what is called so.
    """

    run: str
    sizes: tuple[int, ...]
    sample_range: tuple[int, int]
    repeats: int
    seed: int
    n_used: int
    n_total: int
    curves: tuple[SampleSizeCurve, ...]
    spread_caveats: Mapping[int, str]
    unavailable: Mapping[int, str]
    draws: Mapping[int, int]
    n_without_confidence: Mapping[int, int]
    mean_confidence: Mapping[str, tuple[float | None, ...]]
    accuracy: tuple[float | None, ...]
    reference_size: int | None
    brier_differences: Mapping[str, Mapping[int, BrierDifference]]
    baselines: tuple[Baseline, ...]
    missing_baselines: Mapping[str, str]
    judged: str
    recipe: str
    sufficient_sizes: tuple[SufficientSize, ...] = ()
    headline: str = ""
    sufficiency_definition: str = ""

    def curve(self, method: str, metric: str) -> SampleSizeCurve:
        """The curve of this method and metric; KeyError where it was not asked for."""
        for curve in self.curves:
            if (curve.method, curve.metric) == (method, metric):
                return curve
        raise KeyError((method, metric))

    def with_tolerance(self, tolerance: float) -> SampleSizeSweep:
        """The same draws with another measure of enough. within: above 0, in units of the Brier score."""
        against = self.reference_size
        methods = dict.fromkeys(curve.method for curve in self.curves)
        found = tuple(
            sufficient_size(method, self.brier_differences[method], against, tolerance)
            for method in methods
            if against is not None
        )
        return replace(
            self,
            sufficient_sizes=found,
            headline=sufficient_size_headline(found, self.brier_differences, METHOD_SYMBOLS),
            sufficiency_definition=sufficiency_definition(
                found, self.brier_differences, METHOD_SYMBOLS, self.n_used
            ),
        )

    def to_frame(self) -> pl.DataFrame:
        """One row a method, metric and size, then one a baseline and metric, without a size.

        run, method, metric, size, mean, std, draws, absent, n, greyed (why), f_cn_most (1 − 1/N'), gap,
        gap_low, gap_high (of the Brier score, to N' = against), within, enough (the smallest N'), said (the
        method's mean confidence), right (share of right majority answers), judged, recipe.
        """
        records = [record for curve in self.curves for record in self._curve_rows(curve)]
        records += [
            {
                "method": each.method,
                "metric": each.metric,
                "mean": each.value,
                "n": each.n_questions,
                "judged": each.judged,
                "recipe": each.recipe,
            }
            for each in self.baselines
        ]
        return pl.DataFrame(
            [{name: {"run": self.run, **record}.get(name) for name in _SWEEP_SCHEMA} for record in records],
            schema=_SWEEP_SCHEMA,
        )

    def _curve_rows(self, curve: SampleSizeCurve) -> list[dict[str, object]]:
        enough = next((each for each in self.sufficient_sizes if each.method == curve.method), None)
        records: list[dict[str, object]] = []
        for at, size in enumerate(self.sizes):
            gap = self.brier_differences.get(curve.method, {}).get(size)
            records.append(
                {
                    "method": curve.method,
                    "metric": curve.metric,
                    "size": size,
                    "mean": curve.mean[at],
                    "std": curve.std[at],
                    "draws": self.draws[size],
                    "absent": self.n_without_confidence[size],
                    "n": self.n_used,
                    "greyed": self.spread_caveats.get(size),
                    "f_cn_most": (size - 1) / size,
                    "gap": gap and gap.value,
                    "gap_low": gap and gap.low,
                    "gap_high": gap and gap.high,
                    "against": self.reference_size,
                    "within": enough and enough.tolerance,
                    "enough": enough and enough.size,
                    "said": self.mean_confidence[curve.method][at],
                    "right": self.accuracy[at],
                    "judged": self.judged,
                    "recipe": curve.recipe,
                }
            )
        return records


_SWEEP_SCHEMA: Final[Mapping[str, type[pl.DataType]]] = MappingProxyType(
    {
        "run": pl.String,
        "method": pl.String,
        "metric": pl.String,
        "size": pl.Int64,
        "mean": pl.Float64,
        "std": pl.Float64,
        "draws": pl.Int64,
        "absent": pl.Int64,
        "n": pl.Int64,
        "greyed": pl.String,
        "f_cn_most": pl.Float64,
        "gap": pl.Float64,
        "gap_low": pl.Float64,
        "gap_high": pl.Float64,
        "against": pl.Int64,
        "within": pl.Float64,
        "enough": pl.Int64,
        "said": pl.Float64,
        "right": pl.Float64,
        "judged": pl.String,
        "recipe": pl.String,
    }
)


def _no_progress(_share: float, _text: str) -> None:
    pass


def sample_size_sweep(
    run: Run,
    plan: SamplingPlan | None = None,
    options: MethodOptions | None = None,
    *,
    tolerance: float = BRIER_TOLERANCE,
    scheme: Scheme = DEFAULT_SCHEME,
    progress: SamplingProgress = _no_progress,
) -> SampleSizeSweep:
    """The metrics of the self-consistency methods over N', by drawing parts of the samples.

    within: above 0, in units of the Brier score; scheme: of metrics with bins. The same plan gives the same
    numbers. Raises Unavailable with the reason where the run has no samples, no size can be served, or a
    method or metric cannot be drawn; ValueError for other arguments.
    """
    plan, options = plan or SamplingPlan(), options or MethodOptions()
    if plan.repeats < 1 or plan.seed < 0 or not tolerance > 0:
        raise ValueError("a sweep over N' needs 1 repeat or more, a seed of 0 or more, and a within above 0")
    methods, metrics = (
        _ordered_methods(plan.methods),
        [_pair_metric(id_) for id_ in dict.fromkeys(plan.metrics)],
    )
    evidence = gather_evidence(run, SELF_CONSISTENCY_METHODS[0], options)
    if not isinstance(evidence, AnswerEvidence):
        raise Unavailable("A token-level run has no sampled answers.")
    coded = sample_matrix(evidence.run, options)
    served = subsample_sizes(coded.n_samples, coded.usable_rows, plan.sizes)
    code, correct = coded.codes[served.question_rows], coded.cluster_correct[served.question_rows]
    drawn = draw_subsamples(code, correct, served.sizes, metrics, scheme, options.unparseable, plan, progress)
    return _assemble_sweep(evidence, served, drawn, methods, metrics, scheme, plan).with_tolerance(tolerance)


def _ordered_methods(ids: Sequence[str]) -> tuple[str, ...]:
    """In the order of SELF_CONSISTENCY, each once."""
    for id_ in ids:
        if id_ not in SELF_CONSISTENCY_METHODS:
            raise Unavailable(f"{id_} is not made from samples: {', '.join(SELF_CONSISTENCY_METHODS)} are.")
    return tuple(id_ for id_ in SELF_CONSISTENCY_METHODS if id_ in ids)


def _pair_metric(id_: str) -> Metric:
    metric = get_metric(id_)
    if metric.needs != "pairs":
        raise Unavailable(f"{metric.title} needs a whole distribution; samples give one confidence a row.")
    return metric


def _assemble_sweep(
    evidence: AnswerEvidence,
    available: SubsampleSizes,
    draws_by_size: Mapping[int, SubsampleDraws],
    methods: Sequence[str],
    metrics: Sequence[Metric],
    scheme: Scheme,
    plan: SamplingPlan,
) -> SampleSizeSweep:
    """Everything but what depends on `within`."""
    how = _sampling_recipe(evidence, available, plan)
    gaps = _differences_to_reference(draws_by_size, available, plan.seed)
    baselines, lacking = baselines_on_rows(
        evidence.run, evidence.options, available.question_rows, metrics, scheme
    )
    return SampleSizeSweep(
        run=evidence.run.label,
        sizes=available.sizes,
        sample_range=available.sample_range,
        repeats=plan.repeats,
        seed=plan.seed,
        n_used=available.question_rows.size,
        n_total=evidence.n_total,
        curves=tuple(
            _sample_size_curve(method, metric, scheme, available, draws_by_size, how)
            for method in methods
            for metric in metrics
        ),
        spread_caveats=MappingProxyType(available.spread_caveats),
        unavailable=MappingProxyType(available.unavailable),
        draws=MappingProxyType({size: draws_by_size[size].accuracy.size for size in available.sizes}),
        n_without_confidence=MappingProxyType(
            {size: draws_by_size[size].n_without_confidence for size in available.sizes}
        ),
        mean_confidence=MappingProxyType(
            {
                method: tuple(
                    _mean_of_defined(
                        draws_by_size[size].mean_confidence[SELF_CONSISTENCY_METHODS.index(method)]
                    )
                    for size in available.sizes
                )
                for method in methods
            }
        ),
        accuracy=tuple(_mean_of_defined(draws_by_size[size].accuracy) for size in available.sizes),
        reference_size=available.reference_size,
        brier_differences=MappingProxyType(
            {method: gaps[SELF_CONSISTENCY_METHODS.index(method)] for method in methods}
        ),
        baselines=baselines,
        missing_baselines=MappingProxyType(lacking),
        judged=evidence.judged,
        recipe=how,
    )


def _differences_to_reference(
    draws_by_size: Mapping[int, SubsampleDraws], available: SubsampleSizes, seed: int
) -> list[Mapping[int, BrierDifference]]:
    """The paired differences of every size below the reference, one mapping a method."""
    if available.reference_size is None:
        return [{} for _ in SELF_CONSISTENCY_METHODS]
    below = [size for size in available.sizes if size < available.reference_size]
    return [
        MappingProxyType(each)
        for each in brier_differences(
            {size: draws_by_size[size].squared_error for size in draws_by_size},
            below,
            available.reference_size,
            seed,
        )
    ]


def _sample_size_curve(
    method: str,
    metric: Metric,
    scheme: Scheme,
    available: SubsampleSizes,
    draws_by_size: Mapping[int, SubsampleDraws],
    sampling_recipe: str,
) -> SampleSizeCurve:
    values = [
        draws_by_size[size].values[metric.id][SELF_CONSISTENCY_METHODS.index(method)]
        for size in available.sizes
    ]
    bins = [scheme_text(effective_scheme(metric, scheme))] if metric.binned else []
    return SampleSizeCurve(
        method=method,
        metric=metric.id,
        mean=tuple(map(_mean_of_defined, values)),
        std=tuple(map(_std_of_defined, values)),
        recipe=", ".join([metric.recipe_name, *bins, METHOD_SYMBOLS[method], sampling_recipe]),
    )


def _mean_of_defined(values: NDArray[np.float64]) -> float | None:
    """Over the draws that define it."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else None


def _std_of_defined(values: NDArray[np.float64]) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.std()) if known.size and values.size > 1 else None


def _sampling_recipe(evidence: AnswerEvidence, available: SubsampleSizes, plan: SamplingPlan) -> str:
    """ "N'=4, 8 of N=16, answers compared as numbers, unparseable samples own clusters, mean and …"."""
    low, high = available.sample_range
    whole = "" if low == high else f"–{high}"
    words = [word for word in evidence.recipe_parts if not word.startswith("N=")]
    drawn = f"drawn without replacement, {plan.repeats} repeats, seed {plan.seed}, ties to the first drawn"
    return ", ".join(
        [
            f"N'={', '.join(map(str, available.sizes))} of N={low}{whole}",
            *words,
            drawn,
            "mean and standard deviation (ddof 0) over the repeats",
            rows_text(evidence, available.question_rows.size),
        ]
    )
