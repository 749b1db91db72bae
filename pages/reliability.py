"""Is it right as often as it says?"""

import streamlit as st

from calib_core.analysis.reliability import reliability_diagram
from calib_core.figures.reliability import describe_reliability, reliability_figure
from calib_core.problems import Unavailable
from calib_core.report.sections.reliability import reliability_caption
from pages.parts import cache, drill, exporting, show, tables
from pages.parts.address import url_toggle
from pages.parts.lines_view import show_lines
from pages.parts.lining import choose_lines
from pages.parts.literal import escape_markdown
from pages.parts.shell import shell
from pages.parts.verdict import bins_export, show_bounds, show_reliability_summary

wanted = shell("reliability", choose_lines).choice
choice = wanted.choice
show_lines(wanted)
try:
    result = cache.cached_result(
        ("reliability", *choice.cache_key()),
        lambda: reliability_diagram(choice.evidence, choice.metric, choice.scheme),
    )
except Unavailable as reason:
    show_bounds(choice, reason)
    st.stop()
show_reliability_summary(choice, result)
selected = drill.selected_bin(result.table)
with st.grid(2, min_column_width=430, gap="medium"):
    diagram, table = st.container(), st.container()
with diagram:
    title, switch = st.columns([2, 1], vertical_alignment="center")
    title.subheader("Reliability diagram", anchor=False)
    with switch:
        log_counts = url_toggle("log", "Log counts", "The lower panel by powers of ten.", default=choice.first_bin_dominates)
    show.show_figure(
        lambda theme: reliability_figure(result, theme, log_counts=log_counts, selected=selected),
        key="reliability",
        alt=describe_reliability(result),
        export=bins_export(choice, result, "Reliability diagram"),
        on_select=lambda: drill.select_bin_from_figure("reliability"),
    )
with table:
    st.subheader("Per-bin table", anchor=False)
    tables.show_bin_table(result, selected)
    more = escape_markdown(choice.evidence.no_questions_reason or "") or "Click a bar or a row to see its questions."
    st.caption(f"{reliability_caption(result)} {more}")
    exporting.table_export_menu(
        bins_export(choice, result, "Per-bin table"), "bins", shown=tables.bin_table_frame(result),
        columns=tables.COLUMN_CONFIG,
    )
drill.show_questions(choice, result, selected)
