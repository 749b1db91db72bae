"""What does a person see where no run is loaded?  What became of the files, what to do, and the way there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import streamlit as st

from calib_core.wording import both_or_all
from pages.parts import inventory, refusals, rereading
from pages.parts.cache import LoadedFile
from pages.parts.link import page_link
from pages.parts.literal import escape_markdown

STATE_PHRASES: Final = {
    rereading.NEEDS_COLUMN_NAMES: ("needs its columns named", "need their columns named"),
    rereading.NEEDS_GOLD: ("needs right answers", "need right answers"),
    inventory.UNDECIDED: ("has bad rows to decide on", "have bad rows to decide on"),
    inventory.LIKELY_GOLD: ("seems to hold right answers", "seem to hold right answers"),
    inventory.HOLDS_GOLD: ("holds right answers", "hold right answers"),
    inventory.REFUSED: ("is refused", "are refused"),
}
"""State of a file → what is said of one, and of several."""


def show_no_runs(files: Sequence[LoadedFile], page: str) -> None:
    """What to do where nothing can be shown. page: the script of the page Files."""
    if files:
        st.info(escape_markdown(_not_loaded_text(files)), icon=":material/folder_open:")
        _next_step_link("See each file and what would load it", page)
    else:
        show_empty_folder()
        _next_step_link("Upload files", page)


def show_empty_folder() -> None:
    """An empty folder: what to put there."""
    st.info(
        "There is no prediction file in the data folder. Put a CSV, JSONL or Parquet file with one row a "
        "question into it (columns such as `id`, `confidence`, `correct`), or an NPZ with a distribution a "
        "position of a text (`probs` and `target`), and reload; or upload files on the page Files; "
        "or start the app on another folder: `streamlit run app.py -- --data FOLDER`. The README lists "
        "the columns that are read."
    )


def _not_loaded_text(files: Sequence[LoadedFile]) -> str:
    """"None of the 48 files in the data folder is loaded: all 48 need their columns named. …"."""
    states = Counter(inventory.file_state(file, (), files) for file in files).most_common()
    if len(files) == 1:
        told = f"The one file in the data folder is not loaded: it {STATE_PHRASES[states[0][0]][0]}"
    else:
        which = "Neither" if len(files) == 2 else "None"
        lack = _state_counts_text(states, len(files))
        told = f"{which} of the {len(files):,} files in the data folder is loaded: {lack}"
    of = "" if len(files) == 1 else "The first of them, "
    why = next((f" {of}{file.name}: {why}" for file in files if (why := refusals.refusal_reason(file, files))), "")
    return f"{told}.{why and f'{why}.'} The page Files says what each one is and what to do."


def _state_counts_text(states: Sequence[tuple[str, int]], n_files: int) -> str:
    """"47 need their columns named and 1 is refused", "all 48 need their columns named"."""
    counts = [
        f"{both_or_all(n_files) if times == n_files else f'{times:,}'} {STATE_PHRASES[state][times > 1]}" for state, times in states
    ]
    return f"{', '.join(counts[:-1])} and {counts[-1]}" if len(counts) > 1 else counts[0]


def _next_step_link(label: str, page: str) -> None:
    """A link as large as the ways on from Start."""
    with st.container(horizontal=True, key="ways"):
        page_link(page, label, ":material/folder_open:", large=True)
