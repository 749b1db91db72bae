"""What does one point of a figure look like, bin by bin, and where is there more of it?"""

from __future__ import annotations

import streamlit as st

from calib_core.analysis.reliability import reliability
from calib_core.figures.reliability import describe_reliability, reliability_figure
from calib_core.problems import Unavailable
from pages.parts import cache, show
from pages.parts.choice import Choice
from pages.parts.link import link
from pages.parts.literal import literal
from pages.parts.verdict import bins_export


def diagram(choice: Choice, title: str, label: str, script: str) -> None:
    """The reliability diagram of a point, under its title; label: of the link to the page `script`."""
    st.header(literal(title), anchor=False)
    try:
        result = cache.kept(
            ("reliability", *choice.key()), lambda: reliability(choice.evidence, choice.metric, choice.scheme)
        )
    except Unavailable as reason:
        st.info(literal(str(reason)))
        return
    with st.grid(2, min_column_width=430, gap="medium"):
        drawn, words = st.container(), st.container()
    with drawn:
        show.figure(
            lambda theme: reliability_figure(result, theme, log_counts=choice.crowded), key="reliability",
            alt=describe_reliability(result), export=bins_export(choice, result, "Reliability diagram"),
        )
    with words:
        st.markdown(literal(result.reading))
        show.recipe(result.recipe)
        _link(choice, label, script)


def _link(choice: Choice, label: str, script: str) -> None:
    """The same run, method, metric and bins on the other page."""
    query = {
        "run": choice.run.id, "method": choice.evidence.method.id, "metric": choice.metric,
        "m": str(choice.scheme.bins), "binning": choice.scheme.binning,
    }
    link(script, label, ":material/show_chart:", query)
