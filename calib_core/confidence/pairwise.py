"""How clearly does the majority win against each other answer?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.confidence.clusters import Clusters
from calib_core.confidence.method import Confidences, Method, Options
from calib_core.confidence.self_consistency import self_consistency
from calib_core.records import AnswerRun


def _formula(clusters: Clusters, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """One quotient of whole numbers a row, so equal clusterings have bitwise equal confidences."""
    seen = pl.DataFrame(
        {
            "largest": clusters.largest[rows],
            "sizes": clusters.sizes.gather(pl.Series(rows)),
        }
    )
    # Few clusterings occur, and often: each is computed once.
    distinct = seen.unique()
    values = [_product(largest, sizes) for largest, sizes in distinct.iter_rows()]
    known = distinct.with_columns(value=pl.Series(values, dtype=pl.Float64))
    return seen.join(known, on=["largest", "sizes"], how="left", maintain_order="left")["value"].to_numpy()


def _product(largest: int, sizes: Sequence[int]) -> float:
    """Π_{j≠i} n_i/(n_i + n_j) for a majority of `largest` among clusters of `sizes`, itself included."""
    # The majority's own factor n_i/(2 n_i) is in the product over all clusters: 2 n_i takes it out.
    return 2 * largest ** len(sizes) / math.prod(largest + size for size in sizes)


def _of(run: AnswerRun, options: Options) -> Confidences:
    """F_PC, in (0, 1]."""
    return self_consistency(run, options, _formula)


PAIRWISE: Final = Method(
    id="pairwise",
    title="self-consistency, F_PC",
    source="F_PC = Π_{j≠i} n_i/(n_i + n_j) of the majority cluster i; Wang et al., arXiv 2403.09849",
    needs="several sampled answers a question (samples, samples_parsed or sample_cluster); an outcome",
    of=_of,
    sampled=True,
)
