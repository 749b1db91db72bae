"""A table of ECE and Brier whose names hold every special character, for the export tests."""

from __future__ import annotations

from calib_core.views.view import EceBrierCell, EceBrierTable

HOSTILE = r'50% of $x^2$ & #1_{a}~\input{x} <b>&amp;</b> [l](http://calib.invalid) | "q"'


def make_table(
    *, name: str = "model-a", below: str = "accuracy 61.3 %, n 1,000, greedy", flag: str | None = None
) -> EceBrierTable:
    """Two runs of two data sets, two methods; the second method lacks the second run."""
    entries = {
        ("a", "p_true"): EceBrierCell("0.1000", "0.2000", best_brier=True, warning=flag, small_print=below),
        ("b", "p_true"): EceBrierCell("0.3000", "0.4000", small_print=below),
        ("a", "given"): EceBrierCell("0.0500", "0.2500", best_ece=True, small_print=below),
    }
    return EceBrierTable(
        title="ECE and Brier",
        columns={"a": ("quiz", name), "b": ("sums", "model-b")},
        rows={"p_true": "p(True)", "given": "confidence in the file"},
        cells=entries,
        notes=(f"{name}: ECE-L1, M=10", "second"),
    )
