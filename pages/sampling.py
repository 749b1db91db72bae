"""How many samples are enough?"""

import streamlit as st

from calib_core.figures.sampling import describe_sampling, sampling_figure
from calib_core.problems import Unavailable
from calib_core.report.sections.sampling import SAMPLING_CAPTION
from pages.parts import sampling_view, show
from pages.parts.literal import escape_markdown
from pages.parts.sampling import choose_sampling
from pages.parts.shell import shell

chosen = shell("sampling", choose_sampling).choice
try:
    result = sampling_view.cached_samples(chosen)
except Unavailable as reason:
    st.info(escape_markdown(str(reason)))
else:
    sampling_view.show_sampling_summary(chosen, result)
    with st.grid(2, min_column_width=485, gap="medium"):
        picture, numbers = st.container(), st.container()
    with picture:
        show.show_figure(
            lambda theme: sampling_figure(result, chosen.metric, theme),
            key="sampling",
            alt=describe_sampling(result, chosen.metric),
            export=sampling_view.sampling_export(chosen, result, "Metric over N'"),
        )
    with numbers:
        sampling_view.show_sampling_tables(chosen, result)
    st.caption(SAMPLING_CAPTION)
sampling_view.show_question(chosen)
