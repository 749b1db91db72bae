"""How does one run look at first sight: how sure, how often right, over- or under-confident?"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from calib_core.analysis.evidence import Evidence
from calib_core.analysis.limits import DEFAULT_SCHEME
from calib_core.analysis.reliability import bin_table
from calib_core.analysis.tendency import VerdictKind, judge_calibration
from calib_core.metrics import METRICS


@dataclass(frozen=True, slots=True, eq=False)
class RunSummary:
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
    verdict: VerdictKind
    curve: pl.DataFrame


def run_summary(name: str, evidence: Evidence, n_verdicts: int) -> RunSummary:
    """The evidence by its top label; among: of how many verdicts it is one that are judged together."""
    binned = evidence.top_label_sums.binned(DEFAULT_SCHEME)
    return RunSummary(
        run=name,
        method=evidence.method.id,
        title=evidence.method.title,
        rows=evidence.n_total,
        used=evidence.n_used,
        unit=evidence.unit,
        confidence=evidence.mean_confidence,
        accuracy=evidence.accuracy,
        brier=evidence.brier,
        ece=METRICS["ece"].compute(evidence.top_label_sums, DEFAULT_SCHEME),
        verdict=judge_calibration(binned, n_verdicts, evidence.design_effect).kind,
        curve=bin_table(binned, with_intervals=False).select(
            "bin", "count", "confidence", "accuracy", "thin"
        ),
    )
