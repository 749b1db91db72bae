"""What the browser loads is sent compressed, each file compressed once; everything else is left alone."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Mapping

import pytest
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Message

from pages.widgets import static_compression
from pages.widgets.static_compression import StaticCompression

SCRIPT = b"export const a = 1;\n" * 500
FOREVER = {"Cache-Control": "public, immutable, max-age=31536000", "ETag": '"1"'}


def ask(
    layer: StaticCompression, request: Mapping[str, str], method: str = "GET"
) -> tuple[int, Headers, bytes]:
    """Status, headers and body of the answer to a request with these headers."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    headers = [(name.lower().encode(), value.encode()) for name, value in request.items()]
    scope = {"type": "http", "method": method, "path": "/static/js/a.js", "headers": headers}
    asyncio.run(layer(scope, receive, send))
    body = b"".join(message.get("body", b"") for message in sent[1:])
    return sent[0]["status"], Headers(scope=sent[0]), body


def script(**more: str) -> StaticCompression:
    return StaticCompression(Response(SCRIPT, headers=FOREVER | more, media_type="text/javascript"))


def test_a_script_is_compressed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    layer, compressed = script(), []
    compress = gzip.compress

    def counting(body: bytes, level: int) -> bytes:
        compressed.append(body)
        return compress(body, level)

    monkeypatch.setattr(static_compression.gzip, "compress", counting)
    for _ in range(2):
        status, headers, body = ask(layer, {"Accept-Encoding": "gzip, br"})
        assert status == 200
        assert headers["content-encoding"] == "gzip"
        assert headers["vary"] == "Accept-Encoding"
        assert int(headers["content-length"]) == len(body) < len(SCRIPT) / 4
        assert gzip.decompress(body) == SCRIPT
    assert compressed == [SCRIPT]


@pytest.mark.parametrize(
    "request_", [{}, {"Accept-Encoding": "br"}, {"Accept-Encoding": "gzip", "Range": "bytes=0-9"}]
)
def test_only_who_takes_it_gets_it(request_: dict[str, str]) -> None:
    _, headers, body = ask(script(), request_)
    assert "content-encoding" not in headers
    assert body == SCRIPT


@pytest.mark.parametrize(
    "answer",
    [
        Response(SCRIPT, headers={"Cache-Control": "no-cache"}, media_type="text/html"),
        Response(SCRIPT, headers=FOREVER, media_type="font/woff2"),
        Response(SCRIPT, headers=FOREVER | {"Content-Encoding": "br"}, media_type="text/javascript"),
        Response(SCRIPT, 404, headers=FOREVER, media_type="text/javascript"),
        Response(b"short", headers=FOREVER, media_type="text/javascript"),
    ],
)
def test_other_answers_are_left_as_they_are(answer: Response) -> None:
    status, headers, body = ask(StaticCompression(answer), {"Accept-Encoding": "gzip"})
    assert (status, body) == (answer.status_code, answer.body)
    assert headers.get("content-encoding") == answer.headers.get("content-encoding")


def test_a_file_that_changed_is_compressed_again() -> None:
    answers = [
        Response(body, headers=FOREVER | {"ETag": tag}, media_type="text/javascript")
        for body, tag in ((SCRIPT, '"1"'), (SCRIPT[::-1], '"2"'))
    ]

    async def app(scope: object, receive: object, send: object) -> None:
        await answers.pop(0)(scope, receive, send)  # type: ignore[arg-type]

    layer = StaticCompression(app)  # type: ignore[arg-type]
    bodies = [gzip.decompress(ask(layer, {"Accept-Encoding": "gzip"})[2]) for _ in range(2)]
    assert bodies == [SCRIPT, SCRIPT[::-1]]
