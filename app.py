"""The front door: what is here, and where to begin?"""

import streamlit as st

from pages.parts import empty
from pages.parts import start as begin
from pages.parts.headers import MIDDLEWARE, disable_external_ip_lookup
from pages.parts.shell import PAGES, shell
from pages.parts.uploads import server_lifespan


def start() -> None:
    """The page Start."""
    here = shell("start")
    st.markdown(
        "**Calib shows whether a language model's confidence can be believed:** when it says 80 % sure, is "
        "it right 80 times in 100?"
    )
    if not here.runs:
        empty.show_no_runs(here.files, PAGES["files"].script)
        return
    result = begin.cached_overview(here.runs)
    begin.show_overview_headline(result)
    begin.show_not_loaded(here.files, here.runs)
    begin.show_next_steps(result)
    begin.show_runs_table(here.runs, result)


if __name__ == "__main__":  # a session runs this file as a script
    start()
else:  # the server imports it once, to learn what it serves and with which headers
    disable_external_ip_lookup()
    app = st.App(__file__, middleware=MIDDLEWARE, lifespan=server_lifespan)
