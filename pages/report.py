"""What can I send?"""

import streamlit as st

from pages.parts import reporting
from pages.parts.shell import shell

here = shell("report", reporting.choose_report)
st.markdown(
    "**One file to send.** It holds the chosen pages' figures, tables and recipes, what was loaded and what "
    "was left out, the files' checksums, and the command line that makes it again. It opens in any browser "
    "without a network, in light and dark, and prints to PDF."
)
order = reporting.report_order(here.choice, here.files, here.runs, here.accepted_file_ids)
reporting.show_make_button(order)
reporting.show_progress(order.progress)
reporting.show_contents(order)
reporting.show_command(order)
