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

from calib_core.report.picture_frame import Frame, face, framed, sheet

ORDER: Final = "order.json"
PICTURE: Final = "picture"
FONT: Final = "font"

NOWHERE: Final = "http://127.0.0.1:9"
"""A proxy that is not there: the browser's own errands and whatever a text names end at it."""


class _Page:
    """Kaleido's page with the letters that figures are measured by."""

    def __init__(self, font: bytes | None, kaleido: Any) -> None:  # noqa: ANN401  it has no types
        style = "" if font is None else f"<style>{face(font)}</style>"
        page: str = kaleido.PageGenerator(mathjax=False).generate_index()
        ask = '<body><p style="position:absolute;left:-99em;font-family:\'Source Sans\'">ab <b>c</b></p>'
        self._page = page.replace("</head>", f'<meta charset="utf-8">{style}</head>').replace("<body", ask, 1)

    def generate_index(self) -> str:
        """The page as HTML."""
        return self._page


async def drawn(order: dict[str, Any], font: bytes | None) -> bytes:
    """The picture that is ordered. Raises whatever Kaleido raises."""
    kaleido: Any = importlib.import_module("kaleido")
    frame = Frame(**order["frame"])
    options = {"width": frame.width, "height": frame.height, "scale": 1, "format": "svg"}
    async with kaleido.Kaleido(
        n=1, timeout=order["seconds"], path=order["browser"], page_generator=_Page(font, kaleido),
        proxy_server=NOWHERE, enable_extensions=False,
    ) as browser:
        plain: bytes = await browser.calc_fig(order["figure"], opts=options)
        svg = framed(plain.decode(), frame, font)
        if order["kind"] == "svg":
            return svg.encode()
        pixels = {**options, "height": frame.whole, "scale": order["scale"], "format": "png"}
        return await browser.calc_fig(sheet(svg, frame), opts=pixels)


def _try(browser: str, seconds: float) -> None:
    """Raises CalledProcessError where the browser ends at once: Kaleido may wait for it all the same."""
    subprocess.run(  # noqa: S603  the browser that is to draw
        [browser, "--version"], check=True, timeout=seconds,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    )


def main(folder: str) -> None:
    """Carries out the order in the folder."""
    place = Path(folder)
    order = json.loads((place / ORDER).read_text("utf-8"))
    _try(order["browser"], order["seconds"])
    letters = place / FONT
    font = letters.read_bytes() if letters.exists() else None
    made = place / f"{PICTURE}.part"
    made.write_bytes(asyncio.run(drawn(order, font)))
    made.rename(place / PICTURE)
