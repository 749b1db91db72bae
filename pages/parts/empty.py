"""What does a person see where no run is loaded?  What became of the files, what to do, and the way there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import streamlit as st

from calib_core.wording import every
from pages.parts import inventory, refusals, rereading
from pages.parts.cache import File
from pages.parts.link import link
from pages.parts.literal import literal

BECOMES: Final = {
    rereading.NAMES: ("needs its columns named", "need their columns named"),
    rereading.RIGHT_ANSWERS: ("needs right answers", "need right answers"),
    inventory.UNDECIDED: ("has bad rows to decide on", "have bad rows to decide on"),
    inventory.LIKELY: ("seems to hold right answers", "seem to hold right answers"),
    inventory.ANSWERS: ("holds right answers", "hold right answers"),
    inventory.REFUSED: ("is refused", "are refused"),
}
"""State of a file → what is said of one, and of several."""


def no_runs(files: Sequence[File], page: str) -> None:
    """What to do where nothing can be shown. page: the script of the page Files."""
    if files:
        st.info(literal(_not_loaded(files)), icon=":material/folder_open:")
        _way("See each file and what would load it", page)
    else:
        nothing_here()
        _way("Upload files", page)


def nothing_here() -> None:
    """An empty folder: what to put there."""
    st.info(
        "There is no prediction file in the data folder. Put a CSV, JSONL or Parquet file with one row a "
        "question into it (columns such as `id`, `confidence`, `correct`), or an NPZ with a distribution a "
        "position of a text (`probs` and `target`), and reload; or upload files on the page Files; "
        "or start the app on another folder: `streamlit run app.py -- --data FOLDER`. The README lists "
        "the columns that are read."
    )


def _not_loaded(files: Sequence[File]) -> str:
    """"None of the 48 files in the data folder is loaded: all 48 need their columns named. …"."""
    states = Counter(inventory.state(file, (), files) for file in files).most_common()
    if len(files) == 1:
        told = f"The one file in the data folder is not loaded: it {BECOMES[states[0][0]][0]}"
    else:
        which = "Neither" if len(files) == 2 else "None"
        lack = _counted(states, len(files))
        told = f"{which} of the {len(files):,} files in the data folder is loaded: {lack}"
    of = "" if len(files) == 1 else "The first of them, "
    why = next((f" {of}{file.name}: {why}" for file in files if (why := refusals.why(file, files))), "")
    return f"{told}.{why and f'{why}.'} The page Files says what each one is and what to do."


def _counted(states: Sequence[tuple[str, int]], of: int) -> str:
    """"47 need their columns named and 1 is refused", "all 48 need their columns named"."""
    counts = [
        f"{every(of) if times == of else f'{times:,}'} {BECOMES[state][times > 1]}" for state, times in states
    ]
    return f"{', '.join(counts[:-1])} and {counts[-1]}" if len(counts) > 1 else counts[0]


def _way(label: str, page: str) -> None:
    """A link as large as the ways on from Start."""
    with st.container(horizontal=True, key="ways"):
        link(page, label, ":material/folder_open:", large=True)
