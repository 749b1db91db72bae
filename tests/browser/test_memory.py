"""Does the server's memory stay where it is while somebody clicks about?"""

from __future__ import annotations

import time
from collections.abc import Callable

import psutil
from playwright.sync_api import Page

import views
from serving import Server
from window import Browse, Settled

MEGABYTE = 1_000_000
LIMIT = 20 * MEGABYTE
METHODS = ("p_true", "choice_length_normalised", "choice_softmax")


def resident(server: Server) -> int:
    """The lowest of a few readings of the server's resident memory, in bytes."""
    readings: list[int] = []
    for _ in range(4):
        readings.append(psutil.Process(server.pid).memory_info().rss)
        time.sleep(0.3)
    return min(readings)


def interactions(page: Page, settled: Settled, first: int) -> list[Callable[[], object]]:
    """Twenty things a person does, none of them twice with the same M; ends on the page it began on."""

    def toggle() -> None:
        page.get_by_text("Log counts").click()
        settled(page)

    def search(text: str) -> None:
        page.locator(".st-key-search input").fill(text)
        page.keyboard.press("Enter")
        settled(page)

    return [
        *(lambda m=m: views.type_m(page, m) for m in range(first, first + 5)),
        toggle,
        toggle,
        lambda: views.click_bar(page, views.bars(page) - 1),
        lambda: search(f"c{first}"),
        lambda: search(""),
        lambda: views.type_m(page, first + 5),
        lambda: views.press_slider(page, "End"),
        lambda: views.press_slider(page, "Home"),
        lambda: views.follow(page, "Bin concentration"),
        lambda: views.type_m(page, first + 6),
        lambda: views.type_m(page, first + 7),
        lambda: views.follow(page, "Files"),
        lambda: views.follow(page, "Start"),
        lambda: views.follow(page, "Reliability"),
        lambda: views.type_m(page, first + 8),
    ]


def test_twenty_more_interactions_need_no_more_memory(
    server: Server, browse: Browse, settled: Settled
) -> None:
    page = browse().open(f"{server.url}/reliability?run=four")

    def twenty(first: int) -> None:
        steps = interactions(page, settled, first)
        assert len(steps) == 20
        for step in steps:
            step()

    for step in interactions(page, settled, 21)[4:]:  # each kind once: what is loaded is loaded
        step()
    added: list[int] = []
    for first in (41, 61):  # a second round only where the first was noisy: what leaks, leaks again
        before = resident(server)
        twenty(first)
        added.append(resident(server) - before)
        if added[-1] < LIMIT:
            break
    assert min(added) < LIMIT, [f"{size / MEGABYTE:.1f} MB" for size in added]
