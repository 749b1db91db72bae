"""Messages that say what is being computed while the user waits for a result."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from types import MappingProxyType
from typing import Final, TypeVar

import streamlit as st
from streamlit.elements import spinner

ItemT = TypeVar("ItemT")
MESSAGES: Final = MappingProxyType(
    {
        "overview": "Summarising every run …",
        "tried": "Reading the file with these columns …",
        "reliability": "Counting rows per bin and simulating a calibrated model …",
        "corp": "Fitting the isotonic curve and simulating a calibrated model …",
        "smooth": "Smoothing and simulating a calibrated model …",
        "concentration": "Counting rows per bin …",
        "sweep": "Simulating noise at every M …",
        "audit": "Computing the ECE under every convention …",
        "recalibration": "Fitting the map fold by fold …",
        "methods": "Reading every method of every run …",
        "lines": "Drawing the lines …",
        "abstention": "Sorting the answers by confidence …",
        "panels": "Drawing the small diagrams …",
        "training": "Reading every checkpoint and simulating calibrated models …",
        "tour": "Preparing this step of the tour …",
        "questions": "Looking for the questions …",
        "grouped": "Looking for groups in each run …",
        "groupings": "Looking for columns to group by …",
        "united": "Merging the files of one run …",
        "evidence": "Reading confidences from the rows …",
        "codes": "Looking for equal answers …",
    }
)
"""Kind of result → message while it is computed; `DEFAULT_MESSAGE` for other kinds."""
DEFAULT_MESSAGE: Final = "Computing …"
DELAY_SECONDS: Final = 0.3
"""Seconds after which progress is shown, by spinners, too."""
setattr(spinner, "DELAY_SECS", DELAY_SECONDS)  # noqa: B010  Streamlit waits 0.5 s, and has no option
INTERVAL_SECONDS: Final = 0.2
"""Seconds between two positions of a progress bar."""
KINDS_WITH_OWN_PROGRESS: Final = (
    "points",
    "pairs",
    "comparison",
    "measured",
    "groups",
    "hidden_groups",
    "samples",
    "pages_without_content",
    "judged_choices",
    "judged_evidence",
)
"""Kinds of results that show a progress bar of their own while they are computed, or need none."""

_PARTIAL_NOTE: Final = "_partial_note"


def set_partial_note(note: str) -> None:
    """Note on how many files the page stands, as in "40 of 700 files read"; empty once it stands on all."""
    st.session_state[_PARTIAL_NOTE] = note


def with_partial_note(recipe: str) -> str:
    """Return the recipe, with the note on the files read where that is not all of them."""
    note = st.session_state.get(_PARTIAL_NOTE, "")
    return f"{recipe}\n{note}" if note else recipe


def waiting_spinner(kind: str) -> AbstractContextManager[None]:
    """Return a context that shows a spinner with the elapsed seconds for this kind of result."""
    if kind in KINDS_WITH_OWN_PROGRESS:
        return nullcontext()
    return st.spinner(MESSAGES.get(kind, DEFAULT_MESSAGE), show_time=True)


@contextmanager
def progress_bar(message: str | None = None) -> Iterator[Callable[[float, str], None]]:
    """Show the progress of a computation, from the first report after `DELAY_SECONDS` on.

    Yields a function to call with the share done and a text. The browser draws a bar anew each time, while
    the computation waits for it, so the bar moves at most every `INTERVAL_SECONDS`.

    Parameters
    ----------
    message : str, optional
        What a spinner shows until there is a bar, for a computation that may be long in its first report.
    """
    bar, next_time, until_bar = None, time.monotonic() + DELAY_SECONDS, ExitStack()

    def show(share: float, text: str) -> None:
        nonlocal bar, next_time
        if (now := time.monotonic()) > next_time:
            until_bar.close()
            next_time, share = now + INTERVAL_SECONDS, min(share, 1.0)
            bar = bar.progress(share, text) if bar else st.progress(share, text)

    with until_bar:
        if message is not None:
            until_bar.enter_context(st.spinner(message, show_time=True))
        try:
            yield show
        finally:
            if bar:
                bar.empty()


def with_progress(items: Sequence[ItemT], message: str) -> Iterator[ItemT]:
    """Yield the items one by one, with their `progress_bar`."""
    with progress_bar() as show:
        for n_done, item in enumerate(items):
            show(n_done / len(items), f"{message} {n_done} of {len(items)} done …")
            yield item
