"""Can the app be used without a mouse?"""

from __future__ import annotations

import tomllib

from playwright.sync_api import Page

import browser_pages
from app_server import ROOT, Server
from calib_core.metrics import METRICS
from window import Reopen, Settled

FOCUSED = """async primary => {
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 20))));
    const here = document.activeElement;
    const keyed = here.closest('[class*=st-key-]');
    const key = keyed && [...keyed.classList].find(name => name.startsWith('st-key-'));
    const name = key ? key.slice(7).replace(/_(\\d+|[0-9a-f]{8})$/, '') : '';
    const around = [here, here.parentElement, here.parentElement?.parentElement].filter(box => box);
    const marked = around.map(box => getComputedStyle(box)).some(({outline, boxShadow, borderColor}) =>
        !/none|\\b0px/.test(outline) || boxShadow !== 'none' || borderColor === primary);
    return [name, here.tagName, here.type || '', here.innerText || '', marked];
}"""
PRIMARY = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"]["light"]["primaryColor"]


def tab_stops(page: Page, wanted: set[str], presses: int = 300) -> list[tuple[str, str, str, str, bool]]:
    """Where Tab stops until all `wanted` keys were reached: key, tag, type, text, whether focus is seen.

    A table's cell selects its bin when Tab stops there, and the page drawn for it begins again at the top:
    how many presses it takes depends on how soon that happens.
    """
    primary = f"rgb({', '.join(str(part) for part in bytes.fromhex(PRIMARY[1:]))})"
    seen: list[tuple[str, str, str, str, bool]] = []
    for _ in range(presses):
        page.keyboard.press("Tab")
        seen.append(tuple(page.evaluate(FOCUSED, primary)))
        if wanted <= {key for key, *_ in seen}:
            break
    return seen


def test_tab_reaches_every_control_in_reading_order(demo_server: Server, reopen: Reopen) -> None:
    page = reopen(f"{demo_server.url}/reliability?run=chains-0.8m-chains-choice-0-shot")
    page.emulate_media(reduced_motion="reduce")  # else a mark comes bit by bit
    page.locator("body").focus()
    content = {"_log", "bins", "export_figure_reliability", "export_table_bins"}
    reached = tab_stops(page, content)
    keys = list(dict.fromkeys(key for key, *_ in reached if key))
    sidebar = ["run", "method", "labels", "metric", "binning", "m_step", "m_typed", "not_possible"]
    assert [key for key in keys if key in sidebar] == sidebar
    assert set(keys) >= content
    links = [text.splitlines()[-1] for _, tag, _, text, _ in reached if tag == "A" and text]
    assert set(links) >= {"Start", "Reliability", "Bin concentration", "Files"}
    unmarked = [stop for stop in reached if not stop[-1] and stop[1] in {"A", "BUTTON", "INPUT", "SUMMARY"}]
    assert unmarked == [], unmarked


def choose(page: Page, key: str, typed: str, settled: Settled) -> None:
    page.locator(f".st-key-{key} input").focus()
    page.keyboard.type(typed)
    page.get_by_role("option").filter(has_text=typed).first.wait_for()
    page.keyboard.press("Enter")
    settled(page)


def test_every_choice_by_keys(demo_server: Server, reopen: Reopen, settled: Settled) -> None:
    page = reopen(f"{demo_server.url}/reliability")
    choose(page, "run", "open", settled)
    choose(page, "method", "F_PC", settled)
    choose(page, "metric", METRICS["mce"].title, settled)
    browser_pages.wait_until(page, lambda: browser_pages.address(page).get("metric"), "mce")
    assert browser_pages.address(page).get("method") == "pairwise"
    page.locator(".st-key-binning button").filter(has_text="Width").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    browser_pages.wait_until(page, lambda: browser_pages.address(page).get("binning"), "mass")
    browser_pages.press_slider_key(page, "ArrowLeft")
    browser_pages.wait_until(page, lambda: browser_pages.address(page).get("m"), "5")
    browser_pages.type_m(page, 12)
    browser_pages.wait_until(page, lambda: browser_pages.address(page).get("m"), "12")
    assert browser_pages.recipe(page).startswith("MCE, equal mass, M=12")
    page.locator(".st-key-_log input").focus()
    page.keyboard.press("Space")
    plot = page.locator(".st-key-reliability .js-plotly-plot")
    # while the page is redrawn, the previous chart may still be there beside the new one
    browser_pages.wait_until(page, lambda: plot.last.evaluate("plot => plot._fullLayout?.yaxis2.type"), "log")
    browser_pages.wait_until(page, plot.count, 1)


def test_a_bin_by_keys(demo_server: Server, reopen: Reopen, settled: Settled) -> None:
    page = reopen(f"{demo_server.url}/reliability")
    browser_pages.table(page, browser_pages.BINS).locator("[data-testid=data-grid-canvas]").first.focus()
    for key in ("ArrowDown", "ArrowDown", "Shift+Space"):
        page.keyboard.press(key)
    browser_pages.wait_until(page, lambda: "bin" in browser_pages.address(page), wanted=True)
    settled(page)
    number = browser_pages.address(page)["bin"]
    count = dict(browser_pages.targets(page))[int(number)]
    browser_pages.wait_until(page, lambda: browser_pages.rows(page, browser_pages.QUESTIONS), count)
    page.locator(".st-key-close_bin button").focus()
    page.keyboard.press("Enter")
    browser_pages.wait_until(page, lambda: "bin" in browser_pages.address(page), wanted=False)


def test_a_link_by_keys(demo_server: Server, reopen: Reopen) -> None:
    page = reopen(f"{demo_server.url}/reliability?m=20")
    page.locator("[data-testid=stPageLink-NavLink]").filter(has_text="Bin concentration").focus()
    page.keyboard.press("Enter")
    browser_pages.page_shown(page, "Bin concentration")
    assert "M=20" in browser_pages.recipe(page)
