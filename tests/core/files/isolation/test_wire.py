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
    wire.send(there, wire.READY)
    wire.send_json(there, wire.PROGRESS, [0.5, "half\udcff"])
    wire.send(there, wire.BLOB, b"x" * 1000)
    assert wire.take(here, soon(), 0) == (wire.READY, b"")
    kind, body = wire.take(here, soon(), 0)
    assert (kind, wire.parsed(body)) == (wire.PROGRESS, [0.5, "half\udcff"])
    assert wire.take(here, soon(), 1000) == (wire.BLOB, b"x" * 1000)


def test_a_large_message_is_taken_piece_by_piece(lines: Lines) -> None:
    here, there = lines
    body = os.urandom(3 * 2**20)
    sender = threading.Thread(target=wire.send, args=(there, wire.BLOB, body))
    sender.start()
    assert wire.take(here, soon(), len(body)) == (wire.BLOB, body)
    sender.join()


def test_a_request_brings_its_handles(lines: Lines, tmp_path: Path) -> None:
    here, there = lines
    handles: list[int] = []
    for name in "ab":
        (tmp_path / name).write_text(name)
        handles.append(os.open(tmp_path / name, os.O_RDONLY))
    wire.send_request(here, {"names": ["a", "b"]}, handles)
    taken = wire.take_request(there)
    assert taken is not None
    request, found = taken
    assert request == {"names": ["a", "b"]}
    assert [os.read(handle, 9) for handle in found] == [b"a", b"b"]
    for handle in (*handles, *found):
        os.close(handle)
    here.close()
    assert wire.take_request(there) is None


def test_silence_and_absence_are_told_apart(lines: Lines) -> None:
    here, there = lines
    started = time.monotonic()
    with pytest.raises(wire.LateError):
        wire.take(here, soon(0.1), 0)
    there.sendall(wire.HEAD.pack(wire.TREE, 100) + b"half")
    with pytest.raises(wire.LateError):
        wire.take(here, soon(0.1), 0)
    assert time.monotonic() - started < 2
    there.close()
    with pytest.raises(wire.EndedError):
        wire.take(here, soon(), 0)


@pytest.mark.parametrize(
    ("kind", "length"),
    [(b"?", 0), (wire.REQUEST, 2), (wire.BLOB, 11), (wire.TREE, 2**40), (wire.TREE, 2**64 - 1)],
)
def test_what_is_no_message_is_not_waited_for(lines: Lines, kind: bytes, length: int) -> None:
    here, there = lines
    there.sendall(wire.HEAD.pack(kind, length))
    with pytest.raises(wire.BrokenTalkError):
        wire.take(here, soon(), 10)


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_json_is_noticed(body: bytes) -> None:
    with pytest.raises(wire.BrokenTalkError):
        wire.parsed(bytearray(body))
