"""What Streamlit's server cannot do, and a few lines in the browser can.

They close the menu of a phone once a link in it is followed, which Streamlit leaves open over the page, copy
the text of a copy button, choose light or dark colours, run the page's script again when these change, and
load the code of tables and figures before they are drawn. This layer serves the script, and names it in
Streamlit's own page, before Streamlit's scripts, which ask for the colours when they start.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.widgets.changed_answers import change_answers

PATH: Final = "/calib/browser_script.js"
_STATIC: Final = Path(st.__file__).parent / "static"


_LOADED_AHEAD: Final = {"TABLES": "DataFrame", "FIGURES": "PlotlyChart"}
"""Word in the script → what Streamlit calls the file with the code."""


def _script() -> bytes:
    """The script, with the addresses of the files it loads: a checksum is part of their names.

    Where Streamlit has no such file, or several, it is not loaded ahead.
    """
    script = Path(__file__).with_suffix(".js").read_text("utf-8")
    for word, name in _LOADED_AHEAD.items():
        found = [path.relative_to(_STATIC).as_posix() for path in _STATIC.glob(f"static/js/{name}.*.js")]
        script = script.replace(word, f"../{found[0]}" if len(found) == 1 else "")
    return script.encode()


SCRIPT: Final = _script()

_TAG: Final = f'<script src=".{PATH}" defer></script>'.encode()
"""Relative to the page, as Streamlit's own scripts are."""


class BrowserScript:
    """ASGI layer that serves the script, and names it at the beginning of the head of Streamlit's page."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request as the ASGI specification says; only answers to GET that are HTML are changed."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        if scope["path"].endswith(PATH):
            await Response(SCRIPT, media_type="text/javascript")(scope, receive, send)
            return
        if "text/html" in Headers(scope=scope).get("accept", ""):
            scope = _without_compression(scope)
        await change_answers(self.app, (scope, receive, send), _is_page, _name_script)


def _without_compression(scope: Scope) -> Scope:
    """The same request of one that takes no compressed answer: Streamlit compresses pages but the first."""
    return {**scope, "headers": [header for header in scope["headers"] if header[0] != b"accept-encoding"]}


async def _name_script(_headers: MutableHeaders, page: bytes) -> bytes:
    return page.replace(b"<head>", b"<head>" + _TAG, 1)


def _is_page(start: Message) -> bool:
    headers = Headers(scope=start)
    return (
        start["status"] == 200
        and headers.get("content-type", "").startswith("text/html")
        and "content-encoding" not in headers
        and "content-disposition" not in headers  # a download, such as a report
    )
