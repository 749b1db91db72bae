"""Names that plotly reads as formulas or HTML, or the page as Markdown, are shown literally, also on hover.

Three runs and three groups with such names, on pages whose figures name them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Page

from app_server import Server, SharedServer
from hostile.test_literal_pages import squeeze
from predictions import quiz, write_csv
from window import Windows

NAMES: Final = (
    "$\\frac{a}{b}$ %{y:.2f} &lt;",
    "<b>x</b><a href='//a'>y</a>",
    "**boldly** :red[redly]",
)
PAGES: Final = ("comparison", "groups")

DRAWN: Final = """() => [...document.querySelectorAll('.js-plotly-plot .main-svg text')]
    .map(text => text.textContent).join('\\n')"""
POINTS: Final = """() => [...document.querySelectorAll('.js-plotly-plot .scatterlayer .trace')]
    .flatMap(trace => [...trace.querySelectorAll('.points path')])
    .map(point => point.getBoundingClientRect())
    .filter(box => box.width > 0 && box.top > 0)
    .map(box => [box.left + box.width / 2, box.top + box.height / 2]).slice(0, 40)"""
MADE: Final = """() => document.querySelectorAll('.js-plotly-plot :is(svg a, b, sup, .katex, .MathJax, math)'
    + ', .js-plotly-plot svg [style*="font-weight: bold"]').length"""

APART: Final = """() => [...document.querySelectorAll('[data-testid=stMain] *')]
    .filter(part => ['boldly', 'redly'].includes(part.textContent.trim()))
    .map(part => part.outerHTML)"""
"""Elements that Markdown has made of a part of a name."""


@pytest.fixture
def server(shared_server: SharedServer) -> Server:
    """A server on three runs, whose rows are of three groups; the names of all are read as something else."""
    return shared_server.holding(write_three)


def write_three(data: Path) -> None:
    rows = [row for seed, name in enumerate(NAMES) for row in quiz(60, seed, model=name)]
    write_csv(data / "three.csv", [{**row, "subject": NAMES[at % len(NAMES)]} for at, row in enumerate(rows)])


@pytest.mark.parametrize("name", PAGES)
def test_names_stand_in_figures_as_they_are(name: str, server: Server, windows: Windows) -> None:
    window = windows.open("light", 1440, 1600)
    try:
        page = window.open(f"{server.url}/{name}")
        names = set(map(squeeze, NAMES))
        drawn = squeeze(page.evaluate(DRAWN))
        # The legend of Comparison cuts long names, which the mouse shows whole.
        shown = {name: name[:12] if page.url.endswith("comparison") else name for name in names}
        assert {name for name, start in shown.items() if start not in drawn} == set(), "in the figure"
        assert not_hovered(page, names) == set(), "under the mouse"
        assert page.evaluate(APART) == []
        assert window.strangers() == []
    finally:
        windows.close(window)


def not_hovered(page: Page, names: set[str]) -> set[str]:
    """The names that no tooltip shows; the mouse visits the points until it has found every name."""
    left = set(names)
    for x, y in page.evaluate(POINTS):
        page.mouse.move(x + 3, y + 3)
        page.mouse.move(x, y)
        page.wait_for_timeout(150)
        hovered = squeeze("\n".join(page.locator(".js-plotly-plot .hoverlayer text").all_text_contents()))
        assert page.evaluate(MADE) == 0, hovered
        left = {name for name in left if name not in hovered}
        if not left:
            break
    return left
