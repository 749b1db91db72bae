"""Close the menu of a phone once a link in it is followed.

Streamlit's server cannot close the sidebar, and its page links leave it open, over the page. A script of a
few lines does it in the browser: this layer serves it, and names it in Streamlit's own page.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PATH: Final = "/calib/phone_menu.js"
SCRIPT: Final = Path(__file__).with_suffix(".js").read_bytes()

_TAG: Final = f'<script src=".{PATH}" defer></script>'.encode()
"""Relative to the page, as Streamlit's own scripts are."""


class PhoneMenu:
    """ASGI layer that serves the script, and names it at the end of the head of Streamlit's page."""

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
        start: Message | None = None
        parts: list[bytes] = []

        async def send_with_script(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and _is_page(message):
                start = message
            elif start is None or message["type"] != "http.response.body":
                await send(message)
            else:
                parts.append(message.get("body", b""))
                if not message.get("more_body", False):
                    body = b"".join(parts).replace(b"</head>", _TAG + b"</head>", 1)
                    MutableHeaders(scope=start)["Content-Length"] = str(len(body))
                    await send(start)
                    await send({"type": "http.response.body", "body": body})

        # Without extensions an answer comes as its bytes, never as the name of a file.
        await self.app({**scope, "extensions": {}}, receive, send_with_script)


def _is_page(start: Message) -> bool:
    headers = Headers(scope=start)
    return (
        start["status"] == 200
        and headers.get("content-type", "").startswith("text/html")
        and "content-encoding" not in headers
        and "content-disposition" not in headers  # a download, such as a report
    )
