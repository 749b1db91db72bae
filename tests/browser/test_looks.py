"""Can every page be read, in light and dark, on a telephone, a tablet and a desk?"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

import pytest
from playwright.sync_api import Page

import views
from looks import KNOWN, WIDTHS, no_fault, resize
from serving import ROOT, Server
from window import Browse, ColorScheme

PAGES = {
    "": "Start", "reliability": "Reliability", "concentration": "Bin concentration",
    "robustness": "Robustness", "comparison": "Comparison", "abstention": "Abstention",
    "sampling": "Sampling", "methods": "Methods", "groups": "Groups", "training": "Training",
    "files": "Files",
}
FIGURES: Mapping[str, tuple[str, ...]] = {
    "reliability": ("reliability",), "concentration": ("histogram", "cumulative"),
    "robustness": ("values", "relative"), "comparison": ("comparison",), "abstention": ("abstention",),
    "sampling": ("sampling", "clusters"), "groups": ("groups_dots",),
}
THEME: Mapping[str, Any] = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"]


def rgb(color: str) -> str:
    """"#0072B2" as the browser says it: "rgb(0, 114, 178)"."""
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
    for width in WIDTHS if scheme == "light" else (1440, 420):  # what is clipped does not depend on colour
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
