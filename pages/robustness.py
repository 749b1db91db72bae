"""Does the number depend on M?"""

import streamlit as st

from calib_core.analysis.sweep import sweep
from calib_core.figures.relative import describe_relative, relative_figure
from calib_core.figures.robustness import describe_robustness, values_figure
from calib_core.report.sections.robustness import CAPTION, RELATIVE, VALUES
from pages.parts import cache, pool, robust, show, waiting
from pages.parts.choice import choose_sweep
from pages.parts.shell import shell

choice = shell("robustness", choose_sweep).chosen
wanted = choice.sweeping
results = [
    cache.kept(
        ("sweep", *choice.key(evidence, run), wanted.bins, wanted.metrics, wanted.ddof),
        lambda evidence=evidence: sweep(evidence, wanted.metrics, wanted.bins, ddof=wanted.ddof),
    )
    for run, evidence in waiting.each(
        ((choice.run, choice.evidence), *wanted.beside), "Drawing what chance alone would give:"
    )
]
robust.verdict(choice, results)
with st.grid(2, min_column_width=430, gap="medium"):
    values, relative = st.container(), st.container()
with values:
    st.subheader(VALUES, anchor=False)
    show.figure(
        lambda theme: values_figure(results, theme, choice.places),
        key="values",
        alt=describe_robustness(results),
        export=robust.export(choice, results, VALUES),
    )
with relative:
    st.subheader(RELATIVE, anchor=False)
    show.figure(
        lambda theme: relative_figure(results, theme, choice.places),
        key="relative",
        alt=describe_relative(results),
        export=robust.export(choice, results, RELATIVE),
    )
    robust.full_ece(results)
st.caption(CAPTION)
robust.table(choice, results)
robust.published()
with st.grid(2, min_column_width=430, gap="medium"):
    left, right = st.container(), st.container()
with left:
    pool.picture(choice, wanted.bins)
with right:
    pool.occurrences(choice)
