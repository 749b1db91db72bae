"""How many samples are enough?  A run with samples and a set of N' → the metrics over N'.

Self-consistency paper (Wang et al., arXiv 2403.09849), Figure 2. How parts are drawn: samples_draws.py;
what is enough: samples_enough.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from calib_core.analysis.evidence import AnswerEvidence, gather, metric_of
from calib_core.analysis.limits import TEN
from calib_core.analysis.recipe import rows_text, scheme_text
from calib_core.analysis.samples_baselines import baselines_of
from calib_core.analysis.samples_draws import SELF_CONSISTENCY, Draws, Plan, Progress, draw
from calib_core.analysis.samples_enough import WITHIN, Gap, gaps_of
from calib_core.analysis.samples_result import NAMES, Curve, Sampled
from calib_core.analysis.samples_sizes import Sizes, sizes_of
from calib_core.analysis.score import scheme_for
from calib_core.bins import Scheme
from calib_core.confidence.method import Options
from calib_core.confidence.subsets import codes
from calib_core.metrics.metric import Metric
from calib_core.problems import Unavailable
from calib_core.records import Run


def _quiet(_share: float, _text: str) -> None:
    pass


def samples(
    run: Run,
    plan: Plan | None = None,
    options: Options | None = None,
    *,
    within: float = WITHIN,
    scheme: Scheme = TEN,
    progress: Progress = _quiet,
) -> Sampled:
    """The metrics of the self-consistency methods over N', by drawing parts of the samples.

    within: above 0, in units of the Brier score; scheme: of metrics with bins. The same plan gives the same
    numbers. Raises Unavailable with the reason where the run has no samples, no size can be served, or a
    method or metric cannot be drawn; ValueError for other arguments.
    """
    plan, options = plan or Plan(), options or Options()
    if plan.repeats < 1 or plan.seed < 0 or not within > 0:
        raise ValueError("a sweep over N' needs 1 repeat or more, a seed of 0 or more, and a within above 0")
    methods, metrics = _methods(plan.methods), [_metric(id_) for id_ in dict.fromkeys(plan.metrics)]
    evidence = gather(run, SELF_CONSISTENCY[0], options)
    if not isinstance(evidence, AnswerEvidence):
        raise Unavailable("A token-level run has no sampled answers.")
    coded = codes(evidence.run, options)
    served = sizes_of(coded.counted, coded.usable, plan.sizes)
    code, correct = coded.code[served.rows], coded.correct[served.rows]
    drawn = draw(code, correct, served.sizes, metrics, scheme, options.unparseable, plan, progress)
    return _result(evidence, served, drawn, methods, metrics, scheme, plan).at(within)


def _methods(ids: Sequence[str]) -> tuple[str, ...]:
    """In the order of SELF_CONSISTENCY, each once."""
    for id_ in ids:
        if id_ not in SELF_CONSISTENCY:
            raise Unavailable(f"{id_} is not made from samples: {', '.join(SELF_CONSISTENCY)} are.")
    return tuple(id_ for id_ in SELF_CONSISTENCY if id_ in ids)


def _metric(id_: str) -> Metric:
    metric = metric_of(id_)
    if metric.needs != "pairs":
        raise Unavailable(f"{metric.title} needs a whole distribution; samples give one confidence a row.")
    return metric


def _result(
    evidence: AnswerEvidence,
    served: Sizes,
    drawn: Mapping[int, Draws],
    methods: Sequence[str],
    metrics: Sequence[Metric],
    scheme: Scheme,
    plan: Plan,
) -> Sampled:
    """Everything but what depends on `within`."""
    how = _recipe(evidence, served, plan)
    gaps = _gaps(drawn, served, plan.seed)
    baselines, lacking = baselines_of(evidence.run, evidence.options, served.rows, metrics, scheme)
    return Sampled(
        run=evidence.run.label,
        sizes=served.sizes,
        samples=served.samples,
        repeats=plan.repeats,
        seed=plan.seed,
        n_used=served.rows.size,
        n_total=evidence.n_total,
        curves=tuple(
            _curve(method, metric, scheme, served, drawn, how) for method in methods for metric in metrics
        ),
        greyed=MappingProxyType(served.greyed),
        refused=MappingProxyType(served.refused),
        draws=MappingProxyType({size: drawn[size].right.size for size in served.sizes}),
        absent=MappingProxyType({size: drawn[size].absent for size in served.sizes}),
        said=MappingProxyType({
            method: tuple(_mean(drawn[size].said[SELF_CONSISTENCY.index(method)]) for size in served.sizes)
            for method in methods
        }),
        right=tuple(_mean(drawn[size].right) for size in served.sizes),
        against=served.against,
        gaps=MappingProxyType({method: gaps[SELF_CONSISTENCY.index(method)] for method in methods}),
        baselines=baselines,
        lacking=MappingProxyType(lacking),
        judged=evidence.judged,
        recipe=how,
    )


def _gaps(drawn: Mapping[int, Draws], served: Sizes, seed: int) -> list[Mapping[int, Gap]]:
    """The paired differences of every size below the reference, one mapping a method."""
    if served.against is None:
        return [{} for _ in SELF_CONSISTENCY]
    below = [size for size in served.sizes if size < served.against]
    return [
        MappingProxyType(each)
        for each in gaps_of({size: drawn[size].squares for size in drawn}, below, served.against, seed)
    ]


def _curve(
    method: str, metric: Metric, scheme: Scheme, served: Sizes, drawn: Mapping[int, Draws], how: str
) -> Curve:
    values = [drawn[size].values[metric.id][SELF_CONSISTENCY.index(method)] for size in served.sizes]
    bins = [scheme_text(scheme_for(metric, scheme))] if metric.binned else []
    return Curve(
        method=method,
        metric=metric.id,
        mean=tuple(map(_mean, values)),
        std=tuple(map(_std, values)),
        recipe=", ".join([metric.recipe, *bins, NAMES[method], how]),
    )


def _mean(values: NDArray[np.float64]) -> float | None:
    """Over the draws that define it."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else None


def _std(values: NDArray[np.float64]) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.std()) if known.size and values.size > 1 else None


def _recipe(evidence: AnswerEvidence, served: Sizes, plan: Plan) -> str:
    """"N'=4, 8 of N=16, answers compared as numbers, unparseable samples own clusters, mean and …"."""
    low, high = served.samples
    whole = "" if low == high else f"–{high}"
    words = [word for word in evidence.recipe_words if not word.startswith("N=")]
    drawn = f"drawn without replacement, {plan.repeats} repeats, seed {plan.seed}, ties to the first drawn"
    return ", ".join([
        f"N'={', '.join(map(str, served.sizes))} of N={low}{whole}",
        *words,
        drawn,
        "mean and standard deviation (ddof 0) over the repeats",
        rows_text(evidence, served.rows.size),
    ])
