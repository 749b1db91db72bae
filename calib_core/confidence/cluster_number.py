"""Into how few clusters do the sampled answers fall?"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.confidence.clusters import Clusters
from calib_core.confidence.method import Confidences, Method, MethodOptions
from calib_core.confidence.self_consistency import self_consistency
from calib_core.records import AnswerRun


def _f_cn(clusters: Clusters, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    # (N − |C|)/N and not 1 − |C|/N: one rounding of a quotient of whole numbers.
    return (clusters.n_counted[rows] - clusters.n_clusters[rows]) / clusters.n_counted[rows]


def _f_cn_ceiling_remark(clusters: Clusters, rows: NDArray[np.intp]) -> tuple[str, ...]:
    # Unanimous samples are one cluster of N: however sure the model, F_CN stays below 1.
    most = int(clusters.n_counted[rows].max())
    return (f"F_CN is at most 1 − 1/N = {(most - 1) / most:.4g} here",)


def _cluster_number_confidences(run: AnswerRun, options: MethodOptions) -> Confidences:
    """F_CN, in [0, 1 − 1/N]."""
    said = self_consistency(run, options, _f_cn, _f_cn_ceiling_remark)
    if not run.has_columns("choices"):
        return said
    weak = "F_CN says little on multiple choice: there are no more clusters than options"
    return replace(said, remarks=(*said.remarks, weak))


CLUSTER_NUMBER: Final = Method(
    id="cluster_number",
    title="self-consistency, F_CN",
    meaning=(
        "Equal sampled answers make a cluster: 1 minus the number of clusters divided by that of "
        "samples, so the fewer different answers, the surer."
    ),
    source="F_CN = 1 − |C|/N; Wang et al., arXiv 2403.09849",
    needs="several sampled answers a question (samples, samples_parsed or sample_cluster); an outcome",
    compute=_cluster_number_confidences,
    uses_samples=True,
    style=(2, "diamond", "2px,3px"),
)
