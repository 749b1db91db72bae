"""Every page is readable in light and dark, from phone to wide screen, and with a screen reader."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Final, Protocol

import pytest
from playwright.sync_api import Page

import browser_pages
from app_server import ROOT, Server
from axe import OF_COLOURS, OWN, Barrier, barriers
from layout_checks import KNOWN, WIDTHS, bottom, no_fault, resize
from screens import TITLES
from window import Browse, ColorScheme, Window, Windows, settled

PAGES = {"" if page == "start" else page: title for page, title in TITLES.items()}
FIGURES: Mapping[str, tuple[str, ...]] = {
    "reliability": ("reliability",),
    "concentration": ("histogram", "cumulative"),
    "robustness": ("sweep_figure",),
    "comparison": ("comparison",),
    "abstention": ("abstention",),
    "recalibrate": ("before", "after"),
    "sampling": ("sampling", "clusters"),
    "groups": ("groups_dots",),
}
HEIGHT: Final = 900
M: Final = "[class*=st-key-m_typed] input"
MAIN: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "reliability": (".st-key-reliability", (M, ".st-key-method")),
    "concentration": (".st-key-histogram", (M, ".st-key-method")),
    "robustness": (".st-key-sweep_figure", (".st-key-ms", ".st-key-method")),
    "comparison": (".st-key-comparison", (".st-key-x", ".st-key-methods_shown")),
    "abstention": (".st-key-abstention", (".st-key-wanted", ".st-key-methods_shown")),
    "recalibrate": (".st-key-before", (".st-key-map", ".st-key-method")),
    "sampling": (".st-key-sampling", (".st-key-sizes", ".st-key-metric")),
    "methods": (".paired-box >> nth=0", (M, ".st-key-methods_shown")),
    "groups": (".st-key-groups_dots", (M, ".st-key-method")),
    "training": (".st-key-training", (M, ".st-key-method")),
    "judge": (".st-key-confusion_figure", (".st-key-passes_shown",)),
}
"""Page → its main figure, and the controls that are used most."""
SAMPLED = "run=chains-0.8m-chains-choice-0-shot"
"""A run with choices, samples and token probabilities, as the demo's first has not."""
SCHEMES: Final[tuple[ColorScheme, ColorScheme]] = "light", "dark"
TILED = ("reliability",)
"""Pages whose tiles fill several rows, at a width more than the others."""
THEME: Mapping[str, Any] = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"]


MOVING = """() => [...document.querySelectorAll('*')].filter(box => {
    const {animationDuration, transitionDuration, transitionProperty} = getComputedStyle(box);
    const durations = `${animationDuration},${transitionProperty === 'none' ? '0s' : transitionDuration}`;
    return durations.split(',').some(time => parseFloat(time) > 0.001);
}).length"""


STARTED = """() => [...document.querySelectorAll('*')].filter(
    box => getComputedStyle(box).transitionProperty !== 'none').length"""


PAINTED = """wanted => getComputedStyle(document.querySelector('[data-testid=stApp]'))
    .getPropertyValue('background-color') === wanted"""


LISTEN_FOR_RERUN = """() => {
    window.rerunForColours = false;
    document.body.addEventListener("keydown", () => { window.rerunForColours = true; }, {once: true});
}"""


class Show(Protocol):
    """Opens a page in the one window of this module: what a browser has to load is loaded once."""

    def __call__(self, scheme: ColorScheme, path: str) -> Window: ...


@pytest.fixture(scope="module")
def open_page_in(windows: Windows, demo_server: Server) -> Iterator[Show]:
    opened: list[Window] = []

    def open_page(scheme: ColorScheme, path: str) -> Window:
        if not opened:
            opened.append(windows.open(scheme, 1440, HEIGHT))
            opened[0].open(f"{demo_server.url}/{path}")
            return opened[0]
        window = opened[0]
        window.errors.clear()
        change_colours(window.page, scheme)
        browser_pages.go_to(window.page, f"/{path}")
        window.page.set_viewport_size({"width": 1440, "height": HEIGHT})  # only now: not for the page before
        settled(window.page)
        return window

    yield open_page
    for window in opened:
        windows.close(window)


@pytest.fixture(scope="module")
def known_barriers() -> dict[str, list[Barrier]]:
    """What axe-core has found so far, by page."""
    return {}


