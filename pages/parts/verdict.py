"""What does one reliability result come to?  Its sentence, five tiles, the recipe, what to know besides."""

from __future__ import annotations

import streamlit as st

from calib_core.analysis.looking import Looking, bins_of, looking, number_of
from calib_core.analysis.reliability import Reliability
from calib_core.analysis.score import score
from calib_core.metrics import METRICS
from calib_core.problems import Unavailable
from calib_core.report.sections.reliability import number_tile, tiles
from pages.parts import show
from pages.parts.choice import Choice
from pages.parts.exporting import Export, named
from pages.parts.literal import literal


def verdict(choice: Choice, result: Reliability) -> None:
    """What stands above the diagram."""
    number = result.score
    show.reading(result.reading, looking_at(choice))
    *first, rows = tiles(choice.evidence, result)
    show.tiles([*first, rows._replace(help=literal(rows.help))])  # it has reasons in words of the file
    # The number's own, which says how p was come by; of a metric without bins the picture's.
    show.recipe(number.recipe if METRICS[choice.metric].binned else result.recipe)
    show.remarks(number.remark, *result.remarks)


def looking_at(choice: Choice) -> Looking:
    """The diagram, of which run, method and metric."""
    return looking(
        "Reliability diagram", [choice.run.title], [choice.evidence],
        # A metric without bins is no number of the diagram: its bins are said, and the metric is its tile.
        ", ".join(dict.fromkeys((number_of(choice.metric, choice.scheme), bins_of(choice.scheme))))
        if not METRICS[choice.metric].binned else number_of(choice.metric, choice.scheme),
    )


def bins_export(choice: Choice, result: Reliability, what: str) -> Export:
    """The bins of a diagram, as a file of the diagram or of its table has them."""
    return Export(named(choice.slug), result.to_frame, result.recipe, what, choice.of)


def bounds(choice: Choice, reason: Unavailable) -> None:
    """What is known of a number whose bins cannot be drawn: its interval, and why no more."""
    number = score(choice.evidence, choice.metric, choice.scheme)
    show.looking(looking_at(choice).words)
    show.tiles([number_tile(number)])
    show.recipe(number.recipe)
    st.info(literal(str(reason)), icon=":material/straighten:")

