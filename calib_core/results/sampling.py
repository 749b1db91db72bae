"""How many samples are enough? The metrics of the self-consistency methods over the number of samples N'.

After Figure 2 of the self-consistency paper (Wang et al., arXiv 2403.09849). All sizes N' use the same
questions: those with at least as many samples as the largest size. For each repeat a random order of a
question's samples is drawn, whose first N' are the subset of size N'; the subsets of one repeat are
therefore nested, and adding a size changes no other. Sizes are compared by paired differences, since the
same questions are judged at each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.bins import BinSums
from calib_core.edges import DEFAULT_SCHEME, Scheme
from calib_core.errors import Unavailable
from calib_core.inference.bootstrap import BOOTSTRAP_DRAWS
from calib_core.inference.missingness import Missingness
from calib_core.inference.verdict import MIN_ROWS
from calib_core.methods import METHODS
from calib_core.methods.answers.cluster import ABSENT_CODE
from calib_core.methods.answers.subsample import (
    SampleMatrix,
    SubsampleConfidences,
    sample_matrix,
    subsample_confidences,
)
from calib_core.methods.answers.unparseable import UnparseableRule
from calib_core.methods.method import MethodOptions
from calib_core.metrics import METRICS
from calib_core.metrics.brier import BRIER
from calib_core.metrics.metric import Metric, SamplingDefault
from calib_core.results.columns import Column, frame_of
from calib_core.results.display import Displayable
from calib_core.results.evidence import (
    AnswerEvidence,
    gather_evidence,
    get_metric,
    refuse_weights,
    restrict_rows,
)
from calib_core.results.recipe import recipe_text, rows_text, scheme_text
from calib_core.results.score import effective_scheme
from calib_core.runs import AnswerRun, Run
from calib_core.wording import join_names, plural

PAPER_SIZES: Final = (4, 8, 16, 32, 64)
"""The sample sizes of Figure 2 of the self-consistency paper."""

SELF_CONSISTENCY_METHODS: Final = SubsampleConfidences._fields
"""The three self-consistency methods, in the order of the fields of `SubsampleConfidences`."""

METHOD_SYMBOLS: Final = MappingProxyType({id_: METHODS[id_].short_title for id_ in SELF_CONSISTENCY_METHODS})
"""Method id → "F_CN", "F_CS" or "F_PC"."""

BASELINE_METHODS: Final = tuple(id_ for id_, method in METHODS.items() if method.is_baseline)
"""The baselines of the self-consistency paper."""


def _metrics_by_sampling_default(*defaults: SamplingDefault) -> tuple[str, ...]:
    """Ids of the metrics with one of these defaults, proper scores first."""
    # Proper scores lead, since the other metrics can improve while confidences get worse.
    metrics = sorted(METRICS.values(), key=lambda metric: not metric.is_proper)
    return tuple(metric.id for metric in metrics if metric.sampling_default in defaults)


DEFAULT_METRICS: Final = _metrics_by_sampling_default("shown", "offered")
"""Metrics computed by default; an additional metric costs little compared with the draws."""

SHOWN_METRICS: Final = _metrics_by_sampling_default("shown")
"""Metrics shown by default."""

BRIER_TOLERANCE: Final = 0.005
"""A difference in Brier score up to this counts as none."""

SAMPLING_COLUMNS: Final = (
    Column("run"),
    Column("method", "Method", "method"),
    Column("metric", "Metric", "metric"),
    Column("size", "N'", "count"),
    Column("mean", "Mean", "number", help="Over the draws."),
    Column("std", "SD", "number", help="Standard deviation over the draws; not an error over questions."),
    Column("draws", "Draws", "count"),
    Column("absent", kind="count", help="Draws without a confidence."),
    Column("n", kind="count"),
    Column("greyed", help="The caveat on the spread."),
    Column("f_cn_most", kind="number", help="1 − 1/N', the largest possible F_CN."),
    Column("gap", "Brier difference", "signed", help="From the largest N' that is not greyed."),
    Column("gap_low", "95 %", "signed", help="Interval, paired by question.", upper="gap_high"),
    Column("gap_high", kind="signed"),
    Column("against", kind="count", help="The N' that differences are from."),
    Column("within", kind="number", help="The tolerance."),
    Column("enough", kind="count", help="The smallest N' that is enough."),
    Column("said", kind="number", help="Mean confidence."),
    Column("right", kind="number", help="Share of correct majority answers."),
    Column("judged"),
    Column("recipe"),
)
"""The columns of the table of means."""

_MAX_SHUFFLED: Final = 500_000
"""Number of samples shuffled at a time: small enough for the processor's cache, large enough to be fast."""

