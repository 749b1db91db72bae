"""Where do the confidences lie, and can the bins be trusted?"""

import streamlit as st

from calib_core.analysis.concentration import measure_concentration
from calib_core.figures.concentration import describe_histogram, histogram_figure
from calib_core.figures.cumulative import cumulative_figure, describe_cumulative
from calib_core.problems import Unavailable
from calib_core.report.sections.concentration import HISTOGRAM_TITLE, concentration_caption, cumulative_title
from pages.parts import cache, show, spread
from pages.parts.choice import choose_confidences
from pages.parts.literal import escape_markdown
from pages.parts.shell import shell

choice = shell("concentration", choose_confidences).choice
results = []
for evidence in (choice.evidence, *choice.other_methods):
    try:
        result = cache.cached_result(
            ("concentration", *choice.cache_key(evidence)),
            lambda evidence=evidence: measure_concentration(evidence, choice.scheme),
        )
    except Unavailable as reason:
        st.info(escape_markdown(f"{evidence.method.title}: {reason}"))
    else:
        results.append(result)

if results:
    spread.show_concentration_summary(choice, results)
    with st.grid(2 if len(results) == 1 else 1, min_column_width=430, gap="medium"):
        histogram, cumulative = st.container(), st.container()
    with histogram:
        st.subheader(HISTOGRAM_TITLE, anchor=False)
        show.show_figure(
            lambda theme: histogram_figure(results, theme),
            key="histogram",
            alt=describe_histogram(results),
            export=spread.histogram_export(choice, results),
        )
    with cumulative:
        st.subheader(cumulative_title(results[0]), anchor=False)
        show.show_figure(
            lambda theme: cumulative_figure(results, theme),
            key="cumulative",
            alt=describe_cumulative(results),
            export=spread.concentration_export(choice, results, "Cumulative share"),
        )
    st.caption(concentration_caption(results))
