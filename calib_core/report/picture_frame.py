"""What stands around a figure in a file of its own?  A title above, how it was made below, white paper.

The figure comes as the SVG that plotly draws; out comes one SVG with all that, a description and its letters.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast
from xml.sax.saxutils import escape, quoteattr

from calib_core.figures.label_places import text_width
from calib_core.figures.theme import FONT, LIGHT
from calib_core.problems import shorten

TITLE: Final = 17
SMALL: Final = 11.5
_SIDE: Final = 20
_ABOVE: Final = 12
_ACTUAL: Final = 0.9
"""Of what `text_width` says, which is rather too much, for lines of many letters."""

_MOST_TITLES: Final = 2
_MOST_LINES: Final = 8
_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Frame:
    """width, height: of the figure alone, in pixels; title, recipe: text as files have it, any length."""

    width: int
    height: int
    title: str
    recipe: str

    @property
    def titles(self) -> list[str]:
        """The lines above the figure."""
        return wrapped(self.title, TITLE, self.width - 2 * _SIDE, _MOST_TITLES)

    @property
    def lines(self) -> list[str]:
        """The lines below it."""
        found: list[str] = []
        for part in self.recipe.splitlines():
            found += wrapped(part, SMALL, self.width - 2 * _SIDE, _MOST_LINES)
        if len(found) <= _MOST_LINES:
            return found
        return [*found[: _MOST_LINES - 1], "… The column recipe of the CSV has all of it."]

    @property
    def top(self) -> int:
        """Pixels above the figure."""
        return round(_ABOVE + 1.4 * TITLE * len(self.titles))

    @property
    def whole(self) -> int:
        """Height of all of it, in pixels."""
        return self.top + self.height + round(1.4 * SMALL * len(self.lines)) + (14 if self.lines else 0)


def clean(text: str) -> str:
    """The text with what no XML may hold replaced."""
    return _NOT_XML.sub("\ufffd", text)


def cleaned(part: object) -> Any:  # noqa: ANN401  whatever a figure is made of
    """A figure whose texts are all `clean`."""
    if isinstance(part, str):
        return clean(part)
    if isinstance(part, Mapping):
        return {clean(name): cleaned(value) for name, value in cast("Mapping[str, object]", part).items()}
    if isinstance(part, list | tuple):
        return [cleaned(value) for value in cast("Sequence[object]", part)]
    return part


def wrapped(text: str, size: float, width: float, most: int) -> list[str]:
    """The text in lines that fit, broken at spaces where there are any; the last of `most` ends with "…"."""
    lines = [""]
    for word in clean(text).split():
        for piece in _pieces(word, size, width):
            joined = f"{lines[-1]} {piece}".strip()
            if _ACTUAL * text_width(joined, size) <= width:
                lines[-1] = joined
            else:
                lines.append(piece)
    lines = [line for line in lines if line]
    if len(lines) <= most:
        return lines
    return [*lines[: most - 1], shorten(lines[most - 1] + " …", max(1, len(lines[most - 1]) - 1))]


def _pieces(word: str, size: float, width: float) -> list[str]:
    """A word that is wider than a line in parts that are not."""
    pieces = [""]
    for letter in word:
        if pieces[-1] and _ACTUAL * text_width(pieces[-1] + letter, size) > width:
            pieces.append("")
        pieces[-1] += letter
    return pieces


def framed(svg: str, frame: Frame, font: bytes | None) -> str:
    """One SVG of all of it. svg: as plotly gives it; font: WOFF2, put inside, or None for the system's."""
    start = svg.index("<svg ") + len("<svg ")
    end = svg.index(">", start)
    opening = re.sub(r'\b(?:width|height)="[^"]*"', "", svg[start:end])
    size = f'width="{frame.width}" height="{frame.whole}"'
    return "\n".join([
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" role="img"',
        f'{size} viewBox="0 0 {frame.width} {frame.whole}">',
        f"<title>{escape(clean(frame.title))}</title>",
        f"<desc>{escape(clean(frame.recipe))}</desc>",
        "" if font is None else f"<style>{face(font)}</style>",
        f'<rect {size} fill="{LIGHT.page}"/>',
        f"<g font-family={quoteattr(FONT)}>",
        *_texts(frame.titles, _ABOVE, TITLE, f'font-weight="600" fill="{LIGHT.text}"'),
        *_texts(frame.lines, frame.top + frame.height, SMALL, f'fill="{LIGHT.muted}"'),
        "</g>",
        f'<svg x="0" y="{frame.top}" width="{frame.width}" height="{frame.height}" {opening}{svg[end:]}',
        "</svg>",
    ])


def _texts(lines: Sequence[str], top: float, size: float, look: str) -> list[str]:
    """Lines of text one below the other, from `top` on."""
    return [
        f'<text x="{_SIDE}" y="{top + 1.4 * size * at + size:.1f}" font-size="{size}" {look}>'
        f"{escape(line)}</text>"
        for at, line in enumerate(lines)
    ]


def face(font: bytes) -> str:
    """The CSS that makes the letters known under the name that figures ask for first."""
    name = FONT.split(",", maxsplit=1)[0]
    source = base64.b64encode(font).decode()
    return (
        f"@font-face{{font-family:{name};font-weight:200 900;"
        f'src:url("data:font/woff2;base64,{source}") format("woff2")}}'
    )


def sheet(svg: str, frame: Frame) -> dict[str, Any]:
    """A figure that shows this SVG and nothing else: what plotly can turn into pixels."""
    source = "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
    whole = {"xref": "paper", "yref": "paper", "x": 0, "y": 1, "sizex": 1, "sizey": 1, "sizing": "stretch"}
    unseen = {"visible": False, "range": [0, 1], "fixedrange": True}
    return {
        "data": [{"type": "scatter", "x": [None], "y": [None]}],
        "layout": {
            "template": {}, "width": frame.width, "height": frame.whole, "margin": dict.fromkeys("lrtb", 0),
            "paper_bgcolor": LIGHT.page, "plot_bgcolor": LIGHT.page, "xaxis": unseen, "yaxis": unseen,
            "images": [{"source": source, "layer": "above", **whole}],
        },
    }
