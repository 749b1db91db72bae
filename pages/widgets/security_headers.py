"""HTTP headers of every answer, and the host names that the server answers to.

A page may load nothing from outside, and no other site may frame it. The headers are added by a pure ASGI
layer around every response: pages, deep links, static files, downloads, uploads and errors.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import net_util
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from pages.widgets.browser_script import BrowserScript
from pages.widgets.static_compression import StaticCompression
from pages.widgets.uploads_under_way import UploadCounter

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
"""Content-Security-Policy directive → what a page may load, scripts apart."""

FRAMES_VARIABLE: Final = "CALIB_FRAMES"
_ORIGIN: Final = re.compile(r"https?://(\*\.)?[A-Za-z0-9.-]+(:[0-9]{1,5})?")

WRONG_HOST: Final = (
    "Calib does not accept this host name. Name it with calib app --host NAME, or add it to "
    "server.allowedHosts in .streamlit/config.toml.\n"
)


@cache
def security_headers() -> Mapping[str, str]:
    """Return header → value, the same for every answer."""
    scripts = " ".join(("script-src 'self'", *_inline_script_hashes()))
    frames = " ".join(frame_ancestors(os.environ.get(FRAMES_VARIABLE, "")))
    sources_of = dict(_POLICY_SOURCES) | ({"frame-ancestors": frames} if frames else {})
    policy = [scripts, *(f"{directive} {sources}" for directive, sources in sources_of.items())]
    headers = _other_headers()
    if frames:  # that header knows no list of sites, and browsers let the policy go first
        del headers["X-Frame-Options"]
    return MappingProxyType({"Content-Security-Policy": "; ".join(policy), **headers})


def frame_ancestors(text: str) -> tuple[str, ...]:
    """Return the sites that may show the app in a frame, as `CALIB_FRAMES` names them: "https://a.example".

    Raises
    ------
    ValueError
        If one is not an origin: a scheme and a host name, with a port or a star for subdomains at most.
    """
    sites = tuple(text.split())
    if wrong := [site for site in sites if not _ORIGIN.fullmatch(site)]:
        raise ValueError(f"{FRAMES_VARIABLE}: expected sites such as https://a.example, found {wrong[0]!r}")
    return sites


def _other_headers() -> dict[str, str]:
    return {
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    }


def _inline_script_hashes() -> tuple[str, ...]:
    """Return the hashes that allow the inline scripts of the installed Streamlit's own page."""
    page = (Path(st.__file__).parent / "static" / "index.html").read_bytes().replace(b"\r\n", b"\n")
    digests = (hashlib.sha256(script).digest() for script in _INLINE_SCRIPT.findall(page))
    return tuple(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


def disable_external_ip_lookup() -> None:
    """Keep the server from asking a service on the internet for its own address.

    Streamlit looks it up when a page of another site tries to open a session, to compare the two; without the
    address such a session is refused anyway.
    """
    net_util.get_external_ip = _no_external_ip


def _no_external_ip() -> None:
    return None


class SecurityHeaders:
    """ASGI layer that adds `security_headers` to every answer and refuses requests for another host.

    Streamlit checks only its WebSocket against `server.allowedHosts`. A site whose name is made to point at
    this machine (DNS rebinding) could still read everything else, so this layer checks all requests.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request as the ASGI specification says; only HTTP requests are changed."""
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

        if not is_host_allowed(Headers(scope=scope).get("host")):
            await PlainTextResponse(WRONG_HOST, 403)(scope, receive, send_with_headers)
            return
        try:
            await self.app(scope, receive, send_with_headers)
        except Exception:
            if not begun:  # otherwise the layer around this one would answer, without headers
                await PlainTextResponse("Internal Server Error", 500)(scope, receive, send_with_headers)
            raise


MIDDLEWARE: Final = tuple(map(Middleware, (SecurityHeaders, UploadCounter, StaticCompression, BrowserScript)))
"""The `middleware` of `st.App`."""
