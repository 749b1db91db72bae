"""How do the process that wants a file read and the one that reads it talk?

Over one pair of sockets, in messages: a letter for the kind, eight bytes for the length, and so many bytes.
A request brings open files along, as handles.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Sequence
from typing import Any, Final

HEAD: Final = struct.Struct("<cQ")

REQUEST: Final = b"q"
"""JSON: what is to be read; with the handles."""
READY: Final = b"r"
"""Nothing: the process has started and waits for a request."""
PROGRESS: Final = b"p"
"""JSON: the share that is done, and a short text."""
TREE: Final = b"t"
"""JSON: a reading's tree (`transport`), whose blobs follow."""
BLOB: Final = b"b"
DONE: Final = b"d"
"""JSON, after the last blob: whether the process ends now."""
REFUSED: Final = b"x"
"""JSON: why the file is refused."""
FAILED: Final = b"f"
"""JSON: the name of what went wrong otherwise, and where; the process ends after it."""

TEXT_LIMIT: Final = 2**26
"""Bytes of a message that is no blob."""

HANDLES: Final = 250
"""Handles that one message may bring: the system's own limit is 253."""


class BrokenTalkError(Exception):
    """The other side said what is no message, or more than it may."""


class EndedError(Exception):
    """The other side is no longer there."""


class LateError(Exception):
    """The other side said nothing more in time."""


def send(line: socket.socket, kind: bytes, body: bytes | bytearray | memoryview = b"") -> None:
    """Sends one message."""
    line.sendall(HEAD.pack(kind, len(body)))
    if len(body):
        line.sendall(body)


def send_json(line: socket.socket, kind: bytes, value: Any) -> None:  # noqa: ANN401  whatever JSON holds
    """Sends one message of JSON; lone surrogates in texts are kept."""
    send(line, kind, json.dumps(value).encode("ascii"))


def send_request(line: socket.socket, value: Any, handles: Sequence[int]) -> None:  # noqa: ANN401  as above
    """Sends a request, its handles with its first bytes."""
    body = json.dumps(value).encode("ascii")
    head = HEAD.pack(REQUEST, len(body))
    sent = socket.send_fds(line, [head], list(handles))
    line.sendall(head[sent:] + body)


def take_request(line: socket.socket) -> tuple[Any, list[int]] | None:
    """The next request and its handles; None where the other side has gone."""
    head, handles, _, _ = socket.recv_fds(line, HEAD.size, HANDLES)
    if not head:
        return None
    head += bytes(_filled(line, bytearray(HEAD.size - len(head)), None))
    _, length = HEAD.unpack(head)
    return json.loads(_filled(line, bytearray(length), None)), list(handles)


def take(line: socket.socket, deadline: float, limit: int) -> tuple[bytes, bytearray]:
    """The next message, as kind and body.

    deadline: by `time.monotonic`; limit: the most bytes that a blob may have. Raises LateError past the
    deadline, EndedError where nobody is there any more, BrokenTalkError where this is no message.
    """
    kind, length = HEAD.unpack(_filled(line, bytearray(HEAD.size), deadline))
    known = kind in (READY, PROGRESS, TREE, BLOB, DONE, REFUSED, FAILED)
    if not known or length > (limit if kind == BLOB else TEXT_LIMIT):
        raise BrokenTalkError(f"a message {kind!r} of {length:,} bytes")
    return kind, _filled(line, bytearray(length), deadline)


def parsed(body: bytearray) -> Any:  # noqa: ANN401  whatever JSON holds
    """The JSON of a message; raises BrokenTalkError where it is none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BrokenTalkError(str(error)) from None


def _filled(line: socket.socket, room: bytearray, deadline: float | None) -> bytearray:
    """`room`, filled with the next bytes."""
    view = memoryview(room)
    while view:
        if deadline is not None:
            if (left := deadline - time.monotonic()) <= 0:  # also where there is always more to take
                raise LateError
            line.settimeout(left)
        try:
            got = line.recv_into(view)
        except TimeoutError:
            raise LateError from None
        except OSError:
            raise EndedError from None
        if not got:
            raise EndedError
        view = view[got:]
    return room
