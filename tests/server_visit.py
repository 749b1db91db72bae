"""Opens a page of the app's server by its protocol, without a browser."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import polars as pl
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from app_server import Server

DONE = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_WITH_COMPILE_ERROR)


@dataclass(slots=True)
class Shown:
    """One page.

    blocks: labels of what can be unfolded; tables: the data frames; alerts: (kind, text) of each; texts: of
    Markdown and of plain text; failed: exceptions.
    """

    blocks: list[str] = field(default_factory=list[str])
    tables: list[pl.DataFrame] = field(default_factory=list[pl.DataFrame])
    alerts: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    texts: list[str] = field(default_factory=list[str])
    failed: list[str] = field(default_factory=list[str])


class Session:
    """One session of the app, as a browser's window has one; `session` begins it and ends it."""

    def __init__(self, line: ClientConnection) -> None:
        self._line = line

    def open(self, page: str, query: str = "", seconds: float = 60.0) -> Shown:
        """Opens a page, as by its address or a step in the history, and waits until its script is done.

        Raises TimeoutError where it is not in time.
        """
        shown, until = Shown(), time.monotonic() + seconds
        asked = BackMsg()
        asked.rerun_script.query_string = query
        asked.rerun_script.page_name = page
        self._line.send(asked.SerializeToString())
        while True:
            received = self._line.recv(max(0.0, until - time.monotonic()), decode=False)
            message = ForwardMsg.FromString(received)
            _add(shown, message)
            if message.WhichOneof("type") == "script_finished" and message.script_finished in DONE:
                return shown


@contextmanager
def session(server: Server) -> Iterator[Session]:
    """A session that ends with the block."""
    address = server.url.replace("http://", "ws://") + "/_stcore/stream"
    spoken, origin = Subprotocol("streamlit"), Origin(server.url)
    with connect(address, subprotocols=[spoken], max_size=None, origin=origin) as line:
        yield Session(line)


def visit(server: Server, page: str, seconds: float) -> Shown:
    """Opens a page in a session of its own."""
    with session(server) as own:
        return own.open(page, seconds=seconds)


def _add(shown: Shown, message: ForwardMsg) -> None:
    """What one message puts onto the page."""
    delta = message.delta
    if delta.add_block.HasField("expandable"):
        shown.blocks.append(delta.add_block.expandable.label)
    kind = delta.new_element.WhichOneof("type")
    if kind == "alert":
        shown.alerts.append((delta.new_element.alert.format, delta.new_element.alert.body))
    elif kind == "dataframe":
        shown.tables.append(pl.read_ipc_stream(delta.new_element.dataframe.arrow_data.data))
    elif kind == "markdown":
        shown.texts.append(delta.new_element.markdown.body)
    elif kind == "text":
        shown.texts.append(delta.new_element.text.body)
    elif kind == "exception":
        shown.failed.append(delta.new_element.exception.message)
