"""The page Sampling in a browser: typed sizes, a chosen question, light, dark and narrow."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page

import browser_pages
from app_server import Server, SharedServer
from browser_pages import address, wait_until
from layout_checks import figures_fit, no_fault, resize
from predictions import samples, write_jsonl
from window import Reopen, Settled


@pytest.fixture
def server_with_samples(shared_server: SharedServer) -> Server:
    """A server on ten samples a question, three baselines that lie near one another, and a hostile name."""
    return shared_server.holding(write_ten)


def write_ten(data: Path) -> None:
    rows = [
        {
            **row,
            "model": "ten <b>!</b>",
            "correct": int(number % 3 > 0),
            "p_true": 0.5,
            "path_mean_prob": 0.52,
            "answer_mean_prob": 0.51,
            "question": f"What is {number}?",
        }
        for number, row in enumerate(samples())
    ]
    rows[1]["samples"] = [str(at) for at in range(10)]
    write_jsonl(data / "ten.jsonl", rows)
    assert json.loads((data / "ten.jsonl").read_text().splitlines()[1])["samples"][9] == "9"


def points(page: Page) -> dict[str, int]:
    """Method → points that the browser has drawn of it in the upper panel, greyed ones included."""
    found: list[tuple[str, int]] = page.locator(".st-key-sampling .js-plotly-plot").evaluate(
        """plot => {
            const groups = [...plot.querySelectorAll('.scatterlayer .trace')];
            const of = trace => groups.find(group => group.__data__[0].trace.uid === trace.uid);
            return plot._fullData.filter(trace => trace.meta && 'method' in trace.meta[0] && of(trace))
                .map(trace => [trace.meta[0].method, of(trace).querySelectorAll('.points path').length]);
        }"""
    )
    counted: dict[str, int] = {}
    for method, number in found:
        counted[method] = counted.get(method, 0) + number
    return counted


def page_text(page: Page) -> str:
    """What the page says, without the invisible joiners that keep a file's text literal."""
    return page.locator("[data-testid=stMain]").inner_text().replace("\u2060", "").replace("\xa0", " ")


THREE = ("cluster_number", "cluster_size", "pairwise")


def test_other_sizes_draw_other_points(server_with_samples: Server, reopen: Reopen, settled: Settled) -> None:
    page = reopen(f"{server_with_samples.url}/sampling")
    wait_until(page, lambda: points(page), dict.fromkeys(THREE, 3))
    assert "60 of 60 rows" in page_text(page)
    page.locator(".st-key-sizes input").fill("2, 3, 4, 5, 10")
    page.keyboard.press("Enter")
    settled(page)
    wait_until(page, lambda: points(page), dict.fromkeys(THREE, 5))
    wait_until(page, lambda: address(page), {"sizes": "2,3,4,5,10"})
    assert page.locator(".st-key-sampling .xtick text").all_text_contents() == ["2", "3", "4", "5", "10"]
    assert "N' = 10 uses all samples: there is only one subset, so no spread." in page_text(page)
    assert browser_pages.rows(page, "By number of samples") == len(THREE) * 5 + 3, "and three baselines"
    page.go_back()
    settled(page)
    wait_until(page, lambda: points(page), dict.fromkeys(THREE, 3))


def test_a_question_is_chosen_and_worked_out(
    server_with_samples: Server, reopen: Reopen, settled: Settled
) -> None:
    page = reopen(f"{server_with_samples.url}/sampling?sizes=2")

    def bars() -> int:
        return page.locator(".st-key-clusters .barlayer .point").count()

    chooser = page.locator(".st-key-_place input")
    chooser.scroll_into_view_if_needed()
    page.wait_for_timeout(500)  # a page that still scrolls closes the list
    chooser.click()
    page.get_by_role("option").nth(1).click()
    settled(page)
    wait_until(page, bars, 10)
    for width in (420, 1440):
        resize(page, width)
        figures_fit(page, width, "sampling", "clusters")
        no_fault(page)
    wait_until(page, lambda: address(page), {"sizes": "2", "place": "2"})
    worked = page.locator("[data-testid=stText]").last.inner_text()
    assert "N = 10, |C| = 10, n_i = 1 (chosen), n_j = 1 (9 times)" in worked
    assert "F_CN = 1 − |C|/N = 1 − 10/10 = 0.0000" in worked
    assert "F_PC = Π n_i/(n_i+n_j) = (1/(1+1))^9 ≈ 0.0020" in worked
    assert "9 others are as large: the one sampled first is taken." in page_text(page)
