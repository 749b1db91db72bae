"""How many samples are enough?  A run with samples and a set of N' → the metrics over N'.

Self-consistency paper (Wang et al., arXiv 2403.09849), Figure 2. How parts are drawn: samples_draws.py;
what is enough: samples_enough.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from calib_core.analysis.evidence import AnswerEvidence, gather_evidence, get_metric
from calib_core.analysis.limits import DEFAULT_SCHEME
from calib_core.analysis.recipe import rows_text, scheme_text
from calib_core.analysis.samples_baselines import baselines_on_rows
from calib_core.analysis.samples_draws import SELF_CONSISTENCY_METHODS, SubsampleDraws, SamplingPlan, SamplingProgress, draw_subsamples
from calib_core.analysis.samples_enough import BRIER_TOLERANCE, BrierDifference, brier_differences
from calib_core.analysis.samples_result import METHOD_SYMBOLS, SampleSizeCurve, SampleSizeSweep
from calib_core.analysis.samples_sizes import SubsampleSizes, subsample_sizes
from calib_core.analysis.score import effective_scheme
from calib_core.bins import Scheme
from calib_core.confidence.method import MethodOptions
from calib_core.confidence.subsets import sample_matrix
from calib_core.metrics.metric import Metric
from calib_core.problems import Unavailable
from calib_core.records import Run


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
    methods, metrics = _ordered_methods(plan.methods), [_pair_metric(id_) for id_ in dict.fromkeys(plan.metrics)]
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
    baselines, lacking = baselines_on_rows(evidence.run, evidence.options, available.question_rows, metrics, scheme)
    return SampleSizeSweep(
        run=evidence.run.label,
        sizes=available.sizes,
        sample_range=available.sample_range,
        repeats=plan.repeats,
        seed=plan.seed,
        n_used=available.question_rows.size,
        n_total=evidence.n_total,
        curves=tuple(
            _sample_size_curve(method, metric, scheme, available, draws_by_size, how) for method in methods for metric in metrics
        ),
        spread_caveats=MappingProxyType(available.spread_caveats),
        unavailable=MappingProxyType(available.unavailable),
        draws=MappingProxyType({size: draws_by_size[size].accuracy.size for size in available.sizes}),
        n_without_confidence=MappingProxyType({size: draws_by_size[size].n_without_confidence for size in available.sizes}),
        mean_confidence=MappingProxyType({
            method: tuple(_mean_of_defined(draws_by_size[size].mean_confidence[SELF_CONSISTENCY_METHODS.index(method)]) for size in available.sizes)
            for method in methods
        }),
        accuracy=tuple(_mean_of_defined(draws_by_size[size].accuracy) for size in available.sizes),
        reference_size=available.reference_size,
        brier_differences=MappingProxyType({method: gaps[SELF_CONSISTENCY_METHODS.index(method)] for method in methods}),
        baselines=baselines,
        missing_baselines=MappingProxyType(lacking),
        judged=evidence.judged,
        recipe=how,
    )


def _differences_to_reference(draws_by_size: Mapping[int, SubsampleDraws], available: SubsampleSizes, seed: int) -> list[Mapping[int, BrierDifference]]:
    """The paired differences of every size below the reference, one mapping a method."""
    if available.reference_size is None:
        return [{} for _ in SELF_CONSISTENCY_METHODS]
    below = [size for size in available.sizes if size < available.reference_size]
    return [
        MappingProxyType(each)
        for each in brier_differences({size: draws_by_size[size].squared_error for size in draws_by_size}, below, available.reference_size, seed)
    ]


def _sample_size_curve(
    method: str, metric: Metric, scheme: Scheme, available: SubsampleSizes, draws_by_size: Mapping[int, SubsampleDraws], sampling_recipe: str
) -> SampleSizeCurve:
    values = [draws_by_size[size].values[metric.id][SELF_CONSISTENCY_METHODS.index(method)] for size in available.sizes]
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
    """"N'=4, 8 of N=16, answers compared as numbers, unparseable samples own clusters, mean and …"."""
    low, high = available.sample_range
    whole = "" if low == high else f"–{high}"
    words = [word for word in evidence.recipe_parts if not word.startswith("N=")]
    drawn = f"drawn without replacement, {plan.repeats} repeats, seed {plan.seed}, ties to the first drawn"
    return ", ".join([
        f"N'={', '.join(map(str, available.sizes))} of N={low}{whole}",
        *words,
        drawn,
        "mean and standard deviation (ddof 0) over the repeats",
        rows_text(evidence, available.question_rows.size),
    ])