SizeAnswer = Literal["enough", "better", "none"]
"""Whether fewer samples do as well as the reference size, do better than it, or neither."""

SamplingProgress = Callable[[float, str], object]
"""Called with the share that is done, in [0, 1], and with a description of it."""


@dataclass(frozen=True, slots=True)
class SamplingPlan:
    """What to draw, and which methods and metrics to compute from it.

    Attributes
    ----------
    sizes : tuple[int, ...] or None
        N'; None for the `PAPER_SIZES` most questions have.
    repeats : int
        At least 1.
    seed : int
        At least 0.
    methods : tuple[str, ...]
        Ids from `SELF_CONSISTENCY_METHODS`.
    metrics : tuple[str, ...]
        Ids of metrics that need one confidence a row.
    """

    sizes: tuple[int, ...] | None = None
    repeats: int = 100
    seed: int = 0
    methods: tuple[str, ...] = SELF_CONSISTENCY_METHODS
    metrics: tuple[str, ...] = DEFAULT_METRICS


@dataclass(frozen=True, slots=True, eq=False)
class SubsampleSizes:
    """The sizes that can be drawn, and from which questions.

    Attributes
    ----------
    sizes : tuple[int, ...]
        N', ascending.
    question_rows : NDArray[np.intp], shape (n_questions,)
        Row positions of the questions in the run, ascending.
    sample_range : tuple[int, int]
        Fewest and most samples of these questions.
    spread_caveats : Mapping[int, str]
        Size → why the spread over its draws is too small to rely on.
    unavailable : Mapping[int, str]
        Requested size → why it is not among `sizes`.
    reference_size : int or None
        The largest size without a caveat; None where all have one.
    """

    sizes: tuple[int, ...]
    question_rows: NDArray[np.intp]
    sample_range: tuple[int, int]
    spread_caveats: Mapping[int, str]
    unavailable: Mapping[int, str]
    reference_size: int | None


@dataclass(frozen=True, slots=True, eq=False)
class SubsampleDraws:
    """All draws of one size N'; methods in the order of `SELF_CONSISTENCY_METHODS`.

    Attributes
    ----------
    values : Mapping[str, NDArray[np.float64]], each of shape (n_methods, n_draws)
        By metric id; NaN where a draw does not define the metric.
    mean_confidence : NDArray[np.float64], shape (n_methods, n_draws)
    accuracy : NDArray[np.float64], shape (n_draws,)
        Share of correct majority answers.
    squared_error : NDArray[np.float64], shape (n_methods, n_questions)
        Mean of (c − y)² over the draws; NaN where no draw of the question has a confidence.
    n_without_confidence : int
        Number of draws of a question without a confidence, over all questions.
    """

    values: Mapping[str, NDArray[np.float64]]
    mean_confidence: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    squared_error: NDArray[np.float64]
    n_without_confidence: int


@dataclass(frozen=True, slots=True)
class BrierDifference:
    """Mean difference in squared error between one N' and the reference size, over questions.

    Attributes
    ----------
    value : float
    low, high : float
        Its 95 % interval, by the basic bootstrap over questions.
    n_questions : int
    """

    value: float
    low: float
    high: float
    n_questions: int

    def within_tolerance(self, tolerance: float) -> bool:
        """Whether the whole interval lies within ± `tolerance`."""
        return -tolerance <= self.low and self.high <= tolerance


@dataclass(frozen=True, slots=True)
class SufficientSize:
    """The smallest N' at which a method does as well as at the reference size.

    Attributes
    ----------
    method : str
        The method's id.
    size : int or None
        None where no smaller size does as well.
    reference_size : int
    tolerance : float
        In units of the Brier score.
    better_size : int or None
        The smallest size with a clearly lower Brier score than the reference size.
    """

    method: str
    size: int | None
    reference_size: int
    tolerance: float
    better_size: int | None = None

    @property
    def answer(self) -> SizeAnswer:
        """Whether some size is enough, or else better, or none is; said by the headline."""
        return "enough" if self.size else "better" if self.better_size else "none"

    @property
    def answer_size(self) -> int | None:
        """The size that is enough, or else better; None where none is."""
        return self.size or self.better_size

    @property
    def answer_text(self) -> str:
        """The size as a number, or "no N' below 16"."""
        return str(self.answer_size) if self.answer_size else f"no N' below {self.reference_size}"


