"""Change the body of some of a server's answers, for the ASGI layers that do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send


async def change_answers(
    app: ASGIApp,
    connection: tuple[Scope, Receive, Send],
    is_changed: Callable[[Message], bool],
    change: Callable[[MutableHeaders, bytes], Awaitable[bytes]],
) -> None:
    """Call an application, and change the body of its answer.

    Parameters
    ----------
    app : ASGIApp
    connection : tuple of Scope, Receive and Send
        As the ASGI specification says.
    is_changed : callable
        Whether an answer with this start is changed; every other answer is passed on as it comes.
    change : callable
        Headers and whole body of the answer → its new body. It may change the headers, but for the length.
    """
    scope, receive, send = connection
    start: Message | None = None
    parts: list[bytes] = []

    async def send_changed(message: Message) -> None:
        nonlocal start
        if message["type"] == "http.response.start" and is_changed(message):
            start = message
        elif start is None or message["type"] != "http.response.body":
            await send(message)
        else:
            parts.append(message.get("body", b""))
            if not message.get("more_body", False):
                headers = MutableHeaders(scope=start)
                body = await change(headers, b"".join(parts))
                headers["Content-Length"] = str(len(body))
                await send(start)
                await send({"type": "http.response.body", "body": body})

    # Without extensions an answer comes as its bytes, never as the name of a file.
    await app({**scope, "extensions": {}}, receive, send_changed)
