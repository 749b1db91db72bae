"""What does a table's file say that is to be read?  The headings and the numbers as the page shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl


def as_displayed(frame: pl.DataFrame, columns: Mapping[str, Any]) -> pl.DataFrame:
    """The frame with the headings and number formats of its columns' configuration.

    columns: name → what st.column_config gives; a column that is not there keeps its name and its values.
    Raises polars' DuplicateError where two columns have one heading: a file would have one of them only.
    """
    made: list[pl.Series] = []
    for name in frame.columns:
        config: Mapping[str, Any] = columns.get(name) or {}
        form = (config.get("type_config") or {}).get("format")
        heading = config.get("label")
        values = frame[name]
        if form is not None and values.dtype.is_numeric():
            texts = [None if value is None else _format_number(value, form) for value in values]
            values = pl.Series(texts, dtype=pl.String)
        made.append(values.alias(name if heading is None else heading))
    return pl.DataFrame(made)


def _format_number(value: float, number_format: str) -> str:
    match number_format:
        case "localized":
            text = f"{value:,}"
        case _:
            text = number_format % value
    return text.replace("-", "−")
