"""Reads what a page in the browser shows, and clicks and types as a person does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar
from urllib.parse import parse_qsl, urlsplit

from playwright.sync_api import FloatRect, Locator, Page
from playwright.sync_api import TimeoutError as NotInTime

from screens import TITLES
from window import settled

T = TypeVar("T")
BINS: Final = "Per-bin table"
QUESTIONS: Final = "of the selected bin"
OVERVIEW: Final = ", one per run"
SLIDER: Final = "[class*=st-key-m_step] input[type=range]"
TYPED: Final = "[class*=st-key-m_typed] input"
LAST_BARS: Final = ".js-plotly-plot .barlayer .trace.bars"
PLACE: Final = """part => {
    part.scrollIntoView({block: 'nearest', inline: 'nearest'});
    const {x, y, width, height} = part.getBoundingClientRect();
    return part.isConnected ? {x, y, width, height} : null;
}"""


def address(page: Page) -> dict[str, str]:
    """The parameters in the address bar."""
    return dict(parse_qsl(urlsplit(page.url).query))


def tiles(page: Page) -> dict[str, str]:
    """Label → value of every tile, as the browser shows them."""
    found: list[tuple[str, str]] = page.locator("[data-testid=stMetric]").evaluate_all(
        """tiles => tiles.map(tile => [
            tile.querySelector('[data-testid=stMetricLabel]').innerText.replaceAll('\\u2060', '').trim(),
            tile.querySelector('[data-testid=stMetricValue]').innerText.trim()])"""
    )
    return dict(found)


def recipe(page: Page) -> str:
    """The recipe under the main figure, whether its line is open or not."""
    text = page.locator("[data-testid=stMain] [data-testid=stText]").first.text_content()
    assert text is not None
    return text


def bars(page: Page, key: str = "reliability") -> int:
    """How many bars the topmost trace of bars has drawn: for the reliability diagram, one a non-empty bin."""
    return page.locator(f".st-key-{key} {LAST_BARS}").last.locator(".point").count()


def bin_count_values(page: Page) -> list[str]:
    """Values in the box of M: two for a moment, while an old box is replaced by a new one."""
    held: list[str] = page.locator(TYPED).evaluate_all("boxes => boxes.map(box => box.value)")
    return held


def targets(page: Page) -> list[tuple[int, int]]:
    """Bin number and count of every bar that the reliability diagram lets one click, from left to right."""
    held: list[list[int]] = page.locator(".st-key-reliability .js-plotly-plot").evaluate(
        """plot => {
            const counts = plot.data.filter(trace => trace.customdata).at(-1);
            return counts.customdata.map((own, at) => [own[0], counts.y[at]]);
        }"""
    )
    return [(number, count) for number, count in held]


def wait_until(page: Page, look: Callable[[], T], wanted: T, seconds: float = 30) -> None:
    """Fails unless `look` gives `wanted` in so many seconds: charts paint after the script rests."""
    deadline = time.monotonic() + seconds
    while (found := look()) != wanted and time.monotonic() < deadline:
        page.wait_for_timeout(50)
    assert found == wanted


def box_at_rest(page: Page, locator: Locator) -> FloatRect:
    """Where the element lies, scrolled into view, once two looks in a row agree.

    A chart replaces its bars whenever it is drawn, on a busy machine seconds after the script rests: an
    element found before is then no longer part of the page, and is looked for again.
    """

    def look() -> FloatRect | None:
        try:
            return locator.evaluate(PLACE, timeout=5_000)
        except NotInTime:
            return None

    return _at_rest(page, look)


def _at_rest(page: Page, look: Callable[[], T | None]) -> T:
    """What `look` finds, once two looks in a row find the same."""
    before: T | None = None
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        found = look()
        if found is not None and found == before:
            return found
        before = found
        page.wait_for_timeout(150)
    raise AssertionError(f"does not come to rest: {before}")


def click_mark(page: Page, key: str, place: Callable[[], tuple[float, float] | None]) -> None:
    """Points at a mark of the figure with this key, and clicks it when its label shows, as a person does.

    place: where the mark is now; a figure that is still being laid out moves it, and swallows a click.
    """
    figure = page.locator(f".st-key-{key}")
    figure.scroll_into_view_if_needed()
    x, y = _at_rest(page, place)
    page.mouse.move(x - 2, y)
    page.mouse.move(x, y)
    figure.locator(".hoverlayer .hovertext").first.wait_for()
    page.mouse.click(x, y)


def click_bar(page: Page, at: int, width: float = 0.5) -> None:
    """Clicks the bar at this position (from 0) in the lower panel; width: where across it, 0 to 1."""
    box = box_at_rest(
        page, page.locator(f".st-key-reliability {LAST_BARS}").last.locator(".point path").nth(at)
    )
    page.mouse.move(box["x"] + width * box["width"], box["y"] + box["height"] - 2)
    page.mouse.click(box["x"] + width * box["width"], box["y"] + box["height"] - 2)
    settled(page)


def table(page: Page, name: str) -> Locator:
    """The table whose accessible name has these words."""
    return page.locator("[data-testid=stDataFrame]").filter(has=page.locator(f'[aria-label*="{name}"]'))


def rows(page: Page, name: str) -> int:
    """How many rows a table has, those out of sight too, its heading not; as a screen reader meets it."""
    count = table(page, name).locator("canvas table[role=grid]").get_attribute("aria-rowcount")
    assert count is not None
    return int(count) - 1


def click_row(page: Page, name: str, at: int, x: float = 18) -> None:
    """Clicks a visible row (from 0) of a table, `x` pixels from its left edge."""
    box = box_at_rest(page, table(page, name).locator("[data-testid=data-grid-canvas]").first)
    page.mouse.click(box["x"] + x, box["y"] + 35 * (at + 1) + 17)
    settled(page)


def press_slider_key(page: Page, key: str) -> None:
    """A key on the slider of M, once the page rests: another choice may bring another slider."""
    settled(page)
    page.locator(SLIDER).focus()
    page.keyboard.press(key)
    settled(page)


def type_m(page: Page, bins: int) -> None:
    """M by typing it, and Enter."""
    page.locator(TYPED).fill(str(bins))
    page.keyboard.press("Enter")
    settled(page)


def follow_link(page: Page, title: str) -> None:
    """The link to another page, in the sidebar."""
    sidebar = page.get_by_test_id("stSidebar")
    # A link with a tooltip is there twice, once for screens without a pointer.
    sidebar.get_by_test_id("stPageLink-NavLink").filter(has_text=title, visible=True).click()
    page_shown(page, title)


def go_to(page: Page, address: str) -> None:
    """Another address of the app, in the same session, as a step in the browser's history.

    Nothing is loaded again, which is half of what opening an address costs.
    """
    step = "to => { history.pushState({}, '', to); dispatchEvent(new PopStateEvent('popstate')); }"
    page.evaluate(step, address)
    page_shown(page, TITLES[urlsplit(address).path.strip("/") or "start"])


def page_shown(page: Page, title: str) -> None:
    """Waits until the page of this title is there and at rest.

    Looks again and again: on a busy machine `wait_for` may miss, after a step in the history, a heading that
    is there all the time, and give up after 30 seconds.
    """
    heading = page.get_by_role("heading", level=1, name=title, exact=True)
    wait_until(page, heading.is_visible, wanted=True, seconds=30)
    settled(page)


def error_texts(page: Page) -> list[str]:
    """Error boxes and faults that the page shows."""
    boxes = page.locator("[data-testid=stException], [data-testid=stAlertContentError]")
    return boxes.all_inner_texts()
