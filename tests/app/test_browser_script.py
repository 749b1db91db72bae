"""Streamlit's page names the script of the app, and nothing else is changed."""

from __future__ import annotations

import asyncio
import posixpath
import re
from collections.abc import Sequence
from pathlib import Path

import streamlit as st
from starlette.datastructures import Headers
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Message

from pages.widgets.browser_script import PATH, SCRIPT, BrowserScript

PAGE = b"<html><head><title>Calib</title></head><body></body></html>"
REPORT = {"Content-Disposition": "attachment; filename=report.html"}


def ask(
    answer: ASGIApp,
    path: str = "/reliability",
    method: str = "GET",
    headers: Sequence[tuple[bytes, bytes]] = (),
) -> tuple[Headers, bytes]:
    """Headers and body of the answer to a request."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    scope = {"type": "http", "method": method, "path": path, "headers": [*headers]}
    asyncio.run(BrowserScript(answer)(scope, receive, send))
    return Headers(scope=sent[0]), b"".join(message.get("body", b"") for message in sent[1:])


def test_the_page_names_the_script() -> None:
    headers, body = ask(Response(PAGE, media_type="text/html"))
    assert body == PAGE.replace(b"<head>", b'<head><script src="./calib/browser_script.js" defer></script>')
    assert int(headers["content-length"]) == len(body)


def test_a_page_that_streamlit_would_compress_names_the_script_too() -> None:
    """Streamlit compresses every page but the first, for browsers that take it: all of them."""
    takes = [(b"accept", b"text/html,*/*"), (b"accept-encoding", b"gzip, br")]
    page = GZipMiddleware(Response(PAGE * 20, media_type="text/html"), minimum_size=1)
    headers, body = ask(page, headers=takes)
    assert "content-encoding" not in headers
    assert b"browser_script.js" in body
    headers, _ = ask(page, headers=[(b"accept", b"*/*"), takes[1]])  # a file, not a page
    assert headers["content-encoding"] == "gzip"


def test_the_script_is_served() -> None:
    headers, body = ask(Response(PAGE, media_type="text/html"), PATH)
    assert body == SCRIPT
    assert headers["content-type"].startswith("text/javascript")


def test_nothing_else_is_changed() -> None:
    assert ask(Response(PAGE, media_type="text/plain"))[1] == PAGE
    assert ask(Response(PAGE, 404, media_type="text/html"))[1] == PAGE
    assert ask(Response(PAGE, headers=REPORT, media_type="text/html"))[1] == PAGE
    assert ask(Response(PAGE, media_type="text/html"), method="POST")[1] == PAGE


def test_the_script_loads_the_files_that_streamlit_draws_tables_and_figures_with() -> None:
    """Their addresses in the browser: the script's own, and the paths that it imports from there."""
    paths = re.findall(rb'import\("([^"]+)"\)', SCRIPT)
    addresses = [posixpath.normpath(posixpath.join(posixpath.dirname(PATH), path.decode())) for path in paths]
    static = Path(st.__file__).parent / "static"
    tables, figures = (static / address.removeprefix("/") for address in addresses)
    assert b"stDataFrame" in tables.read_bytes()
    assert b"js-plotly-plot" in figures.read_bytes()
