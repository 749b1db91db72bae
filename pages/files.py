"""The page Files: what was loaded, what was left out, and why?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import streamlit as st

from calib_core.wording import plural
from pages.state.cache import read_now
from pages.state.markdown import escape_markdown
from pages.state.runs import LoadedRun
from pages.widgets.column_mapping import show_accept_all
from pages.widgets.dropped_files import open_accepted_diagram, show_dropped_files
from pages.widgets.file_block import show_file, show_run
from pages.widgets.file_status import open_files, show_empty_folder, show_file_table
from pages.widgets.joined_tables import show_joined_tables
from pages.widgets.shell import shell
from pages.widgets.summary import show_view_caption
from pages.widgets.uploader import show_uploader


def stop_on_empty_folder() -> NoReturn:
    """Say what to put into an empty data folder, and end the page."""
    show_empty_folder()
    st.stop()


def show_merged_runs(runs: Sequence[LoadedRun]) -> None:
    """Draw a block for each run that is spread over several files."""
    for run in runs:
        if len(run.part_files) > 1:
            with st.expander(
                f"{escape_markdown(run.title)}: one run of {len(run.part_files):,} files", expanded=True
            ):
                show_run(run.report, f"whole_{run.id}", several=False)


def page() -> None:
    """Draw the page."""
    context = shell("files")
    open_accepted_diagram(context.all_runs)
    show_uploader(context.files)
    asking, unsettled = show_dropped_files(context)
    loaded = {file for run in context.all_runs for file in run.part_files}
    if not context.files and not context.unread:
        stop_on_empty_folder()
    unread = f"{len(context.unread):,} not read yet, " if context.unread else ""
    has_own = context.unread or any(not file.is_uploaded for file in context.files)
    fate = "Calib never writes to the data folder." if has_own else "Uploads are deleted when you leave."
    show_view_caption(
        f"{plural(len(context.files) + len(context.unread), 'file')}, {unread}{len(loaded)} loaded, "
        f"{plural(len(context.all_runs), 'run')}. {fate}"
    )
    place_of_button = st.container()  # drawn last, as it accepts what the forms below it show
    show_joined_tables(context.files, context.runs)
    shown = show_file_table(context.files, loaded, context.unread, shown_above=unsettled)
    for file in set(shown) & set(context.unread):
        read_now(file)
        st.rerun()
    if len(shown) == len(context.files):
        show_merged_runs(context.all_runs)
    open_blocks = open_files(shown, loaded, context.files)
    suggested = asking | unsettled
    for file in shown:
        if file in unsettled:  # its row was clicked
            st.caption(f"{escape_markdown(file.name)} is shown above the list.")
            continue
        mapping = show_file(
            file,
            context.files,
            context.accepted_file_ids,
            expanded=file in open_blocks and file not in asking,
            is_shown_above=file in asking,
        )
        suggested.setdefault(file, mapping)
    with place_of_button:
        show_accept_all(context.files, suggested)


if __name__ == "__main__":
    page()
