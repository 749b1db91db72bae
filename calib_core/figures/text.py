"""Text from files and counts made fit for a figure: escaped, shortened, wrapped, measured."""

from __future__ import annotations

import unicodedata
from typing import Final

_INVISIBLE_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs"})
_ALLOWED_INVISIBLE: Final = frozenset("\t\n\u200c\u200d")
"""Tabs and line ends, and the joiners that some scripts and emoji need."""

_NARROW_LETTERS: Final = frozenset("iljtfrI.,:;'|!()[]{}/\\ -·1")
_WIDE_LETTERS: Final = frozenset("mwMW@%")


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


def text_width(text: str, font_size: float) -> float:
    """Estimated width of the text in pixels at this font size in pixels; rather too large than too small."""
    return font_size * sum(map(_character_width, text))


def _character_width(character: str) -> float:
    """Estimated width of a character as a fraction of the font size."""
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if not character.isascii() and character not in _NARROW_LETTERS:
        return 0.75
    if character in _WIDE_LETTERS:
        return 0.86
    if character in _NARROW_LETTERS:
        return 0.34
    return 0.64 if character.isupper() else 0.55
