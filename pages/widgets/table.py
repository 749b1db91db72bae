"""Tables with one heading and one number format per column on every page."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import polars as pl
import streamlit as st

from calib_core.metrics import METRICS
from calib_core.terms import Terms
from pages.widgets.export import Export, table_export_menu
from pages.widgets.pickers import ROW_CLICKS, clicked_row, rows_key
from pages.widgets.verdicts import CHIP_PADDING

if TYPE_CHECKING:
    import pyarrow as pa

MAX_COLUMN_WIDTH: Final = 280
"""Largest width in pixels of a column, however long its texts are."""
PAGE_ROOM: Final = 892
"""Pixels that a table has on a page, where the window is 1280 pixels wide."""
BLOCK_ROOM: Final = PAGE_ROOM - 36
"""The same in a block of a page."""
_MIN_TEXT_WIDTH: Final = 118
"""Pixels that a column of texts keeps where others need room: those of a common verdict."""
_BOXES_WIDTH: Final = 34
"""Pixels of the boxes by which rows are selected."""

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
    "File": st.column_config.TextColumn("File", width=230),
    "Why": st.column_config.TextColumn("Why", width=400),
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


def fit_to_page(
    columns: Mapping[str, Any],
    frame: pl.DataFrame,
    *,
    room: int = PAGE_ROOM,
    has_boxes: bool = False,
    numbers: Collection[str] = (),
) -> dict[str, Any]:
    """Return the column configuration with which the table fits a window of 1280 pixels.

    Numbers have the room that they need; of the texts, the longest give way to them. Room that is left goes
    to columns that would be wider than their texts. Where it is too little for the numbers alone, the
    configuration stays as it is, and the table scrolls sideways.

    Parameters
    ----------
    columns : Mapping
        Column → its configuration; a text column has the width in it only if there is room.
    frame : pl.DataFrame
    room : int
        Pixels that the table has there.
    has_boxes : bool
        Whether each row has a box by which it is selected.
    numbers : Collection of str
        Text columns that hold numbers, such as intervals, and must not be cut off.
    """
    configs = {name: columns.get(name, {}) for name in frame.columns}
    wanted = {name: _wanted_width(frame[name], config) for name, config in configs.items()}
    texts = {name for name, config in configs.items() if _is_text(frame[name], config)} - {*numbers}
    room -= has_boxes * _BOXES_WIDTH
    widths = {name: min(width, _MIN_TEXT_WIDTH) if name in texts else width for name, width in wanted.items()}
    if sum(widths.values()) > room:
        return {**columns}
    needed = {name: min(wanted[name], _wanted_width(frame[name], {})) for name in texts}
    for aims in (needed, {name: wanted[name] for name in needed}):
        squeezed = sorted((aim - widths[name], name) for name, aim in aims.items() if aim > widths[name])
        for number, (lacking, name) in enumerate(squeezed):
            widths[name] += min(lacking, (room - sum(widths.values())) // (len(squeezed) - number))
    return {**columns, **{name: {**config, "width": widths[name]} for name, config in configs.items()}}


def _is_text(values: pl.Series, config: Mapping[str, Any]) -> bool:
    """Return whether a column's cells are texts that can be cut off, not pictures."""
    is_image = config.get("type_config", {}).get("type") == "image"
    return not is_image and (values.dtype == pl.String or values.dtype.is_nested())


def _wanted_width(values: pl.Series, config: Mapping[str, Any]) -> int:
    """Return the pixels that a column would take."""
    if isinstance(width := config.get("width"), int):
        return width
    heading = config.get("label") or values.name
    number_format = config.get("type_config", {}).get("format") or ""
    if values.dtype.is_numeric() and "%" in number_format:
        texts = [number_format % value for value in values if value is not None]
    elif values.dtype.is_numeric():
        texts = [f"{value:,}" for value in values if value is not None]
    elif values.dtype.is_nested():  # chips
        texts = [" ".join(map(str, chips)) + CHIP_PADDING for chips in values.to_list() if chips]
    else:
        texts = list(map(str, values.drop_nulls()))
    return min(MAX_COLUMN_WIDTH, _text_column_width(pl.Series(heading, texts, dtype=pl.String)))


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
        column_config=fit_to_page(columns, frame, room=BLOCK_ROOM),
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
        column_config=fit_to_page(columns, frame, has_boxes=True),
        placeholder="–",
        height="content" if frame.height <= 12 else 356,  # what a click brings is below, and in sight
        on_select="rerun",
        selection_mode=ROW_CLICKS,
        alt=alt,
    )
    table_export_menu(export, key, shown=frame, columns=columns)
    return clicked_row(event.selection)
