"""Which sampled answers are the same, and which of them is the majority?

The rule of samples that do not parse is this project's own: the self-consistency paper names none
(Wang et al., arXiv 2403.09849).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.confidence.answer_codes import UNPARSED_CODE
from calib_core.confidence.answers import AnswerNormaliser
from calib_core.confidence.grouped import SampleGroups
from calib_core.confidence.method import UnparseableRule
from calib_core.confidence.sampled import EncodedSamples, sample_texts, encode_samples
from calib_core.records import AnswerRun

__all__ = ["Clusters", "cluster", "sample_texts"]


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """The clusters of every row of a run; arrays int64 of shape (rows,) unless said otherwise.

    counted: N, samples that count; number: |C|; largest: n_i, size of the majority cluster, 0 where no
    sample parses; first: position of the majority's first sample, -1 where there is none; tied: bool,
    whether another cluster that parses is as large; sampled: samples in the file; unparsed: those among
    them that do not parse; labelled: bool, whether the clusters are the file's own labels rather than
    equal answers; groups: the clusters of samples that parse; samples: which answer each sample is;
    rule: what samples that do not parse count as.
    """

    n_counted: NDArray[np.int64]
    n_clusters: NDArray[np.int64]
    majority_size: NDArray[np.int64]
    majority_first: NDArray[np.int64]
    is_tied: NDArray[np.bool_]
    n_samples: NDArray[np.int64]
    n_unparsed: NDArray[np.int64]
    has_labels: NDArray[np.bool_]
    groups: SampleGroups
    samples: EncodedSamples
    rule: UnparseableRule

    @property
    def cluster_sizes(self) -> pl.Series:
        """Sizes of each row's clusters in the order in which their first members were sampled.

        List(Int64), shape (rows,), clusters of samples that do not parse among them; null where there is
        none. Made anew at each call.
        """
        parsed = pl.DataFrame({
            "row": np.repeat(np.arange(self.n_clusters.size), self.groups.n_groups),
            "first": self.groups.in_row_order(self.groups.first_positions),
            "size": self.groups.in_row_order(self.groups.sizes),
        }).cast(pl.Int64)
        every = pl.concat([parsed, self._unparsed_clusters()]).sort("row", "first")
        lists = every.group_by("row").agg("size")
        rows = pl.DataFrame({"row": pl.int_range(self.n_clusters.size, dtype=pl.Int64, eager=True)})
        return rows.join(lists, on="row", how="left", maintain_order="left")["size"].alias("sizes")

    def _unparsed_clusters(self) -> pl.DataFrame:
        """The clusters that samples which do not parse make: row, first, size."""
        row, position = self.samples.locate(self.samples.codes == UNPARSED_CODE)
        alone = pl.DataFrame({"row": row, "first": position, "size": np.ones_like(row)}).cast(pl.Int64)
        if self.rule == "own":
            return alone
        if self.rule == "drop":
            return alone.clear()
        return alone.group_by("row").agg(pl.col("first").min(), pl.col("size").sum())


def unparsed_clusters(unparsed: NDArray[np.int64], rule: UnparseableRule) -> NDArray[np.int64]:
    """How many clusters the samples that do not parse make; shape of `unparsed`, their number in each row."""
    if rule == "own":
        return unparsed
    return np.minimum(unparsed, 1) if rule == "one" else np.zeros_like(unparsed)


def counted_samples(
    sampled: NDArray[np.int64], unparsed: NDArray[np.int64], rule: UnparseableRule
) -> NDArray[np.int64]:
    """N of each row: all its samples, without those that do not parse where these are left out."""
    return sampled - unparsed if rule == "drop" else sampled


def cluster_samples(run: AnswerRun, normaliser: AnswerNormaliser, unparseable: UnparseableRule) -> Clusters:
    """Puts the samples of each row into clusters of equal answers.

    Stored labels (`sample_cluster`) are taken where a row has them, a null label being a sample that
    does not parse. The majority is the largest cluster of samples that parse; of equally large ones
    the one sampled first. unparseable: see `method.Unparseable`.
    """
    samples = encode_samples(run, normaliser)
    groups = SampleGroups.from_samples(samples)
    return Clusters(
        n_counted=counted_samples(samples.counts, groups.n_unparsed, unparseable),
        n_clusters=groups.n_groups + unparsed_clusters(groups.n_unparsed, unparseable),
        majority_size=groups.largest_size,
        majority_first=groups.majority_first,
        is_tied=groups.is_tied,
        n_samples=samples.counts,
        n_unparsed=groups.n_unparsed,
        has_labels=samples.has_labels,
        groups=groups,
        samples=samples,
        rule=unparseable,
    )
