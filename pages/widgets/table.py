"""Tables with one heading and one number format per column on every page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import streamlit as st

from calib_core.metrics import METRICS
from calib_core.terms import Terms
from pages.widgets.export import Export, table_export_menu
from pages.widgets.pickers import ROW_CLICKS, clicked_row, rows_key

if TYPE_CHECKING:
    import pyarrow as pa

MAX_COLUMN_WIDTH: Final = 280
"""Largest width in pixels of a column, however long its texts are."""

COLUMN_CONFIG: Final = {
    "percent": st.column_config.TextColumn("Says", help="The confidences in the bin, in percent."),
    "interval": st.column_config.TextColumn("Bin"),
    "count": st.column_config.NumberColumn("n", format="localized"),
    "mean_confidence": st.column_config.NumberColumn(
        "Mean confidence", format="%.1f %%", width=108, help="The average of the confidences."
    ),
    "accuracy": st.column_config.NumberColumn(
        "Accuracy", format="%.1f %%", width=70, help=METRICS["accuracy"].help
    ),
    "gap": st.column_config.NumberColumn("Gap", format="%+.3f", width=58, help="Confidence − accuracy."),
    "share": st.column_config.ProgressColumn(
        "Part of gap",
        format="%.1f %%",
        min_value=0,
        max_value=100,
        width=96,
        help="The bin's share of the total gap Σ|Y − C|.",
    ),
    "File": st.column_config.TextColumn("File", width=360),
    "title": st.column_config.TextColumn("Method"),
    "run": st.column_config.TextColumn("Run"),
    "rows": st.column_config.NumberColumn("Rows", format="localized"),
    "used": st.column_config.NumberColumn(
        "Rows used", format="localized", help="Rows with a confidence and an outcome."
    ),
    "brier": st.column_config.NumberColumn("Brier", format="%.4f", help=METRICS["brier"].help),
    "ece": st.column_config.NumberColumn("ECE", format="%.4f", help=METRICS["ece"].help),
    "id": st.column_config.TextColumn("Id"),
    "subject": st.column_config.TextColumn("Subject"),
    "question": st.column_config.TextColumn("Question", width="large"),
    "answer": st.column_config.TextColumn("Answer"),
    "gold": st.column_config.TextColumn("Gold"),
    **dict.fromkeys(
        ("Rows", "Bad rows", "Runs", "Draws"),
        st.column_config.NumberColumn(format="localized"),
    ),
    "row": st.column_config.NumberColumn("Row", format="%d", help="Row number in the file, from 1."),
}


def as_arrow(frame: pl.DataFrame) -> pa.Table:
    """Return the frame as Streamlit sends it: for tables of any other kind it loads pandas, 60 MB of memory.

    Of lists, which are of texts, the browser knows those with short offsets only.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow to import, which another thread does

    table = frame.fill_nan(None).to_arrow()
    texts = pa.list_(pa.string())
    fields = [one.with_type(texts) if pa.types.is_large_list(one.type) else one for one in table.schema]
    return table.cast(pa.schema(fields))


def question_columns(terms: Terms) -> dict[str, Any]:
    """Return the columns of a table of questions, with their probabilities and outcomes in these terms."""
    return {
        **COLUMN_CONFIG,
        "confidence": st.column_config.NumberColumn(terms.confidence_title, format="%.3f"),
        "right": st.column_config.TextColumn(terms.outcomes, help=terms.outcome_help),
    }


def _text_column_width(texts: pl.Series) -> int:
    """Return the pixels that the heading and the widest of these texts need."""
    return 18 + math.ceil(max(sum(map(_letter_width, text)) for text in (texts.name, *texts.drop_nulls())))


def _letter_width(letter: str) -> float:
    """Return about how many pixels a letter is wide in a cell: measured on names of files and methods."""
    if letter in " .,:;'|()[]!-iljtfrI":
        return 4
    return 10 if letter in "mwMW%@" else 6.5 if letter in "0123456789–" else 7


def fit_column_widths(
    columns: Mapping[str, Any], frame: pl.DataFrame, *names: str, max_width: int = MAX_COLUMN_WIDTH
) -> dict[str, Any]:
    """Return the column configuration with the named columns as wide as their longest text."""
    widths = {name: {"width": min(max_width, _text_column_width(frame[name]))} for name in names}
    return {**columns, **{name: {**columns.get(name, {}), **width} for name, width in widths.items()}}


def fit_bars(column: Mapping[str, Any], values: pl.Series) -> dict[str, Any]:
    """Return the configuration of a column of bars, the longest of which fills its room."""
    largest = values.max() or 100
    return {**column, "type_config": {**column["type_config"], "max_value": largest}}


def show_table(
    frame: pl.DataFrame,
    key: str,
    alt: str,
    export: Export | None,
    columns: Mapping[str, Any] = COLUMN_CONFIG,
) -> None:
    """Draw a table with its export menu.

    Parameters
    ----------
    frame : pl.DataFrame
    key : str
    alt : str
        Text for screen readers.
    export : Export or None
        None for an excerpt of a table whose own menu exports all of it.
    columns : Mapping
        Column → its configuration.
    """
    st.dataframe(
        as_arrow(frame),
        key=key,
        hide_index=True,
        column_config=columns,
        placeholder="–",
        height="content" if frame.height <= 12 else 420,
        alt=alt,
    )
    if export is not None:
        table_export_menu(export, key, shown=frame, columns=columns)


def show_selectable_table(
    frame: pl.DataFrame,
    key: str,
    alt: str,
    export: Export,
    columns: Mapping[str, Any],
    *,
    rows: Iterable[str],
) -> int | None:
    """Draw a table with selectable rows and its export menu; return the index of the selected row.

    Parameters
    ----------
    frame, key, alt, export
        As in `show_table`.
    columns : Mapping
        Column → its configuration.
    rows : Iterable of str
        What each row stands for; a selection ends when they change.
    """
    event = st.dataframe(
        as_arrow(frame),
        key=rows_key(key, *rows),
        hide_index=True,
        column_config=columns,
        placeholder="–",
        height="content" if frame.height <= 12 else 356,  # what a click brings is below, and in sight
        on_select="rerun",
        selection_mode=ROW_CLICKS,
        alt=alt,
    )
    table_export_menu(export, key, shown=frame, columns=columns)
    return clicked_row(event.selection)
