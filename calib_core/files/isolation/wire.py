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

MESSAGE_HEADER: Final = struct.Struct("<cQ")

REQUEST_MESSAGE: Final = b"q"
"""JSON: what is to be read; with the handles."""
READY_MESSAGE: Final = b"r"
"""Nothing: the process has started and waits for a request."""
PROGRESS_MESSAGE: Final = b"p"
"""JSON: the share that is done, and a short text."""
TREE_MESSAGE: Final = b"t"
"""JSON: a reading's tree (`transport`), whose blobs follow."""
BLOB_MESSAGE: Final = b"b"
DONE_MESSAGE: Final = b"d"
"""JSON, after the last blob: whether the process ends now."""
REFUSED_MESSAGE: Final = b"x"
"""JSON: why the file is refused."""
FAILED_MESSAGE: Final = b"f"
"""JSON: the name of what went wrong otherwise, and where; the process ends after it."""

MAX_TEXT_BYTES: Final = 2**26
"""Bytes of a message that is no blob."""

MAX_HANDLES: Final = 250
"""Handles that one message may bring: the system's own limit is 253."""


class ProtocolError(Exception):
    """The other side said what is no message, or more than it may."""


class PeerClosedError(Exception):
    """The other side is no longer there."""


class DeadlineError(Exception):
    """The other side said nothing more in time."""


def send_message(connection: socket.socket, kind: bytes, body: bytes | bytearray | memoryview = b"") -> None:
    """Sends one message."""
    connection.sendall(MESSAGE_HEADER.pack(kind, len(body)))
    if len(body):
        connection.sendall(body)


def send_json(connection: socket.socket, kind: bytes, value: Any) -> None:  # noqa: ANN401  whatever JSON holds
    """Sends one message of JSON; lone surrogates in texts are kept."""
    send_message(connection, kind, json.dumps(value).encode("ascii"))


def send_request(connection: socket.socket, value: Any, handles: Sequence[int]) -> None:  # noqa: ANN401  as above
    """Sends a request, its handles with its first bytes."""
    body = json.dumps(value).encode("ascii")
    head = MESSAGE_HEADER.pack(REQUEST_MESSAGE, len(body))
    sent = socket.send_fds(connection, [head], list(handles))
    connection.sendall(head[sent:] + body)


def receive_request(connection: socket.socket) -> tuple[Any, list[int]] | None:
    """The next request and its handles; None where the other side has gone."""
    head, handles, _, _ = socket.recv_fds(connection, MESSAGE_HEADER.size, MAX_HANDLES)
    if not head:
        return None
    head += bytes(_receive_into(connection, bytearray(MESSAGE_HEADER.size - len(head)), None))
    _, length = MESSAGE_HEADER.unpack(head)
    return json.loads(_receive_into(connection, bytearray(length), None)), list(handles)


def receive_message(connection: socket.socket, deadline: float, max_blob_bytes: int) -> tuple[bytes, bytearray]:
    """The next message, as kind and body.

    deadline: by `time.monotonic`; limit: the most bytes that a blob may have. Raises LateError past the
    deadline, EndedError where nobody is there any more, BrokenTalkError where this is no message.
    """
    kind, length = MESSAGE_HEADER.unpack(_receive_into(connection, bytearray(MESSAGE_HEADER.size), deadline))
    known = kind in (READY_MESSAGE, PROGRESS_MESSAGE, TREE_MESSAGE, BLOB_MESSAGE, DONE_MESSAGE, REFUSED_MESSAGE, FAILED_MESSAGE)
    if not known or length > (max_blob_bytes if kind == BLOB_MESSAGE else MAX_TEXT_BYTES):
        raise ProtocolError(f"a message {kind!r} of {length:,} bytes")
    return kind, _receive_into(connection, bytearray(length), deadline)


def parse_message(body: bytearray) -> Any:  # noqa: ANN401  whatever JSON holds
    """The JSON of a message; raises BrokenTalkError where it is none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(str(error)) from None


def _receive_into(connection: socket.socket, buffer: bytearray, deadline: float | None) -> bytearray:
    """`room`, filled with the next bytes."""
    view = memoryview(buffer)
    while view:
        if deadline is not None:
            if (left := deadline - time.monotonic()) <= 0:  # also where there is always more to take
                raise DeadlineError
            connection.settimeout(left)
        try:
            got = connection.recv_into(view)
        except TimeoutError:
            raise DeadlineError from None
        except OSError:
            raise PeerClosedError from None
        if not got:
            raise PeerClosedError
        view = view[got:]
    return buffer
