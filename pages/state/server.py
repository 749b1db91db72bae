"""What the server does when it starts and when it stops."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib import import_module
from threading import Thread
from typing import Final

from pages.state.cache import read_ahead
from pages.state.uploads import remove_abandoned_folders, remove_server_folder

_LATE_IMPORTS: Final = ("streamlit.emojis", "pandas", "plotly.offline", "scipy.optimize")
"""What is otherwise imported while somebody waits for a page: to name its tab, to draw tables and figures,
and to compute intervals."""


@asynccontextmanager
async def server_lifespan(_app: object) -> AsyncGenerator[None]:
    """Prepare the pages while a browser opens; leave no uploaded file behind.

    Folders of servers that were killed are removed at the start, the server's own when it stops.
    """
    remove_abandoned_folders()
    for prepare in (read_ahead, _import_ahead):
        Thread(target=prepare, name="calib-ahead", daemon=True).start()
    yield
    remove_server_folder()


def _import_ahead() -> None:
    """Import what the first pages wait for."""
    for module in _LATE_IMPORTS:
        import_module(module)
