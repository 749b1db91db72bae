"""Does the number depend on M?"""

import streamlit as st

from calib_core.analysis.sweep import sweep
from calib_core.figures.relative import relative_figure
from calib_core.figures.robustness import describe_robustness, values_figure
from pages.parts import cache, pool, robust, show
from pages.parts.choice import choose_sweep
from pages.parts.shell import shell

choice = shell("robustness", choose_sweep).chosen
wanted = choice.sweeping
results = [
    cache.kept(
        ("sweep", *choice.key(evidence, run), wanted.bins, wanted.metrics, wanted.ddof),
        lambda evidence=evidence: sweep(evidence, wanted.metrics, wanted.bins, ddof=wanted.ddof),
    )
    for run, evidence in ((choice.run, choice.evidence), *wanted.beside)
]
robust.verdict(choice, results)
with st.grid(2, min_column_width=430, gap="medium"):
    values, relative = st.container(), st.container()
with values:
    st.markdown("**Values**")
    show.figure(values_figure(results, show.theme()), key="values", alt=describe_robustness(results))
with relative:
    st.markdown("**Relative to the curve's own mean**")
    show.figure(relative_figure(results, show.theme()), key="relative", alt=describe_robustness(results))
    robust.full_ece(results)
st.caption(
    "Pale: where the same confidences would put the first run's curve if they were exactly right (5th to "
    "95th percentile; dotted: the median); the table has that of every run. ECE is on a scale of 0 to 1, "
    "Full-ECE and K·cw-ECE on one of 0 to 2: each scale has a panel of its own."
)
robust.table(choice, results)
robust.published()
with st.grid(2, min_column_width=430, gap="medium"):
    left, right = st.container(), st.container()
with left:
    pool.picture(choice, wanted.bins)
with right:
    pool.occurrences(choice)
