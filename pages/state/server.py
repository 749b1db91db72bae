"""What the server does when it starts and when it stops."""

from __future__ import annotations

import gc
import os
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Final

from streamlit import env_util
from streamlit.runtime.state import session_state
from streamlit.runtime.state.session_state import WStates

from calib_core.advice import set_surface
from calib_core.reader_process import end_unused
from pages.state.cache import finish_tasks, read_ahead, wait_for_first_page, wait_until_read
from pages.state.uploads import remove_abandoned_folders, remove_server_folder

_FIRST_IMPORTS: Final = ("pyarrow",)
"""What the first page would otherwise wait for, to draw its tables."""

_LATER_IMPORTS: Final = ("scipy.optimize",)
"""What other pages would wait for, to compute intervals; before all is read it would delay the first one."""

_REMOVE_VALUES: Final = WStates.remove_stale_widgets


@asynccontextmanager
async def server_lifespan(_app: object) -> AsyncGenerator[None]:
    """Prepare the pages while a browser opens; leave no uploaded file behind.

    Folders of servers that were killed are removed at the start, the server's own when it stops.
    """
    set_surface("page")
    _send_at_once()
    _seek_no_prompt()
    _forget_gone_widgets()
    remove_abandoned_folders()
    for prepare in (read_ahead, _import_ahead):
        Thread(target=prepare, name="calib-ahead", daemon=True).start()
    yield
    finish_tasks()
    remove_server_folder()


def _send_at_once() -> None:
    """Have the server send small messages at once.

    Streamlit opens its socket without the number of a protocol, so that asyncio leaves Nagle's algorithm on:
    the body of an answer waits until the browser has confirmed the head, for which it may take 40 ms. A
    connection has the settings of the socket that accepts it.
    """
    with suppress(OSError):  # a system without this folder
        for path in Path("/dev/fd").iterdir():
            if path.is_socket():
                with socket.socket(fileno=os.dup(int(path.name))) as opened:
                    is_internet = opened.family in (socket.AF_INET, socket.AF_INET6)
                    if is_internet and opened.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _seek_no_prompt() -> None:
    """Keep Streamlit from asking whether it runs at Python's prompt.

    It asks as it draws the first element, and looks up the file of every loaded module for the answer, with
    a system call for each part of each path, while other threads are busy and a person waits.
    """
    env_util.is_repl = _is_no_prompt


def _is_no_prompt() -> bool:
    return False


def _forget_gone_widgets() -> None:
    """Have Streamlit forget widgets that are no longer drawn.

    It forgets their values only. Of every figure that was ever drawn and can be clicked, and of every slider
    of M, it keeps the callback, which keeps all that the script of the page defined in that run: the garbage
    collector, which Streamlit starts after each run, takes longer the more a session has been used.
    """
    WStates.remove_stale_widgets = _remove_gone_widgets


def _remove_gone_widgets(
    self: WStates, active_widget_ids: frozenset[str], fragment_ids_this_run: list[str] | None
) -> None:
    """Remove what Streamlit removes, and callbacks too; its test of what is gone has no public name."""
    _REMOVE_VALUES(self, active_widget_ids, fragment_ids_this_run)
    self.widget_metadata = {
        id_: widget
        for id_, widget in self.widget_metadata.items()
        if not session_state._is_stale_widget(widget, active_widget_ids, fragment_ids_this_run)  # noqa: SLF001
    }


def _import_ahead() -> None:
    """Import what pages wait for: what the first one does now, the rest once all is read.

    Streamlit has the garbage collector look through everything after each run of a script, while what the
    script has drawn waits to be sent. What is there now, nearly all of it imported code, is no longer looked
    at.
    """
    for module in _FIRST_IMPORTS:
        import_module(module)
    wait_for_first_page()
    end_unused()  # where all was read before, and kept
    _look_no_more()
    wait_until_read()  # until then the processes that read take memory, too
    for module in _LATER_IMPORTS:
        import_module(module)
    _look_no_more()


def _look_no_more() -> None:
    """Have the garbage collector leave alone what is there now."""
    gc.collect()
    gc.freeze()
