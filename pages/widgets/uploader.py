"""How do files get from a browser into its session, and out again?  The controls of the page Files."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.typing import UploadedFile

from calib_core.errors import Refused
from calib_core.wording import plural
from pages.state.cache import LoadedFile
from pages.state.markdown import escape_markdown
from pages.state.uploads import drop_from_streamlit, session_uploads

_UPLOADER_TURN = "_upload_turn"
_UPLOAD_ERRORS = "_upload_trouble"


def show_uploader(files: Sequence[LoadedFile]) -> None:
    """Where files are dropped, what became of them, and the button that removes all of them."""
    turn = st.session_state.setdefault(_UPLOADER_TURN, 0)
    st.file_uploader(
        "Upload files for this session alone",
        accept_multiple_files=True,
        key=f"upload_{turn}",
        on_change=_store_uploads,
        args=(turn,),
        help="They are read as the files of the folder are, nobody else sees them, and they are gone when "
        "you leave. Files that belong together (a samples log and its results, an array and its target) go "
        "up together.",
    )
    for trouble in st.session_state.pop(_UPLOAD_ERRORS, ()):
        st.error(escape_markdown(trouble), icon=":material/upload_file:")
    own = sum(file.is_uploaded for file in files)
    if session_uploads():
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"{plural(own, 'file')} uploaded: marked so on every page.")
            st.button(
                "Remove all uploaded files", key="remove_uploads", on_click=session_uploads().remove_all
            )


def show_remove_button(file: LoadedFile, key: str) -> None:
    """The button that removes one uploaded file."""
    st.button(
        "Remove this file",
        key=f"remove_{key}",
        icon=":material/delete:",
        on_click=session_uploads().remove,
        args=(file.name,),
    )


def _store_uploads(turn: int) -> None:
    """Keeps what was uploaded where files are read from, and gives the browser an empty uploader again."""
    taken: list[UploadedFile] = st.session_state[f"upload_{turn}"]
    troubles: list[str] = []
    for file in taken:
        try:
            session_uploads().add(file.name, file.getbuffer())
        except Refused as refusal:
            troubles.append(str(refusal))
        drop_from_streamlit(file.file_id)
    st.session_state[_UPLOAD_ERRORS] = troubles
    st.session_state[_UPLOADER_TURN] = turn + 1
