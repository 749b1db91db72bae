"""The separate process in which Kaleido draws a figure.

Its only argument is a folder that holds the job and receives the picture. The page that Kaleido opens uses
plotly.js of the installed package, has no MathJax (so "$x$" stays as it is) and cannot reach the network.
"""

from __future__ import annotations

import asyncio
import base64
import importlib
import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast
from xml.sax.saxutils import escape, quoteattr

from calib_core.figures.palette import FONT, LIGHT
from calib_core.reporting.export.kaleido_text import clean_xml_text, font_face_css, wrap_text
from calib_core.reporting.export.slide import Slide, SlideTexts, slide_svg

JOB_FILE: Final = "order.json"
PICTURE_FILE: Final = "picture"
FONT_FILE: Final = "font"

DEAD_PROXY: Final = "http://127.0.0.1:9"
"""A proxy that does not exist, so that no request of the browser or of a text leaves the machine."""

TITLE_FONT_SIZE: Final = 17
RECIPE_FONT_SIZE: Final = 11.5
_SIDE_MARGIN: Final = 20
_TOP_MARGIN: Final = 12
_MAX_TITLE_LINES: Final = 2
_MAX_RECIPE_LINES: Final = 8


@dataclass(frozen=True, slots=True)
class PictureFrame:
    """What surrounds a figure in its file: the title above, the recipe below.

    Attributes
    ----------
    width, height : int
        Size of the figure alone, in pixels.
    title, recipe : str
        Plain text of any length, unescaped.
    """

    width: int
    height: int
    title: str
    recipe: str

    @property
    def background(self) -> str:
        """The colour behind everything."""
        return LIGHT.background

    @property
    def title_lines(self) -> list[str]:
        """The title, wrapped to the width of the figure."""
        return wrap_text(self.title, TITLE_FONT_SIZE, self.width - 2 * _SIDE_MARGIN, _MAX_TITLE_LINES)

    @property
    def recipe_lines(self) -> list[str]:
        """The recipe, wrapped to the width of the figure."""
        lines: list[str] = []
        for line in self.recipe.splitlines():
            lines += wrap_text(line, RECIPE_FONT_SIZE, self.width - 2 * _SIDE_MARGIN, _MAX_RECIPE_LINES)
        if len(lines) <= _MAX_RECIPE_LINES:
            return lines
        return [*lines[: _MAX_RECIPE_LINES - 1], "… The full recipe is in the column recipe of the CSV."]

    @property
    def top_height(self) -> int:
        """Height of the title in pixels."""
        return round(_TOP_MARGIN + 1.4 * TITLE_FONT_SIZE * len(self.title_lines))

    @property
    def total_height(self) -> int:
        """Height of title, figure and recipe in pixels."""
        return (
            self.top_height
            + self.height
            + round(1.4 * RECIPE_FONT_SIZE * len(self.recipe_lines))
            + (14 if self.recipe_lines else 0)
        )


def clean_figure(part: object) -> Any:  # noqa: ANN401  any value within a figure
    """Applies `clean_xml_text` to every text in a figure, keys included."""
    if isinstance(part, str):
        return clean_xml_text(part)
    if isinstance(part, Mapping):
        return {
            clean_xml_text(name): clean_figure(value)
            for name, value in cast("Mapping[str, object]", part).items()
        }
    if isinstance(part, list | tuple):
        return [clean_figure(value) for value in cast("Sequence[object]", part)]
    return part


def frame_svg(svg: str, frame: PictureFrame, font: bytes | None) -> str:
    """Adds title, recipe, description and white background to a figure.

    Parameters
    ----------
    svg : str
        The figure as plotly draws it.
    frame : PictureFrame
        Size and texts.
    font : bytes or None
        A WOFF2 font to embed; None uses the system's.

    Returns
    -------
    str
        One SVG document.
    """
    start = svg.index("<svg ") + len("<svg ")
    end = svg.index(">", start)
    attributes = re.sub(r'\b(?:width|height)="[^"]*"', "", svg[start:end])
    size = f'width="{frame.width}" height="{frame.total_height}"'
    figure_size = f'width="{frame.width}" height="{frame.height}"'
    return "\n".join(
        [
            '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" role="img"',
            f'{size} viewBox="0 0 {frame.width} {frame.total_height}">',
            f"<title>{escape(clean_xml_text(frame.title))}</title>",
            f"<desc>{escape(clean_xml_text(frame.recipe))}</desc>",
            "" if font is None else f"<style>{font_face_css(font)}</style>",
            f'<rect {size} fill="{LIGHT.background}"/>',
            f"<g font-family={quoteattr(FONT)}>",
            *_text_elements(
                frame.title_lines, _TOP_MARGIN, TITLE_FONT_SIZE, f'font-weight="600" fill="{LIGHT.text}"'
            ),
            *_text_elements(
                frame.recipe_lines,
                frame.top_height + frame.height,
                RECIPE_FONT_SIZE,
                f'fill="{LIGHT.muted_text}"',
            ),
            "</g>",
            f'<svg x="0" y="{frame.top_height}" {figure_size} {attributes}{svg[end:]}',
            "</svg>",
        ]
    )


