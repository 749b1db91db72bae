"""What is a person told who waits for a result?  One sentence a kind of result, in one place."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import MappingProxyType
from typing import Final, TypeVar

import streamlit as st

T = TypeVar("T")
DOING: Final = MappingProxyType({
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
})
"""Kind of result → what a person who waits for it is told; of other kinds, `OTHERWISE`."""
OTHERWISE: Final = "Computing …"
SOON: Final = 0.5
"""Seconds after which a wait is told."""
TELL_THEMSELVES: Final = ("comparison", "measured", "groups", "samples")
"""Kinds of which whoever computes them says how far it is."""


def told(kind: str) -> AbstractContextManager[None]:
    """Says what is going on, with the seconds, where it takes longer than half of one."""
    if kind in TELL_THEMSELVES:
        return nullcontext()
    return st.spinner(DOING.get(kind, OTHERWISE), show_time=True)


def each(items: Sequence[T], doing: str) -> Iterator[T]:
    """The items one by one, with how many of them are done once that takes longer than half a second."""
    bar, began = None, time.monotonic()
    for at, item in enumerate(items):
        if at and time.monotonic() - began > SOON:
            words = f"{doing} {at} of {len(items)} done …"
            bar = bar.progress(at / len(items), words) if bar else st.progress(at / len(items), words)
        yield item
    if bar:
        bar.empty()
