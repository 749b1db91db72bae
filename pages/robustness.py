"""Does the number depend on M?"""

import streamlit as st

from calib_core.analysis.sweep import sweep_bins
from calib_core.figures.relative import describe_relative_values, relative_values_figure
from calib_core.figures.robustness import describe_metric_values, metric_values_figure
from calib_core.report.sections.robustness import ROBUSTNESS_CAPTION, RELATIVE_TITLE, VALUES_TITLE
from pages.parts import cache, pool, robust, show, waiting
from pages.parts.choice import choose_sweep
from pages.parts.shell import shell

choice = shell("robustness", choose_sweep).choice
wanted = choice.required_sweep
results = [
    cache.cached_result(
        ("sweep", *choice.cache_key(evidence, run), wanted.bin_counts, wanted.metrics, wanted.ddof),
        lambda evidence=evidence: sweep_bins(evidence, wanted.metrics, wanted.bin_counts, ddof=wanted.ddof),
    )
    for run, evidence in waiting.with_progress(
        ((choice.run, choice.evidence), *wanted.other_runs), "Drawing what chance alone would give:"
    )
]
robust.show_sweep_summary(choice, results)
with st.grid(2, min_column_width=430, gap="medium"):
    values, relative = st.container(), st.container()
with values:
    st.subheader(VALUES_TITLE, anchor=False)
    show.show_figure(
        lambda theme: metric_values_figure(results, theme, choice.style_indices),
        key="values",
        alt=describe_metric_values(results),
        export=robust.sweep_export(choice, results, VALUES_TITLE),
    )
with relative:
    st.subheader(RELATIVE_TITLE, anchor=False)
    show.show_figure(
        lambda theme: relative_values_figure(results, theme, choice.style_indices),
        key="relative",
        alt=describe_relative_values(results),
        export=robust.sweep_export(choice, results, RELATIVE_TITLE),
    )
    robust.show_full_ece(results)
st.caption(ROBUSTNESS_CAPTION)
robust.show_rsd_table(choice, results)
robust.show_published_rsd()
with st.grid(2, min_column_width=430, gap="medium"):
    left, right = st.container(), st.container()
with left:
    pool.show_pooling(choice, wanted.bin_counts)
with right:
    pool.show_occurrences(choice)
