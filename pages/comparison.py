"""Which model is both accurate and honest?"""

import streamlit as st

from calib_core.figures.comparison import comparison_figure, describe_comparison
from pages.parts import compared, comparing, comparing_point, picking, show
from pages.parts.shell import PAGES, shell

wanted = shell("comparison", comparing.choose_comparison).choice
result = comparing.cached_comparison(wanted)
chosen = picking.selected_point([point.key for point in result.points])
show.show_headline(result.headline, comparing.comparison_view_caption(wanted, result))
compared.show_comparison_tiles(result)
show.show_recipe(result.recipe)
show.show_remarks(*result.caveats)
show.show_figure(
    lambda theme: comparison_figure(result, theme, selected=chosen, style_indices=wanted.style_indices),
    key="comparison",
    alt=describe_comparison(result),
    export=compared.comparison_export(result),
    on_select=lambda: picking.select_point_from_figure("comparison"),
)
compared.show_comparison_caption(result)
compared.show_trends(result)
compared.show_points_table(result, chosen)
comparing.show_refused_points(wanted, result)
if chosen is not None:
    st.divider()
    comparing_point.show_point_diagram(wanted, chosen, PAGES["reliability"].script)
