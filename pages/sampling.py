"""How many samples are enough?"""

import streamlit as st

from calib_core.figures.sampling import describe_sampling, sampling_figure
from calib_core.problems import Unavailable
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
    with st.grid(2, min_column_width=430, gap="medium"):
        picture, numbers = st.container(), st.container()
    with picture:
        drawn = sampling_figure(result, chosen.metric, show.theme())
        show.figure(drawn, key="sampling", alt=describe_sampling(result, chosen.metric))
    with numbers:
        sampling_view.table(chosen, result)
    st.caption(
        "Pale: one standard deviation of the draws to either side, which is how much one part of N' samples "
        "differs from another on the same questions; it is no interval over questions. On grey ground N' is "
        "more than half of the samples. Dashes in the lower panel: the most that F_CN can say, 1 − 1/N'; "
        "dots there: how often the majority answer is right."
    )
sampling_view.question(chosen)
