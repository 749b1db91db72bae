"""How far do the sampled answers agree?  What the three self-consistency methods share.

Wang et al., arXiv 2403.09849: the samples of a question fall into clusters of equal answers; the
majority answer is judged, and a formula of the clusters' sizes is its confidence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.confidence.answers import Normaliser
from calib_core.confidence.clusters import Clusters, cluster
from calib_core.confidence.columns import first_reason, lacking, usable
from calib_core.confidence.method import Confidences, Options, Unparseable
from calib_core.confidence.outcomes import Outcomes, majority, some_known
from calib_core.confidence.sampled import has_samples
from calib_core.confidence.scalar import Scalar, judged
from calib_core.problems import Unavailable
from calib_core.records import AnswerRun

Formula = Callable[[Clusters, NDArray[np.intp]], NDArray[np.float64]]
"""(clusters of a run, positions of its usable rows) → confidence of those rows, float64 in [0, 1]."""

Remark = Callable[[Clusters, NDArray[np.intp]], tuple[str, ...]]
"""(clusters of a run, positions of its usable rows) → what a reader of this confidence has to know."""


def _nothing(_clusters: Clusters, _rows: NDArray[np.intp]) -> tuple[str, ...]:
    return ()


RULES: Final[Mapping[Unparseable, str]] = MappingProxyType(
    {
        "own": "unparseable samples own clusters",
        "one": "unparseable samples one cluster",
        "drop": "unparseable samples left out",
    }
)


def self_consistency(
    run: AnswerRun, options: Options, formula: Formula, remark: Remark = _nothing
) -> Confidences:
    """The majority answer of each row with N ≥ 2 samples of which one parses, and its confidence.

    Raises Unavailable where the run has no samples, or no row has enough of them or an outcome.
    """
    if not has_samples(run):
        raise Unavailable(f"{lacking(run, 'samples')}: several sampled answers a question are needed")
    normaliser, clusters, outcome = _clustered(run, options.unparseable)
    why = _why(run, normaliser, clusters)
    some_known(outcome)
    rows, _missing = usable(run, why.fill_null(outcome.why))
    values = np.full(why.len(), np.nan)
    values[rows] = formula(clusters, rows)
    scalar = Scalar(
        pl.Series("confidence", values, nan_to_null=True),
        (_sizes(clusters.counted[rows]), *_sameness(normaliser, clusters, rows), RULES[options.unparseable]),
        computed=True,
        why=why,
        remarks=(*_remarks(clusters, rows), *remark(clusters, rows)),
    )
    return judged(run, scalar, outcome)


@lru_cache(maxsize=1)
def _clustered(run: AnswerRun, unparseable: Unparseable) -> tuple[Normaliser, Clusters, Outcomes]:
    # The three methods ask for the same clusters one after the other: the last run's are kept.
    normaliser = Normaliser.of(run)
    clusters = cluster(run, normaliser, unparseable)
    return normaliser, clusters, majority(run, normaliser, clusters)


def forget() -> None:
    """Lets go of the last run's clusters, and with them of the run."""
    _clustered.cache_clear()


def _why(run: AnswerRun, normaliser: Normaliser, clusters: Clusters) -> pl.Series:
    """Why a row has no self-consistency, null where it has; raises Unavailable where no row has."""
    why = first_reason(
        run.rows.height,
        ("no samples", pl.Series(clusters.sampled == 0)),
        ("no sample parses", pl.Series(clusters.largest == 0)),
        ("one sample only", pl.Series(clusters.counted == 1)),
    )
    sampled = clusters.sampled > 0
    if np.all(clusters.sampled[sampled] == 1):
        raise Unavailable("every row has one sample only: several sampled answers a question are needed")
    if np.all(clusters.largest[sampled] == 0):
        kinds = " or ".join(sorted(set(normaliser.kind.filter(pl.Series(sampled)).to_list())))
        raise Unavailable(
            f"no sample parses as a {kinds}: an answer stands alone (samples_parsed), or where the output "
            "marks it: \\boxed{}, ####, “the answer is”, “Answer:”"
        )
    return why


def _sizes(counted: NDArray[np.int64]) -> str:
    low, high = int(counted.min()), int(counted.max())
    return f"N={low}" if low == high else f"N={low}–{high}"


def _sameness(normaliser: Normaliser, clusters: Clusters, rows: NDArray[np.intp]) -> tuple[str, ...]:
    """What makes two samples equal."""
    if clusters.labelled[rows].all():
        return ("clusters as labelled in the file",)
    present = normaliser.kinds(pl.Series(rows))
    alike = f"answers compared as {' or '.join(f'{kind}s' for kind in present)}"
    found = ("read where an output marks its answer",) if clusters.samples.found else ()
    return (alike, *found, *(("percent signs dropped",) if clusters.samples.percent else ()))


def _remarks(clusters: Clusters, rows: NDArray[np.intp]) -> tuple[str, ...]:
    ties = int(clusters.tied[rows].sum())
    unparsed = int(clusters.unparsed.sum())
    remarks: list[str] = []
    if ties:
        remarks.append(f"{ties:,} tie{'s' if ties > 1 else ''}, the first sampled answer taken")
    if unparsed:
        remarks.append(f"{unparsed:,} samples do not parse" if unparsed > 1 else "1 sample does not parse")
    return tuple(remarks)
