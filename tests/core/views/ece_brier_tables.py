"""A table of ECE and Brier whose names hold every special character, for the export tests."""

from __future__ import annotations

from calib_core.views.view import EceBrierBlock, EceBrierCell, EceBrierTable

HOSTILE = r'50% of $x^2$ & #1_{a}~\input{x} <b>&amp;</b> [l](http://calib.invalid) | "q"'


def make_table(
    *, name: str = "model-a", dataset: str = "quiz", note: str = "n 1,000", flag: str | None = None
) -> EceBrierTable:
    """Two data sets: two models by two methods, the second of which one model lacks; then one model."""
    first = EceBrierBlock(
        dataset,
        columns={"a": name, "b": "model-b"},
        rows={"p_true": "p(True)", "given": "confidence in the file"},
        cells={
            ("a", "p_true"): EceBrierCell("0.1000", "0.2000", best_brier=True, warning=flag),
            ("b", "p_true"): EceBrierCell("0.3000", "0.4000"),
            ("a", "given"): EceBrierCell("0.0500", "0.2500", best_ece=True),
        },
        column_notes={"a": (note, "61.3 % right")},
    )
    second = EceBrierBlock(
        "sums",
        {"c": "model-c"},
        {"given": "confidence in the file"},
        {("c", "given"): EceBrierCell("0.5", "0.6")},
    )
    return EceBrierTable("ECE and Brier", (first, second), notes=(f"{name}: ECE-L1, M=10", "second"))
