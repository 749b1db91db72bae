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

from pages.parts.uploads import SessionUploads

_UPLOADS_KEY = "_uploads"


@dataclass(frozen=True, slots=True, eq=False)
class _SessionHold:
    """The uploads of a session and the name that Streamlit has for it."""

    uploads: SessionUploads
    session: str


def session_uploads() -> SessionUploads:
    """The uploaded files of this session."""
    if _UPLOADS_KEY not in st.session_state:
        st.session_state[_UPLOADS_KEY] = SessionUploads()
    mine: SessionUploads = st.session_state[_UPLOADS_KEY]
    if mine and (context := get_script_run_ctx()) is not None:
        _hold_session(mine.token, _SessionHold(mine, context.session_id))
    return mine


def drop_from_streamlit(file_id: str) -> None:
    """Takes an uploaded file out of Streamlit's memory, once it is kept elsewhere."""
    context = get_script_run_ctx()
    remove = getattr(context.uploaded_file_mgr, "remove_file", None) if context else None
    if context is not None and remove is not None:
        remove(context.session_id, file_id)


def _on_disconnect(hold: _SessionHold, *, reconnected: bool = False) -> None:
    """The connection ended: everything goes unless somebody is there again in time."""
    wait = Timer(float(config.get_option("server.disconnectedSessionTTL")), _end_session, [hold, reconnected])
    wait.daemon = True
    wait.start()


def _end_session(hold: _SessionHold, reconnected: bool) -> None:  # noqa: FBT001 (the timer passes it so)
    """Gives everything up where nobody is there; of one who came back and left again, after another wait."""
    there = exists() and get_instance().is_active_session(hold.session)
    if there or reconnected:
        _on_disconnect(hold, reconnected=there)
    else:
        hold.uploads.remove_all()


@st.cache_resource(scope="session", show_spinner=False, on_release=_on_disconnect)
def _hold_session(token: str, _hold: _SessionHold) -> _SessionHold:  # noqa: ARG001 (the token is the key)
    return _hold
