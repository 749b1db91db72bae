"""The page Training in a browser: a clicked checkpoint, its diagram, the link to its own page."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

import browser_pages
from app_server import Server, SharedServer
from browser_pages import address, click_row, wait_until
from layout_checks import no_fault, resize
from token_files import STEPS, write_checkpoints
from window import Reopen, Settled


@pytest.fixture
def server_with_checkpoints(shared_server: SharedServer) -> Server:
    """A server on four checkpoints of one model and two of another."""
    return shared_server.holding(write_trained)


def write_trained(data: Path) -> None:
    write_checkpoints(data)
    write_checkpoints(data, (100, 1600), model="bigram")


def points(page: Page) -> int:
    """How many checkpoints the browser has drawn."""
    return page.locator(".st-key-training .scatterlayer .trace").evaluate_all(
        """traces => traces.filter(trace => trace.__data__[0].trace.customdata)
            .map(trace => trace.querySelectorAll('.points path').length).reduce((a, b) => a + b, 0)"""
    )


def click_point(page: Page, line: int, at: int) -> None:
    """Clicks a checkpoint (from 0) of a line (from 0)."""
    browser_pages.click_mark(
        page,
        "training",
        lambda: page.locator(".st-key-training .js-plotly-plot").evaluate(
            """(plot, [line, at]) => {
                const lines = [...plot.querySelectorAll('.scatterlayer .trace')]
                    .filter(trace => trace.__data__[0].trace.customdata);
                const point = lines[line]?.querySelectorAll('.points path')[at];
                const box = point?.getBoundingClientRect();
                return box && [box.left + box.width / 2, box.top + box.height / 2];
            }""",
            [line, at],
        ),
    )


def checkpoint_shown(page: Page) -> str | None:
    """The checkpoint whose diagram is drawn beside the lines."""
    name = page.locator("[data-testid=stMain] h2").filter(has_text="step")
    if page.locator(".st-key-reliability .js-plotly-plot").count() == 0 or name.count() == 0:
        return None
    return name.last.inner_text().replace("\u2060", "")


def diagram_beside(page: Page) -> tuple[str | None, int]:
    """That checkpoint, and the number of pairs in the bars of its diagram of top labels."""
    name = checkpoint_shown(page)
    return name, 0 if name is None else sum(count for _, count in browser_pages.targets(page))


def clickable_bins(page: Page) -> list[int]:
    """The bins (from 1) of the diagram beside the lines that can be clicked."""
    return page.locator(".st-key-reliability .js-plotly-plot").evaluate(
        "plot => plot.data.filter(trace => trace.customdata).at(-1).customdata.map(own => own[0])"
    )


def test_a_click_on_a_checkpoint_shows_its_diagram(
    server_with_checkpoints: Server, reopen: Reopen, settled: Settled
) -> None:
    page = reopen(f"{server_with_checkpoints.url}/training?metric=full_ece")
    wait_until(page, lambda: points(page), len(STEPS) + 2)
    assert checkpoint_shown(page) is None
    click_point(page, 1, 2)
    settled(page)
    # Full-ECE is what checkpoints are judged by at first: the address need not say so.
    wait_until(page, lambda: address(page), {"at": "gpt-plays-step1600"})
    wait_until(page, lambda: checkpoint_shown(page), "gpt · plays · step1600")
    wait_until(page, lambda: clickable_bins(page), list(range(1, 11)))
    for width in (420, 1440):
        resize(page, width)
        assert points(page) == len(STEPS) + 2
        no_fault(page)
    click_point(page, 0, 1)
    settled(page)
    wait_until(page, lambda: checkpoint_shown(page), "bigram · plays · step1600")
    page.go_back()
    settled(page)
    wait_until(page, lambda: checkpoint_shown(page), "gpt · plays · step1600")
    page.get_by_text("Open this checkpoint on the page Reliability").click()
    browser_pages.page_shown(page, "Reliability")
    assert address(page)["run"] == "gpt-plays-step1600"
    assert address(page)["metric"] == "full_ece"
    assert "Full-ECE-L1, equal width, M=10" in browser_pages.recipe(page)


def test_a_row_of_the_table_shows_it_too(server_with_checkpoints: Server, reopen: Reopen) -> None:
    page = reopen(f"{server_with_checkpoints.url}/training?metric=ece")
    wait_until(page, lambda: browser_pages.rows(page, "6 checkpoints"), 6)
    click_row(page, "6 checkpoints", 3)
    wait_until(page, lambda: diagram_beside(page), ("gpt · plays · step400", 300))
    click_row(page, "6 checkpoints", 3)
    wait_until(page, lambda: diagram_beside(page), (None, 0))
