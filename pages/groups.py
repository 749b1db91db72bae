"""Which subjects, shots, sizes, tunings are off?"""

import streamlit as st

from pages.parts import grouped, many
from pages.parts.grouping import choose_groups
from pages.parts.shell import shell

choice = shell("groups", choose_groups).choice
result = grouped.cached_groups(choice)
grouped.show_groups_summary(choice, result)
grouped.show_groups_figure(choice, result)
grouped.show_differences(choice, result)
grouped.show_groups_table(choice, result)
many.show_not_drawn(choice.selection)
st.divider()
grouped.show_group_diagrams(choice, result)
