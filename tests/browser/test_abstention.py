"""The page Abstention in a browser: a typed accuracy, a threshold, another method, every width."""

from __future__ import annotations

from playwright.sync_api import Page

import browser_pages
from app_server import Server
from browser_pages import address, wait_until
from layout_checks import no_fault, resize
from window import Browse, Settled


def drawn_steps(page: Page) -> dict[str, int]:
    """Name of each line → how many of its steps the browser has drawn."""
    found: list[tuple[str, int]] = page.locator(".st-key-abstention .js-plotly-plot").evaluate(
        """plot => plot._fullData.filter(trace => trace.mode.includes('lines') && trace.showlegend)
            .map(trace => [trace.name, trace.x.length])"""
    )
    return dict(found)


def legend_texts(page: Page) -> list[str]:
    return page.locator(".st-key-abstention .legendtext").all_text_contents()


def type_share(page: Page, key: str, text: str) -> None:
    page.locator(f".st-key-{key} input").fill(text)
    page.keyboard.press("Enter")


def test_a_threshold_marks_every_line(server: Server, browse: Browse, settled: Settled) -> None:
    page = browse().open(f"{server.url}/abstention?run=quiz")
    wait_until(page, lambda: len(drawn_steps(page)), 2)
    assert max(drawn_steps(page).values()) <= 400
    type_share(page, "threshold", "0.8")
    settled(page)
    wait_until(page, lambda: "confidence ≥ 0.8" in legend_texts(page), wanted=True)
    wait_until(page, lambda: address(page), {"run": "quiz", "threshold": "0.8"})
    assert browser_pages.rows(page, "Thresholds for an accuracy of 90 %") == 2 * 3
    for width in (1440, 420):
        resize(page, width)
        no_fault(page)
        assert len(drawn_steps(page)) == 2
