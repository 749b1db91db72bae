"""How does text from a file reach a terminal without being obeyed by it?"""

from __future__ import annotations


def escape_unprintable(text: str) -> str:
    """`text` with control, direction and half characters escaped; line ends are kept."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char == "\n" else char.encode("unicode_escape").decode()
        for char in text
    )
