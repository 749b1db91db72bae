"""The reliability diagram of one point of another page's figure, with a link to the page Reliability."""

from __future__ import annotations

import streamlit as st

from calib_core.errors import Unavailable
from calib_core.results.reliability import reliability_diagram
from calib_core.views.reliability import reliability_view
from pages.state.cache import cached_result
from pages.state.markdown import escape_markdown
from pages.widgets.page_link import page_link
from pages.widgets.run_choice import RunChoice
from pages.widgets.summary import show_recipe
from pages.widgets.view import show_view_figure


def show_reliability_diagram(choice: RunChoice, title: str, label: str, script: str) -> None:
    """Draw the reliability diagram of a run under a title.

    Parameters
    ----------
    choice : RunChoice
    title : str
    label : str
        Of the link below the diagram.
    script : str
        Script of the page that the link opens.
    """
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
        diagram, text = st.container(), st.container()
    view = reliability_view(result, evidence=choice.evidence, title=choice.run.title)
    with diagram:
        show_view_figure(view, view.figures[0])
    with text:
        st.markdown(escape_markdown(view.headline))
        show_recipe(*view.recipes)
        _reliability_link(choice, label, script)


def _reliability_link(choice: RunChoice, label: str, script: str) -> None:
    """Link to the other page with the same run, method, metric and binning."""
    query = {
        "run": choice.run.id,
        "method": choice.evidence.method.id,
        "metric": choice.metric,
        "m": str(choice.scheme.bins),
        "binning": choice.scheme.binning,
    }
    page_link(script, label, ":material/show_chart:", query)
