"""The tour in a browser: with the arrow keys, on a projector, and on a phone."""

from __future__ import annotations

from playwright.sync_api import Page

import browser_pages
from app_server import Server
from layout_checks import no_fault, resize
from window import Reopen, settled

HEADING = ".st-key-tour_step :is(h2, h3)"
LETTERS = """() => ['.st-key-tour_words p', '.st-key-tour_step .annotation-text']
    .map(part => parseFloat(getComputedStyle(document.querySelector(part)).fontSize))"""
NEAREST = """() => {
    const seen = [...document.querySelectorAll('.st-key-tour_step .bartext')]
        .map(text => text.getBoundingClientRect()).filter(box => box.width > 0);
    return Math.min(1e6, ...seen.flatMap((a, at) => seen.slice(at + 1)
        .filter(b => a.bottom > b.top && b.bottom > a.top).map(
            b => Math.max(b.left - a.right, a.left - b.right))));
}"""
"""Pixels between the two numbers on bars, side by side, that are nearest to one another."""


def wait_for_step(page: Page, step: int) -> None:
    """Waits for the step: its number, its heading and its picture, drawn."""
    page.get_by_text(f"Step {step} of 5", exact=True).wait_for()
    settled(page)
    picture = page.locator(".st-key-tour_step .js-plotly-plot .main-svg").first
    browser_pages.wait_until(page, picture.is_visible, wanted=True)


def test_arrow_keys_walk_through_every_step(demo_server: Server, reopen: Reopen) -> None:
    page = reopen(f"{demo_server.url}/tour")
    seen: list[str] = []
    for step in range(1, 6):
        wait_for_step(page, step)
        seen.append(page.locator(HEADING).inner_text())
        assert page.locator(".st-key-tour_words p").count() >= 2
        no_fault(page)
        page.keyboard.press("ArrowRight")
    assert len(set(seen)) == 5
    assert browser_pages.address(page).get("step") == "5"  # nothing is beyond the last
    page.keyboard.press("ArrowLeft")
    wait_for_step(page, 4)
    assert page.locator(HEADING).inner_text() == seen[3]
    page.go_back()
    wait_for_step(page, 5)
    page.locator(".st-key-tour_2 button").first.click()
    wait_for_step(page, 2)
    page.keyboard.press("ArrowRight")  # a clicked button leaves the arrow keys to the tour
    wait_for_step(page, 3)


def test_large_type_is_larger_and_leaves_the_step_alone(demo_server: Server, reopen: Reopen) -> None:
    page = reopen(f"{demo_server.url}/tour?step=2")
    wait_for_step(page, 2)
    words, figure = page.evaluate(LETTERS)
    page.get_by_role("button", name="Large type").first.click()
    browser_pages.wait_until(page, lambda: browser_pages.address(page).get("large"), "1")
    wait_for_step(page, 2)
    browser_pages.wait_until(page, lambda: page.evaluate(LETTERS)[1] > 1.3 * figure, wanted=True)
    assert page.evaluate(LETTERS)[0] > 1.3 * words
    assert not page.locator("[data-testid=stSidebar]").is_visible()
    assert page.get_by_role("heading", level=1, name="Tour", exact=True).count() == 1
    no_fault(page)
    resize(page, 420)
    page.keyboard.press("ArrowLeft")
    for step in range(1, 6):  # what has room there in large type has it everywhere
        wait_for_step(page, step)
        no_fault(page)
        assert page.evaluate(NEAREST) > 4, step
        page.keyboard.press("ArrowRight")
    resize(page, 1440)
    page.get_by_role("button", name="Normal type").first.click()
    browser_pages.wait_until(page, lambda: "large" in browser_pages.address(page), wanted=False)
    page.locator("[data-testid=stSidebar]").wait_for(state="visible")
