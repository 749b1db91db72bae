"""The front door: what is here, and where to begin?"""

import streamlit as st

from calib_core.analysis.overview import overview
from pages.parts import cache, tables
from pages.parts.headers import MIDDLEWARE, ask_nobody
from pages.parts.shell import PAGES, shell
from pages.parts.uploads import lifespan


def start() -> None:
    """The page Start."""
    here = shell("start")
    st.markdown(
        "**Calib tells whether a language model's confidence can be believed:** it says 80 % sure, so is it "
        "right 80 times in 100? Here is every run of the data folder, by each of its confidence methods."
    )
    if not here.runs:
        tables.no_runs(here.files)
        return
    table = cache.kept(
        ("overview", *((run.id, run.file.stamp) for run in here.runs)),
        lambda: overview({run.title: tuple(run.report.survey.usable.values()) for run in here.runs}),
    )
    chosen = tables.overview(table)
    st.caption(
        "ECE: equal width, M = 10, right-closed, top label; lower is better, as for Brier. "
        "Click a row to see its reliability diagram."
    )
    if chosen is not None:
        title, method = table.row(chosen)[:2]
        run = next(run for run in here.runs if run.title == title)
        st.switch_page(PAGES["reliability"].script, query_params={"run": run.id, "method": method})


if __name__ == "__main__":  # a session runs this file as a script
    start()
else:  # the server imports it once, to learn what it serves and with which headers
    ask_nobody()
    app = st.App(__file__, middleware=MIDDLEWARE, lifespan=lifespan)
