"""Which sampled answers are the same, and which of them is the majority?

The rule of samples that do not parse is this project's own: the self-consistency paper names none
(Wang et al., arXiv 2403.09849).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.confidence.answers import Normaliser
from calib_core.confidence.columns import column
from calib_core.confidence.method import Unparseable
from calib_core.records import AnswerRun


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """The clusters of every row of a run; arrays int64 of shape (rows,) unless said otherwise.

    sizes: sizes of the row's clusters in the order in which their first members were sampled, List,
    null without samples; counted: N, samples that count; number: |C|; largest: n_i, size of the
    majority cluster, 0 where no sample parses; first: position of the majority's first sample, -1
    where there is none; tied: bool, whether another cluster that parses is as large; sampled: samples
    in the file; unparsed: those among them that do not parse; labelled: bool, whether the clusters are
    the file's own labels rather than equal answers.
    """

    sizes: pl.Series
    counted: NDArray[np.int64]
    number: NDArray[np.int64]
    largest: NDArray[np.int64]
    first: NDArray[np.int64]
    tied: NDArray[np.bool_]
    sampled: NDArray[np.int64]
    unparsed: NDArray[np.int64]
    labelled: NDArray[np.bool_]


def sample_texts(run: AnswerRun) -> pl.Series:
    """The samples of each row as the file parsed them, else as it has them: List(String)."""
    parsed, raw = column(run, "samples_parsed"), column(run, "samples")
    return pl.select(pl.coalesce(pl.lit(parsed), pl.lit(raw)).alias("samples"))["samples"]


def cluster(run: AnswerRun, normaliser: Normaliser, unparseable: Unparseable) -> Clusters:
    """Puts the samples of each row into clusters of equal answers.

    Stored labels (`sample_cluster`) are taken where a row has them, a null label being a sample that
    does not parse. The majority is the largest cluster of samples that parse; of equally large ones
    the one sampled first. unparseable: see `method.Unparseable`.
    """
    samples = _samples(run, normaliser)
    parsed = samples.filter(pl.col("key").is_not_null())
    groups = _grouped(parsed)
    majority = _majority(groups)
    every = pl.concat([groups.drop("key"), _unparsed(samples, unparseable)]).sort("row", "first")
    totals = every.group_by("row").agg(sizes=pl.col("size"), counted=pl.col("size").sum(), number=pl.len())
    read = samples.group_by("row").agg(sampled=pl.len(), unparsed=pl.col("key").null_count())
    rows = pl.DataFrame({"row": pl.int_range(run.rows.height, dtype=pl.UInt32, eager=True)})
    for part in (totals, majority, read):
        rows = rows.join(part, on="row", how="left", maintain_order="left")
    return Clusters(
        sizes=rows["sizes"],
        counted=_whole(rows["counted"]),
        number=_whole(rows["number"]),
        largest=_whole(rows["largest"]),
        first=_whole(rows["first"], -1),
        tied=rows["tied"].fill_null(value=False).to_numpy(),
        sampled=_whole(rows["sampled"]),
        unparsed=_whole(rows["unparsed"]),
        labelled=_has_items(column(run, "sample_cluster")).to_numpy(),
    )


def _samples(run: AnswerRun, normaliser: Normaliser) -> pl.DataFrame:
    """One row a sample: row, position, key (equal text = equal answer; null = does not parse)."""
    labels, texts = column(run, "sample_cluster"), sample_texts(run)
    labelled = _long(labels).with_columns(pl.col("key").cast(pl.String))
    by_text = _long(texts.set(_has_items(labels), None))
    by_text = by_text.with_columns(key=normaliser.forms(by_text["row"], by_text["key"]))
    return pl.concat([labelled, by_text])


def _long(items: pl.Series) -> pl.DataFrame:
    rows = pl.DataFrame({"row": pl.int_range(items.len(), dtype=pl.UInt32, eager=True), "key": items})
    rows = rows.filter(_has_items(items))
    rows = rows.with_columns(position=pl.int_ranges(pl.col("key").list.len(), dtype=pl.Int64))
    return rows.explode("key", "position").select("row", "position", "key")


def _has_items(items: pl.Series) -> pl.Series:
    return (items.list.len() > 0).fill_null(value=False)


def _grouped(parsed: pl.DataFrame) -> pl.DataFrame:
    """One row a cluster of equal answers: row, key, size, first (position of its first member)."""
    return parsed.group_by("row", "key").agg(size=pl.len().cast(pl.Int64), first=pl.col("position").min())


def _unparsed(samples: pl.DataFrame, unparseable: Unparseable) -> pl.DataFrame:
    """The clusters that samples which do not parse make: row, size, first."""
    alone = samples.filter(pl.col("key").is_null() & (unparseable != "drop"))
    if unparseable == "one":
        return _grouped(alone).drop("key")
    return alone.select("row", size=pl.lit(1, pl.Int64), first="position")


def _majority(groups: pl.DataFrame) -> pl.DataFrame:
    """The majority cluster of each row: row, largest, first, tied."""
    ranked = groups.filter(pl.col("size") == pl.col("size").max().over("row"))
    return ranked.group_by("row").agg(
        largest=pl.col("size").first(), first=pl.col("first").min(), tied=pl.len() > 1
    )


def _whole(values: pl.Series, absent: int = 0) -> NDArray[np.int64]:
    return values.cast(pl.Int64).fill_null(absent).to_numpy()
