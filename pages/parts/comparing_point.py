"""What does one point of a comparison look like, bin by bin?"""

from __future__ import annotations

import streamlit as st
from streamlit.errors import StreamlitPageNotFoundError

from calib_core.analysis.reliability import reliability
from calib_core.analysis.score import available_metrics
from calib_core.confidence import METHODS
from calib_core.figures.reliability import describe_reliability, reliability_figure
from calib_core.problems import Unavailable
from pages.parts import cache, show
from pages.parts.choice import Choice
from pages.parts.comparing import Comparing
from pages.parts.literal import literal
from pages.parts.many import Seen


def diagram(wanted: Comparing, key: str, script: str) -> None:
    """The reliability diagram of one point under its name; script: of the page that has more of it."""
    one = wanted.seen[key]
    choice = _choice(wanted, one)
    st.subheader(literal(f"{one.run.title}, {METHODS[one.evidence.method.id].title}"), anchor=False)
    try:
        result = cache.kept(
            ("reliability", *choice.key()), lambda: reliability(one.evidence, choice.metric, choice.scheme)
        )
    except Unavailable as reason:
        st.info(literal(str(reason)))
        return
    with st.grid(2, min_column_width=430, gap="medium"):
        drawn, words = st.container(), st.container()
    with drawn:
        show.figure(
            reliability_figure(result, show.theme(), log_counts=choice.crowded), key="reliability",
            alt=describe_reliability(result),
        )
    with words:
        st.markdown(literal(result.reading))
        show.recipe(result.recipe)
        _link(script, choice)


def _choice(wanted: Comparing, one: Seen) -> Choice:
    """The metric upward if the point can be drawn by it, else ECE."""
    possible = available_metrics(one.evidence, wanted.scheme)
    metric = wanted.y if possible.get(wanted.y) is None else "ece"
    return Choice(one.run, one.evidence, metric, wanted.scheme)


def _link(script: str, choice: Choice) -> None:
    """The same run, method, metric and bins on the page Reliability."""
    query = {
        "run": choice.run.id, "method": choice.evidence.method.id, "metric": choice.metric,
        "m": str(choice.scheme.bins), "binning": choice.scheme.binning,
    }
    label = "Open this run on the page Reliability"
    try:
        st.page_link(script, label=label, icon=":material/show_chart:", query_params=query)
    except StreamlitPageNotFoundError:  # a page's script run alone by a test
        st.caption(label)
