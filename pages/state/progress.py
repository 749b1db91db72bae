"""What is a person told who waits for a result?  One sentence a kind of result, in one place."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import MappingProxyType
from typing import Final, TypeVar

import streamlit as st

ItemT = TypeVar("ItemT")
MESSAGES: Final = MappingProxyType(
    {
        "overview": "Looking at every run …",
        "reliability": "Counting what is in each bin, and what chance would put there …",
        "concentration": "Counting what is in each bin …",
        "sweep": "Drawing what chance alone would give at every M …",
        "methods": "Reading every method of every run …",
        "lines": "Drawing the lines …",
        "abstention": "Sorting the answers by confidence …",
        "panels": "Drawing the small diagrams …",
        "training": "Reading every checkpoint, and what chance would give there …",
        "tour": "Making this step of the tour …",
        "questions": "Looking for the questions …",
        "united": "Making one run of several files …",
        "evidence": "Reading the confidences off the rows …",
        "codes": "Looking for equal answers …",
    }
)
"""Kind of result → what a person who waits for it is told; of other kinds, `OTHERWISE`."""
DEFAULT_MESSAGE: Final = "Computing …"
DELAY_SECONDS: Final = 0.5
"""Seconds after which a wait is told."""
KINDS_WITH_OWN_PROGRESS: Final = ("comparison", "measured", "groups", "samples")
"""Kinds of which whoever computes them says how far it is."""


def waiting_spinner(kind: str) -> AbstractContextManager[None]:
    """Says what is going on, with the seconds, where it takes longer than half of one."""
    if kind in KINDS_WITH_OWN_PROGRESS:
        return nullcontext()
    return st.spinner(MESSAGES.get(kind, DEFAULT_MESSAGE), show_time=True)


def with_progress(items: Sequence[ItemT], message: str) -> Iterator[ItemT]:
    """The items one by one, with how many of them are done once that takes longer than half a second."""
    bar, began = None, time.monotonic()
    for at, item in enumerate(items):
        if at and time.monotonic() - began > DELAY_SECONDS:
            words = f"{message} {at} of {len(items)} done …"
            bar = bar.progress(at / len(items), words) if bar else st.progress(at / len(items), words)
        yield item
    if bar:
        bar.empty()
