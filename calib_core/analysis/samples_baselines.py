"""What do other methods say of the same questions, for which nothing is sampled?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.analysis.evidence import gather
from calib_core.analysis.recipe import recipe
from calib_core.analysis.restricted import restricted
from calib_core.analysis.score import scheme_for
from calib_core.binned import Scheme
from calib_core.confidence import METHODS
from calib_core.confidence.method import Options
from calib_core.metrics.metric import Metric
from calib_core.problems import Unavailable
from calib_core.records import AnswerRun

BASELINES: Final = tuple(id_ for id_, method in METHODS.items() if method.baseline)
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
    n: int
    judged: str
    recipe: str


def baselines_of(
    run: AnswerRun, options: Options, rows: NDArray[np.intp], metrics: Sequence[Metric], scheme: Scheme,
) -> tuple[tuple[Baseline, ...], dict[str, str]]:
    """The baselines that the run has on these rows, and method → why it lacks another.

    rows: positions in the run. A metric that is not defined on these rows has no baseline.
    """
    found: list[Baseline] = []
    lacking: dict[str, str] = {}
    for method in BASELINES:
        try:
            evidence = restricted(gather(run, method, replace(options, labels="top")), rows)
        except Unavailable as reason:
            lacking[method] = str(reason)
            continue
        if not evidence.n_used:
            lacking[method] = "not one of these questions has this confidence"
        for metric in metrics if evidence.n_used else ():
            own = scheme_for(metric, scheme)
            value = metric.of(evidence.sums_for(metric, own), own)
            if value is not None:
                how = recipe(evidence, metric, own if metric.binned else None)
                found.append(Baseline(method, metric.id, value, evidence.n_used, evidence.judged, how))
    return tuple(found), lacking
