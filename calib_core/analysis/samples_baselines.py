"""What do other methods say of the same questions, for which nothing is sampled?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.analysis.evidence import gather_evidence
from calib_core.analysis.recipe import recipe_text
from calib_core.analysis.restricted import restrict_rows
from calib_core.analysis.score import effective_scheme
from calib_core.binned import Scheme
from calib_core.confidence import METHODS
from calib_core.confidence.method import MethodOptions
from calib_core.metrics.metric import Metric
from calib_core.problems import Unavailable
from calib_core.records import AnswerRun

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
    run: AnswerRun, options: MethodOptions, rows: NDArray[np.intp], metrics: Sequence[Metric], scheme: Scheme,
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
