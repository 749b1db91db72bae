"""Verdicts as coloured chips: in the cells of tables, and as buttons that filter one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import MappingProxyType
from typing import Any, Final

import polars as pl
import streamlit as st

from calib_core.inference.verdict import VERDICT_MARKS, VERDICT_WORDS, VerdictKind
from pages.widgets.url_inputs import url_pills

CHIP_PADDING: Final = "   "
"""Text about as wide as what a chip has around its text."""

_COLOURS: Final = MappingProxyType(
    {"▲": "orange", "▼": "green", **dict.fromkeys("◆◇≠±", "violet"), "≈": "blue", "–": "gray"}
)
"""Shape of a verdict → colour of the theme."""


def verdict_cells(texts: Iterable[str], help_: str | None = None) -> tuple[pl.Series, Any]:
    """Return a column of verdicts after their shapes as cells with a chip each, and its configuration."""
    cells = pl.Series([[text] for text in texts], dtype=pl.List(pl.String))
    options = list(dict.fromkeys(text for (text,) in cells.to_list()))
    colours = [_COLOURS[text[0]] for text in options]
    return cells, st.column_config.MultiselectColumn(help=help_, options=options, color=colours)


def words_of_cells(cells: pl.Series) -> pl.Series:
    """Return the words of such a column, without shapes."""
    return cells.list.first().str.slice(2)


def pick_verdicts(kinds: Sequence[VerdictKind]) -> frozenset[str]:
    """Draw a button for each kind with its number, and return the kinds whose rows are to be shown.

    Nothing is drawn where all are of one kind. The address keeps the choice; none chosen shows all.
    """
    counts: dict[VerdictKind, int] = {kind: n for kind in VERDICT_WORDS if (n := kinds.count(kind))}
    if len(counts) < 2:
        return frozenset(counts)
    # Where a label begins with more than ASCII, Streamlit looks for it in its list of all emojis.
    labels = {
        kind: f":{_COLOURS[mark := VERDICT_MARKS[kind]]}[&#{ord(mark)};] {VERDICT_WORDS[kind]} **{n:,}**"
        for kind, n in counts.items()
    }
    chosen = url_pills("verdict", "Verdicts: show only", labels)
    return frozenset(chosen or counts)
