"""What if it may refuse?"""

import streamlit as st

from calib_core.analysis.abstention_reading import abstention_headline
from calib_core.figures.abstention import abstention_figure, describe_abstention
from calib_core.report.sections.abstention import ABSTENTION_CAPTION, judged_answers_caveat
from pages.parts import abstaining, show
from pages.parts.shell import shell

wanted = shell("abstention", abstaining.choose_abstention).choice
made = abstaining.cached_curves(wanted)
show.show_headline(abstention_headline(made, wanted.target_accuracy), abstaining.abstention_view_caption(wanted))
abstaining.show_abstention_tiles(wanted, made)
show.show_recipe(abstaining.curve_recipes(made))
show.show_remarks(*judged_answers_caveat(wanted.evidences))
show.show_figure(
    lambda theme: abstention_figure(made, theme, target_accuracy=wanted.target_accuracy, threshold=wanted.threshold),
    key="abstention",
    alt=describe_abstention(made),
    export=abstaining.abstention_export(wanted, made),
)
st.caption(ABSTENTION_CAPTION)
abstaining.show_abstention_table(wanted, made)
