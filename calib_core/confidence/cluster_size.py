"""Which share of the sampled answers is in the majority?"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.confidence.clusters import Clusters
from calib_core.confidence.method import Confidences, Method, MethodOptions
from calib_core.confidence.self_consistency import self_consistency
from calib_core.records import AnswerRun


def _f_cs(clusters: Clusters, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    return clusters.majority_size[rows] / clusters.n_counted[rows]


def _cluster_size_confidences(run: AnswerRun, options: MethodOptions) -> Confidences:
    """F_CS, in [1/N, 1]."""
    return self_consistency(run, options, _f_cs)


CLUSTER_SIZE: Final = Method(
    id="cluster_size",
    title="self-consistency, F_CS",
    meaning=(
        "Equal sampled answers make a cluster: the share of the samples that is in the largest one, "
        "the majority answer's."
    ),
    source="F_CS = n_i/N of the majority cluster i; Wang et al., arXiv 2403.09849",
    needs="several sampled answers a question (samples, samples_parsed or sample_cluster); an outcome",
    compute=_cluster_size_confidences,
    uses_samples=True,
    display_rank=1,
    style=(0, "circle", "solid"),
)
