"""Is it right as often as it says?  Evidence, a metric and bins → one reliability result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from calib_core.analysis.evidence import Evidence, bins_all_classes, get_metric
from calib_core.analysis.intervals import wilson_interval
from calib_core.analysis.limits import MIN_ROWS
from calib_core.analysis.reading import bin_name, reliability_headline
from calib_core.analysis.recipe import recipe_text
from calib_core.analysis.score import Score, effective_scheme, score
from calib_core.bins import Binned, Scheme


@dataclass(frozen=True, slots=True, eq=False)
class Reliability:
    """The reliability diagram of one method on one run, as numbers.

    table: one row a non-empty bin: bin (from 1), low, high, count, confidence, accuracy (means),
    accuracy_low, accuracy_high (95 % Wilson; null where pairs depend on one another), interval (the bin
    as text), gap = confidence − accuracy (positive: over-confident), share = the bin's part of Σ|Y − C|,
    thin = fewer than FEW pairs. of_pairs: "rows", "positions" of a text, or "labels" where each gives one
    pair a class.
    brier, accuracy: of the top label; mean_confidence: of the top label, in [0, 1], None without rows.
    recipe: of the diagram (a metric without bins is not part of it); score.recipe: of the number.
    reading: one sentence.
    """

    run: str
    method: str
    score: Score
    brier: float | None
    accuracy: float | None
    mean_confidence: float | None
    scheme: Scheme
    table: pl.DataFrame
    pair_unit: str
    headline: str
    recipe: str
    judged: str
    remarks: tuple[str, ...]

    @property
    def n_thin_bins(self) -> int:
        """Number of thin bins."""
        return int(self.table["thin"].sum())

    def to_frame(self) -> pl.DataFrame:
        """The table with run, method and recipe beside every row."""
        return self.table.with_columns(
            run=pl.lit(self.run), method=pl.lit(self.method), recipe=pl.lit(self.recipe)
        )


def reliability_diagram(evidence: Evidence, metric_id: str, scheme: Scheme | None = None) -> Reliability:
    """The diagram behind the metric: its own bins, or the scheme's for a metric without bins.

    Raises Unavailable where the evidence cannot give the metric or the bins.
    """
    metric = get_metric(metric_id)
    scheme = effective_scheme(metric, scheme or Scheme())
    number = score(evidence, metric_id, scheme)
    binned = evidence.binned(metric, scheme)
    dependent = bins_all_classes(metric) or evidence.options.labels == "all"
    return Reliability(
        run=evidence.run.label,
        method=evidence.method.id,
        score=number,
        brier=evidence.brier,
        accuracy=evidence.accuracy,
        mean_confidence=evidence.mean_confidence,
        scheme=scheme,
        table=bin_table(binned, with_intervals=not dependent, design_effect=evidence.design_effect),
        pair_unit="labels" if dependent else evidence.unit,
        headline=reliability_headline(binned, dependent=dependent, unit=evidence.unit, design_effect=evidence.design_effect),
        recipe=recipe_text(evidence, metric if metric.binned else None, scheme, binned.size),
        judged=evidence.judged,
        remarks=evidence.remarks,
    )


def bin_table(binned: Binned, *, with_intervals: bool, design_effect: float = 1.0) -> pl.DataFrame:
    """The per-bin table of `Reliability`, from bins of any scheme; alike: as in `intervals.wilson`."""
    total = binned.absolute_gap.sum()
    share = binned.absolute_gap / total if total > 0 else np.zeros_like(binned.absolute_gap)
    low, high = wilson_interval(binned.correct, binned.count, design_effect) if with_intervals else (None, None)
    return binned.to_frame().with_columns(
        pl.lit(None, pl.Float64).alias("accuracy_low") if low is None else pl.Series("accuracy_low", low),
        pl.lit(None, pl.Float64).alias("accuracy_high") if high is None else pl.Series("accuracy_high", high),
        pl.Series("interval", [bin_name(binned, at) for at in range(binned.size)], dtype=pl.String),
        (pl.col("confidence") - pl.col("accuracy")).alias("gap"),
        pl.Series("share", share, dtype=pl.Float64),
        (pl.col("count") < MIN_ROWS).alias("thin"),
    )
