"""The server answers at once, and its first page looks for nothing that Calib does not need."""

from __future__ import annotations

import asyncio
import inspect
import os
import socket
import time
from http.client import HTTPConnection
from pathlib import Path

import pytest
from streamlit import env_util
from streamlit.runtime.state.session_state import WStates

from app_server import HOST, Server
from calib_core.advice import current_surface, set_surface
from pages.state import server
from pages.state.server import server_lifespan
from screens import Visit, choose

CONFIRMED_AFTER = 0.04
"""Seconds until a client that has nothing to send confirms what it got; Nagle's algorithm waits for that."""


def test_an_answer_does_not_wait_for_a_confirmation(demo_server: Server) -> None:
    connection = HTTPConnection(HOST, int(demo_server.url.rpartition(":")[2]), timeout=10)
    waits: list[float] = []
    for _ in range(20):
        begun = time.perf_counter()
        connection.request("GET", "/_stcore/health")
        assert connection.getresponse().read() == b"ok"
        waits.append(time.perf_counter() - begun)
    connection.close()
    assert min(waits[5:]) < 0.8 * CONFIRMED_AFTER


def test_every_connection_of_the_server_sends_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with socket.socket(socket.AF_INET) as server:  # as Streamlit opens its own
        server.bind((HOST, 0))
        server.listen()
        assert not accepted_sends_at_once(server)
        run_server(tmp_path, monkeypatch)
        assert accepted_sends_at_once(server)


def accepted_sends_at_once(server: socket.socket) -> bool:
    with socket.create_connection(server.getsockname()), server.accept()[0] as accepted:
        return bool(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))


def test_streamlit_does_not_look_through_all_modules_for_a_prompt(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run_server(tmp_path, monkeypatch)
    monkeypatch.setattr(inspect, "stack", lambda: pytest.fail("looks through all modules"))
    assert not env_util.is_repl()


def test_a_session_keeps_no_widgets_that_are_gone(
    folder: Path, visit: Visit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each M draws another figure, whose callback would keep all that the page's script defined then."""
    assert folder.is_dir()
    monkeypatch.setattr(WStates, "remove_stale_widgets", server._REMOVE_VALUES)
    counts = [n_widgets_after_three_steps(visit)]
    with monkeypatch.context() as patch:
        data = os.environ["CALIB_DATA"]
        run_server(tmp_path, patch)
        patch.setenv("CALIB_DATA", data)
        counts.append(n_widgets_after_three_steps(visit))
    assert counts[0][1] > counts[0][0], "Streamlit forgets them itself: the patch can go"
    assert counts[1][1] == counts[1][0]


def n_widgets_after_three_steps(visit: Visit) -> tuple[int, int]:
    """How many widgets the session knows after the first run, and after three others."""
    at = visit("reliability")
    kept = at.session_state._state._state._new_widget_state
    before = len(kept.widget_metadata)
    for bins in (12, 13, 14):
        choose(at, "m_typed", bins)
    return before, len(kept.widget_metadata)


def test_a_server_has_messages_worded_for_its_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_surface("Python")
    run_server(tmp_path, monkeypatch)
    assert current_surface() == "page"


def run_server(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server's start and end, without data."""
    monkeypatch.setenv("CALIB_DATA", str(folder / "gone"))
    monkeypatch.setattr(server, "_import_ahead", int)  # it would freeze what other tests make

    async def run() -> None:
        async with server_lifespan(None):
            pass

    asyncio.run(run())
