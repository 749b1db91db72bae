"""What does one point of a figure look like, bin by bin, and where is there more of it?"""

from __future__ import annotations

import streamlit as st

from calib_core.analysis.reliability import reliability_diagram
from calib_core.figures.reliability import describe_reliability, reliability_figure
from calib_core.problems import Unavailable
from pages.parts import cache, show
from pages.parts.choice import RunChoice
from pages.parts.link import page_link
from pages.parts.literal import escape_markdown
from pages.parts.verdict import bins_export


def show_reliability_diagram(choice: RunChoice, title: str, label: str, script: str) -> None:
    """The reliability diagram of a point, under its title; label: of the link to the page `script`."""
    st.header(escape_markdown(title), anchor=False)
    try:
        result = cache.cached_result(
            ("reliability", *choice.cache_key()), lambda: reliability_diagram(choice.evidence, choice.metric, choice.scheme)
        )
    except Unavailable as reason:
        st.info(escape_markdown(str(reason)))
        return
    with st.grid(2, min_column_width=430, gap="medium"):
        drawn, words = st.container(), st.container()
    with drawn:
        show.show_figure(
            lambda theme: reliability_figure(result, theme, log_counts=choice.first_bin_dominates), key="reliability",
            alt=describe_reliability(result), export=bins_export(choice, result, "Reliability diagram"),
        )
    with words:
        st.markdown(escape_markdown(result.headline))
        show.show_recipe(result.recipe)
        _reliability_link(choice, label, script)


def _reliability_link(choice: RunChoice, label: str, script: str) -> None:
    """The same run, method, metric and bins on the other page."""
    query = {
        "run": choice.run.id, "method": choice.evidence.method.id, "metric": choice.metric,
        "m": str(choice.scheme.bins), "binning": choice.scheme.binning,
    }
    page_link(script, label, ":material/show_chart:", query)
