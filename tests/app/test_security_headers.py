"""Security headers of every response; the server is reachable only from this machine."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import re
import subprocess
import sys
from contextlib import suppress
from http.client import HTTPConnection, HTTPResponse

import psutil
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount
from starlette.types import ASGIApp, Message
from streamlit import config
from streamlit.config_option import ConfigOption

from app_server import HOST, ROOT, Server
from pages.widgets.security_headers import MIDDLEWARE, WRONG_HOST, frame_ancestors, security_headers

PATHS = (
    "/",
    "/reliability?run=x&m=20",
    "/files",
    "/nosuch/page",
    "/_stcore/health",
    "/_stcore/host-config",
    "/favicon.png",
    "/static/js/nosuch.js",
    "/media/nosuch.csv",
    "/..%2f..%2fetc/passwd",
    "//etc/passwd",
)


def request(server: Server, path: str, method: str = "GET", **more: str) -> tuple[HTTPResponse, bytes]:
    """The answer and its body."""
    connection = HTTPConnection(HOST, int(server.url.rpartition(":")[2]), timeout=10)
    try:
        connection.request(method, path, headers=more)
        answer = connection.getresponse()
        return answer, answer.read()
    finally:
        connection.close()


def ask(server: Server, path: str, method: str = "GET", **more: str) -> HTTPResponse:
    return request(server, path, method, **more)[0]


def policy(answer: HTTPResponse) -> dict[str, list[str]]:
    """Directive → its sources."""
    parts = (answer.headers["Content-Security-Policy"] or "").split(";")
    return {words[0]: words[1:] for part in parts if (words := part.split())}


def has_security_headers(answer: HTTPResponse) -> bool:
    rules = policy(answer)
    sources = {source for found in rules.values() for source in found}
    return (
        {"default-src", "script-src", "connect-src", "frame-ancestors", "base-uri"} <= rules.keys()
        and rules["frame-ancestors"] == rules["default-src"] == ["'none'"]
        and not {"*", "http:", "https:", "ws:", "wss:", "'unsafe-eval'"} & sources
        and not any("//" in source for source in sources)
        and "'unsafe-inline'" not in rules["script-src"]
        and answer.headers["X-Content-Type-Options"] == "nosniff"
        and answer.headers["Referrer-Policy"] == "no-referrer"
    )


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_has_them(path: str, demo_server: Server) -> None:
    assert has_security_headers(ask(demo_server, path))


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "POST"])
def test_the_upload_endpoint_has_the_headers_too(method: str, demo_server: Server) -> None:
    answer = ask(demo_server, "/_stcore/upload_file/nobody/nothing", method)
    assert has_security_headers(answer)
    if method in ("PUT", "DELETE"):
        assert answer.status in (400, 403)  # no session, no token against forged requests


def test_a_page_of_another_site_opens_no_session_and_makes_the_server_ask_nobody(demo_server: Server) -> None:
    knock = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Origin": "http://calib.invalid",
    }
    assert ask(demo_server, "/_stcore/stream", **knock).status == 403
    assert "external IP" not in demo_server.log()


@pytest.mark.parametrize("path", ["/", "/files", "/_stcore/health", "/_stcore/host-config", "/nosuch/page"])
@pytest.mark.parametrize("host", ["calib.invalid", "127.0.0.1.calib.invalid:8501", "a@localhost", ""])
def test_another_site_s_name_reads_nothing(host: str, path: str, demo_server: Server) -> None:
    answer, text = request(demo_server, path, Host=host)
    assert (answer.status, text.decode()) == (403, WRONG_HOST)
    assert has_security_headers(answer)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "localhost."])
def test_its_own_names_read_it(host: str, demo_server: Server) -> None:
    assert ask(demo_server, "/", Host=host).status == 200


def send_request(app: ASGIApp, host: str) -> list[Message]:
    """What the middleware around `app` sends to one request for this host, even after an error."""
    told: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        told.append(message)

    scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"host", host.encode())]}
    with suppress(ZeroDivisionError):
        asyncio.run(Starlette(routes=[Mount("/", app)], middleware=MIDDLEWARE)(scope, receive, send))
    return told


@pytest.mark.parametrize(
    ("allowed", "host", "status"),
    [
        (["calib.example.org"], "calib.example.org", 200),  # behind a proxy, under its name
        (["calib.example.org"], "127.0.0.1:8501", 403),
        (["*.example.org"], "calib.example.org:443", 200),
        ([], "calib.invalid", 200),  # Streamlit's own word for "any"
    ],
)
def test_the_names_are_the_configured_ones(
    allowed: list[str], host: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(config.get_config_options(), "server.allowedHosts", option(allowed))
    assert send_request(PlainTextResponse("fine"), host)[0]["status"] == status


def option(value: list[str]) -> ConfigOption:
    chosen = ConfigOption("server.allowedHosts", default_val=value)
    chosen.set_value(value, "a test")
    return chosen


def test_an_error_response_has_the_headers_and_no_details(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fault(*_: object) -> None:
        raise ZeroDivisionError("secret of this machine")

    monkeypatch.setitem(config.get_config_options(), "server.allowedHosts", option(["localhost"]))
    start, body = send_request(fault, "localhost")
    assert (start["status"], body["body"]) == (500, b"Internal Server Error")
    assert (b"x-content-type-options", b"nosniff") in start["headers"]


def test_the_inline_script_is_allowed_by_what_it_says(demo_server: Server) -> None:
    answer, page = request(demo_server, "/")
    inline = re.findall(r"<script>(.*?)</script>", page.decode(), re.DOTALL)
    assert inline
    for script in inline:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy(answer)["script-src"]
    assert len(policy(answer)["script-src"]) == 1 + len(inline)


def test_it_listens_on_this_machine_alone(demo_server: Server) -> None:
    sockets = psutil.Process(demo_server.pid).net_connections("tcp")
    assert [found.laddr.ip for found in sockets if found.status == "LISTEN"] == ["127.0.0.1"]


def test_nothing_is_reported_to_streamlit() -> None:
    command = [sys.executable, "-m", "streamlit", "config", "show"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for setting in ("gatherUsageStats = false", 'showErrorDetails = "type"', "showErrorLinks = false"):
        assert re.search(f"^{re.escape(setting)}", shown, re.MULTILINE), setting


def test_the_app_is_found_as_plain_streamlit_finds_it() -> None:
    from streamlit.web.server.app_discovery import discover_asgi_app  # noqa: PLC0415 (Streamlit's own look)

    found = discover_asgi_app(ROOT / "app.py")
    assert (found.is_asgi_app, found.app_name) == (True, "app")


def test_only_named_sites_may_frame_the_app(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALIB_FRAMES", "https://a.example https://*.b.example:8443")
    headers = security_headers.__wrapped__()
    assert "frame-ancestors https://a.example https://*.b.example:8443" in headers["Content-Security-Policy"]
    assert "X-Frame-Options" not in headers
    for wrong in ("*", "a.example", "https://a.example; script-src *", "'self'"):
        with pytest.raises(ValueError, match="expected sites such as"):
            frame_ancestors(wrong)
