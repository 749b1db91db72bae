"""What came of the files that were just dropped: a link to their diagram, a question, or what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from calib_core.readers.table.run_split import MAX_DATASET_LENGTH
from calib_core.results.files import run_figures
from pages.state.cache import LoadedFile
from pages.state.markdown import escape_markdown
from pages.state.runs import LoadedRun
from pages.state.uploads import session_uploads
from pages.widgets.column_mapping import (
    DATASET_HELP,
    figures_text,
    lacks_dataset,
    name_datasets,
    needs_columns,
    show_suggested_mapping,
    take_accepted_path,
)
from pages.widgets.file_block import show_file
from pages.widgets.file_status import SETTLED_STATES, file_state, widget_keys
from pages.widgets.page_link import kept_query, page_link
from pages.widgets.pages import PAGES, PageInfo, has_confidence
from pages.widgets.shell import PageContext
from pages.widgets.uploader import last_uploaded

MAX_NEXT_STEPS: Final = 3
"""Up to this many of the files that were just uploaded have a link to their diagram."""


def show_dropped_files(context: PageContext[None]) -> tuple[LoadedFile | None, list[LoadedFile]]:
    """Draw what came of the files that were dropped last, below the field: there a person looks.

    Returns
    -------
    asking : LoadedFile or None
        The file whose suggested mapping is drawn.
    unsettled : list of LoadedFile
        The files whose blocks are drawn, since they need attention.
    """
    for error in session_uploads().errors:
        st.error(escape_markdown(error), icon=":material/upload_file:")
    keys = widget_keys((*context.files, *context.unread))
    loaded = {file for run in context.all_runs for file in run.part_files}
    dropped = last_uploaded(context.files)
    asking = _show_next_steps(dropped, context.all_runs, keys)
    unsettled = [
        file
        for file in dropped
        if file is not asking and file_state(file, loaded, context.files) not in SETTLED_STATES
    ][:MAX_NEXT_STEPS]
    for file in unsettled:
        show_file(file, keys[file], context.files, context.accepted_file_ids, expanded=True)
    session_uploads().note_shown()
    return asking, unsettled


def open_accepted_diagram(runs: Sequence[LoadedRun]) -> None:
    """Go to the diagram of the file whose mapping was just accepted, where a run of it is loaded."""
    path = take_accepted_path()
    run = next((run for run in runs if any(file.listing.path == path for file in run.part_files)), None)
    if path is not None and run is not None:
        st.switch_page(_page_of(run).script, query_params=kept_query({"run": run.id}))


def _page_of(run: LoadedRun) -> PageInfo:
    """Return the page that a run without a confidence, or any other, is looked at first."""
    return PAGES["reliability" if has_confidence(run) else "judge"]


def _show_next_steps(
    dropped: Sequence[LoadedFile], runs: Sequence[LoadedRun], keys: Mapping[LoadedFile, str]
) -> LoadedFile | None:
    """Draw what to do with the files that were just uploaded.

    Returns
    -------
    LoadedFile or None
        The file whose suggested mapping is drawn.
    """
    asking = next((file for file in dropped if needs_columns(file)), None)
    if asking is not None:
        show_suggested_mapping(asking, keys[asking])
    for file in dropped[:MAX_NEXT_STEPS]:
        run = next((run for run in runs if file in run.part_files), None)
        if run is None or file.report is None:
            continue
        with st.container(
            border=True, key=f"next_{keys[file]}", horizontal=True, vertical_alignment="center"
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
    _show_name_field({file: keys[file] for file in dropped if lacks_dataset(file)})
    return asking


def _show_name_field(unnamed: Mapping[LoadedFile, str]) -> None:
    """Draw the field that names the data of uploaded files which name none, each given with its key."""
    if unnamed:
        key = f"name_dropped_{'_'.join(unnamed.values())}"
        dataset = next(iter(unnamed)).mapping.dataset
        if st.session_state.get(key) != dataset:  # named elsewhere meanwhile
            st.session_state[key] = dataset
        st.text_input(
            f"Data set of {'this file' if len(unnamed) == 1 else f'these {len(unnamed):,} files'}",
            max_chars=MAX_DATASET_LENGTH,
            key=key,
            placeholder="its name, if you like",
            help=DATASET_HELP,
            width=360,
            on_change=name_datasets,
            args=(unnamed, key),
        )
