"""The dialog in which runs are pinned, hidden and renamed, and what leads to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import polars as pl
import streamlit as st

from calib_core.errors import single_line
from calib_core.wording import plural
from pages.state.markdown import escape_markdown
from pages.state.run_preferences import (
    MAX_NAME_LENGTH,
    RunPreferences,
    change_preferences,
    session_preferences,
)
from pages.state.runs import LoadedRun

MAX_TABLE_HEIGHT: Final = 460
"""Pixels; a longer table scrolls."""

_ERROR_KEY: Final = "_run_preferences_error"
_DRAFT_KEY: Final = "_runs_draft"
_FIND_KEY: Final = "find_in_runs"
_EDITABLE: Final = ("pin", "hide", "name")

MANAGE_HELP: Final = "Pin, hide and rename runs."
_COLUMNS: Final = {
    "id": None,
    "pin": st.column_config.CheckboxColumn("Pin", width=48, help="Comes first in every list."),
    "hide": st.column_config.CheckboxColumn("Hide", width=48, help="Left out of every page."),
    "name": st.column_config.TextColumn(
        "Name shown", width=210, max_chars=MAX_NAME_LENGTH, help="Shown in place of the run's name."
    ),
    "run": st.column_config.TextColumn("Run", width=330),
    "rows": st.column_config.NumberColumn("Rows", format="localized", width=70),
}


def show_manage_runs(runs: Sequence[LoadedRun], hidden_runs: Sequence[LoadedRun], key: str) -> None:
    """Draw the button that opens the dialog; nothing where there is no run."""
    if (runs or hidden_runs) and st.button(
        "Manage runs", key=key, icon=":material/checklist:", help=MANAGE_HELP, on_click=_forget_draft
    ):
        _open_dialog(runs, hidden_runs)


def show_hidden_runs(runs: Sequence[LoadedRun], hidden_runs: Sequence[LoadedRun], key: str) -> None:
    """Draw how many runs are hidden, as a button that shows them again; nothing where none is."""
    if hidden_runs:
        st.button(
            f"{plural(len(hidden_runs), 'run')} hidden · **show**",
            key=key,
            icon=":material/visibility_off:",
            type="tertiary",
            on_click=_show_all,
            args=((*runs, *hidden_runs),),
        )
    if error := st.session_state.get(_ERROR_KEY):
        st.caption(f":material/warning: {escape_markdown(error)}")


def _show_all(runs: Sequence[LoadedRun]) -> None:
    kept = session_preferences()
    _keep(RunPreferences(kept.names, kept.pinned), runs)


def _keep(preferences: RunPreferences, runs: Sequence[LoadedRun]) -> None:
    st.session_state[_ERROR_KEY] = change_preferences(preferences, runs)


def _forget_draft() -> None:
    for key in (_DRAFT_KEY, _FIND_KEY):
        st.session_state.pop(key, None)


@st.dialog("Manage runs", width="large")
def _open_dialog(runs: Sequence[LoadedRun], hidden_runs: Sequence[LoadedRun]) -> None:
    """Draw one row a run to edit; "Save" applies it to every page."""
    all_runs = (*runs, *hidden_runs)
    if _DRAFT_KEY not in st.session_state:
        st.session_state[_DRAFT_KEY] = {"found": None, "frame": _runs_frame(runs, hidden_runs), "drawn": 0}
    draft: dict[str, Any] = st.session_state[_DRAFT_KEY]
    st.caption(
        "Pinned runs come first in every list; hidden ones are left out of every page. A name that you "
        "give is shown in place of the run's; exports show both. Kept for this folder; for uploads, for "
        "this visit."
    )
    found = st.text_input("Find runs", key=_FIND_KEY, placeholder="Find runs", label_visibility="collapsed")
    if found != draft["found"]:  # the table is drawn anew, with what was edited so far
        draft |= {"found": found, "base": found_runs(draft["frame"], found), "drawn": draft["drawn"] + 1}
    base: pl.DataFrame = draft["base"]
    edited: Any = st.data_editor(
        base,
        key=f"runs_editor_{draft['drawn']}",
        hide_index=True,
        column_config=_COLUMNS,
        disabled=[name for name in base.columns if name not in _EDITABLE],
        height="content" if base.height <= 12 else MAX_TABLE_HEIGHT,
        alt=f"{plural(base.height, 'run')} to pin, hide and rename",
    )
    draft["frame"] = draft["frame"].update(edited.select("id", *_EDITABLE), on="id", include_nulls=True)
    with st.container(horizontal=True):
        if st.button("Save", key="save_runs", type="primary"):
            _keep(edited_preferences(draft["frame"], session_preferences()), all_runs)
            _forget_draft()
            st.rerun()
        if st.button("Cancel", key="cancel_runs"):
            _forget_draft()
            st.rerun()


def _runs_frame(runs: Sequence[LoadedRun], hidden_runs: Sequence[LoadedRun]) -> pl.DataFrame:
    names, all_runs = session_preferences().names, (*runs, *hidden_runs)
    return pl.DataFrame(
        {
            "id": [run.id for run in all_runs],
            "pin": [run.is_pinned for run in all_runs],
            "hide": [run in hidden_runs for run in all_runs],
            "name": [names.get(run.id, "") for run in all_runs],
            "run": [run.real_title for run in all_runs],
            "rows": [run.report.run.n_total for run in all_runs],
        }
    )


def found_runs(frame: pl.DataFrame, text: str) -> pl.DataFrame:
    """Return the rows whose name or run has every word of the text."""
    return frame.filter(
        [has_words(f"{row['name']} {row['run']}", text) for row in frame.iter_rows(named=True)]
    )


def has_words(text: str, words: str) -> bool:
    """Return whether the text holds every one of the words, in upper or lower case."""
    folded = text.casefold()
    return all(word in folded for word in words.casefold().split())


def edited_preferences(frame: pl.DataFrame, before: RunPreferences) -> RunPreferences:
    """Return the preferences that the dialog's table holds, and those before of runs that it does not list.

    These are runs that are still to be read, or whose file is gone for now.
    """
    rows = list(frame.iter_rows(named=True))
    names = {**before.names, **{row["id"]: single_line(row["name"] or "", MAX_NAME_LENGTH) for row in rows}}
    listed = {row["id"] for row in rows}
    return RunPreferences(
        {id_: name for id_, name in names.items() if name},
        (before.pinned - listed).union(row["id"] for row in rows if row["pin"]),
        (before.hidden - listed).union(row["id"] for row in rows if row["hide"]),
    )
