"""Controls that upload files into the session and remove them."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.typing import UploadedFile

from calib_core.wording import plural
from pages.state.cache import LoadedFile
from pages.state.uploads import session_uploads


def show_uploader(files: Sequence[LoadedFile]) -> None:
    """Draw the upload field of the page Files, and the button that removes all uploads."""
    show_upload_field("Upload files for this session alone")
    n_uploaded = sum(file.is_uploaded for file in files)
    if session_uploads():
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"{plural(n_uploaded, 'file')} uploaded.")
            st.button(
                "Remove all uploaded files", key="remove_uploads", on_click=session_uploads().remove_all
            )


def show_upload_field(label: str) -> None:
    """Draw the field that sends files to the server, where `take_uploads` finds them, and lists them.

    A page draws the same elements before it on every run, so that the browser keeps the field: a file that is
    dropped while another field takes its place would be lost.
    """
    key = f"upload_{session_uploads().field}"
    for file in st.session_state.get(key, ()):
        if isinstance(file, UploadedFile):
            file.truncate(0)  # otherwise Streamlit would keep a second copy in memory, and return a third
    st.file_uploader(
        label,
        accept_multiple_files=True,
        key=key,
        help="Only you see these files, and they are deleted when you leave. Upload files that belong "
        "together at once (a samples log and its results, an array and its target).",
    )


def last_uploaded(files: Sequence[LoadedFile]) -> list[LoadedFile]:
    """Return those of the files that were uploaded last."""
    return [file for file in files if file.is_uploaded and file.name in session_uploads().newest]


def show_remove_button(file: LoadedFile, key: str) -> None:
    """Draw the button that removes one uploaded file."""
    st.button(
        "Remove this file",
        key=f"remove_{key}",
        icon=":material/delete:",
        on_click=session_uploads().remove,
        args=(file.name,),
    )
