"""Do messages arrive whole, with their handles, and is what is none of them noticed in time?"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from calib_core.files.isolation import wire


@pytest.fixture
def lines() -> Generator[tuple[socket.socket, socket.socket]]:
    one, other = socket.socketpair()
    with one, other:
        yield one, other


Lines = tuple[socket.socket, socket.socket]


def soon(seconds: float = 5.0) -> float:
    return time.monotonic() + seconds


def test_messages_arrive_in_order(lines: Lines) -> None:
    here, there = lines
    wire.send_message(there, wire.READY_MESSAGE)
    wire.send_json(there, wire.PROGRESS_MESSAGE, [0.5, "half\udcff"])
    wire.send_message(there, wire.BLOB_MESSAGE, b"x" * 1000)
    assert wire.receive_message(here, soon(), 0) == (wire.READY_MESSAGE, b"")
    kind, body = wire.receive_message(here, soon(), 0)
    assert (kind, wire.parse_message(body)) == (wire.PROGRESS_MESSAGE, [0.5, "half\udcff"])
    assert wire.receive_message(here, soon(), 1000) == (wire.BLOB_MESSAGE, b"x" * 1000)


def test_a_large_message_is_taken_piece_by_piece(lines: Lines) -> None:
    here, there = lines
    body = os.urandom(3 * 2**20)
    sender = threading.Thread(target=wire.send_message, args=(there, wire.BLOB_MESSAGE, body))
    sender.start()
    assert wire.receive_message(here, soon(), len(body)) == (wire.BLOB_MESSAGE, body)
    sender.join()


def test_a_request_brings_its_handles(lines: Lines, tmp_path: Path) -> None:
    here, there = lines
    handles: list[int] = []
    for name in "ab":
        (tmp_path / name).write_text(name)
        handles.append(os.open(tmp_path / name, os.O_RDONLY))
    wire.send_request(here, {"names": ["a", "b"]}, handles)
    taken = wire.receive_request(there)
    assert taken is not None
    request, found = taken
    assert request == {"names": ["a", "b"]}
    assert [os.read(handle, 9) for handle in found] == [b"a", b"b"]
    for handle in (*handles, *found):
        os.close(handle)
    here.close()
    assert wire.receive_request(there) is None


def test_silence_and_absence_are_told_apart(lines: Lines) -> None:
    here, there = lines
    started = time.monotonic()
    with pytest.raises(wire.DeadlineError):
        wire.receive_message(here, soon(0.1), 0)
    there.sendall(wire.MESSAGE_HEADER.pack(wire.TREE_MESSAGE, 100) + b"half")
    with pytest.raises(wire.DeadlineError):
        wire.receive_message(here, soon(0.1), 0)
    assert time.monotonic() - started < 2
    there.close()
    with pytest.raises(wire.PeerClosedError):
        wire.receive_message(here, soon(), 0)


@pytest.mark.parametrize(
    ("kind", "length"),
    [(b"?", 0), (wire.REQUEST_MESSAGE, 2), (wire.BLOB_MESSAGE, 11), (wire.TREE_MESSAGE, 2**40), (wire.TREE_MESSAGE, 2**64 - 1)],
)
def test_what_is_no_message_is_not_waited_for(lines: Lines, kind: bytes, length: int) -> None:
    here, there = lines
    there.sendall(wire.MESSAGE_HEADER.pack(kind, length))
    with pytest.raises(wire.ProtocolError):
        wire.receive_message(here, soon(), 10)


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_json_is_noticed(body: bytes) -> None:
    with pytest.raises(wire.ProtocolError):
        wire.parse_message(bytearray(body))
