"""What came of the files that were just dropped: a link to their diagram, a question, or what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import streamlit as st

from calib_core.results.files import run_figures
from pages.state.cache import LoadedFile
from pages.state.mappings import FileMapping
from pages.state.markdown import escape_markdown
from pages.state.runs import LoadedRun, file_id
from pages.state.uploads import session_uploads
from pages.widgets.column_mapping import (
    figures_text,
    lacks_dataset,
    needs_columns,
    show_dataset_field,
    show_suggested_mapping,
    take_accepted_path,
)
from pages.widgets.file_block import show_file
from pages.widgets.file_status import REFUSED_FILE, SETTLED_STATES, attention_rank, file_state
from pages.widgets.page_link import kept_query, page_link
from pages.widgets.pages import PAGES, PageInfo, has_confidence
from pages.widgets.shell import PageContext
from pages.widgets.uploader import last_uploaded

MAX_NEXT_STEPS: Final = 3
"""Up to this many of the files that were just uploaded have a link to their diagram, or a block."""


Suggested: TypeAlias = dict[LoadedFile, FileMapping | None]
"""File → its suggested mapping as the controls are set; None where there is none that can be accepted."""


def show_dropped_files(context: PageContext[None]) -> tuple[Suggested, Suggested]:
    """Draw what came of the files that were dropped last, and the questions on earlier ones, below the field.

    Returns
    -------
    asking : Suggested
        The files whose suggested mappings are drawn.
    unsettled : Suggested
        The files whose blocks are drawn, since they need attention.
    """
    for error in session_uploads().errors:
        st.error(escape_markdown(error), icon=":material/upload_file:")
    for label in session_uploads().replaced:
        text = f"**{escape_markdown(label)}** takes the place of the file of this name uploaded before."
        st.info(text, icon=":material/upload_file:")
    drawn = _unsettled_uploads(context)
    asking = {
        file: show_suggested_mapping(file, file_id(file))
        for file in drawn
        if needs_columns(file, context.files)
    }
    _show_next_steps(last_uploaded(context.files), context.all_runs)
    unsettled = {
        file: show_file(file, context.files, context.accepted_file_ids, expanded=True)
        for file in drawn
        if file not in asking
    }
    session_uploads().note_shown()
    return asking, unsettled


def _unsettled_uploads(context: PageContext[None]) -> list[LoadedFile]:
    """Return the uploads that need attention, as many as are drawn; of earlier ones, those that ask.

    What is refused is said once, a question stays until it is answered.
    """
    loaded = {file for run in context.all_runs for file in run.part_files}
    uploaded = [file for file in context.files if file.is_uploaded]
    states = {file: file_state(file, loaded, context.files) for file in uploaded}
    newest = last_uploaded(uploaded)
    needing_attention = [file for file in newest if states[file] not in SETTLED_STATES]
    needing_attention += [
        file
        for file in uploaded
        if file not in newest and states[file] not in (*SETTLED_STATES, REFUSED_FILE)
    ]
    drawn = needing_attention[:MAX_NEXT_STEPS]
    return sorted(drawn, key=lambda file: (attention_rank(states[file]), uploaded.index(file)))


def open_accepted_diagram(runs: Sequence[LoadedRun]) -> None:
    """Go to the diagram of the file whose mapping was just accepted, where a run of it is loaded."""
    path = take_accepted_path()
    run = next((run for run in runs if any(file.listing.path == path for file in run.part_files)), None)
    if path is not None and run is not None:
        st.switch_page(_page_of(run).script, query_params=kept_query({"run": run.id}))


def _page_of(run: LoadedRun) -> PageInfo:
    """Return the page on which a run is looked at first: the judge's, where it has no confidence."""
    return PAGES["reliability" if has_confidence(run) else "judge"]


def _show_next_steps(dropped: Sequence[LoadedFile], runs: Sequence[LoadedRun]) -> None:
    """Draw links to the diagrams of the files that were just uploaded, and the field for their data set."""
    for file in dropped[:MAX_NEXT_STEPS]:
        run = next((run for run in runs if file in run.part_files), None)
        if run is None or file.report is None:
            continue
        with st.container(
            border=True, key=f"next_{file_id(file)}", horizontal=True, vertical_alignment="center"
        ):
            figures = figures_text(run_figures(file.report))
            st.markdown(f":material/check_circle: **{escape_markdown(file.name)}** is loaded: {figures}")
            page = _page_of(run)
            page_link(
                page.script,
                "Open the reliability diagram" if has_confidence(run) else "Compare judge and people",
                page.icon,
                {"run": run.id},
                large=True,
            )
    show_dataset_field({file: file_id(file) for file in dropped if lacks_dataset(file)}, "dropped")
