"""Can the page Abstention be read and used: an accuracy typed, a threshold, another method, every width?"""

from __future__ import annotations

from playwright.sync_api import Page

import views
from looks import no_fault, resize
from serving import Server
from views import address, until
from window import Browse, Settled


def drawn(page: Page) -> dict[str, int]:
    """Name of each line → how many of its steps the browser has drawn."""
    found: list[tuple[str, int]] = page.locator(".st-key-abstention .js-plotly-plot").evaluate(
        """plot => plot._fullData.filter(trace => trace.mode.includes('lines') && trace.showlegend)
            .map(trace => [trace.name, trace.x.length])"""
    )
    return dict(found)


def entries(page: Page) -> list[str]:
    return page.locator(".st-key-abstention .legendtext").all_text_contents()


def type_share(page: Page, key: str, text: str) -> None:
    page.locator(f".st-key-{key} input").fill(text)
    page.keyboard.press("Enter")


def test_a_threshold_marks_every_line(server: Server, browse: Browse, settled: Settled) -> None:
    page = browse().open(f"{server.url}/abstention?run=quiz")
    until(page, lambda: len(drawn(page)), 2)
    assert max(drawn(page).values()) <= 400
    type_share(page, "threshold", "0.8")
    settled(page)
    until(page, lambda: "confidence ≥ 0.8" in entries(page), wanted=True)
    until(page, lambda: address(page), {"run": "quiz", "threshold": "0.8"})
    assert views.rows(page, "2 methods at an accuracy of 90 %") == 2
    for width in (1440, 420):
        resize(page, width)
        no_fault(page)
        assert len(drawn(page)) == 2
