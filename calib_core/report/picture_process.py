"""How does a figure become pixels?  By Kaleido, in a process of its own that runs this and nothing else.

The folder it is told of holds the order; the picture goes there too. The page that Kaleido
opens has plotly.js of the installed package, no MathJax (so "$x$" stays as it is), and can reach no network.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import subprocess
from pathlib import Path
from typing import Any, Final

from calib_core.report.picture_frame import PictureFrame, font_face_css, frame_svg, svg_figure

JOB_FILE: Final = "order.json"
PICTURE_FILE: Final = "picture"
FONT_FILE: Final = "font"

DEAD_PROXY: Final = "http://127.0.0.1:9"
"""A proxy that is not there: the browser's own errands and whatever a text names end at it."""


class _KaleidoPage:
    """Kaleido's page with the letters that figures are measured by."""

    def __init__(self, font: bytes | None, kaleido: Any) -> None:  # noqa: ANN401  it has no types
        style = "" if font is None else f"<style>{font_face_css(font)}</style>"
        page: str = kaleido.PageGenerator(mathjax=False).generate_index()
        ask = '<body><p style="position:absolute;left:-99em;font-family:\'Source Sans\'">ab <b>c</b></p>'
        self._page = page.replace("</head>", f'<meta charset="utf-8">{style}</head>').replace("<body", ask, 1)

    def generate_index(self) -> str:
        """The page as HTML."""
        return self._page


async def render(job: dict[str, Any], font: bytes | None) -> bytes:
    """The picture that is ordered. Raises whatever Kaleido raises."""
    kaleido: Any = importlib.import_module("kaleido")
    frame = PictureFrame(**job["frame"])
    options = {"width": frame.width, "height": frame.height, "scale": 1, "format": "svg"}
    async with kaleido.Kaleido(
        n=1, timeout=job["seconds"], path=job["browser"], page_generator=_KaleidoPage(font, kaleido),
        proxy_server=DEAD_PROXY, enable_extensions=False,
    ) as browser:
        plain: bytes = await browser.calc_fig(job["figure"], opts=options)
        svg = frame_svg(plain.decode(), frame, font)
        if job["kind"] == "svg":
            return svg.encode()
        pixels = {**options, "height": frame.total_height, "scale": job["scale"], "format": "png"}
        return await browser.calc_fig(svg_figure(svg, frame), opts=pixels)


def _check_browser(browser: str, timeout: float) -> None:
    """Raises CalledProcessError where the browser ends at once: Kaleido may wait for it all the same."""
    subprocess.run(  # noqa: S603  the browser that is to draw
        [browser, "--version"], check=True, timeout=timeout,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    )


def main(folder: str) -> None:
    """Carries out the order in the folder."""
    place = Path(folder)
    order = json.loads((place / JOB_FILE).read_text("utf-8"))
    _check_browser(order["browser"], order["seconds"])
    letters = place / FONT_FILE
    font = letters.read_bytes() if letters.exists() else None
    made = place / f"{PICTURE_FILE}.part"
    made.write_bytes(asyncio.run(render(order, font)))
    made.rename(place / PICTURE_FILE)
