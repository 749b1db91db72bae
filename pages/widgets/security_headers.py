"""What does the server tell a browser to allow, and under which names does it answer at all?

Nothing from outside is allowed, and no other site around a page. A pure ASGI layer around everything that is
sent: pages, deep links, static files, downloads, uploads, errors.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

import streamlit as st
from starlette.datastructures import Headers as Asked
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import net_util
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

_INLINE_SCRIPT: Final = re.compile(rb"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", re.DOTALL | re.IGNORECASE)

_POLICY_SOURCES: Final = MappingProxyType(
    {
        "default-src": "'none'",
        "style-src": "'self' 'unsafe-inline'",  # the interface writes its styles into the page
        "img-src": "'self' data: blob:",
        "media-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": "'self'",
        "worker-src": "'self' blob:",
        "frame-src": "'self' blob:",
        "manifest-src": "'self'",
        "form-action": "'self'",
        "base-uri": "'self'",
        "object-src": "'none'",
        "frame-ancestors": "'none'",
    }
)
"""What a page may load, from where, scripts apart."""

WRONG_HOST: Final = (
    "Calib does not answer under this name. The names it has are those of server.allowedHosts, in "
    ".streamlit/config.toml or after --server.allowedHosts on the command line.\n"
)


@cache
def security_headers() -> Mapping[str, str]:
    """Header → value, the same for every answer."""
    scripts = " ".join(("script-src 'self'", *_inline_script_hashes()))
    policy = [scripts, *(f"{what} {where}" for what, where in _POLICY_SOURCES.items())]
    return MappingProxyType(
        {
            "Content-Security-Policy": "; ".join(policy),
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
        }
    )


def _inline_script_hashes() -> tuple[str, ...]:
    """The inline scripts of Streamlit's own page as it is installed, each allowed by what it says."""
    page = (Path(st.__file__).parent / "static" / "index.html").read_bytes().replace(b"\r\n", b"\n")
    digests = (hashlib.sha256(script).digest() for script in _INLINE_SCRIPT.findall(page))
    return tuple(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


def disable_external_ip_lookup() -> None:
    """Keeps the server from asking a service on the internet for its own address.

    Streamlit does so when a page of another site tries to open a session, to compare the two: it is refused
    just as well without.
    """
    net_util.get_external_ip = _no_external_ip


def _no_external_ip() -> None:
    return None


class SecurityHeaders:
    """Adds `headers` to every answer of the app it is put around, and refuses what asks for another host.

    Streamlit holds its WebSocket to `server.allowedHosts`. A site whose name is made to point at this machine
    (DNS rebinding) could still read the rest, so the rest is held to it, too.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the ASGI specification; only answers to HTTP requests are ours."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun = False

        async def send_with_headers(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                MutableHeaders(scope=message).update(security_headers())
            await send(message)

        if not is_host_allowed(Asked(scope=scope).get("host")):
            await PlainTextResponse(WRONG_HOST, 403)(scope, receive, send_with_headers)
            return
        try:
            await self.app(scope, receive, send_with_headers)
        except Exception:
            if not begun:  # the layer around this one would answer, without headers; so it only logs
                await PlainTextResponse("Internal Server Error", 500)(scope, receive, send_with_headers)
            raise


MIDDLEWARE: Final = (Middleware(SecurityHeaders),)
"""For `st.App`."""
