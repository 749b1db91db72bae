"""How do words and numbers stand in a figure, whoever wrote them?"""

from __future__ import annotations

import unicodedata
from typing import Final

_INVISIBLE_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs"})
_ALLOWED_INVISIBLE: Final = frozenset("\t\n\u200c\u200d")
"""Line ends, and the joiners that some scripts and emoji need."""

_COUNT_UNITS: Final = ((1_000_000_000, "B"), (1_000_000, "M"), (1_000, "k"))


def escape_invisible(text: str) -> str:
    """`text` with what would steer or hide it shown by its code."""
    if text.isprintable():
        return text
    return "".join(
        letter
        if unicodedata.category(letter) not in _INVISIBLE_CATEGORIES or letter in _ALLOWED_INVISIBLE
        else letter.encode("unicode_escape").decode()
        for letter in text
    )


def escape_for_plotly(text: str) -> str:
    """`text` so that plotly draws it character by character: its labels and hovers read a little HTML.

    White space, line ends too, is folded to single spaces.
    """
    folded = escape_invisible(" ".join(text.split()))
    return folded.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def truncate_middle(name: str, max_length: int) -> str:
    """The name cut to so many letters: runs differ at the end as often as at the start."""
    if len(name) <= max_length:
        return name
    end = max_length // 2
    return f"{name[: max_length - end - 1]}…{name[-end:]}"


def compact_count(count: int) -> str:
    """A count in four digits at most, for a bar's label: "422", "9,999", "12.3k", "1.32M"."""
    if count < 10_000:
        return f"{count:,}"
    for unit, letter in _COUNT_UNITS:
        if float(f"{count:.3g}") >= unit:
            return f"{count / unit:.3g}{letter}"
    raise AssertionError(count)


def wrap_lines(text: str, width: int) -> str:
    """`text` as `plain` has it, broken before the word that would pass `width` characters."""
    rows = [""]
    for word in text.split():
        if rows[-1] and len(rows[-1]) + 1 + len(word) > width:
            rows.append(word)
        else:
            rows[-1] = f"{rows[-1]} {word}".strip()
    return "<br>".join(escape_for_plotly(row) for row in rows)
