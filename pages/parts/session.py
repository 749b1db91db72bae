"""What belongs to one person's session alone, and how does it end?

Streamlit empties a session's own caches when its connection ends; that is the one sign of an end that
comes for certain. A connection may be lost and come back, so what is in there is only given up when
nobody has come back within the time that Streamlit itself waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Timer

import streamlit as st
from streamlit import config
from streamlit.runtime import exists, get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.parts.uploads import Uploads

_KEY = "_uploads"


@dataclass(frozen=True, slots=True, eq=False)
class _Hold:
    """The uploads of a session and the name that Streamlit has for it."""

    uploads: Uploads
    session: str


def uploads() -> Uploads:
    """The uploaded files of this session."""
    if _KEY not in st.session_state:
        st.session_state[_KEY] = Uploads()
    mine: Uploads = st.session_state[_KEY]
    if mine and (context := get_script_run_ctx()) is not None:
        _held(mine.token, _Hold(mine, context.session_id))
    return mine


def drop(file_id: str) -> None:
    """Takes an uploaded file out of Streamlit's memory, once it is kept elsewhere."""
    context = get_script_run_ctx()
    remove = getattr(context.uploaded_file_mgr, "remove_file", None) if context else None
    if context is not None and remove is not None:
        remove(context.session_id, file_id)


def _gone(hold: _Hold, *, came_back: bool = False) -> None:
    """The connection ended: everything goes unless somebody is there again in time."""
    wait = Timer(float(config.get_option("server.disconnectedSessionTTL")), _end, [hold, came_back])
    wait.daemon = True
    wait.start()


def _end(hold: _Hold, came_back: bool) -> None:  # noqa: FBT001 (the timer passes it so)
    """Gives everything up where nobody is there; of one who came back and left again, after another wait."""
    there = exists() and get_instance().is_active_session(hold.session)
    if there or came_back:
        _gone(hold, came_back=there)
    else:
        hold.uploads.close()


@st.cache_resource(scope="session", show_spinner=False, on_release=_gone)
def _held(token: str, _hold: _Hold) -> _Hold:  # noqa: ARG001 (the token is the key)
    return _hold
