"""The page Robustness in a browser: a typed set of M, runs side by side, light, dark and narrow."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

import browser_pages
from app_server import Server, SharedServer
from browser_pages import address, wait_until
from calib_core.results.robustness import SWEPT_METRICS
from layout_checks import figures_fit, no_fault, resize
from predictions import choices, write_jsonl
from token_files import positions, write_npz, write_topk
from window import Reopen, Settled

SEVEN = [5, 10, 20, 50, 100, 200, 500]


FIGURE = ".st-key-sweep_figure"


@pytest.fixture
def server_with_tokens(shared_server: SharedServer) -> Server:
    """A server on two dense runs, one of the largest entries alone, and one of choices."""
    return shared_server.holding(write_tokens)


def write_tokens(data: Path) -> None:
    write_npz(data / "plays.npz", positions(), model="gpt", dataset="plays")
    write_npz(data / "sharp.npz", positions(sharp=2.0), model="sharp <b>!</b>", dataset="plays")
    write_topk(data / "top.jsonl", model="api", dataset="plays")
    write_jsonl(data / "four.jsonl", choices())


def drawn_points(page: Page) -> dict[str, int]:
    """Metric → points that the browser has drawn of it, all runs together."""
    found: list[tuple[str, int]] = page.locator(f"{FIGURE} .js-plotly-plot").evaluate(
        """plot => {
            const shown = plot._fullData.filter(trace => trace.visible === true);
            const groups = [...plot.querySelectorAll('.scatterlayer .trace')];
            const of = trace => groups.find(group => group.__data__[0].trace.uid === trace.uid);
            return shown.map(trace => [trace, of(trace)])
                .filter(([trace, group]) => trace.meta && 'run' in trace.meta[0] && group)
                .map(([{meta}, group]) => [meta[0].metric, group.querySelectorAll('.points path').length]);
        }"""
    )
    counted: dict[str, int] = {}
    for metric, points in found:
        counted[metric] = counted.get(metric, 0) + points
    return counted


def ticks(page: Page) -> list[str]:
    """The M written on the axis."""
    return page.locator(f"{FIGURE} .js-plotly-plot .xtick text").all_text_contents()


def panels(page: Page) -> int:
    """How many panels of the upper figure have a heading."""
    headings = page.locator(f"{FIGURE} .annotation-text").all_text_contents()
    return sum(text.startswith(("Possible range", "Divided")) for text in headings)


def page_text(page: Page) -> str:
    """What the page says, without the invisible joiners that keep a file's text literal."""
    return page.locator("[data-testid=stMain]").inner_text().replace("\u2060", "").replace("\xa0", " ")


def test_another_set_of_m_draws_other_points(
    server_with_tokens: Server, reopen: Reopen, settled: Settled
) -> None:
    page = reopen(f"{server_with_tokens.url}/robustness?run=gpt-plays")
    wait_until(page, lambda: drawn_points(page), dict.fromkeys(SWEPT_METRICS, 7))
    assert ticks(page) == [str(bins) for bins in SEVEN]
    assert panels(page) == 3
    page.locator(".st-key-ms input").fill("5, 50, 500")
    page.keyboard.press("Enter")
    settled(page)
    wait_until(page, lambda: drawn_points(page), dict.fromkeys(SWEPT_METRICS, 3))
    wait_until(page, lambda: address(page).get("ms"), "5,50,500")
    assert ticks(page) == ["5", "50", "500"]
    assert "RSD over M in {5, 50, 500}, ddof 0" in page_text(page)
    page.go_back()
    settled(page)
    wait_until(page, lambda: drawn_points(page), dict.fromkeys(SWEPT_METRICS, 7))


def test_another_run_is_set_beside_it(server_with_tokens: Server, reopen: Reopen, settled: Settled) -> None:
    page = reopen(f"{server_with_tokens.url}/robustness?run=gpt-plays&metrics=ece,full_ece")
    wait_until(page, lambda: drawn_points(page), {"ece": 7, "full_ece": 7})
    page.locator(".st-key-beside_runs_shown input").click()
    page.get_by_role("option").filter(has_text="sharp").click()
    settled(page)
    wait_until(page, lambda: drawn_points(page), {"ece": 14, "full_ece": 14})
    assert address(page)["beside_runs"].startswith("sharp")
    legend = page.locator(f"{FIGURE} .legendtext").all_text_contents()
    assert "sharp <b>!</b> · plays" in legend
    assert browser_pages.rows(page, "RSD over M in") == 4
    for width in (1440, 420):
        resize(page, width)
        figures_fit(page, width, "sweep_figure")
        no_fault(page)
    page.get_by_text("Relative to own mean").click()
    settled(page)
    wait_until(page, lambda: drawn_points(page), {"ece": 14, "full_ece": 14})
    wait_until(page, lambda: panels(page), 0)
    no_fault(page)


def test_bounds_are_bars_and_the_badge_says_how_far_it_is_exact(
    server_with_tokens: Server, reopen: Reopen
) -> None:
    page = reopen(f"{server_with_tokens.url}/robustness?run=api-plays")
    assert "exact up to M = " in page_text(page)
    page.locator(".st-key-left_out summary").click()
    wait_until(page, lambda: "cw-ECE, K·cw-ECE: " in page_text(page), wanted=True)
    assert page.locator(f"{FIGURE} .errorbar").count() > 0
    assert drawn_points(page)["ece"] == 7
    assert 0 < drawn_points(page)["full_ece"] < 7
    assert panels(page) == 2
    no_fault(page)


def test_a_position_is_chosen_and_its_picture_changes(
    server_with_tokens: Server, reopen: Reopen, settled: Settled
) -> None:
    page = reopen(f"{server_with_tokens.url}/robustness?run=gpt-plays")

    def right() -> list[str]:
        names = page.locator(".st-key-pools .ytick text").all_text_contents()
        return [name for name in names if "✓" in name]

    _, target = positions()
    wait_until(page, lambda: [name.split(" ✓")[0] for name in right()], [f"token {target[0]}"])
    chooser = page.locator(".st-key-_place input")
    chooser.scroll_into_view_if_needed()
    page.wait_for_timeout(500)  # a page that still scrolls closes the list
    chooser.click()
    page.get_by_role("option").nth(1).click()
    settled(page)
    wait_until(page, lambda: [name.split(" ✓")[0] for name in right()], [f"token {target[1]}"])
    wait_until(page, lambda: address(page).get("place"), "2")
