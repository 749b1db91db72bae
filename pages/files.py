"""What was loaded, what was left out, and why?"""

import streamlit as st

from pages.parts import ledger
from pages.parts.shell import shell

here = shell("files")
if not here.files:
    ledger.nothing_here()
loaded = {run.file.name for run in here.runs}
st.caption(
    f"{len(here.files)} file{'s' if len(here.files) != 1 else ''} in the data folder, {len(loaded)} loaded, "
    f"{len(here.runs)} run{'s' if len(here.runs) != 1 else ''}. The folder is only read, never written to."
)
ledger.summary(here.files, loaded)
for file in here.files:
    ledger.one_file(file, here.good, open_=file.name not in loaded or len(here.files) == 1)
