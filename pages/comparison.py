"""Which model is both accurate and honest?"""

import streamlit as st

from calib_core.figures.comparison import comparison_figure, describe_comparison
from pages.parts import compared, comparing, comparing_point, picking, show
from pages.parts.shell import PAGES, shell

wanted = shell("comparison", comparing.choose_comparison).chosen
result = comparing.result_of(wanted)
chosen = picking.point([point.key for point in result.points])
show.reading(result.reading, comparing.looking_at(wanted, result))
compared.tiles(result)
show.recipe(result.recipe)
show.remarks(*result.unlike)
show.figure(
    lambda theme: comparison_figure(result, theme, selected=chosen, places=wanted.places),
    key="comparison",
    alt=describe_comparison(result),
    export=compared.export(result),
    on_select=lambda: picking.point_from_figure("comparison"),
)
compared.caption(result)
compared.trends(result)
compared.table(result, chosen)
comparing.not_shown(wanted, result)
if chosen is not None:
    st.divider()
    comparing_point.diagram(wanted, chosen, PAGES["reliability"].script)
