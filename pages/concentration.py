"""Where do the confidences lie, and can the bins be trusted?"""

import streamlit as st

from calib_core.analysis.concentration import concentration
from calib_core.figures.concentration import describe_histogram, histogram_figure
from calib_core.figures.cumulative import cumulative_figure, describe_cumulative
from calib_core.problems import Unavailable
from calib_core.report.sections.concentration import HISTOGRAM, caption, cumulative_title
from pages.parts import cache, show, spread
from pages.parts.choice import choose_confidences
from pages.parts.literal import literal
from pages.parts.shell import shell

choice = shell("concentration", choose_confidences).chosen
results = []
for evidence in (choice.evidence, *choice.beside):
    try:
        result = cache.kept(
            ("concentration", *choice.key(evidence)),
            lambda evidence=evidence: concentration(evidence, choice.scheme),
        )
    except Unavailable as reason:
        st.info(literal(f"{evidence.method.title}: {reason}"))
    else:
        results.append(result)

if results:
    spread.methods(choice, results)
    with st.grid(2 if len(results) == 1 else 1, min_column_width=430, gap="medium"):
        histogram, cumulative = st.container(), st.container()
    with histogram:
        st.subheader(HISTOGRAM, anchor=False)
        show.figure(
            lambda theme: histogram_figure(results, theme),
            key="histogram",
            alt=describe_histogram(results),
            export=spread.histogram_export(choice, results),
        )
    with cumulative:
        st.subheader(cumulative_title(results[0]), anchor=False)
        show.figure(
            lambda theme: cumulative_figure(results, theme),
            key="cumulative",
            alt=describe_cumulative(results),
            export=spread.export(choice, results, "Cumulative share"),
        )
    st.caption(caption(results))
