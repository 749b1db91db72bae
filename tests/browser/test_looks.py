"""Can every page be read, in light and dark, from a telephone to a wide screen, and without seeing it?"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, Protocol

import pytest
from playwright.sync_api import Page

import views
from axe import OWN, Barrier, barriers
from looks import KNOWN, WIDTHS, no_fault, resize
from serving import ROOT, Server
from window import ColorScheme, Window, Windows

PAGES = {
    "": "Start",
    "tour": "Tour",
    "reliability": "Reliability",
    "concentration": "Bin concentration",
    "robustness": "Robustness",
    "comparison": "Comparison",
    "abstention": "Abstention",
    "sampling": "Sampling",
    "methods": "Methods",
    "groups": "Groups",
    "training": "Training",
    "report": "Report",
    "files": "Files",
}
FIGURES: Mapping[str, tuple[str, ...]] = {
    "reliability": ("reliability",),
    "concentration": ("histogram", "cumulative"),
    "robustness": ("values", "relative"),
    "comparison": ("comparison",),
    "abstention": ("abstention",),
    "sampling": ("sampling", "clusters"),
    "groups": ("groups_dots",),
}
THEME: Mapping[str, Any] = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"]


MOVING = """() => [...document.querySelectorAll('*')].filter(box => {
    const {animationDuration, transitionDuration} = getComputedStyle(box);
    return `${animationDuration},${transitionDuration}`.split(',').some(time => parseFloat(time) > 0.001);
}).length"""


class Show(Protocol):
    """Opens a page in the one window of its scheme: what a browser has to load is loaded once."""

    def __call__(self, scheme: ColorScheme, path: str) -> Window: ...


@pytest.fixture(scope="module")
def show(windows: Windows, demo_server: Server) -> Iterator[Show]:
    opened: dict[ColorScheme, Window] = {}

    def open_page(scheme: ColorScheme, path: str) -> Window:
        if scheme not in opened:
            opened[scheme] = windows.open(scheme, WIDTHS[0], 900)
        opened[scheme].errors.clear()
        opened[scheme].page.set_viewport_size({"width": WIDTHS[0], "height": 900})
        opened[scheme].open(f"{demo_server.url}/{path}")
        return opened[scheme]

    yield open_page
    for scheme, window in opened.items():
        windows.close(window, scheme)


@pytest.fixture(scope="module")
def met() -> dict[tuple[ColorScheme, str], list[Barrier]]:
    """What axe-core has found so far, by scheme and page."""
    return {}


def rgb(color: str) -> str:
    """ "#0072B2" as the browser says it: "rgb(0, 114, 178)"."""
    return f"rgb({', '.join(str(part) for part in bytes.fromhex(color.removeprefix('#')))})"


def style(page: Page, selector: str, name: str) -> str:
    return page.locator(selector).first.evaluate(f"box => getComputedStyle(box).getPropertyValue('{name}')")


def figures_are_drawn(page: Page, path: str, width: int) -> None:
    for key in FIGURES.get(path, ()):
        drawn = page.locator(f".st-key-{key} .js-plotly-plot").bounding_box()
        assert drawn is not None
        assert 250 < drawn["width"] <= width
    if path == "reliability":
        assert views.bars(page) == len(views.targets(page)) == views.rows(page, views.BINS)
        # It is laid out once more when its column has its width: measured before, it is as wide as at first.
        page.wait_for_function(
            "() => { const plot = document.querySelector('.st-key-reliability .js-plotly-plot');"
            " return plot._fullLayout.xaxis._length >= Math.min(plot.clientWidth - 90, 450); }"
        )
        across, down = page.locator(".st-key-reliability .js-plotly-plot").evaluate(
            "plot => [plot._fullLayout.xaxis._length, plot._fullLayout.yaxis._length]"
        )
        assert abs(across - down) <= 1, "the diagram is no square"
        whole = page.locator(".st-key-reliability .js-plotly-plot").evaluate("plot => plot.clientWidth")
        assert across >= min(whole - 90, 450), "the diagram leaves its column empty"


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_at_every_width(
    path: str, scheme: ColorScheme, show: Show, met: dict[tuple[ColorScheme, str], list[Barrier]]
) -> None:
    window = show(scheme, path)
    page = window.page
    for width in WIDTHS if scheme == "light" else (1440,):  # what is clipped does not depend on colour
        resize(page, width)
        assert page.get_by_role("heading", level=1, name=PAGES[path], exact=True).is_visible()
        no_fault(page)
        figures_are_drawn(page, path, width)
        if width == 1440:
            met[scheme, path] = barriers(page)
    assert [barrier for barrier in met[scheme, path] if barrier.own is None] == []
    assert style(page, "[data-testid=stApp]", "background-color") == rgb(THEME[scheme]["backgroundColor"])
    assert style(page, "h1", "color") == rgb(THEME[scheme]["textColor"])
    if path in FIGURES:
        ink = style(page, ".js-plotly-plot .xtitle, .js-plotly-plot .x2title", "fill")
        brightness = sum(int(part) for part in re.findall(r"\d+", ink)[:3]) / 3
        assert (brightness > 127) == (scheme == "dark"), "a figure drawn for the other theme"
        assert page.locator("[role=figure]").first.get_attribute("aria-label") not in (None, "")
    assert [error for error in window.errors if KNOWN not in error] == []


def test_what_is_streamlit_s_own_is_still_there(
    show: Show, met: dict[tuple[ColorScheme, str], list[Barrier]]
) -> None:
    """An entry that nothing meets any more would hide the next fault."""
    schemes: tuple[ColorScheme, ...] = ("light", "dark")
    for scheme, path in product(schemes, PAGES):
        if (scheme, path) not in met:
            met[scheme, path] = barriers(show(scheme, path).page)
    assert {barrier.own for found in met.values() for barrier in found} - {None} == set(OWN)


def test_nothing_moves_for_who_asks_for_less_motion(show: Show) -> None:
    page = show("light", "reliability").page
    page.emulate_media(reduced_motion="no-preference")
    assert page.evaluate(MOVING) > 0
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(MOVING) == 0
    assert page.evaluate("() => document.querySelector('.js-plotly-plot').layout.transition") is None


@pytest.mark.parametrize(
    "query",
    [
        "m=1&metric=full_ece",
        "m=500",
        "m=20&binning=mass&log=1",
        "method=cluster_number&binning=natural&bin=9",
    ],
)
def test_other_bins_can_be_read_too(query: str, show: Show) -> None:
    page = show("light", f"reliability?{query}").page
    for width in (1440, 420):
        resize(page, width)
        no_fault(page)
        figures_are_drawn(page, "reliability", width)


def test_methods_side_by_side_can_be_read(show: Show) -> None:
    page = show("light", "concentration?with=p_true,logit_path,cluster_size").page
    for width in (1440, 420):
        resize(page, width)
        no_fault(page)
        figures_are_drawn(page, "concentration", width)


@pytest.mark.parametrize("path", ["sampling", "reliability"])
def test_tiles_stand_in_rows_that_are_about_as_long(path: str, show: Show) -> None:
    page = show("light", path).page
    for width in (1440, 1024, 860, 420):
        resize(page, width)
        tops = page.locator(".stMainBlockContainer .stGrid").first.evaluate(
            "grid => [...grid.querySelectorAll('.stMetric')].map(tile => tile.getBoundingClientRect().top)"
        )
        rows = [tops.count(top) for top in sorted(set(tops))]
        assert max(rows) - min(rows) <= 1, (width, rows)
