"""What does one reliability result come to?  Its sentence, five tiles, the recipe, what to know besides."""

from __future__ import annotations

import streamlit as st

from calib_core.analysis.looking import ViewCaption, bins_caption, view_caption, metric_caption
from calib_core.analysis.reliability import Reliability
from calib_core.analysis.score import score
from calib_core.metrics import METRICS
from calib_core.problems import Unavailable
from calib_core.report.sections.reliability import metric_tile, reliability_tiles
from pages.parts import show
from pages.parts.choice import RunChoice
from pages.parts.exporting import Export, make_file_stem
from pages.parts.literal import escape_markdown


def show_reliability_summary(choice: RunChoice, result: Reliability) -> None:
    """What stands above the diagram."""
    number = result.score
    show.show_headline(result.headline, reliability_view_caption(choice))
    *first, rows = reliability_tiles(choice.evidence, result)
    show.show_tiles([*first, rows._replace(help=escape_markdown(rows.help))])  # it has reasons in words of the file
    # The number's own, which says how p was come by; of a metric without bins the picture's.
    show.show_recipe(number.recipe if METRICS[choice.metric].binned else result.recipe)
    show.show_remarks(number.remark, *result.remarks)


def reliability_view_caption(choice: RunChoice) -> ViewCaption:
    """The diagram, of which run, method and metric."""
    return view_caption(
        "Reliability diagram", [choice.run.title], [choice.evidence],
        # A metric without bins is no number of the diagram: its bins are said, and the metric is its tile.
        ", ".join(dict.fromkeys((metric_caption(choice.metric, choice.scheme), bins_caption(choice.scheme))))
        if not METRICS[choice.metric].binned else metric_caption(choice.metric, choice.scheme),
    )


def bins_export(choice: RunChoice, result: Reliability, what: str) -> Export:
    """The bins of a diagram, as a file of the diagram or of its table has them."""
    return Export(make_file_stem(choice.file_stem), result.to_frame, result.recipe, what, choice.description)


def show_bounds(choice: RunChoice, reason: Unavailable) -> None:
    """What is known of a number whose bins cannot be drawn: its interval, and why no more."""
    number = score(choice.evidence, choice.metric, choice.scheme)
    show.show_view_caption(reliability_view_caption(choice).sentence)
    show.show_tiles([metric_tile(number)])
    show.show_recipe(number.recipe)
    st.info(escape_markdown(str(reason)), icon=":material/straighten:")

