"""What does a person see where no run is loaded?  What became of the files, what to do, and the way there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from pages.parts import inventory
from pages.parts.cache import File
from pages.parts.link import link


def no_runs(files: Sequence[File], page: str) -> None:
    """What to do where nothing can be shown. page: the script of the page Files."""
    if files:
        st.info(_not_loaded(files), icon=":material/folder_open:")
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
    """"None of the 48 files in the data folder is loaded: 47 × columns to be named, 1 × refused. …"."""
    states = Counter(inventory.state(file, (), files) for file in files)
    if len(files) == 1:
        told = f"The one file in the data folder is not loaded: {next(iter(states))}"
    else:
        counts = ", ".join(f"{count} × {state}" for state, count in states.most_common())
        told = f"None of the {len(files)} files in the data folder is loaded: {counts}"
    return f"{told}. The page Files says what each one is, what is wrong with it and what to do."


def _way(label: str, page: str) -> None:
    """A link as large as the ways on from Start."""
    with st.container(horizontal=True, key="ways"):
        link(page, label, ":material/folder_open:", large=True)
