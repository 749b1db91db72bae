"""Every text that a page sends to the browser: labels, helps, options, cells of tables, words in figures."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import pandas as pd
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Dataframe

import screens

UNSEEN: Final = frozenset({
    "id", "query_string", "page", "spec", "config", "element_id", "file_name", "url", "page_script_hash",
    "block_id", "key", "columns", "form_id", "icon", "user_key", "color", "format", "data", "css", "js",
})  # fmt: skip
"""Fields of a message that hold addresses, ids and settings."""

MARKUP: Final = re.compile(r"<style.*?</style>|<[^>]*>", re.DOTALL)

FIGURE_TEXTS: Final = frozenset({"text", "name", "hovertext", "ticktext", "hovertemplate"})
"""Keys of a plotly figure that hold words."""


def seen_words(at: AppTest) -> Iterator[str]:
    """The texts of the whole page, its sidebar too, as they are read."""
    for node in screens.walk(at._tree):
        proto = getattr(node, "proto", None)
        kind = getattr(node, "type", "")
        if proto is None:
            continue
        if isinstance(node, Dataframe):
            yield from _table_words(node.value, proto.columns)
        elif kind == "plotly_chart":
            yield proto.alt
            yield from figure_words(json.loads(proto.spec))
        elif kind == "html":
            yield MARKUP.sub(" ", proto.body)
        else:
            yield from map(screens.plain, _message_words(proto))


def _table_words(frame: pd.DataFrame, columns: str) -> Iterator[str]:
    shown = json.loads(columns or "{}")
    for name in frame.columns:
        column = shown.get(name) or {}
        yield str(column.get("label") or name)
        yield str(column.get("help") or "")
        yield from (str(cell) for cell in frame[name].map(str).unique())


def figure_words(part: Any, key: str = "") -> Iterator[str]:
    """The words of a plotly figure: names, titles, annotations, hover texts."""
    if isinstance(part, dict):
        for name, value in part.items():
            yield from figure_words(value, name)
    elif isinstance(part, list):
        for value in part:
            yield from figure_words(value, key)
    elif isinstance(part, str) and key in FIGURE_TEXTS:
        yield part


def _message_words(proto: Any) -> Iterator[str]:
    for field, value in proto.ListFields():
        if field.name in UNSEEN:
            continue
        for part in value if field.is_repeated else (value,):
            if isinstance(part, str):
                yield part
            elif hasattr(part, "ListFields"):
                yield from _message_words(part)
