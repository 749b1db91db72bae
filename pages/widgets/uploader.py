"""Controls that upload files into the session, and those of the page Files that remove them."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.typing import UploadedFile

from calib_core.errors import Refused
from calib_core.wording import plural
from pages.state.cache import LoadedFile
from pages.state.markdown import escape_markdown
from pages.state.uploads import drop_from_streamlit, session_uploads

_UPLOAD_NUMBER = "_upload_turn"
_UPLOAD_ERRORS = "_upload_trouble"
_UPLOADED_ON_START = "_uploaded_on_start"
_LAST_LABELS = "_upload_labels"


def show_uploader(files: Sequence[LoadedFile]) -> None:
    """Draw the upload field, the errors of the last upload, and the button that removes all uploads."""
    _show_upload_field("Upload files for this session alone")
    st.session_state.pop(_UPLOADED_ON_START, None)
    for error in st.session_state.pop(_UPLOAD_ERRORS, ()):
        st.error(escape_markdown(error), icon=":material/upload_file:")
    n_uploaded = sum(file.is_uploaded for file in files)
    if session_uploads():
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"{plural(n_uploaded, 'file')} uploaded and marked “uploaded” on every page.")
            st.button(
                "Remove all uploaded files", key="remove_uploads", on_click=session_uploads().remove_all
            )


def show_start_uploader() -> bool:
    """Draw the upload field of the page Start; True in the run that follows an upload, which Files shows."""
    _show_upload_field("**Open your own files**", _UPLOADED_ON_START)
    return bool(st.session_state.get(_UPLOADED_ON_START))


def _show_upload_field(label: str, mark: str = "") -> None:
    upload_number = st.session_state.setdefault(_UPLOAD_NUMBER, 0)
    st.file_uploader(
        label,
        accept_multiple_files=True,
        key=f"upload_{upload_number}",
        on_change=_store_uploads,
        args=(upload_number, mark),
        help="Only you see these files, and they are deleted when you leave. Upload files that belong "
        "together at once (a samples log and its results, an array and its target).",
    )


def last_uploaded(files: Sequence[LoadedFile]) -> list[LoadedFile]:
    """Return those of the files that were uploaded last, together."""
    labels = st.session_state.get(_LAST_LABELS, ())
    return [file for file in files if file.is_uploaded and file.name in labels]


def show_remove_button(file: LoadedFile, key: str) -> None:
    """Draw the button that removes one uploaded file."""
    st.button(
        "Remove this file",
        key=f"remove_{key}",
        icon=":material/delete:",
        on_click=session_uploads().remove,
        args=(file.name,),
    )


def _store_uploads(upload_number: int, mark: str) -> None:
    """Keep the uploaded files where files are read from, and start over with an empty upload field.

    `mark`, if any, is the key of session state that says so.
    """
    uploaded: list[UploadedFile] = st.session_state[f"upload_{upload_number}"]
    errors: list[str] = []
    labels: list[str] = []
    for file in uploaded:
        try:
            labels.append(session_uploads().add(file.name, file.getbuffer()))
        except Refused as refusal:
            errors.append(str(refusal))
        drop_from_streamlit(file.file_id)
    st.session_state[_LAST_LABELS] = labels
    st.session_state[_UPLOAD_ERRORS] = errors
    st.session_state[_UPLOAD_NUMBER] = upload_number + 1
    if mark:
        st.session_state[mark] = True
