"""The page Comparison with forty models: a clicked point, its diagram, another axis."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

import browser_pages
from app_server import Server, SharedServer
from browser_pages import address, click_row, tiles, wait_until
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
    const shown = [...plot.querySelectorAll('.overplot .textpoint text, .overplot .text text')]
        .filter(text => text.checkVisibility() && text.getBoundingClientRect().width > 0);
    const panel = plot.querySelector('.draglayer > .xy .nsewdrag').getBoundingClientRect();
    const box = part => (b => [b.left, b.top, b.right, b.bottom])(part.getBoundingClientRect());
    const points = [...plot.querySelectorAll('.scatterlayer .trace')]
        .filter(trace => trace.__data__[0].trace.customdata)
        .flatMap(trace => [...trace.querySelectorAll('.points path')].map(box));
    return {words: shown.map(text => text.textContent), boxes: shown.map(box), points,
            panel: [panel.left, panel.top, panel.right, panel.bottom]};
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
    """The names that can be seen with their boxes, the boxes of the points, and the panel's."""
    return page.locator(".st-key-comparison .js-plotly-plot").evaluate(LABELS)


def points(page: Page) -> int:
    return len(label_boxes(page)["points"])


def overlapping(boxes: list[list[float]], others: list[list[float]] | None = None) -> list[tuple[int, int]]:
    """Pairs of boxes with more than a pixel in common each way."""
    return [
        (at, place)
        for at, one in enumerate(boxes)
        for place, other in enumerate(boxes if others is None else others)
        if (others is not None or at < place)
        and min(one[2], other[2]) - max(one[0], other[0]) > 1
        and min(one[3], other[3]) - max(one[1], other[1]) > 1
    ]


def visible_names(page: Page) -> list[str]:
    """The visible names; fails where one covers another or a point, or leaves the panel."""
    found = label_boxes(page)
    words, boxes, panel = found["words"], found["boxes"], found["panel"]
    assert [(words[a], words[b]) for a, b in overlapping(boxes)] == []
    shrunk = [[box[0] + 2, box[1] + 2, box[2] - 2, box[3] - 2] for box in found["points"]]
    names = [at for at, word in enumerate(words) if ":" not in word]
    assert [words[names[a]] for a, _ in overlapping([boxes[at] for at in names], shrunk)] == []
    for box in boxes:
        assert panel[0] - 1 <= box[0]
        assert panel[1] - 1 <= box[1]
        assert box[2] <= panel[2] + 1
        assert box[3] <= panel[3] + 1
    return words


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


def labelled_models(page: Page) -> list[str]:
    """The labelled models; fails where names overlap, or the number of unlabelled ones is not stated."""
    words = visible_names(page)
    found = [word for word in words if "always stating" not in word and "unlabelled" not in word]
    told = [word for word in words if "unlabelled" in word]
    assert len(found) == len(set(found))
    assert (len(told) == 1) == (len(found) < 40)
    if told:
        assert told[0].startswith(f"{40 - len(found)} of 40 unlabelled")
    return found


def test_forty_models_are_named_where_there_is_room(forty_models: Server, reopen: Reopen) -> None:
    page = reopen(f"{forty_models.url}/comparison?methods=given", height=1400)
    wait_until(page, lambda: points(page), 40)
    words = labelled_models(page)
    assert len(words) == 40
    assert "Epsilon <b>13b</b>" in words
    for width, count in ((420, 25), (760, 25), (1100, 40), (1440, 40)):
        resize(page, width, height=1400)
        assert len(labelled_models(page)) >= count, width


def test_on_a_telephone_the_names_that_are_shown_are_apart(forty_models: Server, reopen: Reopen) -> None:
    page = reopen(f"{forty_models.url}/comparison?methods=given", width=420, height=1400)
    wait_until(page, lambda: points(page), 40)
    assert len(labelled_models(page)) >= 25


def test_a_click_on_a_point_shows_its_diagram(six_models: Server, reopen: Reopen, settled: Settled) -> None:
    page = reopen(f"{six_models.url}/comparison?methods=given", height=1200)
    wait_until(page, lambda: points(page), 6)
    assert diagram_below(page) == ("", 0)
    click_point(page, 2)
    settled(page)
    wait_until(page, lambda: address(page).get("at"), "alpha-13b-quiz:given")
    wait_until(page, lambda: diagram_below(page), ("alpha-13b · quiz, confidence in the file", 60))
    assert "alpha-13b" in visible_names(page)
    click_point(page, 5)
    settled(page)
    wait_until(page, lambda: diagram_below(page)[0], "beta-1b-chat · quiz, confidence in the file")
    for width in (420, 1440):
        resize(page, width)
        visible_names(page)
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
    wait_until(page, lambda: browser_pages.rows(page, "Every point, the highest skill first"), 6)
    click_row(page, "Every point, the highest skill first", 1)
    wait_until(page, lambda: diagram_below(page)[1], 60)
    click_row(page, "Every point, the highest skill first", 1)
    wait_until(page, lambda: diagram_below(page), ("", 0))


def test_another_metric_on_an_axis_removes_the_curves(
    six_models: Server, reopen: Reopen, settled: Settled
) -> None:
    page = reopen(f"{six_models.url}/comparison?methods=given", height=1200)
    wait_until(page, lambda: points(page), 6)
    assert any("always stating a" in word for word in visible_names(page))
    page.locator(".st-key-y input").click()
    page.get_by_role("option", name="AUROC").click()
    settled(page)
    wait_until(page, lambda: address(page).get("y"), "auroc")
    wait_until(
        page, lambda: page.locator(".st-key-comparison .ytitle").text_content(), "AUROC (higher is better)"
    )
    assert not any("always stating" in word for word in visible_names(page))
    assert points(page) == 6
    assert tiles(page)["Points"] == "6"


def test_names_are_outlined_in_the_colour_of_the_page(six_models: Server, reopen: Reopen) -> None:
    """So that a line which runs through a name does not make it unreadable."""
    page = reopen(f"{six_models.url}/comparison?methods=given", height=1200)

    def outline() -> list[str]:
        name = page.locator(".st-key-comparison .overplot .textpoint text").first
        return name.evaluate("text => [getComputedStyle(text).paintOrder, getComputedStyle(text).stroke]")

    wait_until(page, lambda: points(page), 6)
    page.emulate_media(color_scheme="dark")
    wait_until(page, outline, ["stroke", "rgb(17, 21, 28)"])
    page.emulate_media(color_scheme="light")
    wait_until(page, outline, ["stroke", "rgb(255, 255, 255)"])
