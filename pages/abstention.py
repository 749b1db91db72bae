"""What if it may refuse?"""

import streamlit as st

from calib_core.analysis.abstention_reading import CHOSEN_HERE, reading
from calib_core.figures.abstention import abstention_figure, describe_abstention
from pages.parts import abstaining, show
from pages.parts.literal import literal
from pages.parts.shell import shell

wanted = shell("abstention", abstaining.choose_abstention).chosen
made = abstaining.curves(wanted)
st.subheader(literal(reading(made, wanted.wanted)), anchor=False)
abstaining.tiles(wanted, made)
show.recipe(abstaining.recipes(made))
if len(wanted.judged) > 1:
    show.remarks(f"The lines judge different answers: {', '.join(wanted.judged)}.")
show.figure(
    abstention_figure(made, show.theme(), wanted=wanted.wanted, threshold=wanted.threshold),
    key="abstention",
    alt=describe_abstention(made),
)
st.caption(
    "From right to left fewer questions are answered, the surest last; rows of one confidence are answered "
    f"together. Pale: 95 % Wilson interval of each accuracy. {CHOSEN_HERE}"
)
abstaining.table(wanted, made)
