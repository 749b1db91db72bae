"""What does one reliability result come to?  Its sentence, five tiles, the recipe, what to know besides."""

from __future__ import annotations

import streamlit as st

from calib_core.analysis.reliability import Reliability
from calib_core.metrics import METRICS
from pages.parts import show
from pages.parts.choice import Choice
from pages.parts.literal import literal


def verdict(choice: Choice, result: Reliability) -> None:
    """What stands above the diagram."""
    metric, score = METRICS[choice.metric], result.score
    st.subheader(literal(result.reading), anchor=False)
    show.tiles(
        [
            (metric.title, show.number(score.value), f"{metric.meaning} {metric.source}."),
            ("Brier", show.number(result.brier), METRICS["brier"].meaning),
            ("Accuracy", show.percent(result.accuracy), f"Judged on the {result.judged}."),
            ("Mean confidence", show.percent(result.mean_confidence), "The average of what it says."),
            ("Rows used / total", f"{score.n_used:,} / {score.n_total:,}", show.rows_help(choice.evidence)),
        ]
    )
    show.recipe(result.recipe)
    show.remarks(score.remark, *result.remarks)
