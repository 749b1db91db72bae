"""Text and progress for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

_STATE = {"quiet": False}


def set_quiet(*, quiet: bool) -> bool:
    """Sets whether progress and remarks are left out; returns how it was."""
    before, _STATE["quiet"] = _STATE["quiet"], quiet
    return before


def is_quiet() -> bool:
    """Whether progress and remarks are left out."""
    return _STATE["quiet"]


def escape_unprintable(text: str) -> str:
    r"""Escapes control characters, direction marks and lone surrogates, so that no terminal obeys them.

    Line ends are kept.

    Examples
    --------
    >>> escape_unprintable("red: \x1b[31m")
    'red: \\x1b[31m'
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char == "\n" else char.encode("unicode_escape").decode()
        for char in text
    )


@contextmanager
def terminal_progress(title: str) -> Generator[Callable[[float, str], None]]:
    """Shows a progress bar on stderr while the block runs, if that is a terminal.

    Yields
    ------
    Callable[[float, str], None]
        Takes the share of the work done, in [0, 1], and what is being done.
    """
    # Imported here because `--help` needs this module and no progress bar, and rich takes long to import.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, Progress, TextColumn  # noqa: PLC0415

    console = Console(stderr=True, markup=False)
    columns = (TextColumn("{task.description}", markup=False), BarColumn())
    with Progress(
        *columns, console=console, transient=True, disable=is_quiet() or not console.is_terminal
    ) as bar:
        task = bar.add_task(escape_unprintable(title), total=1.0)
        yield lambda share, text: bar.update(
            task, completed=share, description=escape_unprintable(f"{title}: {text}")
        )
