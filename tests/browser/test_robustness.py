"""Can the page Robustness be used and read: a set of M typed, runs side by side, light, dark and narrow?"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

import serving
import views
from calib_core.results.robustness import SWEPT_METRICS
from looks import figures_fit, no_fault, resize
from predictions import choices, write_jsonl
from serving import Server
from token_files import positions, write_npz, write_topk
from views import address, tiles, until
from window import Browse, Settled

SEVEN = [5, 10, 20, 50, 100, 200, 500]


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server on two dense runs, one of the largest entries alone, and one of choices."""
    data = tmp_path_factory.mktemp("tokens")
    write_npz(data / "plays.npz", positions(), model="gpt", dataset="plays")
    write_npz(data / "sharp.npz", positions(sharp=2.0), model="sharp <b>!</b>", dataset="plays")
    write_topk(data / "top.jsonl", model="api", dataset="plays")
    write_jsonl(data / "four.jsonl", choices())
    running = serving.start(data, tmp_path_factory.mktemp("home"))
    yield running
    running.stop()


def drawn(page: Page, key: str = "values") -> dict[str, int]:
    """Metric → points that the browser has drawn of it, all runs together."""
    found: list[tuple[str, int]] = page.locator(f".st-key-{key} .js-plotly-plot").evaluate(
        """plot => {
            const shown = plot._fullData.filter(trace => trace.visible === true);
            const groups = [...plot.querySelectorAll('.scatterlayer .trace')];
            const of = trace => groups.find(group => group.__data__[0].trace.uid === trace.uid);
            return shown.map(trace => [trace, of(trace)])
                .filter(([trace, group]) => trace.meta && 'run' in trace.meta && group)
                .map(([trace, group]) => [trace.meta.metric, group.querySelectorAll('.points path').length]);
        }"""
    )
    counted: dict[str, int] = {}
    for metric, points in found:
        counted[metric] = counted.get(metric, 0) + points
    return counted


def ticks(page: Page) -> list[str]:
    """The M written on the axis."""
    return page.locator(".st-key-values .js-plotly-plot .xtick text").all_text_contents()


def panels(page: Page) -> int:
    """How many panels of the upper figure have a heading."""
    headings = page.locator(".st-key-values .annotation-text").all_text_contents()
    return sum(text.startswith(("Scale", "Divided")) for text in headings)


def said(page: Page) -> str:
    """What the page says, without the invisible joiners that keep a file's text literal."""
    return page.locator("[data-testid=stMain]").inner_text().replace("\u2060", "")


def test_another_set_of_m_draws_other_points(tokens: Server, browse: Browse, settled: Settled) -> None:
    page = browse().open(f"{tokens.url}/robustness?run=gpt-plays")
    until(page, lambda: drawn(page), dict.fromkeys(SWEPT_METRICS, 7))
    assert ticks(page) == [str(bins) for bins in SEVEN]
    assert panels(page) == 3
    before = tiles(page)["RSD of Full-ECE"]
    page.locator(".st-key-ms input").fill("5, 50, 500")
    page.keyboard.press("Enter")
    settled(page)
    until(page, lambda: drawn(page), dict.fromkeys(SWEPT_METRICS, 3))
    until(page, lambda: address(page), {"run": "gpt-plays", "ms": "5,50,500"})
    assert ticks(page) == ["5", "50", "500"]
    assert tiles(page)["RSD of Full-ECE"] != before
    assert "RSD over M in {5, 50, 500}, ddof 0" in said(page)
    page.go_back()
    settled(page)
    until(page, lambda: tiles(page)["RSD of Full-ECE"], before)


def test_another_run_is_set_beside_it(tokens: Server, browse: Browse, settled: Settled) -> None:
    page = browse().open(f"{tokens.url}/robustness?run=gpt-plays&metrics=ece,full_ece")
    until(page, lambda: drawn(page), {"ece": 7, "full_ece": 7})
    page.locator(".st-key-runs_shown input").click()
    page.get_by_role("option").filter(has_text="sharp").click()
    settled(page)
    until(page, lambda: drawn(page), {"ece": 14, "full_ece": 14})
    until(page, lambda: drawn(page, "relative"), {"ece": 14, "full_ece": 14})
    assert address(page)["runs"].startswith("sharp")
    legend = page.locator(".st-key-values .legendtext").all_text_contents()
    assert "sharp <b>!</b> · plays" in legend
    assert views.rows(page, "RSD and values of") == 4
    for width in (1440, 420):
        resize(page, width)
        figures_fit(page, width, "values", "relative")
        no_fault(page)


def test_bounds_are_bars_and_the_badge_says_how_far_it_is_exact(tokens: Server, browse: Browse) -> None:
    page = browse().open(f"{tokens.url}/robustness?run=api-plays")
    assert "exact up to M = " in said(page)
    assert "cw-ECE, K·cw-ECE not shown" in said(page)
    assert page.locator(".st-key-values .errorbar").count() > 0
    assert drawn(page)["ece"] == 7
    assert 0 < drawn(page)["full_ece"] < 7
    assert panels(page) == 2
    no_fault(page)


def test_a_position_is_chosen_and_its_picture_changes(
    tokens: Server, browse: Browse, settled: Settled
) -> None:
    page = browse().open(f"{tokens.url}/robustness?run=gpt-plays")

    def right() -> list[str]:
        names = page.locator(".st-key-pools .ytick text").all_text_contents()
        return [name for name in names if "✓" in name]

    _, target = positions()
    until(page, lambda: [name.split(" ✓")[0] for name in right()], [f"token {target[0]}"])
    chooser = page.locator(".st-key-_place input")
    chooser.scroll_into_view_if_needed()
    page.wait_for_timeout(500)  # a page that still scrolls closes the list
    chooser.click()
    page.get_by_role("option").nth(1).click()
    settled(page)
    until(page, lambda: [name.split(" ✓")[0] for name in right()], [f"token {target[1]}"])
    until(page, lambda: address(page), {"run": "gpt-plays", "place": "2"})
