"""Files that a browser is still sending: how many, and a page that waits for them.

The upload field announces a file once it is sent, unless the browser has gone to another page meanwhile.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

import streamlit as st
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.runtime.scriptrunner import get_script_run_ctx

from calib_core.wording import plural
from pages.state.uploads import take_uploads

_UPLOAD_PATH: Final = re.compile(r"/_stcore/upload_file/([^/]+)/[^/]+$")
_n_by_session: Final = Counter[str]()


class UploadCounter:
    """ASGI layer that counts the uploads of each session while they last."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request as the ASGI specification says; none is changed."""
        is_upload = scope["type"] == "http" and scope["method"] == "PUT"
        if not is_upload or (match := _UPLOAD_PATH.search(scope["path"])) is None:
            await self.app(scope, receive, send)
            return
        session = match[1]
        _n_by_session[session] += 1
        try:
            await self.app(scope, receive, send)
        finally:
            _n_by_session[session] -= 1
            if not _n_by_session[session]:
                del _n_by_session[session]


def n_uploads_under_way() -> int:
    """Return how many files the browser of this session is sending."""
    context = get_script_run_ctx()
    return 0 if context is None else _n_by_session[context.session_id]


@st.fragment(run_every=1.0)
def wait_for_uploads() -> None:
    """Say how many files are still being sent; draw the page anew when some came unannounced."""
    if n_files := n_uploads_under_way():
        with st.container(key="uploading"):
            st.caption(f":material/upload_file: {plural(n_files, 'file')} still being uploaded.")
    elif take_uploads():
        st.rerun()
