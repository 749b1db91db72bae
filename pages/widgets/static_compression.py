"""Send what the browser loads of Streamlit itself compressed.

Streamlit leaves its scripts and styles uncompressed, since compressing them again for each request costs more
than it saves. Here each is compressed once for as long as the server runs: a quarter of the bytes.
"""

from __future__ import annotations

import gzip
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.widgets.changed_answers import change_answers

LEVEL: Final = 6
"""A higher one takes longer and saves less than a hundredth."""

MIN_BYTES: Final = 1000
"""Below this a file fits into one packet either way."""

_TEXT_TYPES: Final = ("text/", "application/javascript", "application/json", "image/svg+xml")


class StaticCompression:
    """ASGI layer that compresses files that never change, each once.

    These are the answers that may be kept forever ("immutable"): their number is that of the files installed,
    so that all of them are kept in memory.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._compressed: dict[tuple[str, str], bytes] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request as the ASGI specification says; only GET requests of whole files are changed."""
        if scope["type"] != "http" or scope["method"] != "GET" or not _takes_gzip(Headers(scope=scope)):
            await self.app(scope, receive, send)
            return

        async def compress(headers: MutableHeaders, body: bytes) -> bytes:
            headers["Content-Encoding"] = "gzip"
            headers.add_vary_header("Accept-Encoding")
            return await self._compress((scope["path"], headers.get("etag", "")), body)

        await change_answers(self.app, (scope, receive, send), _is_compressible, compress)

    async def _compress(self, key: tuple[str, str], body: bytes) -> bytes:
        if key not in self._compressed:
            self._compressed[key] = await run_in_threadpool(gzip.compress, body, LEVEL)
        return self._compressed[key]


def _takes_gzip(request: Headers) -> bool:
    """Whether the browser takes gzip and asks for a whole file."""
    return "gzip" in request.get("accept-encoding", "") and "range" not in request


def _is_compressible(start: Message) -> bool:
    """Whether an answer is a text that never changes and is not compressed yet."""
    headers = Headers(scope=start)
    return (
        start["status"] == 200
        and "immutable" in headers.get("cache-control", "")
        and "content-encoding" not in headers
        and headers.get("content-type", "").startswith(_TEXT_TYPES)
        and int(headers.get("content-length", "0")) >= MIN_BYTES
    )
