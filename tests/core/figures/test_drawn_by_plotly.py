"""The figures drawn by plotly itself: no errors, no overlaps, clicks reach the right bin."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page
from plotly.offline import get_plotlyjs

from calib_core.edges import Scheme
from calib_core.figures.concentration import cumulative_figure, histogram_figure
from calib_core.figures.lines import lines_figure
from calib_core.figures.palette import DARK, LIGHT
from calib_core.figures.reliability import reliability_figure
from calib_core.results.lines import ReliabilityLines, reliability_lines
from core.comparison_runs import model_run
from core.figures.result_builders import make_concentration, make_reliability

SIXTEENTHS: Final = [place / 16 for place in range(17) for _ in range(place + 1)]
EVEN: Final = [(place + 0.5) / 1000 for place in range(1000)]

DRAW: Final = """async ([figure, width]) => {
  document.body.innerHTML = '<div id="figure"></div>';
  const place = document.getElementById("figure");
  place.style.width = width + "px";
  await Plotly.newPlot(place, figure.data, figure.layout, {displayModeBar: false});
}"""

BOXES: Final = """(selector) => [...document.querySelectorAll(selector)].map(text => {
  const box = text.getBoundingClientRect();
  return [text.textContent, box.left, box.top, box.right, box.bottom];
}).filter(([words]) => words)"""

Box = tuple[str, float, float, float, float]


@pytest.fixture(scope="module")
def page(chromium: Browser) -> Iterator[Page]:
    page = chromium.new_page(viewport={"width": 800, "height": 900})
    page.set_content("<body style='margin:0'></body>")
    page.add_script_tag(content=get_plotlyjs())
    yield page
    page.close()


def draw(page: Page, figure: dict[str, Any], width: int) -> None:
    """Draws and waits; what goes wrong in the browser is raised here."""
    page.evaluate(DRAW, [json.loads(json.dumps(figure)), width])


def boxes(page: Page, selector: str) -> list[Box]:
    return [tuple(box) for box in page.evaluate(BOXES, selector)]


def six_lines() -> ReliabilityLines:
    """As many as there may be, with names that are cut."""
    evidences = {
        f"m{right}": model_run(f"a-model-with-a-rather-long-name-{right}b-chat", right)
        for right in range(20, 140, 20)
    }
    return reliability_lines(evidences)


@cache
def figures() -> dict[str, dict[str, Any]]:
    several = [
        make_concentration(SIXTEENTHS, title="logit, softmax over the choices"),
        make_concentration(EVEN),
    ]
    return {
        "ten": reliability_figure(make_reliability(), LIGHT, selected=3),
        "twenty, log": reliability_figure(make_reliability(Scheme("width", 20)), DARK, log_counts=True),
        "two hundred": reliability_figure(make_reliability(Scheme("width", 200)), LIGHT, selected=150),
        "equal mass": reliability_figure(make_reliability(Scheme("mass", 10)), LIGHT),
        "natural": reliability_figure(
            make_reliability(Scheme("natural"), pairs=(SIXTEENTHS, [1] * len(SIXTEENTHS))), DARK
        ),
        "empty": reliability_figure(make_reliability(pairs=([], [])), LIGHT),
        "lines": lines_figure(six_lines(), DARK),
        "histogram": histogram_figure(several[:1], LIGHT),
        "histograms": histogram_figure(several, DARK),
        "cumulative": cumulative_figure(several[:1], LIGHT),
        "cumulatives": cumulative_figure(several, DARK),
    }


@pytest.mark.parametrize("width", [344, 700])
@pytest.mark.parametrize("name", list(figures()))
def test_texts_are_inside_the_figure_and_do_not_overlap(page: Page, name: str, width: int) -> None:
    draw(page, figures()[name], width)
    words = boxes(page, ".legendtext, .xtitle, .ytitle, .y2title, .y3title, .annotation-text")
    assert words
    for text, left, top, right, _ in words:
        assert left >= 0, text
        assert right <= width, text
        assert top >= 0, text
    for one, other in combinations(words, 2):
        assert not overlap(one, other), (one, other)


def overlap(one: Box, other: Box) -> bool:
    _, left, top, right, bottom = one
    _, left_, top_, right_, bottom_ = other
    return left < right_ - 1 and left_ < right - 1 and top < bottom_ - 1 and top_ < bottom - 1


@pytest.mark.parametrize("width", [344, 700])
def test_the_panel_is_square_on_the_screen(page: Page, width: int) -> None:
    draw(page, reliability_figure(make_reliability(), LIGHT), width)
    wide, high = page.evaluate("(({xaxis, yaxis}) => [xaxis._length, yaxis._length])(figure._fullLayout)")
    assert wide == pytest.approx(high, abs=1)
    assert wide > 0.75 * min(width, 440)


@pytest.mark.parametrize(("at", "accuracy"), [(0.15, 0.97), (0.15, 0.02), (0.95, 0.5), (0.65, 0.61)])
def test_pointing_anywhere_in_a_column_meets_its_bin(page: Page, at: float, accuracy: float) -> None:
    draw(page, reliability_figure(make_reliability(), LIGHT), 500)
    page.evaluate("figure.on('plotly_click', ({points}) => { window.hit = points.map(p => p.customdata) })")
    x, y = page.evaluate(
        """([at, accuracy]) => { const {xaxis, yaxis} = figure._fullLayout;
           return [xaxis._offset + xaxis.c2p(at), yaxis._offset + yaxis.c2p(accuracy)] }""",
        [at, accuracy],
    )
    page.mouse.move(x - 2, y)
    page.mouse.move(x, y)
    page.wait_for_selector(".hoverlayer .hovertext")
    (label,) = [text for text, *_ in boxes(page, ".hoverlayer text.nums")]
    low = round(100 * at - 5)
    assert label.startswith(f"{low}–{low + 10} % ({at - 0.05:.1f}, {at + 0.05:.1g}]")
    assert not boxes(page, ".hoverlayer .axistext text")
    page.mouse.click(x, y)
    page.wait_for_function("window.hit")
    assert page.evaluate("window.hit") == [[round(at * 10 + 0.5)]]
    page.evaluate("window.hit = null")


def test_markup_in_a_name_is_drawn_and_not_obeyed(page: Page) -> None:
    hostile = make_concentration(SIXTEENTHS, title='<a href="https://x.test">x</a>&amp;<b>y</b>')
    for figure in (histogram_figure([hostile, hostile], LIGHT), cumulative_figure([hostile, hostile], LIGHT)):
        draw(page, figure, 700)
        assert page.locator("#figure a").count() == 0
        assert "&amp;" in page.locator("#figure").inner_text()
