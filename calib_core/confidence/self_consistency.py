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

from calib_core.confidence.answers import AnswerNormaliser
from calib_core.confidence.clusters import Clusters, cluster_samples
from calib_core.confidence.columns import first_reason, missing_columns_phrase, usable_rows
from calib_core.confidence.method import Confidences, MethodOptions, UnparseableRule
from calib_core.confidence.outcomes import Outcomes, majority_outcomes, require_known
from calib_core.confidence.sampled import has_samples
from calib_core.confidence.scalar import RowConfidences, pair_with_outcomes
from calib_core.problems import Unavailable
from calib_core.records import AnswerRun

ConfidenceFormula = Callable[[Clusters, NDArray[np.intp]], NDArray[np.float64]]
"""(clusters of a run, positions of its usable rows) → confidence of those rows, float64 in [0, 1]."""

RemarkFormula = Callable[[Clusters, NDArray[np.intp]], tuple[str, ...]]
"""(clusters of a run, positions of its usable rows) → what a reader of this confidence has to know."""


def _no_remarks(_clusters: Clusters, _rows: NDArray[np.intp]) -> tuple[str, ...]:
    return ()


UNPARSEABLE_PHRASES: Final[Mapping[UnparseableRule, str]] = MappingProxyType(
    {
        "own": "unparseable samples own clusters",
        "one": "unparseable samples one cluster",
        "drop": "unparseable samples left out",
    }
)


def self_consistency(
    run: AnswerRun, options: MethodOptions, formula: ConfidenceFormula, remark: RemarkFormula = _no_remarks
) -> Confidences:
    """The majority answer of each row with N ≥ 2 samples of which one parses, and its confidence.

    Raises Unavailable where the run has no samples, or no row has enough of them or an outcome.
    """
    if not has_samples(run):
        raise Unavailable(f"{missing_columns_phrase(run, 'samples')}: several sampled answers a question are needed")
    normaliser, clusters, outcome = _cached_clusters(run, options.unparseable)
    why = _missing_reasons(run, normaliser, clusters)
    require_known(outcome)
    rows, _missing = usable_rows(run, why.fill_null(outcome.unknown_reason))
    values = np.full(why.len(), np.nan)
    values[rows] = formula(clusters, rows)
    scalar = RowConfidences(
        pl.Series("confidence", values, nan_to_null=True),
        (_sample_count_phrase(clusters.n_counted[rows]), *_equality_phrases(normaliser, clusters, rows), UNPARSEABLE_PHRASES[options.unparseable]),
        computed=True,
        missing_reason=why,
        remarks=(*_cluster_remarks(clusters, rows), *remark(clusters, rows)),
    )
    return pair_with_outcomes(run, scalar, outcome)


@lru_cache(maxsize=1)
def _cached_clusters(run: AnswerRun, unparseable: UnparseableRule) -> tuple[AnswerNormaliser, Clusters, Outcomes]:
    # The three methods ask for the same clusters one after the other: the last run's are kept.
    normaliser = AnswerNormaliser.for_run(run)
    clusters = cluster_samples(run, normaliser, unparseable)
    return normaliser, clusters, majority_outcomes(run, normaliser, clusters)


def clear_cluster_cache() -> None:
    """Lets go of the last run's clusters, and with them of the run."""
    _cached_clusters.cache_clear()


def _missing_reasons(run: AnswerRun, normaliser: AnswerNormaliser, clusters: Clusters) -> pl.Series:
    """Why a row has no self-consistency, null where it has; raises Unavailable where no row has."""
    why = first_reason(
        run.rows.height,
        ("no samples", pl.Series(clusters.n_samples == 0)),
        ("no sample parses", pl.Series(clusters.majority_size == 0)),
        ("one sample only", pl.Series(clusters.n_counted == 1)),
    )
    sampled = clusters.n_samples > 0
    if np.all(clusters.n_samples[sampled] == 1):
        raise Unavailable("every row has one sample only: several sampled answers a question are needed")
    if np.all(clusters.majority_size[sampled] == 0):
        kinds = " or ".join(sorted(set(normaliser.kind.filter(pl.Series(sampled)).to_list())))
        raise Unavailable(
            f"no sample parses as a {kinds}: an answer stands alone (samples_parsed), or where the output "
            "marks it: \\boxed{}, ####, “the answer is”, “Answer:”"
        )
    return why


def _sample_count_phrase(n_counted: NDArray[np.int64]) -> str:
    low, high = int(n_counted.min()), int(n_counted.max())
    return f"N={low}" if low == high else f"N={low}–{high}"


def _equality_phrases(normaliser: AnswerNormaliser, clusters: Clusters, rows: NDArray[np.intp]) -> tuple[str, ...]:
    """What makes two samples equal."""
    if clusters.has_labels[rows].all():
        return ("clusters as labelled in the file",)
    present = normaliser.kinds(pl.Series(rows))
    alike = f"answers compared as {' or '.join(f'{kind}s' for kind in present)}"
    found = ("read where an output marks its answer",) if clusters.samples.found_at_marker else ()
    return (alike, *found, *(("percent signs dropped",) if clusters.samples.has_percent else ()))


def _cluster_remarks(clusters: Clusters, rows: NDArray[np.intp]) -> tuple[str, ...]:
    ties = int(clusters.is_tied[rows].sum())
    unparsed = int(clusters.n_unparsed.sum())
    remarks: list[str] = []
    if ties:
        remarks.append(f"{ties:,} tie{'s' if ties > 1 else ''}, the first sampled answer taken")
    if unparsed:
        remarks.append(f"{unparsed:,} samples do not parse" if unparsed > 1 else "1 sample does not parse")
    return tuple(remarks)
