"""How clearly does the majority win against each other answer?"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.confidence.clusters import Clusters
from calib_core.confidence.exact import pairwise_confidence
from calib_core.confidence.method import Confidences, Method, MethodOptions
from calib_core.confidence.self_consistency import self_consistency
from calib_core.records import AnswerRun


def _f_pc(clusters: Clusters, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """One quotient of whole numbers a row, so equal clusterings have bitwise equal confidences."""
    values = np.full(clusters.n_clusters.size, np.nan)
    for block, sizes in clusters.groups.size_tables(rows):
        values[block] = pairwise_confidence(sizes, clusters.n_unparsed[block], clusters.rule)
    return values[rows]


def _pairwise_confidences(run: AnswerRun, options: MethodOptions) -> Confidences:
    """F_PC, in (0, 1]."""
    return self_consistency(run, options, _f_pc)


PAIRWISE: Final = Method(
    id="pairwise",
    title="self-consistency, F_PC",
    meaning=(
        "Equal sampled answers make a cluster: how clearly the largest one beats each other one in "
        "turn, multiplied over all of them."
    ),
    source="F_PC = Π_{j≠i} n_i/(n_i + n_j) of the majority cluster i; Wang et al., arXiv 2403.09849",
    needs="several sampled answers a question (samples, samples_parsed or sample_cluster); an outcome",
    compute=_pairwise_confidences,
    uses_samples=True,
    style=(1, "square", "7px,4px"),
)
