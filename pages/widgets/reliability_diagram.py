"""moved."""

from __future__ import annotations

import streamlit as st

from calib_core.errors import Unavailable
from calib_core.figures.reliability import describe_reliability, reliability_figure
from calib_core.results.reliability import Reliability, reliability_diagram
from pages.state.cache import cached_result
from pages.state.markdown import escape_markdown
from pages.widgets.export import Export, make_file_stem
from pages.widgets.figure import show_figure
from pages.widgets.page_link import page_link
from pages.widgets.run_choice import RunChoice
from pages.widgets.summary import show_recipe

# MERGED bin_by_bin: What does one point of a figure look like, bin by bin, and where is there more of it?


def show_reliability_diagram(choice: RunChoice, title: str, label: str, script: str) -> None:
    """The reliability diagram of a point, under its title; label: of the link to the page `script`."""
    st.header(escape_markdown(title), anchor=False)
    try:
        result = cached_result(
            ("reliability", *choice.cache_key()),
            lambda: reliability_diagram(choice.evidence, choice.metric, choice.scheme),
        )
    except Unavailable as reason:
        st.info(escape_markdown(str(reason)))
        return
    with st.grid(2, min_column_width=430, gap="medium"):
        drawn, words = st.container(), st.container()
    with drawn:
        show_figure(
            lambda theme: reliability_figure(result, theme, log_counts=choice.first_bin_dominates),
            key="reliability",
            alt=describe_reliability(result),
            export=bins_export(choice, result, "Reliability diagram"),
        )
    with words:
        st.markdown(escape_markdown(result.headline))
        show_recipe(result.recipe)
        _reliability_link(choice, label, script)


def _reliability_link(choice: RunChoice, label: str, script: str) -> None:
    """The same run, method, metric and bins on the other page."""
    query = {
        "run": choice.run.id,
        "method": choice.evidence.method.id,
        "metric": choice.metric,
        "m": str(choice.scheme.bins),
        "binning": choice.scheme.binning,
    }
    page_link(script, label, ":material/show_chart:", query)


def bins_export(choice: RunChoice, result: Reliability, what: str) -> Export:
    """The bins of a diagram, as a file of the diagram or of its table has them."""
    return Export(make_file_stem(choice.file_stem), result.to_frame, result.recipe, what, choice.description)