def rgb(color: str) -> str:
    """ "#0072B2" as the browser says it: "rgb(0, 114, 178)"."""
    return f"rgb({', '.join(str(part) for part in bytes.fromhex(color.removeprefix('#')))})"


def style(page: Page, selector: str, name: str) -> str:
    return page.locator(selector).first.evaluate(f"box => getComputedStyle(box).getPropertyValue('{name}')")


def wait_for_ground_of(page: Page, scheme: ColorScheme) -> None:
    """Waits until the page stands on the background of this scheme."""
    page.wait_for_function(PAINTED, arg=rgb(THEME[scheme]["backgroundColor"]))


def figures_are_drawn(page: Page, path: str, width: int) -> None:
    for key in FIGURES.get(path, ()):
        drawn = page.locator(f".st-key-{key} .js-plotly-plot").bounding_box()
        assert drawn is not None
        assert 250 < drawn["width"] <= width
    if path == "reliability":
        assert (
            browser_pages.bars(page)
            == len(browser_pages.targets(page))
            == browser_pages.rows(page, browser_pages.BINS)
        )
        # The figure is laid out again once its column has its width; measured earlier, it is too wide.
        page.wait_for_function(
            "() => { const plot = document.querySelector('.st-key-reliability .js-plotly-plot');"
            " return plot._fullLayout.xaxis._length"
            " >= Math.min(plot.clientWidth - 90, 450, 0.725 * (plot.clientHeight - 120)); }"
        )
        across, down = page.locator(".st-key-reliability .js-plotly-plot").evaluate(
            "plot => [plot._fullLayout.xaxis._length, plot._fullLayout.yaxis._length]"
        )
        assert abs(across - down) <= 1, "the diagram is no square"
        whole, height = page.locator(".st-key-reliability .js-plotly-plot").evaluate(
            "plot => [plot.clientWidth, plot.clientHeight]"
        )
        room = 0.725 * (height - 120)  # a low window leaves the square less than its column
        assert across >= min(whole - 90, 450, room), "the diagram leaves its column empty"
        assert across >= min(whole - 90, 280), "the diagram is too small to be read"


def main_parts_are_in_the_window(page: Page, path: str) -> None:
    """The main figure and its controls end within the window, unless a caveat pushes them down."""
    if path not in MAIN:
        return
    figure, controls = MAIN[path]
    ends = {selector: bottom(page.locator(selector)) for selector in (figure, *controls)}
    captions = page.locator("[data-testid=stMain] [data-testid=stCaptionContainer]")
    caveats = captions.filter(has_text="have no confidence").all()[:1]
    room = HEIGHT + sum(16 + (caveat.bounding_box() or {"height": 0})["height"] for caveat in caveats)
    below = [f"{selector} ends at {end:.0f}" for selector, end in ends.items() if end > room]
    assert below == []
    recipe = page.locator("[data-testid=stMain] .st-key-looking")
    assert ends[figure] <= bottom(recipe), "the recipe is above the figure"


def tiles_stand_in_even_rows(page: Page, width: int) -> None:
    """No row of tiles is longer than another by more than one."""
    tops = page.locator(".stMainBlockContainer .stGrid").first.evaluate(
        "grid => [...grid.querySelectorAll('.stMetric')].map(tile => tile.getBoundingClientRect().top)"
    )
    rows = [tops.count(top) for top in sorted(set(tops))]
    assert max(rows) - min(rows) <= 1, (width, rows)


def page_has_colours_of(page: Page, scheme: ColorScheme) -> None:
    wait_for_ground_of(page, scheme)
    assert style(page, "h1", "color") == rgb(THEME[scheme]["textColor"])


def change_colours(page: Page, scheme: ColorScheme) -> None:
    """Gives the system these colours, and waits until the page has asked for figures of them and has them."""
    if page.evaluate("scheme => matchMedia(`(prefers-color-scheme: ${scheme})`).matches", scheme):
        return
    page.evaluate(LISTEN_FOR_RERUN)
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function("() => window.rerunForColours")
    wait_for_ground_of(page, scheme)
    settled(page)


def has_bright_ink(page: Page) -> bool:
    """Whether the first figure is drawn for a dark page."""
    ink = style(page, ".js-plotly-plot .xtitle, .js-plotly-plot .x2title", "fill")
    return sum(int(part) for part in re.findall(r"\d+", ink)[:3]) / 3 > 127


