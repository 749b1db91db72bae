"""Which subjects, shots, sizes, tunings are off?"""

import streamlit as st

from pages.parts import grouped, many
from pages.parts.grouping import choose_groups
from pages.parts.shell import shell

choice = shell("groups", choose_groups).chosen
result = grouped.result_of(choice)
grouped.verdict(choice, result)
grouped.dots(choice, result)
grouped.differences(choice, result)
grouped.table(choice, result)
many.left_out(choice.many)
st.divider()
grouped.panels(choice, result)
