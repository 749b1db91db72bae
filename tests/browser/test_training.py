"""Can the page Training be used and read: a checkpoint clicked, its diagram, the way to its own page?"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

import serving
import views
from looks import no_fault, resize
from serving import Server
from token_files import CLASSES, STEPS, write_checkpoints
from views import address, click_row, until
from window import Browse, Settled


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server on four checkpoints of one model and two of another."""
    data = tmp_path_factory.mktemp("checkpoints")
    write_checkpoints(data)
    write_checkpoints(data, (100, 1600), model="bigram")
    running = serving.start(data, tmp_path_factory.mktemp("home"))
    yield running
    running.stop()


def points(page: Page) -> int:
    """How many checkpoints the browser has drawn."""
    return page.locator(".st-key-training .scatterlayer .trace").evaluate_all(
        """traces => traces.filter(trace => trace.__data__[0].trace.customdata)
            .map(trace => trace.querySelectorAll('.points path').length).reduce((a, b) => a + b, 0)"""
    )


def click_point(page: Page, line: int, at: int) -> None:
    """Clicks a checkpoint (from 0) of a line (from 0)."""
    box = page.locator(".st-key-training .js-plotly-plot").evaluate(
        """(plot, [line, at]) => {
            const lines = [...plot.querySelectorAll('.scatterlayer .trace')]
                .filter(trace => trace.__data__[0].trace.customdata);
            const box = lines[line].querySelectorAll('.points path')[at].getBoundingClientRect();
            return [box.left + box.width / 2, box.top + box.height / 2];
        }""",
        [line, at],
    )
    page.mouse.move(*box)
    page.mouse.click(*box)


def shown(page: Page) -> tuple[str | None, int]:
    """The checkpoint whose diagram stands below, and how many pairs it has."""
    name = page.locator("[data-testid=stMain] h2").filter(has_text="step")
    if page.locator(".st-key-reliability .js-plotly-plot").count() == 0 or name.count() == 0:
        return None, 0
    return name.last.inner_text().replace("\u2060", ""), sum(count for _, count in views.targets(page))


def test_a_click_on_a_checkpoint_shows_its_diagram(trained: Server, browse: Browse, settled: Settled) -> None:
    page = browse().open(f"{trained.url}/training?metric=full_ece")
    until(page, lambda: points(page), len(STEPS) + 2)
    assert shown(page) == (None, 0)
    click_point(page, 1, 2)
    settled(page)
    until(page, lambda: address(page), {"metric": "full_ece", "at": "gpt-plays-step1600"})
    until(page, lambda: shown(page), ("gpt · plays · step1600", 300 * CLASSES))
    for width in (420, 1440):
        resize(page, width)
        assert points(page) == len(STEPS) + 2
        no_fault(page)
    click_point(page, 0, 1)
    settled(page)
    until(page, lambda: shown(page)[0], "bigram · plays · step1600")
    page.go_back()
    settled(page)
    until(page, lambda: shown(page)[0], "gpt · plays · step1600")
    page.get_by_text("Open this checkpoint on the page Reliability").click()
    page.get_by_role("heading", level=1, name="Reliability", exact=True).wait_for()
    settled(page)
    assert address(page)["run"] == "gpt-plays-step1600"
    assert address(page)["metric"] == "full_ece"
    assert "Full-ECE-L1, equal width, M=10" in views.recipe(page)


def test_a_row_of_the_table_shows_it_too(trained: Server, browse: Browse) -> None:
    page = browse().open(f"{trained.url}/training")
    until(page, lambda: views.rows(page, "6 checkpoints"), 6)
    click_row(page, "6 checkpoints", 3)
    until(page, lambda: shown(page), ("gpt · plays · step400", 300))
    click_row(page, "6 checkpoints", 3)
    until(page, lambda: shown(page), (None, 0))
