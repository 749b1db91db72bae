"""Can every page be read, in light and dark, on a telephone, a tablet and a desk?"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

import pytest
from playwright.sync_api import Page

import views
from serving import ROOT, Server
from window import Browse, ColorScheme, settled

WIDTHS = (1440, 1024, 420)
PAGES = {"": "Start", "reliability": "Reliability", "concentration": "Bin concentration", "files": "Files"}
FIGURES: Mapping[str, tuple[str, ...]] = {
    "reliability": ("reliability",), "concentration": ("histogram", "cumulative"),
}
THEME: Mapping[str, Any] = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"]
KNOWN = "404 (Not Found)"
"""Streamlit looks for its server beside the page's address first, and above it when it is not there."""

SIDEWAYS = """() => [document.documentElement, ...document.querySelectorAll('[data-testid=stMain]')]
    .map(box => box.scrollWidth - box.clientWidth)"""

CUT_OFF = """() => {
    const seen = '[data-testid=stMetricValue], [data-testid=stMetricLabel], [data-testid=stPageLink-NavLink],'
        + ' h1, h3, [data-testid=stCaptionContainer], [data-testid=stAlertContainer],'
        + ' [data-testid=stCode] pre, [data-testid=stMain] button, [data-testid=stMain] label';
    return [...document.querySelectorAll(seen)]
        .filter(box => box.checkVisibility() && box.clientWidth > 0)
        .filter(box => !box.closest('[data-testid=stElementToolbar]'))
        .filter(box => [box, ...box.querySelectorAll('*')].some(
            part => part.clientWidth > 2 && part.scrollWidth > part.clientWidth + 1
                && getComputedStyle(part).overflowX !== 'visible'))
        .map(box => box.dataset.testid + ': ' + box.innerText.slice(0, 60));
}"""

OVERLAPPING = """() => {
    const texts = '.xtick text, .ytick text, .bartext, .legendtext, .annotation-text, .xtitle, .ytitle,'
        + ' .x2title, .y2title, .x2tick text, .y2tick text';
    const found = [];
    for (const plot of document.querySelectorAll('.js-plotly-plot')) {
        const boxes = [...plot.querySelectorAll(texts)].filter(text => text.textContent.trim())
            .map(text => [text.textContent, text.getBoundingClientRect()]).filter(([, box]) => box.width > 0);
        const edge = plot.getBoundingClientRect();
        for (const [words, box] of boxes)
            if (box.left < edge.left - 1 || box.right > edge.right + 1 || box.bottom > edge.bottom + 1
                || box.top < edge.top - 1) found.push('outside: ' + words);
        boxes.forEach(([words, a], at) => boxes.slice(at + 1).forEach(([others, b]) => {
            const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            if (across > 3 && down > 3) found.push(words + ' | ' + others);
        }));
    }
    return found;
}"""

TILES_APART = """() => {
    const tiles = [...document.querySelectorAll('[data-testid=stMetric]')];
    const boxes = tiles.map(tile => tile.getBoundingClientRect());
    return boxes.flatMap((a, at) => boxes.slice(at + 1).filter(
        b => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
            && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1)).length;
}"""


def rgb(color: str) -> str:
    """"#0072B2" as the browser says it: "rgb(0, 114, 178)"."""
    return f"rgb({', '.join(str(part) for part in bytes.fromhex(color.removeprefix('#')))})"


def style(page: Page, selector: str, name: str) -> str:
    return page.locator(selector).first.evaluate(f"box => getComputedStyle(box).getPropertyValue('{name}')")


def no_fault(page: Page) -> None:
    assert page.evaluate(SIDEWAYS) == [0, 0], "the page scrolls sideways"
    assert page.evaluate(CUT_OFF) == []
    assert page.evaluate(OVERLAPPING) == []
    assert page.evaluate(TILES_APART) == 0
    assert page.locator("[data-testid=stException]").count() == 0
    assert "Traceback" not in page.locator("body").inner_text()


def resize(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_timeout(400)
    settled(page)


def figures_are_drawn(page: Page, path: str, width: int) -> None:
    for key in FIGURES.get(path, ()):
        drawn = page.locator(f".st-key-{key} .js-plotly-plot").bounding_box()
        assert drawn is not None
        assert 250 < drawn["width"] <= width
    if path == "reliability":
        assert views.bars(page) == len(views.targets(page)) == views.rows(page, views.BINS)
        across, down = page.locator(".st-key-reliability .js-plotly-plot").evaluate(
            "plot => [plot._fullLayout.xaxis._length, plot._fullLayout.yaxis._length]"
        )
        assert abs(across - down) <= 1, "the diagram is no square"
        assert across > 200


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_at_every_width(path: str, scheme: ColorScheme, demo_server: Server, browse: Browse) -> None:
    window = browse(color_scheme=scheme)
    page = window.open(f"{demo_server.url}/{path}")
    for width in WIDTHS:
        resize(page, width)
        assert page.get_by_role("heading", level=1, name=PAGES[path], exact=True).is_visible()
        no_fault(page)
        figures_are_drawn(page, path, width)
    assert style(page, "[data-testid=stApp]", "background-color") == rgb(THEME[scheme]["backgroundColor"])
    assert style(page, "h1", "color") == rgb(THEME[scheme]["textColor"])
    if path in FIGURES:
        ink = style(page, ".js-plotly-plot .xtitle, .js-plotly-plot .x2title", "fill")
        brightness = sum(int(part) for part in re.findall(r"\d+", ink)[:3]) / 3
        assert (brightness > 127) == (scheme == "dark"), "a figure drawn for the other theme"
        assert page.locator("[role=figure]").first.get_attribute("aria-label") not in (None, "")
    assert [error for error in window.errors if KNOWN not in error] == []


@pytest.mark.parametrize("query", [
    "m=1&metric=full_ece", "m=500", "m=20&binning=mass&log=1", "method=cluster_number&binning=natural&bin=9",
])
def test_other_bins_can_be_read_too(query: str, demo_server: Server, browse: Browse) -> None:
    page = browse().open(f"{demo_server.url}/reliability?{query}")
    for width in (1440, 420):
        resize(page, width)
        no_fault(page)
        figures_are_drawn(page, "reliability", width)


def test_methods_side_by_side_can_be_read(demo_server: Server, browse: Browse) -> None:
    page = browse().open(f"{demo_server.url}/concentration?with=p_true,logit_path,cluster_size")
    for width in (1440, 420):
        resize(page, width)
        no_fault(page)
        figures_are_drawn(page, "concentration", width)
