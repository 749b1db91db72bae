"""How far is the work, for a person who looks at the terminal?"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

# MERGED text: How does text from a file reach a terminal without being obeyed by it?


def escape_unprintable(text: str) -> str:
    """`text` with control, direction and half characters escaped; line ends are kept."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char == "\n" else char.encode("unicode_escape").decode()
        for char in text
    )


@contextmanager
def progress_bar(title: str) -> Generator[Callable[[float, str], None]]:
    """A bar on stderr while the work lasts, where that is a terminal; told the share done and a text."""
    from rich.console import Console  # noqa: PLC0415  most commands show no progress
    from rich.progress import BarColumn, Progress, TextColumn  # noqa: PLC0415

    console = Console(stderr=True, markup=False)
    columns = (TextColumn("{task.description}", markup=False), BarColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(escape_unprintable(title), total=1.0)
        yield lambda share, text: bar.update(
            task, completed=share, description=escape_unprintable(f"{title}: {text}")
        )
