"""Which sampled answers are the same, and which of them is the majority?

The rule of samples that do not parse is this project's own: the self-consistency paper names none
(Wang et al., arXiv 2403.09849).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.confidence.answer_codes import UNPARSED
from calib_core.confidence.answers import Normaliser
from calib_core.confidence.grouped import Groups
from calib_core.confidence.method import Unparseable
from calib_core.confidence.sampled import Sampled, sample_texts, sampled
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

    counted: NDArray[np.int64]
    number: NDArray[np.int64]
    largest: NDArray[np.int64]
    first: NDArray[np.int64]
    tied: NDArray[np.bool_]
    sampled: NDArray[np.int64]
    unparsed: NDArray[np.int64]
    labelled: NDArray[np.bool_]
    groups: Groups
    samples: Sampled
    rule: Unparseable

    @property
    def sizes(self) -> pl.Series:
        """Sizes of each row's clusters in the order in which their first members were sampled.

        List(Int64), shape (rows,), clusters of samples that do not parse among them; null where there is
        none. Made anew at each call.
        """
        parsed = pl.DataFrame({
            "row": np.repeat(np.arange(self.number.size), self.groups.number),
            "first": self.groups.in_order(self.groups.first),
            "size": self.groups.in_order(self.groups.size),
        }).cast(pl.Int64)
        every = pl.concat([parsed, self._unparsed_clusters()]).sort("row", "first")
        lists = every.group_by("row").agg("size")
        rows = pl.DataFrame({"row": pl.int_range(self.number.size, dtype=pl.Int64, eager=True)})
        return rows.join(lists, on="row", how="left", maintain_order="left")["size"].alias("sizes")

    def _unparsed_clusters(self) -> pl.DataFrame:
        """The clusters that samples which do not parse make: row, first, size."""
        row, position = self.samples.at(self.samples.code == UNPARSED)
        alone = pl.DataFrame({"row": row, "first": position, "size": np.ones_like(row)}).cast(pl.Int64)
        if self.rule == "own":
            return alone
        if self.rule == "drop":
            return alone.clear()
        return alone.group_by("row").agg(pl.col("first").min(), pl.col("size").sum())


def unparsed_clusters(unparsed: NDArray[np.int64], rule: Unparseable) -> NDArray[np.int64]:
    """How many clusters the samples that do not parse make; shape of `unparsed`, their number in each row."""
    if rule == "own":
        return unparsed
    return np.minimum(unparsed, 1) if rule == "one" else np.zeros_like(unparsed)


def counted_samples(
    sampled: NDArray[np.int64], unparsed: NDArray[np.int64], rule: Unparseable
) -> NDArray[np.int64]:
    """N of each row: all its samples, without those that do not parse where these are left out."""
    return sampled - unparsed if rule == "drop" else sampled


def cluster(run: AnswerRun, normaliser: Normaliser, unparseable: Unparseable) -> Clusters:
    """Puts the samples of each row into clusters of equal answers.

    Stored labels (`sample_cluster`) are taken where a row has them, a null label being a sample that
    does not parse. The majority is the largest cluster of samples that parse; of equally large ones
    the one sampled first. unparseable: see `method.Unparseable`.
    """
    samples = sampled(run, normaliser)
    groups = Groups.of(samples)
    return Clusters(
        counted=counted_samples(samples.count, groups.unparsed, unparseable),
        number=groups.number + unparsed_clusters(groups.unparsed, unparseable),
        largest=groups.largest,
        first=groups.majority,
        tied=groups.tied,
        sampled=samples.count,
        unparsed=groups.unparsed,
        labelled=samples.labelled,
        groups=groups,
        samples=samples,
        rule=unparseable,
    )
