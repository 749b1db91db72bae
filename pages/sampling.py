"""How many samples are enough?"""

import streamlit as st

from calib_core.figures.sampling import describe_sampling, sampling_figure
from calib_core.problems import Unavailable
from calib_core.report.sections.sampling import CAPTION
from pages.parts import sampling_view, show
from pages.parts.literal import literal
from pages.parts.sampling import choose_sampling
from pages.parts.shell import shell

chosen = shell("sampling", choose_sampling).chosen
try:
    result = sampling_view.computed(chosen)
except Unavailable as reason:
    st.info(literal(str(reason)))
else:
    sampling_view.verdict(chosen, result)
    with st.grid(2, min_column_width=485, gap="medium"):
        picture, numbers = st.container(), st.container()
    with picture:
        show.figure(
            lambda theme: sampling_figure(result, chosen.metric, theme),
            key="sampling",
            alt=describe_sampling(result, chosen.metric),
            export=sampling_view.export(chosen, result, "Metric over N'"),
        )
    with numbers:
        sampling_view.table(chosen, result)
    st.caption(CAPTION)
sampling_view.question(chosen)
