"""What the first screen of a page shows, and what a click on it does; its main figure: test_appearance."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Page, expect

from app_server import Server, SharedServer
from browser_pages import address, click_row, follow_link, page_shown, table, wait_until
from layout_checks import bottom
from pages.widgets.pages import MENU
from predictions import quiz, write_csv
from window import Browse, Reopen, settled

HEIGHT: Final = 900
OPENED_BY_ITSELF: Final = """() => {
    const opened = {}, menu = document.querySelector("[data-testid=stSidebar]");
    new MutationObserver(() => { opened.at ||= menu.dataset.collapsed === "false"; })
        .observe(menu, { attributes: true });
    document.querySelector("[data-testid=stExpandSidebarButton]").click();
    return opened;
}"""
"""Opens the menu without a person's click, and notes that it was open."""


def test_on_a_phone_the_menu_closes_when_a_link_is_followed_and_the_figure_follows_the_headline(
    demo_server: Server, browse: Browse
) -> None:
    page = browse(width=420, height=HEIGHT).open(demo_server.url)
    page.get_by_test_id("stExpandSidebarButton").click()
    sidebar = page.get_by_test_id("stSidebar")
    expect(sidebar).to_be_in_viewport()
    follow_link(page, "Reliability")
    expect(sidebar).not_to_be_in_viewport()
    opened = page.evaluate_handle(OPENED_BY_ITSELF)  # as Streamlit may open it while a page comes
    page.wait_for_function("opened => opened.at", arg=opened)
    expect(sidebar).not_to_be_in_viewport()
    tops = [
        page.locator(selector).first.evaluate("part => part.getBoundingClientRect().top")
        for selector in ("h2", ".st-key-reliability", "[data-testid=stMetric]", ".st-key-looking")
    ]
    assert tops == sorted(tops)
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    page.get_by_test_id("stExpandSidebarButton").click()
    expect(sidebar).to_be_in_viewport()
    page = browse(width=420, height=HEIGHT).open(f"{demo_server.url}/abstention")  # as from a copied link
    page.get_by_test_id("stExpandSidebarButton").click()
    sidebar = page.get_by_test_id("stSidebar")
    expect(sidebar).to_be_in_viewport()
    follow_link(page, "Reliability")
    expect(sidebar).not_to_be_in_viewport()


def menu(page: Page) -> dict[str, list[str]]:
    """Heading → titles of its pages, as the sidebar shows them."""
    found: list[tuple[str, list[str]]] = page.locator("[class*=st-key-menu_of_]").evaluate_all(
        """groups => groups.map(group => [
            group.querySelector('p').innerText,
            [...group.querySelectorAll('a p')].filter(title => title.checkVisibility())
                .map(title => title.innerText.replaceAll('\\u2060', '').replaceAll('\\xa0', ' '))])"""
    )
    return dict(found)


def test_the_menu_groups_the_pages_and_greys_those_with_nothing_to_show(
    shared_server: SharedServer, reopen: Reopen
) -> None:
    def write_one_run(data: Path) -> None:
        write_csv(data / "quiz.csv", quiz(60))

    page = reopen(shared_server.holding(write_one_run).url, height=HEIGHT)
    assert menu(page) == {heading: [page.title for page in pages] for heading, pages in MENU.items()}
    assert bottom(page.locator(".st-key-menu")) < 300
    overlaps = page.locator(".st-key-menu_of_one-run").evaluate(
        """group => {
            const box = part => part.getBoundingClientRect();
            const links = [...group.querySelectorAll("a")].map(box);
            return [box(group.querySelector("p")).bottom - links[0].top, links[0].bottom - links[2].top];
        }"""
    )
    assert max(overlaps) < 1, "headings and links lie one below the other"
    pale = page.locator("[class*=st-key-pale_] a").filter(visible=True)
    assert pale.locator("p").all_inner_texts() == ["Sampling", "Training", "Judge"]
    opacity = "part => Number(getComputedStyle(part).opacity)"
    assert pale.first.evaluate(opacity) < 0.8
    assert page.locator(".st-key-link_reliability a").evaluate(opacity) == 1
    pale.first.hover()
    page.get_by_text("No run here has several sampled answers per question.").wait_for()
    pale.first.click()
    page_shown(page, "Sampling")
    wait_until(page, page.get_by_test_id("stAlertContainer").count, 1)


def test_a_click_anywhere_in_a_row_selects_it_and_a_second_one_clears_it(
    server: Server, reopen: Reopen
) -> None:
    page = reopen(f"{server.url}/reliability?run=quiz", height=HEIGHT)
    click_row(page, "Per-bin table", 2, x=250)
    wait_until(page, lambda: "bin" in address(page), wanted=True)
    questions = table(page, "of the selected bin")
    questions.wait_for()
    settled(page)
    box = questions.bounding_box()
    assert box is not None
    assert box["y"] + 100 < HEIGHT, "the questions begin below the window"
    click_row(page, "Per-bin table", 2, x=250)
    wait_until(page, lambda: "bin" in address(page), wanted=False)


def test_a_click_anywhere_in_a_row_of_start_opens_its_run_and_back_leads_to_start(
    server: Server, reopen: Reopen
) -> None:
    page = reopen(server.url, height=HEIGHT)
    for x in (90, 250):
        click_row(page, "one per run", 0, x=x)
        page_shown(page, "Reliability")
        page.go_back()
        page_shown(page, "Start")
        settled(page)
        expect(page.get_by_role("heading", name="Start", exact=True)).to_be_visible()


SCROLLING: Final = """() => [...document.querySelectorAll('[data-testid=stMain] .dvn-scroller')]
    .map(box => [box.scrollWidth, box.clientWidth]).filter(([content, place]) => content > place + 1)"""


@pytest.mark.parametrize("path", ["", "?every=1", "files"])
def test_a_table_fits_a_small_window(path: str, demo_server: Server, reopen: Reopen) -> None:
    page = reopen(f"{demo_server.url}/{path}", width=1280, height=HEIGHT)
    expect(page.locator(".dvn-scroller").first).to_be_visible()
    assert page.evaluate(SCROLLING) == []


def test_what_a_row_opens_is_beside_the_figure(demo_server: Server, reopen: Reopen) -> None:
    page = reopen(f"{demo_server.url}/comparison", height=HEIGHT)
    click_row(page, "the most accurate run first", 1, x=300)
    diagram = page.locator(".st-key-reliability")
    diagram.wait_for()
    settled(page)
    beside, figure = diagram.bounding_box(), page.locator(".st-key-comparison").bounding_box()
    assert beside is not None
    assert figure is not None
    assert beside["x"] > figure["x"] + figure["width"]
    assert beside["y"] < figure["y"] + figure["height"]


def test_the_place_of_progress_and_messages_takes_no_room_without_them(
    demo_server: Server, reopen: Reopen
) -> None:
    """Streamlit keeps what was emptied, and a gap of the page beside it."""
    page = reopen(demo_server.url)
    displays = page.evaluate("""() => {
        const wrapper = document.createElement("div"), place = document.createElement("div");
        wrapper.dataset.testid = "stLayoutWrapper";
        place.className = "st-key-notices";
        wrapper.append(place);
        document.querySelector(".stMainBlockContainer").append(wrapper);
        const displays = [getComputedStyle(wrapper).display];
        place.innerHTML = '<div data-testid="stProgress"></div>';
        displays.push(getComputedStyle(wrapper).display);
        wrapper.remove();
        return displays;
    }""")
    assert displays == ["none", "block"]
