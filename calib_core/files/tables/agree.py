"""Do the parts of one row agree: lists one entry a choice, one entry a sample, and a span within its path?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import polars as pl

from calib_core.files.tables.judged import CellFault, faults_where

PARALLEL_LISTS: Final = (
    (
        "choice",
        (
            "choice_logprobs",
            "choice_probs",
            "choices",
            "choice_token_counts",
            "choice_char_counts",
            "choice_byte_counts",
        ),
    ),
    ("sample", ("samples", "samples_parsed", "sample_correct", "sample_cluster")),
)
"""Lists of one row that have one entry for each of the same things."""


def disagreements(rows: pl.DataFrame) -> Iterator[tuple[str, CellFault]]:
    """(column, fault) of rows whose lists differ in length, or whose answer span leaves its path."""
    for thing, names in PARALLEL_LISTS:
        present = [name for name in names if name in rows.columns]
        if len(present) > 1:
            yield from _length_disagreements(rows, thing, present)
    if {"path_logprobs", "answer_start", "answer_end"} <= set(rows.columns):
        yield from _span_disagreements(rows)


def _length_disagreements(rows: pl.DataFrame, thing: str, names: list[str]) -> Iterator[tuple[str, CellFault]]:
    """Each list is held against the first that the row has."""
    first = rows[names[0]].list.len()
    for name in names[1:]:
        size = rows[name].list.len()
        differ = (size != first).fill_null(value=False)
        if differ.any():
            expected = f"as many entries as {names[0]}, one a {thing}"
            shown = pl.select(pl.format("{} instead of {}", size, first)).to_series()
            for fault in faults_where(shown, differ, "lists of different lengths", expected, "Complete the lists."):
                yield name, fault
        first = first.zip_with(first.is_not_null(), size)


def _span_disagreements(rows: pl.DataFrame) -> Iterator[tuple[str, CellFault]]:
    start, end = rows["answer_start"], rows["answer_end"]
    outside = start.is_not_null() & ((start >= end) | (end > rows["path_logprobs"].list.len()))
    expected = "an end after the start and within the path (positions count from 0, the end not included)"
    shown = pl.select(pl.format("{} to {}", start, end)).to_series()
    kind, fix = "span outside the path", "Give answer_logprobs instead, or mend the span."
    for fault in faults_where(shown, outside.fill_null(value=False), kind, expected, fix):
        yield "answer_end", fault