@dataclass(frozen=True, slots=True)
class Baseline:
    """One metric of a method that needs no samples.

    Attributes
    ----------
    method, metric : str
        Their ids.
    value : float
    n_questions : int
        Number of the drawn questions that have this confidence.
    judged : str
        Which answer the outcome belongs to ("greedy answer"); it may differ from the majority answer.
    recipe : str
    """

    method: str
    metric: str
    value: float
    n_questions: int
    judged: str
    recipe: str


@dataclass(frozen=True, slots=True, eq=False)
class SampleSizeCurve:
    """One metric of one method over N'.

    Attributes
    ----------
    method, metric : str
        Their ids.
    mean, std : tuple[float or None, ...]
        Over the draws that define the metric, one for each size; None where there is none. `std` is that of a
        population (ddof 0), None for a single draw.
    recipe : str
    """

    method: str
    metric: str
    mean: tuple[float | None, ...]
    std: tuple[float | None, ...]
    recipe: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SampleSizeSweep(Displayable):
    """The metrics of one run over N'; all sizes use the same `n_used` questions.

    Attributes
    ----------
    run : str
    sizes : tuple[int, ...]
        N', ascending.
    sample_range : tuple[int, int]
        Fewest and most samples of these questions.
    repeats, seed : int
    n_used, n_total : int
        Questions used, and rows in the file.
    curves : tuple[SampleSizeCurve, ...]
    spread_caveats : Mapping[int, str]
        Size → why its spread is too small to rely on.
    unavailable : Mapping[int, str]
        Requested size → why it is not among `sizes`.
    n_draws : Mapping[int, int]
        Size → number of draws.
    n_without_confidence : Mapping[int, int]
        Size → number of draws of a question that have no confidence, as no sample parses.
    mean_confidence : Mapping[str, tuple[float or None, ...]]
        Method id → mean confidence at each size.
    accuracy : tuple[float or None, ...]
        Share of correct majority answers at each size.
    reference_size : int or None
        The largest size without a caveat; None where all have one.
    brier_differences : Mapping[str, Mapping[int, BrierDifference]]
        Method id → size → paired difference from `reference_size`.
    baselines : tuple[Baseline, ...]
        Other methods on the same questions.
    missing_baselines : Mapping[str, str]
        Method id → why the run lacks it.
    judged, recipe : str
    sufficient_sizes : tuple[SufficientSize, ...]
        One for each method.
    headline : str
        How many samples are enough.
    sufficiency_definition : str
        What the headline calls enough.
    missing : Missingness or None
        Accuracy of the rows without a confidence beside that of the others; None where no row lacks one.
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
    n_draws: Mapping[int, int]
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
    missing: Missingness | None = None

    def curve(self, method: str, metric: str) -> SampleSizeCurve:
        """The curve of this method and metric; raises KeyError where it was not computed."""
        for curve in self.curves:
            if (curve.method, curve.metric) == (method, metric):
                return curve
        raise KeyError((method, metric))

    def with_tolerance(self, tolerance: float) -> SampleSizeSweep:
        """The same draws with another tolerance, above 0, in units of the Brier score."""
        reference = self.reference_size
        methods = dict.fromkeys(curve.method for curve in self.curves)
        sufficient_sizes = tuple(
            sufficient_size(method, self.brier_differences[method], reference, tolerance)
            for method in methods
            if reference is not None
        )
        return replace(
            self,
            sufficient_sizes=sufficient_sizes,
            headline=sufficient_size_headline(sufficient_sizes, self.brier_differences, METHOD_SYMBOLS),
            sufficiency_definition=sufficiency_definition(
                sufficient_sizes, self.brier_differences, METHOD_SYMBOLS, self.n_used
            ),
        )

    def to_frame(self) -> pl.DataFrame:
        """One row for each method, metric and size, then one for each baseline and metric, without a size."""
        rows = [row for curve in self.curves for row in self._curve_rows(curve)]
        rows += [
            {
                "method": baseline.method,
                "metric": baseline.metric,
                "mean": baseline.value,
                "n": baseline.n_questions,
                "judged": baseline.judged,
                "recipe": baseline.recipe,
            }
            for baseline in self.baselines
        ]
        return frame_of(SAMPLING_COLUMNS, ({"run": self.run, **row} for row in rows))

    def _curve_rows(self, curve: SampleSizeCurve) -> list[dict[str, object]]:
        sufficient = next(
            (candidate for candidate in self.sufficient_sizes if candidate.method == curve.method), None
        )
        rows: list[dict[str, object]] = []
        for index, size in enumerate(self.sizes):
            difference = self.brier_differences.get(curve.method, {}).get(size)
            rows.append(
                {
                    "method": curve.method,
                    "metric": curve.metric,
                    "size": size,
                    "mean": curve.mean[index],
                    "std": curve.std[index],
                    "draws": self.n_draws[size],
                    "absent": self.n_without_confidence[size],
                    "n": self.n_used,
                    "greyed": self.spread_caveats.get(size),
                    "f_cn_most": (size - 1) / size,
                    "gap": difference and difference.value,
                    "gap_low": difference and difference.low,
                    "gap_high": difference and difference.high,
                    "against": self.reference_size,
                    "within": sufficient and sufficient.tolerance,
                    "enough": sufficient and sufficient.size,
                    "said": self.mean_confidence[curve.method][index],
                    "right": self.accuracy[index],
                    "judged": self.judged,
                    "recipe": curve.recipe,
                }
            )
        return rows


def _no_progress(_share: float, _text: str) -> None:
    """Ignore progress."""


def sample_size_sweep(
    run: Run,
    plan: SamplingPlan | None = None,
    options: MethodOptions | None = None,
    *,
    tolerance: float = BRIER_TOLERANCE,
    scheme: Scheme = DEFAULT_SCHEME,
    samples: SampleMatrix | None = None,
    progress: SamplingProgress = _no_progress,
) -> SampleSizeSweep:
    """The metrics of the self-consistency methods over N', by drawing subsets of the samples.

    Parameters
    ----------
    run : Run
    plan : SamplingPlan, optional
        The same plan gives the same numbers.
    options : MethodOptions, optional
    tolerance : float
        Above 0, in units of the Brier score.
    scheme : Scheme
        Bins of the metrics that have bins.
    samples : SampleMatrix, optional
        The run's samples under these options, if they are known already.
    progress : callable
        Called with the share done, in [0, 1], and a description.

    Raises
    ------
    Unavailable
        With the reason, where the run has no samples, no size can be drawn, or a method or metric does
        not apply.
    ValueError
        For other invalid arguments.
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
    refuse_weights(evidence, "The sweep over samples")
    samples = samples or sample_matrix(evidence.run, options)
    available = subsample_sizes(samples.n_samples, samples.usable_rows, plan.sizes)
    code, correct = samples.codes[available.question_rows], samples.cluster_correct[available.question_rows]
    draws_by_size = draw_subsamples(
        code, correct, available.sizes, metrics, scheme, options.unparseable, plan, progress
    )
    return _assemble_sweep(evidence, available, draws_by_size, methods, metrics, scheme, plan).with_tolerance(
        tolerance
    )


