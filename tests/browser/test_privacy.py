"""No page contacts another host or executes text from a file.

The fixture `reopen` checks the former for every module that uses it.
"""

from __future__ import annotations

from urllib.parse import quote

from playwright.sync_api import Dialog, Page

import browser_pages
from app_server import Server
from window import Browse, Settled

CALIB = "calib.invalid"


def active_content(page: Page) -> list[str]:
    """Links to other hosts, and elements made from a file's text: pictures, frames, scripts, formulas."""
    return page.evaluate(f"""() => [...document.querySelectorAll('a, img, script, iframe, .katex')]
        .filter(part => {{
            const target = part.href || part.src || '';
            return part.matches('.katex') || part.textContent.includes('{CALIB}') && part.matches('script')
                || target && !target.startsWith('data:') && new URL(target).hostname !== location.hostname;
        }}).map(part => part.outerHTML.slice(0, 200))""")


def test_a_hostile_text_stays_text(server: Server, browse: Browse, settled: Settled) -> None:
    window = browse()
    dialogs: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    window.page.on("dialog", dismiss)
    lost = quote(f"![x](http://{CALIB}/d.png) <img src=http://{CALIB}/e.png>")
    page = window.open(f"{server.url}/reliability?method={lost}&bin=8")
    page.locator(".st-key-run input").click()
    option = page.get_by_role("option").filter(has_text="![x](").first  # cut in the middle
    assert "![x](http" in option.inner_text()
    option.click()
    settled(page)
    assert "![x](http" in (page.locator(".st-key-run").inner_html())
    assert active_content(page) == []
    browser_pages.click_bar(page, browser_pages.bars(page) - 2)
    assert browser_pages.rows(page, browser_pages.QUESTIONS) > 0
    assert active_content(page) == []
    browser_pages.go_to(page, f"/files?method={lost}&bin=8")
    page.locator("summary").filter(has_text="hostile").click()
    settled(page)
    text = page.locator("[data-testid=stMain]").inner_text().replace("\u2060", "").replace("\xa0", " ")
    assert f"![x](http://{CALIB}/a.png)" in text
    assert active_content(page) == []
    assert dialogs == []
    assert window.strangers() == []


def test_a_name_of_another_site_is_refused(server: Server, browse: Browse) -> None:
    window = browse()
    answer = window.page.request.get(server.url + "/_stcore/health")
    assert answer.ok
    refused = window.page.request.get(server.url + "/_stcore/host-config", headers={"Host": CALIB})
    assert not refused.ok or CALIB not in refused.text()
