"""A 16:9 slide around a figure: what was found, the numbers beside the figure, and the recipe below."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from calib_core.figures.palette import FONT, THEMES, Theme
from calib_core.reporting.export.kaleido_text import clean_xml_text, font_face_css, wrap_text

SLIDE_WIDTH, SLIDE_HEIGHT = 960, 540
"""Size of a slide in pixels; a PNG has twice as many."""

MAX_TILES: Final = 4

_MARGIN: Final = 36
_FOOTER_HEIGHT: Final = 46
_RAIL_WIDTH: Final = 176
_TITLE_SIZE, _SUBTITLE_SIZE, _VALUE_SIZE, _LABEL_SIZE, _FOOTER_SIZE = 23, 13, 27, 12, 10.5
_LINE: Final = 1.28
_COMPRESSION: Final = 1.12
"""A figure is drawn this much larger than its place, so that panels and legends made for a page fit."""

_TALL: Final = 660
"""A figure higher than this in pixels, one with many rows, is drawn at its own height and scaled down."""


@dataclass(frozen=True, slots=True)
class SlideTexts:
    """What a slide says besides its figure; plain text of any length, unescaped.

    Attributes
    ----------
    title : str
        The finding, in a sentence with its number.
    subtitle : str
        What is shown: figure, model, method.
    recipe : str
        How the numbers were made; the first lines of it are shown.
    tiles : Sequence[tuple[str, str, str]]
        Label, value and note of the numbers beside the figure; the first MAX_TILES are shown.
    """

    title: str
    subtitle: str
    recipe: str
    tiles: Sequence[tuple[str, str, str]] = ()


@dataclass(frozen=True, slots=True)
class Slide:
    """A slide with the place of its figure.

    Attributes
    ----------
    texts : SlideTexts
    theme_name : {"light", "dark"}
    is_square : bool
        Whether the figure has a square panel, so that it stands left of all texts.
    figure_width, figure_height : int
        Size in which the figure is drawn, in pixels, before it is scaled to its place.
    """

    texts: SlideTexts
    theme_name: str
    is_square: bool = False
    figure_width: int = 0
    figure_height: int = 0
    width: int = field(default=SLIDE_WIDTH, init=False)
    total_height: int = field(default=SLIDE_HEIGHT, init=False)

    @property
    def theme(self) -> Theme:
        """The colours."""
        return THEMES["dark" if self.theme_name == "dark" else "light"]

    @property
    def background(self) -> str:
        """The colour behind everything."""
        return self.theme.background

    @property
    def title_lines(self) -> list[str]:
        """The title, wrapped to its place."""
        return wrap_text(self.texts.title, _TITLE_SIZE, self.text_room, 4 if self.is_square else 2)

    @property
    def text_left(self) -> float:
        """Where title and subtitle begin."""
        return _MARGIN + _square_place()[0] + 30 if self.is_square else _MARGIN

    @property
    def text_room(self) -> float:
        """Longest line of title and subtitle."""
        return SLIDE_WIDTH - _MARGIN - self.text_left

    @property
    def figure_place(self) -> tuple[float, float, float, float]:
        """Left, top, width and height of the figure on the slide."""
        if self.is_square:
            return (_MARGIN - 6, 24.0, *_square_place())
        top = 26 + _LINE * (_TITLE_SIZE * len(self.title_lines) + _SUBTITLE_SIZE) + 15
        rail = _RAIL_WIDTH + 24 if self.texts.tiles else 0
        return (
            _MARGIN - 6,
            top,
            SLIDE_WIDTH - 2 * _MARGIN + 6 - rail,
            SLIDE_HEIGHT - _FOOTER_HEIGHT - 8 - top,
        )


def _square_place() -> tuple[float, float]:
    """Width and height of the place of a figure with a square panel."""
    return 390, SLIDE_HEIGHT - _FOOTER_HEIGHT - 8 - 24


def slide_of_figure(
    figure: Mapping[str, Any], texts: SlideTexts, theme_name: str
) -> tuple[dict[str, Any], Slide]:
    """A figure laid out for its slide, and the slide; the figure is copied, and its own size replaced."""
    layout: Mapping[str, Any] = figure["layout"]
    is_square = "scaleanchor" in layout.get("yaxis", {})
    _, _, width, height = Slide(texts, theme_name, is_square).figure_place
    own_height = float(layout.get("height") or 450)
    scale = max(_COMPRESSION, own_height / height if own_height > _TALL else 0)
    size = math.floor(width * scale), math.floor(height * scale)
    fitted = {**figure, "layout": {**layout, "width": size[0], "height": size[1]}}
    return fitted, Slide(texts, theme_name, is_square, *size)


def slide_svg(svg: str, slide: Slide, font: bytes | None) -> str:
    """The slide as one SVG document.

    Parameters
    ----------
    svg : str
        The figure as plotly draws it, in the size that the slide names.
    slide : Slide
    font : bytes or None
        A WOFF2 font to embed; None uses the system's.
    """
    theme, texts = slide.theme, slide.texts
    left, top, width, height = slide.figure_place
    start = svg.index("<svg ") + len("<svg ")
    inner = svg[svg.index(">", start) :]
    size = f'width="{SLIDE_WIDTH}" height="{SLIDE_HEIGHT}"'
    place = f'x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}"'
    footer_top = SLIDE_HEIGHT - _FOOTER_HEIGHT
    line_size = f'width="{SLIDE_WIDTH - 2 * _MARGIN}" height="1"'
    return "\n".join(
        [
            '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" role="img"',
            f'{size} viewBox="0 0 {SLIDE_WIDTH} {SLIDE_HEIGHT}">',
            f"<title>{escape(clean_xml_text(f'{texts.title} {texts.subtitle}'))}</title>",
            f"<desc>{escape(clean_xml_text(texts.recipe))}</desc>",
            "" if font is None else f"<style>{font_face_css(font)}</style>",
            f'<rect {size} fill="{theme.background}"/>',
            f'<rect x="0" y="0" width="{SLIDE_WIDTH}" height="5" fill="{theme.bar}"/>',
            f"<g font-family={quoteattr(FONT)}>",
            *_heading(slide),
            *_tiles(slide),
            f'<rect x="{_MARGIN}" y="{footer_top}" {line_size} fill="{theme.grid_line}"/>',
            *_text_lines(
                wrap_text(texts.recipe, _FOOTER_SIZE, SLIDE_WIDTH - 2 * _MARGIN, 2),
                (_MARGIN, footer_top + 5),
                _FOOTER_SIZE,
                f'fill="{theme.muted_text}"',
            ),
            "</g>",
            f'<svg {place} viewBox="0 0 {slide.figure_width} {slide.figure_height}"{inner}',
            "</svg>",
        ]
    )


def _heading(slide: Slide) -> list[str]:
    """The title and the line below it."""
    left = slide.text_left
    title, theme = slide.title_lines, slide.theme
    subtitle = wrap_text(slide.texts.subtitle, _SUBTITLE_SIZE, slide.text_room, 2 if slide.is_square else 1)
    top = 46 if slide.is_square else 24
    below = top + _LINE * _TITLE_SIZE * len(title) + 5
    return [
        *_text_lines(title, (left, top), _TITLE_SIZE, f'font-weight="600" fill="{theme.text}"'),
        *_text_lines(subtitle, (left, below), _SUBTITLE_SIZE, f'fill="{theme.muted_text}"'),
    ]


def _tiles(slide: Slide) -> list[str]:
    """The numbers: two by two right of a square figure, else below one another in a column."""
    theme = slide.theme
    elements: list[str] = []
    tiles = slide.texts.tiles[:MAX_TILES]
    if slide.is_square:
        left, gap = slide.text_left, 18
        width = (slide.text_room - gap) / 2
        top, height = 258, 82
        places = [
            (left + (index % 2) * (width + gap), top + (index // 2) * (height + 26))
            for index in range(len(tiles))
        ]
    else:
        left, width = SLIDE_WIDTH - _MARGIN - _RAIL_WIDTH, _RAIL_WIDTH
        _, top, _, room = slide.figure_place
        height = min(92.0, room / max(len(tiles), 1) - 8)
        places = [(left, top + index * (height + 8)) for index in range(len(tiles))]
    for (label, value, note), (x, y) in zip(tiles, places, strict=True):
        inside = width - 16
        elements.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="3" height="{height:.1f}" fill="{theme.bar}"/>')
        value_size = _fitting_size(value, inside)
        for line, offset, size, style in (
            (label, 2, _LABEL_SIZE, f'fill="{theme.muted_text}"'),
            (value, 19, value_size, f'font-weight="600" fill="{theme.text}"'),
            (note, 56, 11, f'fill="{theme.muted_text}"'),
        ):
            if line:
                lines = wrap_text(line, size, inside, 2 if line is note else 1)
                elements += _text_lines(lines, (x + 13, y + offset), size, style)
    return elements


def _fitting_size(value: str, width: float) -> float:
    """The largest font size up to that of a tile's value in which it fits into one line."""
    size = float(_VALUE_SIZE)
    while size > 13 and len(wrap_text(value, size, width, 2)) > 1:
        size -= 1
    return size


def _text_lines(lines: Sequence[str], at: tuple[float, float], size: float, attributes: str) -> list[str]:
    """Lines of text below one another; `at` is the left upper corner."""
    left, top = at
    return [
        f'<text x="{left:.1f}" y="{top + _LINE * size * index + size:.1f}" font-size="{size:g}" {attributes}>'
        f"{escape(line)}</text>"
        for index, line in enumerate(lines)
    ]
