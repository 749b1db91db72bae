"""What does one reliability result come to?  Its sentence, five tiles, the recipe, what to know besides."""

from __future__ import annotations

import streamlit as st

from calib_core.analysis.reliability import Reliability
from calib_core.analysis.score import Score, score
from calib_core.metrics import METRICS
from calib_core.problems import Unavailable
from pages.parts import show
from pages.parts.choice import Choice
from pages.parts.literal import literal


def verdict(choice: Choice, result: Reliability) -> None:
    """What stands above the diagram."""
    metric, number = METRICS[choice.metric], result.score
    st.subheader(literal(result.reading), anchor=False)
    show.tiles(
        [
            (metric.title, _value(number), f"{metric.meaning} {metric.source}.", _chance(number)),
            ("Brier", show.number(result.brier), METRICS["brier"].meaning),
            ("Accuracy", show.percent(result.accuracy), f"Judged on the {result.judged}."),
            ("Mean confidence", show.percent(result.mean_confidence), "The average of what it says."),
            (
                f"{choice.evidence.unit.capitalize()} used / total",
                f"{number.n_used:,} / {number.n_total:,}",
                show.rows_help(choice.evidence),
            ),
        ]
    )
    # The number's own, which says how p was come by; of a metric without bins the picture's.
    show.recipe(number.recipe if metric.binned else result.recipe)
    show.remarks(number.remark, *result.remarks)


def bounds(choice: Choice, reason: Unavailable) -> None:
    """What is known of a number whose bins cannot be drawn: its interval, and why no more."""
    number = score(choice.evidence, choice.metric, choice.scheme)
    metric = METRICS[choice.metric]
    show.tiles([(metric.title, _value(number), f"{metric.meaning} {metric.source}.")])
    show.recipe(number.recipe)
    st.info(literal(str(reason)), icon=":material/straighten:")


def _value(number: Score) -> str:
    """The value, or the interval in which it lies where no more is known."""
    if number.value is None and number.low is not None and number.high is not None:
        return f"{number.low:.4f} to {number.high:.4f}"
    return show.number(number.value)


def _chance(number: Score) -> str:
    """How often as large a number would come out if every confidence were exactly right."""
    return "" if number.p is None else f"p = {number.p:.3f} if it were calibrated"
