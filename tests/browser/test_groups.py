"""The page Groups in a browser: another grouping, the preset, the selected diagrams."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

import browser_pages
from app_server import Server, SharedServer
from browser_pages import address, click_row, wait_until
from group_files import ROWS, write_facts
from layout_checks import no_fault, resize
from window import Reopen, Settled


@pytest.fixture
def server_with_groups(shared_server: SharedServer) -> Server:
    """A server on a model in base and chat, 0- and 5-shot, each with five subjects and a column more."""
    return shared_server.holding(write_grouped)


def write_grouped(data: Path) -> None:
    write_facts(data, tunings=("base", "chat"))


def dots(page: Page) -> int:
    """How many dots the browser has drawn."""
    return page.locator(".st-key-groups_dots .scatterlayer .trace").evaluate_all(
        """traces => traces.filter(trace => trace.__data__[0].trace.customdata)
            .map(trace => trace.querySelectorAll('.points path').length).reduce((a, b) => a + b, 0)"""
    )


def names(page: Page) -> list[str]:
    """The groups' names beside the axis, from the top."""
    return page.locator(".st-key-groups_dots .yaxislayer-above .ytick text").evaluate_all(
        """ticks => ticks.map(tick => [tick.getBoundingClientRect().top, tick.textContent])
            .sort((a, b) => a[0] - b[0]).map(([, text]) => text)"""
    )


def headline(page: Page) -> str:
    """The sentence above the figure."""
    return (
        page.locator("[data-testid=stMain] h2").first.inner_text().replace("\u2060", "").replace("\xa0", " ")
    )


def panels(page: Page) -> int:
    return page.locator("[class*=st-key-panel_] .js-plotly-plot").count()


def pick(page: Page, label: str, option: str, settled: Settled) -> None:
    """Chooses from a select box of the sidebar."""
    page.get_by_label(label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()
    settled(page)


def test_every_group_is_drawn_and_sorted(
    server_with_groups: Server, reopen: Reopen, settled: Settled
) -> None:
    page = reopen(f"{server_with_groups.url}/groups?runs=llama-7b-facts-0-shot")
    wait_until(page, lambda: dots(page), len(ROWS))
    assert len(names(page)) == len(ROWS)
    page.get_by_text("Name", exact=True).click()
    settled(page)
    wait_until(page, lambda: names(page) == sorted(ROWS, key=str.casefold), wanted=True)
    assert address(page)["sort"] == "name"
    wait_until(page, lambda: browser_pages.rows(page, "Every group"), len(ROWS))


def test_shots_are_compared(server_with_groups: Server, reopen: Reopen, settled: Settled) -> None:
    page = reopen(f"{server_with_groups.url}/groups")
    wait_until(page, lambda: dots(page), 4 * len(ROWS))
    resize(page, 420)
    no_fault(page)
    resize(page, 1440)
    pick(page, "Group by", "shots", settled)
    wait_until(page, lambda: dots(page), 4)
    assert address(page)["by"] == "shots"
    wait_until(page, lambda: browser_pages.rows(page, "Paired differences"), 1)
    assert "5-shot − 0-shot" in headline(page)
    pick(page, "Group by", "tuning", settled)
    wait_until(page, lambda: "chat − base" in headline(page), wanted=True)


def test_chosen_groups_have_a_small_diagram(server_with_groups: Server, reopen: Reopen) -> None:
    page = reopen(
        f"{server_with_groups.url}/groups?runs=llama-7b-facts-0-shot&groups=sociology,jurisprudence"
    )
    wait_until(page, lambda: panels(page), 2)
    no_fault(page)
    across, down = page.locator(".st-key-panel_0 .js-plotly-plot").evaluate(
        "plot => [plot._fullLayout.xaxis._length, plot._fullLayout.yaxis._length]"
    )
    assert abs(across - down) <= 1
    assert across > 150
    label = page.locator(".st-key-panel_0 [role=figure]").get_attribute("aria-label") or ""
    assert "Reliability diagram" in label


def test_a_click_on_a_hidden_group_opens_its_diagram(server_with_groups: Server, reopen: Reopen) -> None:
    page = reopen(f"{server_with_groups.url}/groups?runs=llama-7b-facts-0-shot&by=category", height=1400)
    label = "Hidden groups"
    wait_until(page, lambda: browser_pages.table(page, label).count(), 1)
    assert page.locator(".st-key-hidden_reliability").count() == 0
    click_row(page, label, 0)
    wait_until(page, lambda: page.locator(".st-key-hidden_reliability .js-plotly-plot").count(), 1)
    assert address(page)["hidden"].startswith("llama-7b-facts-0-shot~")
    resize(page, 1440, 1400)  # waits until the diagram fills its place beside the table
    no_fault(page)
    click_row(page, label, 0)
    wait_until(page, lambda: page.locator(".st-key-hidden_reliability").count(), 0)
    assert "hidden" not in address(page)