def _ordered_methods(ids: Sequence[str]) -> tuple[str, ...]:
    """These ids in the order of `SELF_CONSISTENCY_METHODS`, each once."""
    for id_ in ids:
        if id_ not in SELF_CONSISTENCY_METHODS:
            raise Unavailable(
                f"{id_} does not use samples. Methods that do: {', '.join(SELF_CONSISTENCY_METHODS)}."
            )
    return tuple(id_ for id_ in SELF_CONSISTENCY_METHODS if id_ in ids)


def _pair_metric(id_: str) -> Metric:
    metric = get_metric(id_)
    if metric.needs != "pairs":
        raise Unavailable(f"{metric.title} needs a whole distribution; samples give one confidence per row.")
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
    """Everything except what depends on the tolerance."""
    recipe = _sampling_recipe(evidence, available, plan)
    differences = _differences_to_reference(draws_by_size, available, plan.seed)
    baselines, missing = baselines_on_rows(
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
            _sample_size_curve(method, metric, scheme, available, draws_by_size, recipe)
            for method in methods
            for metric in metrics
        ),
        spread_caveats=MappingProxyType(available.spread_caveats),
        unavailable=MappingProxyType(available.unavailable),
        n_draws=MappingProxyType({size: draws_by_size[size].accuracy.size for size in available.sizes}),
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
            {method: differences[SELF_CONSISTENCY_METHODS.index(method)] for method in methods}
        ),
        baselines=baselines,
        missing_baselines=MappingProxyType(missing),
        judged=evidence.judged,
        recipe=recipe,
        missing=evidence.missingness,
    )


