"""How does a loaded file become one in the project's own format?  A download on the page Files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import streamlit as st

from calib_core.analysis.check import FileReport
from calib_core.files.tables.runs import stem_of
from calib_core.problems import Refused
from calib_core.records import TokenRun
from calib_core.report.canonical import canonical, source_of
from pages.parts.cache import File
from pages.parts.runs import file_id

HELP: Final = (
    "The same rows in Calib's own format, which reads back to the same numbers. Bad rows are left out, and "
    "what is known of the file is written with it."
)
REDUCE: Final = (
    "Token-level files are not converted: the sums in them are saved with "
    "`python -m calib_core reduce FILE -o SUMS.parquet`."
)


def offer(file: File, report: FileReport, key: str, good: Sequence[str]) -> None:
    """The button below a file that is loaded; what to do instead where its runs are sums."""
    if report.status == "asks" and file_id(file) not in good:
        return
    if any(isinstance(one.run, TokenRun) for one in report.runs):
        if report.format != "sums":
            st.caption(REDUCE)
        return
    st.download_button(
        "Convert (download)",
        data=partial(_converted, file, report),
        file_name=f"{stem_of(file.name).removesuffix('.answers')}.answers.parquet",
        mime="application/vnd.apache.parquet",
        key=f"convert_{key}",
        on_click="ignore",
        icon=":material/download:",
        help=HELP,
    )


def _converted(file: File, report: FileReport) -> bytes:
    """The file as it was read, in the canonical format; made when it is asked for, outside the page's run."""
    try:
        sources = [source_of(file.listed.path, file.name, report.rows)]
    except Refused:  # gone since it was read: what was read of it is here all the same
        sources = []
    return canonical([one.run for one in report.runs], sources, report.notes).to_parquet()
