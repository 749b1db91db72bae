"""Which files are here, in a line each, and which of them are shown in full?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final

import polars as pl
import streamlit as st

from calib_core.files import FORMATS
from calib_core.wording import plural
from pages.parts import keeping, refusals, rereading, tables
from pages.parts.cache import LoadedFile
from pages.parts.exporting import Export
from pages.parts.runs import file_id

MAX_FULL_FILES: Final = 6
"""Files shown in full below each other; of more, those that ask for something."""
REFUSED: Final = "refused"
LOADED: Final = "loaded"
GOOD_ROWS_ONLY: Final = "loaded, good rows only"
UNDECIDED: Final = "bad rows: your decision"
LIKELY_GOLD: Final = "right answers?"
HOLDS_GOLD: Final = "right answers"
SETTLED_STATES: Final = (LOADED, GOOD_ROWS_ONLY, HOLDS_GOLD)
"""States of files that are of use as they are."""
MAX_OPEN_FILES: Final = 3
"""So many that ask for something are open at once; of more, the first of each kind."""


def show_file_table(files: Sequence[LoadedFile], loaded: Collection[LoadedFile]) -> dict[LoadedFile, str]:
    """One line a file, those that ask for something first; a key for each that is shown in full below."""
    order = sorted(files, key=lambda file: _attention_rank(file_state(file, loaded, files)))
    frame = pl.DataFrame([_file_row(file, loaded, files) for file in order], infer_schema_length=None)
    alike = {"Why": None, "From": "folder", "Bad rows": 0, "Runs": 1}
    frame = frame.drop(name for name, value in alike.items() if not _differs(frame[name], value))
    told = f"{plural(len(files), 'file')}, {len(loaded)} loaded"
    export = Export("files", lambda: frame, told, "Table of files")
    chosen = tables.show_selectable_table(frame, key="files", alt=plural(len(files), "file"), export=export)
    keys = _widget_keys(files)
    if chosen is not None and chosen < len(order):
        return {order[chosen]: keys[order[chosen]]}
    every = {file: keys[file] for file in order}
    if len(files) <= MAX_FULL_FILES:
        return every
    asking = open_files(every, loaded, files)
    below = " Below: the first of each kind that is not loaded." if asking else ""
    st.caption(f"Click a line to see that file in full.{below}")
    return {file: key for file, key in every.items() if file in asking}


def _file_row(file: LoadedFile, loaded: Collection[LoadedFile], files: Sequence[LoadedFile]) -> dict[str, str | int | None]:
    report = file.report
    return {
        "State": file_state(file, loaded, files),  # first: of a long name only a part is seen on a phone
        "File": file.name,
        "Why": None if file in loaded else refusals.refusal_reason(file, files) or None,
        "From": "uploaded" if file.is_uploaded else "folder",
        "Rows": report.rows or None if report else None,
        "Bad rows": report.bad_rows if report else None,
        "Runs": len(report.runs) if report and file in loaded else None,
        "Recognised as": _short_format_title(FORMATS[report.format].title) if report else "–",
    }


def _differs(column: pl.Series, value: str | int | None) -> bool:
    """Whether a column says something else than that."""
    if value is None:
        return column.null_count() < len(column)
    return not (column.fill_null(value) == value).all()


def _attention_rank(state: str) -> int:
    """What asks for something, then what is refused, then what is of use as it is."""
    return 2 if state in SETTLED_STATES else 1 if state == REFUSED else 0


def open_files(
    shown: Mapping[LoadedFile, str], loaded: Collection[LoadedFile], files: Sequence[LoadedFile]
) -> frozenset[LoadedFile]:
    """The blocks that are open: those that ask for something, of one just decided on, one that stands alone.

    Many that ask often ask the same: of those the first of each format and state is open.
    """
    if len(shown) == 1:
        return frozenset(shown)
    asking = [file for file in shown if file not in loaded and not _holds_gold(file, files)]
    if len(asking) > MAX_OPEN_FILES:
        kinds = {_format_and_state(file, loaded, files): file for file in reversed(asking)}
        asking = list(kinds.values())
    return frozenset({*asking, *(file for file, key in shown.items() if key in keeping.decided_keys())})


def _format_and_state(file: LoadedFile, loaded: Collection[LoadedFile], files: Sequence[LoadedFile]) -> tuple[str, str]:
    """Format and state; "" for a file that is of no format."""
    return file.report.format if file.report else "", file_state(file, loaded, files)


def _holds_gold(file: LoadedFile, files: Sequence[LoadedFile]) -> bool:
    """Whether it holds the right answers of another file, or seems to."""
    golds = {other.mapping.gold for other in files}
    return keeping.real_path(file) in golds or rereading.is_gold_table(file, files)


def file_state(file: LoadedFile, loaded: Collection[LoadedFile], files: Sequence[LoadedFile]) -> str:
    """What has become of a file, in a word or three."""
    if file in loaded:
        return GOOD_ROWS_ONLY if file.report and file.report.bad_rows else LOADED
    if file.report and file.report.status == "asks":
        return UNDECIDED
    if keeping.real_path(file) in {other.mapping.gold for other in files}:
        return HOLDS_GOLD
    return LIKELY_GOLD if rereading.is_gold_table(file, files) else rereading.missing_information(file) or REFUSED


def _short_format_title(title: str) -> str:
    """A format's title without what stands in parentheses."""
    return title.partition(" (")[0]


def _widget_keys(files: Sequence[LoadedFile]) -> dict[LoadedFile, str]:
    """A key of its own for the controls of each file."""
    times = Counter(map(file_id, files))
    return {
        file: id_ if times[id_ := file_id(file)] == 1 else f"{id_}-{number}"
        for number, file in enumerate(files)
    }
