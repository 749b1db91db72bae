"""What if it may refuse?"""

import streamlit as st

from calib_core.analysis.abstention_reading import reading
from calib_core.figures.abstention import abstention_figure, describe_abstention
from calib_core.report.sections.abstention import CAPTION, unlike
from pages.parts import abstaining, show
from pages.parts.shell import shell

wanted = shell("abstention", abstaining.choose_abstention).chosen
made = abstaining.curves(wanted)
show.reading(reading(made, wanted.wanted), abstaining.looking_at(wanted))
abstaining.tiles(wanted, made)
show.recipe(abstaining.recipes(made))
show.remarks(*unlike(wanted.evidences))
show.figure(
    lambda theme: abstention_figure(made, theme, wanted=wanted.wanted, threshold=wanted.threshold),
    key="abstention",
    alt=describe_abstention(made),
    export=abstaining.export(wanted, made),
)
st.caption(CAPTION)
abstaining.table(wanted, made)
