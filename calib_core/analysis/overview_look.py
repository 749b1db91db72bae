"""How does one run look at first sight: how sure, how often right, over- or under-confident?"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from calib_core.analysis.evidence import Evidence
from calib_core.analysis.limits import TEN
from calib_core.analysis.reliability import bin_table
from calib_core.analysis.tendency import Kind, tendency
from calib_core.metrics import METRICS


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """One run seen by one method, by its top label.

    run: as it was given; rows, used: in the file, and with a confidence and an outcome; confidence: the
    mean; accuracy, brier, ece: None where there is no row; kind: judged for all runs and methods together;
    curve: one row a non-empty bin: bin (from 1), count, confidence, accuracy, thin, as in `Reliability`.
    """

    run: str
    method: str
    title: str
    rows: int
    used: int
    unit: str
    confidence: float | None
    accuracy: float | None
    brier: float | None
    ece: float | None
    kind: Kind
    curve: pl.DataFrame


def look_of(name: str, evidence: Evidence, among: int) -> Look:
    """The evidence by its top label; among: of how many verdicts it is one that are judged together."""
    binned = evidence.top_sums.binned(TEN)
    return Look(
        run=name,
        method=evidence.method.id,
        title=evidence.method.title,
        rows=evidence.n_total,
        used=evidence.n_used,
        unit=evidence.unit,
        confidence=evidence.mean_confidence,
        accuracy=evidence.accuracy,
        brier=evidence.brier,
        ece=METRICS["ece"].of(evidence.top_sums, TEN),
        kind=tendency(binned, among, evidence.alike).kind,
        curve=bin_table(binned, with_intervals=False).select(
            "bin", "count", "confidence", "accuracy", "thin"
        ),
    )
