"""Which model is both accurate and honest?"""

import streamlit as st

from calib_core.figures.comparison import comparison_figure, describe_comparison
from pages.parts import compared, comparing, comparing_point, show
from pages.parts.literal import literal
from pages.parts.shell import PAGES, shell

wanted = shell("comparison", comparing.choose_comparison).chosen
result = comparing.result_of(wanted)
chosen = compared.selected(result)
st.subheader(literal(result.reading), anchor=False)
compared.tiles(result)
show.recipe(result.recipe)
show.remarks(*result.unlike)
show.figure(
    comparison_figure(result, show.theme(), selected=chosen),
    key="comparison",
    alt=describe_comparison(result),
    on_select=lambda: compared.from_figure("comparison"),
)
compared.caption(result)
compared.table(result, chosen)
comparing.not_shown(wanted, result)
if chosen is not None:
    st.divider()
    comparing_point.diagram(wanted, chosen, PAGES["reliability"].script)