def _differences_to_reference(
    draws_by_size: Mapping[int, SubsampleDraws], available: SubsampleSizes, seed: int
) -> list[Mapping[int, BrierDifference]]:
    """The paired differences of every size below the reference, one mapping for each method."""
    if available.reference_size is None:
        return [{} for _ in SELF_CONSISTENCY_METHODS]
    below = [size for size in available.sizes if size < available.reference_size]
    return [
        MappingProxyType(differences)
        for differences in brier_differences(
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
    """Mean over the draws that define the value."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else None


def _std_of_defined(values: NDArray[np.float64]) -> float | None:
    """Population standard deviation over the draws that define the value; None for a single draw."""
    defined = values[~np.isnan(values)]
    return float(defined.std()) if defined.size and values.size > 1 else None


def _sampling_recipe(evidence: AnswerEvidence, available: SubsampleSizes, plan: SamplingPlan) -> str:
    """ "N'=4, 8 of N=16, answers compared as numbers, unparseable samples own clusters, mean and …"."""
    low, high = available.sample_range
    upper = "" if low == high else f"–{high}"
    parts = [part for part in evidence.recipe_parts if not part.startswith("N=")]
    how_drawn = (
        f"drawn without replacement, {plan.repeats} repeats, seed {plan.seed}, ties to the first drawn"
    )
    return ", ".join(
        [
            f"N'={', '.join(map(str, available.sizes))} of N={low}{upper}",
            *parts,
            how_drawn,
            "mean and standard deviation (ddof 0) over the repeats",
            rows_text(evidence, available.question_rows.size),
        ]
    )


# --- Which sizes can be drawn ---------------------------------------------------------------------


def subsample_sizes(
    n_samples: NDArray[np.int64], usable: NDArray[np.intp], requested: Sequence[int] | None = None
) -> SubsampleSizes:
    """The sizes for which at least half of the usable questions have samples, and those questions.

    Parameters
    ----------
    n_samples : NDArray[np.int64], shape (n_rows,)
        Number of samples of each row.
    usable : NDArray[np.intp], shape (n_usable,)
        Rows that may be drawn from.
    requested : sequence of int, optional
        Sizes N'; `default_sizes` where omitted.

    Raises
    ------
    Unavailable
        Where no size is left.
    """
    available = n_samples[usable]
    if not available.size:
        raise Unavailable("No question has an outcome for every sample.")
    common = int(np.sort(available)[::-1][(available.size - 1) // 2])
    if requested is None:
        requested = default_sizes(common)
    unavailable = {
        size: reason for size in requested if (reason := _size_unavailable_reason(size, available, common))
    }
    sizes = tuple(sorted({int(size) for size in requested} - unavailable.keys()))
    if not sizes:
        reasons = " ".join(dict.fromkeys(unavailable.values()))
        raise Unavailable(reasons or "Choose at least one number of samples N'.")
    rows = usable[available >= sizes[-1]]
    fewest, most = int(n_samples[rows].min()), int(n_samples[rows].max())
    caveats = {size: _overlap_caveat(size, fewest, most) for size in sizes if 2 * size > fewest}
    reliable = [size for size in sizes if size not in caveats]
    return SubsampleSizes(
        sizes, rows, (fewest, most), caveats, unavailable, reliable[-1] if reliable else None
    )


def default_sizes(n_samples: int) -> tuple[int, ...]:
    """The `PAPER_SIZES` up to `n_samples`, or `n_samples` itself if it is below four.

    Size 2 is added where 8 has a caveat, so that size 4 has another one to be compared with.

    Examples
    --------
    >>> default_sizes(16), default_sizes(8), default_sizes(3)
    ((4, 8, 16), (2, 4, 8), (3,))
    """
    smallest = (2,) if PAPER_SIZES[0] <= n_samples < 2 * PAPER_SIZES[1] else ()
    return (*smallest, *(size for size in PAPER_SIZES if size <= n_samples)) or (n_samples,)


def _size_unavailable_reason(size: int, n_samples: NDArray[np.int64], common: int) -> str | None:
    if size < 2:
        return f"N' = {size}: one sample gives no self-consistency."
    if size <= common:
        return None
    n_enough = int((n_samples >= size).sum())
    questions = plural(n_samples.size, "question")
    holders = (
        f"{n_enough:,} of {questions} {'has' if n_enough == 1 else 'have'}" if n_enough else "no question has"
    )
    return f"N' = {size}: {holders} that many samples; choose up to {common}."


def _overlap_caveat(size: int, fewest: int, most: int) -> str:
    if size == fewest == most:
        return f"N' = {size} uses all samples: there is only one subset, so no spread."
    return f"N' = {size} is more than half of {fewest} samples: subsets overlap, so the spread is too small."


# --- Drawing subsets ------------------------------------------------------------------------------


class _DrawCollector:
    """Accumulates the draws of one size."""

    def __init__(self, questions: int, metrics: Sequence[Metric], scheme: Scheme) -> None:
        self._metrics = [(metric, effective_scheme(metric, scheme)) for metric in metrics]
        self._values: dict[str, list[list[float]]] = {metric.id: [] for metric in metrics}
        self._mean_confidence: list[list[float]] = []
        self._accuracy: list[float] = []
        self._squares = np.zeros((len(SELF_CONSISTENCY_METHODS), questions))
        self._present = np.zeros(questions, np.int64)
        self._draws = 0

    def add(self, codes: NDArray[np.int32], correct: NDArray[np.int8], unparseable: UnparseableRule) -> None:
        """Add draws of every question.

        Parameters
        ----------
        codes : NDArray[np.int32], shape (n_draws, n_questions, N')
            Cluster codes as in `SampleMatrix.codes`.
        correct : NDArray[np.int8], shape (n_questions, n_clusters)
            Outcome of each cluster, as in `SampleMatrix.cluster_correct`.
        unparseable : UnparseableRule
        """
        draws, questions, size = codes.shape
        confidences, majority, _ = subsample_confidences(codes.reshape(-1, size), unparseable)
        defined = ~np.isnan(confidences[0])
        cluster = np.where(defined, majority, 0)
        right = correct[np.arange(defined.size) % questions, cluster] == 1
        present = defined.reshape(draws, questions)
        brier = np.full((draws, len(SELF_CONSISTENCY_METHODS)), np.nan)
        for method_index, confidence in enumerate(confidences):
            squares = np.where(defined, (confidence - right) ** 2, 0.0).reshape(draws, questions)
            self._squares[method_index] += squares.sum(0)
            # Same value as the registered Brier score, without a second pass over the pairs.
            np.divide(squares.sum(1), present.sum(1), out=brier[:, method_index], where=present.any(1))
        self._present += present.sum(0)
        self._draws += draws
        if BRIER.id in self._values:
            self._values[BRIER.id] += brier.tolist()
        for start in range(0, defined.size, questions):
            used_rows = start + np.flatnonzero(defined[start : start + questions])
            self._add_draw([confidence[used_rows] for confidence in confidences], right[used_rows])

    def _add_draw(self, confidences: Sequence[NDArray[np.float64]], right: NDArray[np.bool_]) -> None:
        """Add one draw of every question: all metrics but the Brier score, which `add` computes."""
        others = [(metric, scheme) for metric, scheme in self._metrics if metric.id != BRIER.id]
        sums = (
            [BinSums.from_pairs(confidence, right, computed=True, copy=False) for confidence in confidences]
            if others
            else []
        )
        for metric, scheme in others:
            values = [metric.compute(method_sums, scheme) for method_sums in sums]
            self._values[metric.id].append([np.nan if value is None else value for value in values])
        pairs = max(right.size, 1)
        self._mean_confidence.append(
            [float(confidence.sum()) / pairs if right.size else np.nan for confidence in confidences]
        )
        self._accuracy.append(int(right.sum()) / pairs if right.size else np.nan)

    def draws(self) -> SubsampleDraws:
        """All draws added so far."""
        n_present = np.where(self._present, self._present, np.nan)
        return SubsampleDraws(
            values={id_: np.array(values).T for id_, values in self._values.items()},
            mean_confidence=np.array(self._mean_confidence).T,
            accuracy=np.array(self._accuracy),
            squared_error=self._squares / n_present,
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
    """Draw subsets of the samples and compute the metrics of each.

    Parameters
    ----------
    code, correct : NDArray
        As in `SampleMatrix`, of questions with at least as many samples as the largest size.
    sizes : sequence of int
        N'.
    metrics : sequence of Metric
        Metrics of one confidence a row.
    scheme : Scheme
        Bins of the metrics that have bins.
    unparseable : UnparseableRule
    plan : SamplingPlan
    progress : callable

    Returns
    -------
    dict[int, SubsampleDraws]
        By size. A size equal to the number of samples of every question has a single draw, in the file's
        order.
    """
    n_samples = (code != ABSENT_CODE).sum(1)
    full_size = int(n_samples.min()) if np.all(n_samples == n_samples[0]) else None
    collectors = {size: _DrawCollector(code.shape[0], metrics, scheme) for size in sizes}
    drawn = [size for size in sizes if size != full_size]
    if full_size in collectors:
        collectors[full_size].add(code[None, :, :full_size], correct, unparseable)
    done = 0
    for shuffled in _shuffled_samples(code, plan.repeats if drawn else 0, max(drawn, default=0), plan.seed):
        for index, size in enumerate(drawn):
            progress((done + shuffled.shape[0] * index / len(drawn)) / plan.repeats, f"N' = {size}")
            collectors[size].add(shuffled[:, :, :size], correct, unparseable)
        done += shuffled.shape[0]
        progress(done / plan.repeats, f"{done:,} of {plan.repeats:,} repeats")
    return {size: collector.draws() for size, collector in collectors.items()}


def _shuffled_samples(
    code: NDArray[np.int32], repeats: int, max_size: int, seed: int
) -> Iterator[NDArray[np.int32]]:
    """The first `max_size` samples of each question in random order, some repeats at a time.

    Yields arrays of shape (some repeats, n_questions, max_size). The keys are drawn one after the other,
    so the number of repeats in an array does not affect the result.
    """
    random = np.random.default_rng(seed)
    absent = code == ABSENT_CODE
    batch = max(1, _MAX_SHUFFLED // code.size)
    for start in range(0, repeats, batch):
        keys = random.random((min(batch, repeats - start), *code.shape))
        keys[:, absent] = np.inf
        order = np.argsort(keys, axis=2)[:, :, :max_size]
        yield np.take_along_axis(code[None], order, axis=2)


# --- How many samples are enough ------------------------------------------------------------------


def brier_differences(
    squared_error: Mapping[int, NDArray[np.float64]], sizes: Sequence[int], reference_size: int, seed: int
) -> list[dict[int, BrierDifference]]:
    """Paired differences in Brier score between each size and the reference size.

    Parameters
    ----------
    squared_error : Mapping[int, NDArray[np.float64]], each of shape (n_methods, n_questions)
        By size; NaN where a question has none.
    sizes : sequence of int
        Sizes to compare.
    reference_size : int
    seed : int
        The bootstrap draws the same questions for all methods and sizes.

    Returns
    -------
    list[dict[int, BrierDifference]]
        One mapping by size for each method. A question counts where both sizes have it; a size with fewer
        than two such questions has no difference.
    """
    reference = squared_error[reference_size]
    by_size = [squared_error[size] - reference for size in sizes]
    if not by_size:
        return [{} for _ in reference]
    stacked = np.concatenate(by_size)
    defined = ~np.isnan(stacked)
    ends = _bootstrap_means(np.where(defined, stacked, 0.0), defined, seed)
    differences: list[dict[int, BrierDifference]] = [{} for _ in reference]
    for index, (value, low, high) in enumerate(ends):
        if (questions := int(defined[index].sum())) > 1 and np.isfinite(low):
            size_index, method = divmod(index, len(differences))
            differences[method][sizes[size_index]] = BrierDifference(value, low, high, questions)
    return differences


def _bootstrap_means(
    values: NDArray[np.float64], defined: NDArray[np.bool_], seed: int
) -> list[tuple[float, float, float]]:
    """Mean and basic 95 % interval of each row of values; NaN ends where a draw has no defined value."""
    random = np.random.default_rng(seed)
    questions: int = values.shape[1]
    values_and_counts = np.concatenate([values, defined])
    sums = np.empty((BOOTSTRAP_DRAWS, values_and_counts.shape[0]))
    for draw in range(BOOTSTRAP_DRAWS):
        questions_drawn = random.integers(questions, size=questions)
        sums[draw] = values_and_counts @ np.bincount(questions_drawn, minlength=questions)
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
    """The smallest size whose difference lies within `tolerance`, which is above 0."""
    ordered = sorted(differences.items())
    size = next((size for size, gap in ordered if gap.within_tolerance(tolerance)), None)
    better = next((size for size, gap in ordered if gap.high < 0), None)
    return SufficientSize(method, size, reference_size, tolerance, better)


def sufficient_size_headline(
    sufficient_sizes: Sequence[SufficientSize],
    differences: Mapping[str, Mapping[int, BrierDifference]],
    names: Mapping[str, str],
) -> str:
    """How many samples are enough by the Brier score, whichever metric is shown, in one sentence.

    Parameters
    ----------
    sufficient_sizes : sequence of SufficientSize
    differences : Mapping[str, Mapping[int, BrierDifference]]
        By method and size.
    names : Mapping[str, str]
        Method id → name such as "F_CS".
    """
    if not sufficient_sizes:
        return "Too few samples per question to compare sample sizes: every N' is more than half of them."
    reference = sufficient_sizes[0].reference_size
    if not any(differences.values()):
        return (
            f"Only N' = {reference} is at most half of the samples, so there is no smaller N' to compare "
            "with it."
        )
    parts = [
        f"{text} samples are enough for {join_names(methods)}"
        for text, methods in _methods_by_answer(sufficient_sizes, "enough", names).items()
    ]
    parts += [
        f"{join_names(methods)} {'do' if len(methods) > 1 else 'does'} better with {text} than with "
        f"{reference}"
        for text, methods in _methods_by_answer(sufficient_sizes, "better", names).items()
    ]
    parts += [
        f"{text} is enough for {join_names(methods)}"
        for text, methods in _methods_by_answer(sufficient_sizes, "none", names).items()
    ]
    return f"By the Brier score, {'; '.join(parts)}."


def _methods_by_answer(
    sufficient_sizes: Sequence[SufficientSize], answer: SizeAnswer, names: Mapping[str, str]
) -> dict[str, list[str]]:
    """Text of the answer → names of the methods with this kind of answer, smallest size first."""
    found = [sufficient for sufficient in sufficient_sizes if sufficient.answer == answer]
    methods: dict[str, list[str]] = {}
    for sufficient in sorted(found, key=lambda sufficient: sufficient.answer_size or 0):
        methods.setdefault(sufficient.answer_text, []).append(names[sufficient.method])
    return methods


def sufficiency_definition(
    sufficient_sizes: Sequence[SufficientSize],
    differences: Mapping[str, Mapping[int, BrierDifference]],
    names: Mapping[str, str],
    n_questions: int,
) -> str:
    """What the headline calls enough, over how many questions, and where fewer samples do better."""
    if not any(differences.values()) or not sufficient_sizes:
        return ""
    reference, tolerance = sufficient_sizes[0].reference_size, sufficient_sizes[0].tolerance
    questions = (
        f"{plural(n_questions, 'question')}{', too few to be reliable' if n_questions < MIN_ROWS else ''}"
    )
    criterion = f"within ±{tolerance:g} of that at N' = {reference} (paired 95 % interval, {questions})"
    methods_by_size: dict[int, list[str]] = {}
    for sufficient in sufficient_sizes:
        if sufficient.better_size is not None:
            methods_by_size.setdefault(sufficient.better_size, []).append(names[sufficient.method])
    better = "".join(
        f" At N' = {size}, the Brier score of {join_names(methods)} is lower (better)."
        for size, methods in sorted(methods_by_size.items())
    )
    return f"“Enough” means a Brier score {criterion}.{better}"


# --- Baselines on the same questions --------------------------------------------------------------


def baselines_on_rows(
    run: AnswerRun,
    options: MethodOptions,
    rows: NDArray[np.intp],
    metrics: Sequence[Metric],
    scheme: Scheme,
) -> tuple[tuple[Baseline, ...], dict[str, str]]:
    """The baselines of a run on the questions that samples are drawn from.

    Parameters
    ----------
    run : AnswerRun
    options : MethodOptions
    rows : NDArray[np.intp], shape (n_questions,)
        Row positions in the run.
    metrics : sequence of Metric
    scheme : Scheme

    Returns
    -------
    baselines : tuple[Baseline, ...]
        Without metrics that are undefined on these rows.
    missing : dict[str, str]
        Method id → why the run lacks it.
    """
    baselines: list[Baseline] = []
    missing: dict[str, str] = {}
    for method in BASELINE_METHODS:
        try:
            evidence = restrict_rows(gather_evidence(run, method, replace(options, labels="top")), rows)
        except Unavailable as reason:
            missing[method] = str(reason)
            continue
        if not evidence.n_used:
            missing[method] = "no question has this confidence"
        for metric in metrics if evidence.n_used else ():
            metric_scheme = effective_scheme(metric, scheme)
            value = metric.compute(evidence.sums_for(metric, metric_scheme), metric_scheme)
            if value is not None:
                recipe = recipe_text(evidence, metric, metric_scheme if metric.binned else None)
                baselines.append(Baseline(method, metric.id, value, evidence.n_used, evidence.judged, recipe))
    return tuple(baselines), missing
