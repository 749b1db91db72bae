"""Text and fonts within pictures: made valid for XML, wrapped to a width."""

from __future__ import annotations

import base64
import re
from typing import Final

from calib_core.errors import shorten
from calib_core.figures.palette import FONT
from calib_core.figures.text import text_width

_WIDTH_CORRECTION: Final = 0.9
"""Factor on `text_width`, which overestimates long lines."""

_INVALID_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean_xml_text(text: str) -> str:
    """Replaces characters that XML does not allow."""
    return _INVALID_XML.sub("\ufffd", text)


def wrap_text(text: str, font_size: float, width: float, max_lines: int) -> list[str]:
    """Breaks text into lines, at spaces where possible.

    Parameters
    ----------
    text : str
        The text; white space is folded.
    font_size : float
        In pixels.
    width : float
        Longest line, in pixels.
    max_lines : int
        Longer text is cut, and its last line ends with "…".
    """
    lines = [""]
    for word in clean_xml_text(text).split():
        for piece in _split_word(word, font_size, width):
            joined = f"{lines[-1]} {piece}".strip()
            if _WIDTH_CORRECTION * text_width(joined, font_size) <= width:
                lines[-1] = joined
            else:
                lines.append(piece)
    lines = [line for line in lines if line]
    if len(lines) <= max_lines:
        return lines
    return [
        *lines[: max_lines - 1],
        shorten(lines[max_lines - 1] + " …", max(1, len(lines[max_lines - 1]) - 1)),
    ]


def _split_word(word: str, font_size: float, width: float) -> list[str]:
    """Splits a word into parts that fit a line."""
    pieces = [""]
    for letter in word:
        if pieces[-1] and _WIDTH_CORRECTION * text_width(pieces[-1] + letter, font_size) > width:
            pieces.append("")
        pieces[-1] += letter
    return pieces


def font_face_css(font: bytes) -> str:
    """CSS that defines the font under the first name in the figures' font list."""
    name = FONT.split(",", maxsplit=1)[0]
    source = base64.b64encode(font).decode()
    return (
        f"@font-face{{font-family:{name};font-weight:200 900;"
        f'src:url("data:font/woff2;base64,{source}") format("woff2")}}'
    )
