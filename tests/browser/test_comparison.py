"""The page Comparison with forty models: a clicked point, its diagram, another axis."""

from __future__ import annotations

import random
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

import browser_pages
from app_server import Server, SharedServer
from browser_pages import address, click_row, wait_until
from layout_checks import no_fault, resize
from predictions import quiz, write_csv
from window import Reopen, Settled

FAMILIES = (
    "alpha-{}b",
    "beta-{}b-chat",
    "gamma-2-{}b-instruct",
    "delta-{}b",
    "Epsilon <b>{}b</b>",
    "zeta-{}b",
    "eta-{}b-it",
    "Theta-{}b",
)
SIZES = (1, 7, 13, 34, 70)

LABELS = """plot => {
    const shown = [...plot.querySelectorAll('.textpoint text')];
    const box = part => (b => [b.left, b.top, b.right, b.bottom])(part.getBoundingClientRect());
    const points = [...plot.querySelectorAll('.scatterlayer .trace')]
        .filter(trace => trace.__data__[0].trace.customdata)
        .flatMap(trace => [...trace.querySelectorAll('.points path')].map(box));
    return {words: shown.map(text => text.textContent), boxes: shown.map(box), points};
}"""


def models(path: Path, count: int) -> Path:
    """So many models in several sizes, each with rows of its own accuracy and sharpness."""
    chance = random.Random(2)  # noqa: S311  rows, not keys
    rows: list[dict[str, Any]] = []
    for number in range(count):
        size = SIZES[number % 5]
        name = FAMILIES[number // 5].format(size)
        right, sharp = 0.25 + 0.12 * (number % 5) + 0.02 * (number // 5), chance.uniform(0.1, 0.8)
        for row in quiz(60, seed=number):
            chances = min(max(right + sharp * (chance.random() - 0.5), 0.02), 0.98)
            answer = {"confidence": round(chances, 3), "correct": int(chance.random() < chances)}
            rows.append({**row, **answer, "model": name, "dataset": "quiz", "params_b": size})
    return write_csv(path, rows)


@pytest.fixture
def forty_models(shared_server: SharedServer) -> Server:
    """A server on forty models of eight families."""
    return shared_server.holding(write_forty)


def write_forty(data: Path) -> None:
    models(data / "forty.csv", 40)


@pytest.fixture
def six_models(shared_server: SharedServer) -> Server:
    """A server on six models."""
    return shared_server.holding(write_six)


def write_six(data: Path) -> None:
    models(data / "six.csv", 6)


def label_boxes(page: Page) -> dict[str, Any]:
    """The numbers with their boxes, and the boxes of the points."""
    return page.locator(".st-key-comparison .js-plotly-plot").evaluate(LABELS)


def points(page: Page) -> int:
    return len(label_boxes(page)["points"])


def overlapping(boxes: list[list[float]]) -> list[tuple[int, int]]:
    """Pairs of boxes with more than a pixel in common each way."""
    return [
        (at, place)
        for (at, one), (place, other) in combinations(enumerate(boxes), 2)
        if min(one[2], other[2]) - max(one[0], other[0]) > 1
        and min(one[3], other[3]) - max(one[1], other[1]) > 1
    ]


def overlapping_numbers(page: Page) -> list[tuple[str, str]]:
    """Pairs of numbers of which one covers the other."""
    found = label_boxes(page)
    return [(found["words"][a], found["words"][b]) for a, b in overlapping(found["boxes"])]


def legend(page: Page) -> list[str]:
    return page.locator(".st-key-comparison .legendtext").all_text_contents()


def click_point(page: Page, at: int) -> None:
    """Clicks the point at this place (from 0)."""

    def place() -> tuple[float, float] | None:
        points = label_boxes(page)["points"]
        if at >= len(points):
            return None
        left, top, right, bottom = points[at]
        return (left + right) / 2, (top + bottom) / 2

    browser_pages.click_mark(page, "comparison", place)


def diagram_below(page: Page) -> tuple[str, int]:
    """The run whose diagram is shown below, and its number of rows."""
    if page.locator(".st-key-reliability .js-plotly-plot").count() == 0:
        return "", 0
    name = (
        page.locator("[data-testid=stMain] h2").last.inner_text().replace("\u2060", "").replace("\xa0", " ")
    )
    return name, sum(count for _, count in browser_pages.targets(page))


def test_forty_models_have_a_number_each(forty_models: Server, reopen: Reopen) -> None:
    page = reopen(f"{forty_models.url}/comparison?methods=given", height=1400)
    wait_until(page, lambda: points(page), 40)
    for width in (760, 1440):
        resize(page, width, height=1400)
        assert sorted(map(int, label_boxes(page)["words"])) == list(range(1, 41))
        assert len(overlapping_numbers(page)) <= 4, width


def test_a_click_on_a_point_shows_its_diagram(six_models: Server, reopen: Reopen, settled: Settled) -> None:
    page = reopen(f"{six_models.url}/comparison?methods=given", height=1200)
    wait_until(page, lambda: points(page), 6)
    assert diagram_below(page) == ("", 0)
    click_point(page, 2)
    settled(page)
    wait_until(page, lambda: address(page).get("at"), "alpha-13b-quiz:given")
    wait_until(page, lambda: diagram_below(page), ("alpha-13b · quiz, confidence in the file", 60))
    assert any("alpha-13b" in name for name in legend(page))
    click_point(page, 5)
    settled(page)
    wait_until(page, lambda: diagram_below(page)[0], "beta-1b-chat · quiz, confidence in the file")
    for width in (420, 1440):
        resize(page, width)
        assert overlapping_numbers(page) == []
        no_fault(page)
    page.go_back()
    settled(page)
    wait_until(page, lambda: diagram_below(page)[0], "alpha-13b · quiz, confidence in the file")
    page.get_by_text("Open this run on the page Reliability").click()
    browser_pages.page_shown(page, "Reliability")
    assert address(page)["run"] == "alpha-13b-quiz"
    assert address(page)["method"] == "given"


def test_a_row_of_the_table_shows_it_too(six_models: Server, reopen: Reopen) -> None:
    page = reopen(f"{six_models.url}/comparison?methods=given")
    wait_until(page, lambda: browser_pages.rows(page, "Every point, the most accurate run first"), 6)
    click_row(page, "Every point, the most accurate run first", 1)
    wait_until(page, lambda: diagram_below(page)[1], 60)
    click_row(page, "Every point, the most accurate run first", 1)
    wait_until(page, lambda: diagram_below(page), ("", 0))


def test_another_metric_on_an_axis_removes_the_curves(
    six_models: Server, reopen: Reopen, settled: Settled
) -> None:
    page = reopen(f"{six_models.url}/comparison?methods=given", height=1200)
    wait_until(page, lambda: points(page), 6)
    assert any("always stating a" in name for name in legend(page))
    page.locator(".st-key-y input").click()
    page.get_by_role("option", name="AUROC").click()
    settled(page)
    wait_until(page, lambda: address(page).get("y"), "auroc")
    wait_until(
        page, lambda: page.locator(".st-key-comparison .ytitle").text_content(), "AUROC (higher is better)"
    )
    assert not any("always stating" in name for name in legend(page))
    assert points(page) == 6
