"""Which runs are at hand, and how does each look at first sight?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl

from calib_core.analysis.evidence import Evidence
from calib_core.bins import Scheme
from calib_core.metrics import METRICS


def overview(runs: Mapping[str, Iterable[Evidence]]) -> pl.DataFrame:
    """One row a run and method: run (the mapping's key), method, title, rows, used, accuracy, brier, ece.

    accuracy, brier, ece: of the top label, null where not defined; ece over ten equal-width bins.
    """
    records = [
        {
            "run": name,
            "method": evidence.method.id,
            "title": evidence.method.title,
            "rows": evidence.n_total,
            "used": evidence.n_used,
            "accuracy": evidence.accuracy,
            "brier": evidence.brier,
            "ece": METRICS["ece"].of(evidence.top_sums, Scheme()),
        }
        for name, evidences in runs.items()
        for evidence in evidences
    ]
    schema = {
        "run": pl.String, "method": pl.String, "title": pl.String, "rows": pl.Int64, "used": pl.Int64,
        "accuracy": pl.Float64, "brier": pl.Float64, "ece": pl.Float64,
    }
    return pl.DataFrame(records, schema=schema)
