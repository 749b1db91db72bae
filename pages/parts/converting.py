"""How does a loaded file become one in the project's own format?  A download on the page Files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

import streamlit as st

from calib_core.analysis.check import FileReport
from calib_core.files.tables.runs import file_stem
from calib_core.problems import Refused
from calib_core.records import TokenRun
from calib_core.report.canonical import to_canonical, source_record
from pages.parts.cache import LoadedFile
from pages.parts.runs import file_id

CONVERT_HELP: Final = (
    "The same rows in Calib's own format, which reads back to the same numbers. Bad rows are left out, and "
    "what is known of the file is written with it."
)
REDUCE_NOTE: Final = (
    "Token-level files are not converted: the sums in them are saved with "
    "`python -m calib_core reduce FILE -o SUMS.parquet`."
)


def show_convert_button(file: LoadedFile, report: FileReport, key: str, accepted_file_ids: Sequence[str]) -> None:
    """The button below a file that is loaded; what to do instead where its runs are sums."""
    if report.status == "asks" and file_id(file) not in accepted_file_ids:
        return
    if any(isinstance(one.run, TokenRun) for one in report.runs):
        if report.format != "sums":
            st.caption(REDUCE_NOTE)
        return
    st.download_button(
        "Convert (download)",
        data=partial(_convert, file, report),
        file_name=f"{file_stem(file.name).removesuffix('.answers')}.answers.parquet",
        mime="application/vnd.apache.parquet",
        key=f"convert_{key}",
        on_click="ignore",
        icon=":material/download:",
        help=CONVERT_HELP,
    )


def _convert(file: LoadedFile, report: FileReport) -> bytes:
    """The file as it was read, in the canonical format; made when it is asked for, outside the page's run."""
    try:
        sources = [source_record(file.listing.path, file.name, report.rows)]
    except Refused:  # gone since it was read: what was read of it is here all the same
        sources = []
    return to_canonical([one.run for one in report.runs], sources, report.notes).to_parquet()
