"""Is it right as often as it says?"""

import streamlit as st

from calib_core.analysis.reliability import reliability
from calib_core.figures.reliability import describe_reliability, reliability_figure
from calib_core.problems import Unavailable
from calib_core.report.sections.reliability import caption
from pages.parts import cache, drill, exporting, show, tables
from pages.parts.address import flag
from pages.parts.lines_view import lines
from pages.parts.lining import choose_lines
from pages.parts.literal import literal
from pages.parts.shell import shell
from pages.parts.verdict import bins_export, bounds, verdict

wanted = shell("reliability", choose_lines).chosen
choice = wanted.choice
lines(wanted)
try:
    result = cache.kept(
        ("reliability", *choice.key()),
        lambda: reliability(choice.evidence, choice.metric, choice.scheme),
    )
except Unavailable as reason:
    bounds(choice, reason)
    st.stop()
verdict(choice, result)
selected = drill.selected(result.table)
with st.grid(2, min_column_width=430, gap="medium"):
    diagram, table = st.container(), st.container()
with diagram:
    title, switch = st.columns([2, 1], vertical_alignment="center")
    title.subheader("Reliability diagram", anchor=False)
    with switch:
        log_counts = flag("log", "Log counts", "The lower panel by powers of ten.", default=choice.crowded)
    show.figure(
        lambda theme: reliability_figure(result, theme, log_counts=log_counts, selected=selected),
        key="reliability",
        alt=describe_reliability(result),
        export=bins_export(choice, result, "Reliability diagram"),
        on_select=lambda: drill.from_figure("reliability"),
    )
with table:
    st.subheader("Per-bin table", anchor=False)
    tables.bins(result, selected)
    more = literal(choice.evidence.no_questions or "") or "Click a bar or a row to see its questions."
    st.caption(f"{caption(result)} {more}")
    exporting.table(
        bins_export(choice, result, "Per-bin table"), "bins", shown=tables.bin_rows(result),
        columns=tables.COLUMNS,
    )
drill.questions(choice, result, selected)
