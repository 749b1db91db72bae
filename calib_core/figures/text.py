"""Text from files and counts made fit for a figure: escaped, shortened, wrapped."""

from __future__ import annotations

import unicodedata
from typing import Final

from calib_core.wording import format_count

_INVISIBLE_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs"})
_ALLOWED_INVISIBLE: Final = frozenset("\t\n\u200c\u200d")
"""Tabs and line ends, and the joiners that some scripts and emoji need."""

_COUNT_UNITS: Final = ((1_000_000_000, "B"), (1_000_000, "M"), (1_000, "k"))


def escape_invisible(text: str) -> str:
    r"""Show control and invisible characters by their escape code, so that none can hide or reorder text.

    Examples
    --------
    >>> escape_invisible("a\u202eb")
    'a\\u202eb'
    """
    if text.isprintable():
        return text
    return "".join(
        character
        if unicodedata.category(character) not in _INVISIBLE_CATEGORIES or character in _ALLOWED_INVISIBLE
        else character.encode("unicode_escape").decode()
        for character in text
    )


def escape_for_plotly(text: str) -> str:
    """Escape text for plotly's labels and hovers, which read some HTML, so that it is drawn as written.

    White space, line ends included, is folded to single spaces.

    Examples
    --------
    >>> escape_for_plotly("a <b>  & c")
    'a &lt;b&gt; &amp; c'
    """
    folded = escape_invisible(" ".join(text.split()))
    return folded.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def truncate_middle(name: str, max_length: int) -> str:
    """Cut a name to `max_length` characters in the middle: runs differ at the end as often as at the start.

    Examples
    --------
    >>> truncate_middle("llama-3-70b-instruct", 11)
    'llama…truct'
    """
    if len(name) <= max_length:
        return name
    end = max_length // 2
    return f"{name[: max_length - end - 1]}…{name[-end:]}"


def compact_count(count: float) -> str:
    """A count in at most four digits, for the label of a bar.

    Examples
    --------
    >>> compact_count(9999), compact_count(12_345), compact_count(1_320_000)
    ('9,999', '12.3k', '1.32M')
    """
    if count < 10_000:
        return format_count(count)
    for unit, suffix in _COUNT_UNITS:
        if float(f"{count:.3g}") >= unit:
            return f"{count / unit:.3g}{suffix}"
    raise AssertionError(count)


def wrap_lines(text: str, width: int) -> str:
    """Escape text for plotly and break it before the word that would pass `width` characters.

    Examples
    --------
    >>> wrap_lines("No answer was judged", 10)
    'No answer<br>was judged'
    """
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return "<br>".join(escape_for_plotly(line) for line in lines)
