"""How clearly does the majority win against each other answer?"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.confidence.clusters import Clusters
from calib_core.confidence.exact import pairwise_of
from calib_core.confidence.method import Confidences, Method, Options
from calib_core.confidence.self_consistency import self_consistency
from calib_core.records import AnswerRun


def _formula(clusters: Clusters, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """One quotient of whole numbers a row, so equal clusterings have bitwise equal confidences."""
    values = np.full(clusters.number.size, np.nan)
    for block, sizes in clusters.groups.tables(rows):
        values[block] = pairwise_of(sizes, clusters.unparsed[block], clusters.rule)
    return values[rows]


def _of(run: AnswerRun, options: Options) -> Confidences:
    """F_PC, in (0, 1]."""
    return self_consistency(run, options, _formula)


PAIRWISE: Final = Method(
    id="pairwise",
    title="self-consistency, F_PC",
    meaning=(
        "Equal sampled answers make a cluster: how clearly the largest one beats each other one in "
        "turn, multiplied over all of them."
    ),
    source="F_PC = Π_{j≠i} n_i/(n_i + n_j) of the majority cluster i; Wang et al., arXiv 2403.09849",
    needs="several sampled answers a question (samples, samples_parsed or sample_cluster); an outcome",
    of=_of,
    sampled=True,
    look=(1, "square", "7px,4px"),
)
