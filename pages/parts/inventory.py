"""Which files are here, in a line each, and which of them are shown in full?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final

import polars as pl
import streamlit as st

from calib_core.files import FORMATS
from calib_core.wording import count
from pages.parts import keeping, rereading, tables
from pages.parts.cache import File
from pages.parts.exporting import Export
from pages.parts.runs import file_id

AT_ONCE: Final = 30
"""Files shown in full below each other; of more, those first that are not loaded."""
LOADED: Final = "loaded"
GOOD_ROWS: Final = "loaded, good rows only"
ANSWERS: Final = "right answers"
SETTLED: Final = (LOADED, GOOD_ROWS, ANSWERS)
"""States of files that are of use as they are."""
OPEN: Final = 3
"""So many that ask for something are open at once; of more, the first of each kind."""


def summary(files: Sequence[File], loaded: Collection[File]) -> dict[File, str]:
    """One line a file, and a key for each that is shown in full: all, the first, or the one clicked."""
    rows = [
        {
            "State": state(file, loaded, files),  # first: of a long name only a part is seen on a phone
            "File": file.name,
            "From": "uploaded" if file.uploaded else "folder",
            "Rows": file.report.rows or None if file.report else None,
            "Bad rows": file.report.bad_rows if file.report else None,
            "Runs": len(file.report.runs) if file.report and file in loaded else None,
            "Recognised as": _short(FORMATS[file.report.format].title) if file.report else "–",
        }
        for file in files
    ]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    alike = {"From": "folder", "Bad rows": 0, "Runs": 1}
    frame = frame.drop(name for name, value in alike.items() if (frame[name].fill_null(value) == value).all())
    told = f"{count(len(files), 'file')}, {len(loaded)} loaded"
    export = Export("files", lambda: frame, told, "Table of files")
    chosen = tables.one_of(frame, key="files", alt=count(len(files), "file"), export=export)
    keys = _keys(files)
    if chosen is not None and chosen < len(files):
        return {files[chosen]: keys[files[chosen]]}
    settled = {file for file in loaded if keys.get(file) not in keeping.was_decided()}
    first = sorted(files, key=lambda file: file in settled)[:AT_ONCE] if len(files) > AT_ONCE else files
    if len(first) < len(files):
        st.caption(f"Below: {len(first)} of {len(files):,} files. Click a line to see that file.")
    return {file: key for file, key in keys.items() if file in first}


def opened(
    shown: Mapping[File, str], loaded: Collection[File], files: Sequence[File]
) -> frozenset[File]:
    """The blocks that are open: those that ask for something, of one just decided on, one that stands alone.

    Many that ask often ask the same: of those the first of each format and state is open.
    """
    if len(shown) == 1:
        return frozenset(shown)
    asking = [file for file in shown if file not in loaded and not _answers(file, files)]
    if len(asking) > OPEN:
        kinds = {_kind(file, loaded, files): file for file in reversed(asking)}
        asking = list(kinds.values())
    return frozenset({*asking, *(file for file, key in shown.items() if key in keeping.was_decided())})


def _kind(file: File, loaded: Collection[File], files: Sequence[File]) -> tuple[str, str]:
    """Format and state; "" for a file that is of no format."""
    return file.report.format if file.report else "", state(file, loaded, files)


def _answers(file: File, files: Sequence[File]) -> bool:
    """Whether it holds the right answers of another file, or seems to."""
    golds = {other.wish.gold for other in files}
    return keeping.real_path(file) in golds or rereading.answers_for(file, files)


def state(file: File, loaded: Collection[File], files: Sequence[File]) -> str:
    """What has become of a file, in a word or three."""
    if file in loaded:
        return GOOD_ROWS if file.report and file.report.bad_rows else LOADED
    if file.report and file.report.status == "asks":
        return "bad rows: your decision"
    if keeping.real_path(file) in {other.wish.gold for other in files}:
        return ANSWERS
    return "right answers?" if rereading.answers_for(file, files) else rereading.needs(file) or "refused"


def _short(title: str) -> str:
    """A format's title without what stands in parentheses."""
    return title.partition(" (")[0]


def _keys(files: Sequence[File]) -> dict[File, str]:
    """A key of its own for the controls of each file."""
    times = Counter(map(file_id, files))
    return {
        file: id_ if times[id_ := file_id(file)] == 1 else f"{id_}-{number}"
        for number, file in enumerate(files)
    }