def figures_have_colours_of(page: Page, scheme: ColorScheme) -> None:
    assert has_bright_ink(page) == (scheme == "dark"), "a figure drawn for the other theme"


@pytest.mark.parametrize(
    ("path", "first", "second"),
    [(path, *(SCHEMES if at % 2 else SCHEMES[::-1])) for at, path in enumerate(PAGES)],
    ids=list(PAGES),
)
def test_a_page_at_every_width(
    path: str,
    first: ColorScheme,
    second: ColorScheme,
    open_page_in: Show,
    known_barriers: dict[str, list[Barrier]],
) -> None:
    """Each page begins in the colours in which the one before it ends, as a change of them draws it anew."""
    window = open_page_in(first, path)
    page = window.page
    for width in (*WIDTHS, 860) if path in TILED else WIDTHS:
        resize(page, width, HEIGHT)
        assert page.get_by_role("heading", level=1, name=PAGES[path], exact=True).is_visible()
        no_fault(page)
        figures_are_drawn(page, path, width)
        if path in TILED:
            tiles_stand_in_even_rows(page, width)
        if width == 1440:
            main_parts_are_in_the_window(page, path)
            known_barriers[path] = barriers(page)
    assert [barrier for barrier in known_barriers[path] if barrier.own is None] == []
    page_has_colours_of(page, first)
    if path in FIGURES:
        figures_have_colours_of(page, first)
        assert page.locator("[role=figure]").first.get_attribute("aria-label") not in (None, "")
    page.set_viewport_size({"width": 1440, "height": HEIGHT})
    change_colours(page, second)  # what is clipped does not depend on colour
    page_has_colours_of(page, second)
    if path in FIGURES:
        browser_pages.wait_until(page, lambda: has_bright_ink(page), second == "dark")
    assert barriers(page, *OF_COLOURS) == []
    assert [error for error in window.errors if KNOWN not in error] == []


def test_streamlits_own_controls_are_still_there(
    open_page_in: Show, known_barriers: dict[str, list[Barrier]]
) -> None:
    """An entry that matches nothing any more would hide the next fault."""
    for path in PAGES:
        if path not in known_barriers:
            known_barriers[path] = barriers(open_page_in("dark", path).page)
    assert {barrier.own for found in known_barriers.values() for barrier in found} - {None} == set(OWN)


def test_reduced_motion_stops_all_animation(open_page_in: Show) -> None:
    page = open_page_in("light", "reliability").page
    page.emulate_media(reduced_motion="no-preference")
    assert page.evaluate(MOVING) > 0
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(MOVING) == 0
    assert page.evaluate(STARTED) == 0, "a transition of any length is started for each change, which is slow"
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
def test_other_bins_can_be_read_too(query: str, open_page_in: Show) -> None:
    page = open_page_in("light", f"reliability?{SAMPLED}&{query}").page
    figures_have_colours_of(page, "light")
    for width in (1440, 420):
        resize(page, width, HEIGHT)
        no_fault(page)
        figures_are_drawn(page, "reliability", width)


def test_methods_side_by_side_can_be_read(open_page_in: Show) -> None:
    page = open_page_in("light", f"concentration?{SAMPLED}&with=p_true,logit_path,cluster_size").page
    for width in (1440, 420):
        resize(page, width, HEIGHT)
        no_fault(page)
        figures_are_drawn(page, "concentration", width)


def test_a_choice_of_colours_is_kept_and_figures_follow(server: Server, browse: Browse) -> None:
    window = browse(color_scheme="light")
    page = window.open(f"{server.url}/reliability?run=quiz")
    page_has_colours_of(page, "light")
    choices: tuple[tuple[str, ColorScheme], ...] = (("Dark", "dark"), ("Light", "light"), ("Dark", "dark"))
    for chosen, scheme in choices:
        page.get_by_role("button", name=chosen).click()
        page_has_colours_of(page, scheme)
        page.wait_for_timeout(500)
        settled(page)
        figures_have_colours_of(page, scheme)
    page = window.open(f"{server.url}/reliability?run=quiz")  # anew: the browser has kept it
    page_has_colours_of(page, "dark")
    figures_have_colours_of(page, "dark")
    assert page.get_by_role("button", name="Dark (chosen)").count() == 1
    page.get_by_role("button", name="Auto").click()
    page_has_colours_of(page, "light")
    page.emulate_media(color_scheme="dark")
    page_has_colours_of(page, "dark")
