"""Which files are here, in a line each, and which of them are shown in full?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final

import polars as pl
import streamlit as st

from calib_core.files import FORMATS
from pages.parts import keeping, rereading, tables
from pages.parts.cache import File
from pages.parts.exporting import Export
from pages.parts.runs import file_id

AT_ONCE: Final = 30
"""Files shown in full below each other; of more, those first that are not loaded."""


def summary(files: Sequence[File], loaded: Collection[File]) -> dict[File, str]:
    """One line a file, and a key for each that is shown in full: all, the first, or the one clicked."""
    rows = [
        {
            "State": _state(file, loaded, files),  # first: of a long name only a part is seen on a phone
            "File": file.name,
            "From": "uploaded" if file.uploaded else "folder",
            "Rows": file.report.rows if file.report else None,
            "Bad rows": file.report.bad_rows if file.report else None,
            "Runs": len(file.report.runs) if file.report else None,
            "Recognised as": _short(FORMATS[file.report.format].title) if file.report else "–",
        }
        for file in files
    ]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    alike = {"From": "folder", "Bad rows": 0, "Runs": 1}
    frame = frame.drop(name for name, value in alike.items() if (frame[name].fill_null(value) == value).all())
    export = Export("files", lambda: frame, f"{len(files)} files, {len(loaded)} loaded", "Table of files")
    chosen = tables.one_of(frame, key="files", alt=f"{len(files)} files", export=export)
    keys = _keys(files)
    if chosen is not None and chosen < len(files):
        return {files[chosen]: keys[files[chosen]]}
    settled = {file for file in loaded if keys.get(file) not in keeping.was_decided()}
    first = sorted(files, key=lambda file: file in settled)[:AT_ONCE] if len(files) > AT_ONCE else files
    if len(first) < len(files):
        st.caption(f"Below: {len(first)} of {len(files):,} files. Click a line to see that file.")
    return {file: key for file, key in keys.items() if file in first}


def is_open(
    file: File, shown: Mapping[File, str], loaded: Collection[File], files: Sequence[File]
) -> bool:
    """Whether a block is open: of one that asks for something, or was just decided on, or stands alone."""
    answering = {other.wish.gold for other in files}
    asks = file not in loaded and keeping.real_path(file) not in answering
    asks = asks and not rereading.answers_for(file, files)
    return len(shown) == 1 or shown[file] in keeping.was_decided() or asks


def _state(file: File, loaded: Collection[File], files: Sequence[File]) -> str:
    """In a word or three."""
    if file in loaded:
        return "loaded, good rows only" if file.report and file.report.bad_rows else "loaded"
    if file.report and file.report.status == "asks":
        return "bad rows: your decision"
    if keeping.real_path(file) in {other.wish.gold for other in files}:
        return "right answers"
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