def _text_elements(lines: Sequence[str], top: float, font_size: float, attributes: str) -> list[str]:
    """Lines of text below one another, from `top` on."""
    return [
        f'<text x="{_SIDE_MARGIN}" y="{top + 1.4 * font_size * index + font_size:.1f}" '
        f'font-size="{font_size}" {attributes}>{escape(line)}</text>'
        for index, line in enumerate(lines)
    ]


def svg_figure(svg: str, frame: PictureFrame | Slide) -> dict[str, Any]:
    """A plotly figure that shows only this SVG, so that plotly can render it as PNG."""
    source = "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
    full_size = {
        "xref": "paper",
        "yref": "paper",
        "x": 0,
        "y": 1,
        "sizex": 1,
        "sizey": 1,
        "sizing": "stretch",
    }
    hidden_axis = {"visible": False, "range": [0, 1], "fixedrange": True}
    return {
        "data": [{"type": "scatter", "x": [None], "y": [None]}],
        "layout": {
            "template": {},
            "width": frame.width,
            "height": frame.total_height,
            "margin": dict.fromkeys("lrtb", 0),
            "paper_bgcolor": frame.background,
            "plot_bgcolor": frame.background,
            "xaxis": hidden_axis,
            "yaxis": hidden_axis,
            "images": [{"source": source, "layer": "above", **full_size}],
        },
    }


class _KaleidoPage:
    """Kaleido's page with the font that figures are laid out for."""

    def __init__(self, font: bytes | None, kaleido: Any) -> None:  # noqa: ANN401  Kaleido has no types
        style = "" if font is None else f"<style>{font_face_css(font)}</style>"
        page: str = kaleido.PageGenerator(mathjax=False).generate_index()
        body = "<body><p style=\"position:absolute;left:-99em;font-family:'Source Sans'\">ab <b>c</b></p>"
        self._page = page.replace("</head>", f'<meta charset="utf-8">{style}</head>').replace(
            "<body", body, 1
        )

    def generate_index(self) -> str:
        """The page as HTML."""
        return self._page


def _frame_of_job(job: Mapping[str, Any]) -> PictureFrame | Slide:
    """What surrounds the figure, as `figure.py` has written it."""
    if "slide" in job:
        slide = dict(job["slide"])
        texts = SlideTexts(**slide.pop("texts"))
        return Slide(texts, **slide)
    return PictureFrame(**job["frame"])


async def render(job: dict[str, Any], font: bytes | None) -> bytes:
    """Draws the picture of a job; raises whatever Kaleido raises."""
    kaleido: Any = importlib.import_module("kaleido")
    frame = _frame_of_job(job)
    size = (
        (frame.figure_width, frame.figure_height) if isinstance(frame, Slide) else (frame.width, frame.height)
    )
    options = {"width": size[0], "height": size[1], "scale": 1, "format": "svg"}
    async with kaleido.Kaleido(
        n=1,
        timeout=job["seconds"],
        path=job["browser"],
        page_generator=_KaleidoPage(font, kaleido),
        proxy_server=DEAD_PROXY,
        enable_extensions=False,
    ) as browser:
        figure_svg: bytes = await browser.calc_fig(job["figure"], opts=options)
        drawn = figure_svg.decode()
        svg = slide_svg(drawn, frame, font) if isinstance(frame, Slide) else frame_svg(drawn, frame, font)
        if job["kind"] == "svg":
            return svg.encode()
        png_size = {"width": frame.width, "height": frame.total_height}
        png_options = {**png_size, "scale": job["scale"], "format": "png"}
        return await browser.calc_fig(svg_figure(svg, frame), opts=png_options)


def _check_browser(browser: str, timeout: float) -> None:
    """Raises CalledProcessError if the browser cannot start, which Kaleido might not notice."""
    subprocess.run(  # noqa: S603  the browser chosen by the user or the system
        [browser, "--version"],
        check=True,
        timeout=timeout,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )


def main(folder: str) -> None:
    """Draws the picture of the job in the folder, and writes it there."""
    path = Path(folder)
    job = json.loads((path / JOB_FILE).read_text("utf-8"))
    _check_browser(job["browser"], job["seconds"])
    font_file = path / FONT_FILE
    font = font_file.read_bytes() if font_file.exists() else None
    unfinished = path / f"{PICTURE_FILE}.part"
    unfinished.write_bytes(asyncio.run(render(job, font)))
    unfinished.rename(path / PICTURE_FILE)
