"""The link to copy shows the same lines again."""

from __future__ import annotations

from playwright.sync_api import Page

from app_server import Server
from browser_pages import address, click_row, wait_until
from window import Browse

LINES = "lines=chains-0.8m-chains-choice-0-shot,chains-35k-chains-choice-0-shot"


def legend(page: Page) -> list[str]:
    return page.locator(".st-key-lines_figure .legendtext").all_text_contents()


def copied_link(page: Page) -> str:
    """The link that one click on the control at the end of the sidebar puts into the clipboard."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    control = page.locator(".st-key-copy_link")
    box = control.bounding_box()
    assert box is not None
    assert 30 < box["height"] < 50
    control.scroll_into_view_if_needed()
    control.click(position={"x": 20, "y": 15})
    page.wait_for_timeout(300)
    return str(page.evaluate("navigator.clipboard.readText()"))


def test_the_copied_link_shows_the_lines_again_and_a_row_opens_its_run(
    demo_server: Server, browse: Browse
) -> None:
    page = browse().open(f"{demo_server.url}/reliability?m=20&{LINES}")
    before = legend(page)
    names = [name.partition(" · ")[0] for name in before]
    assert names == ["chains-0.8M", "chains-35k", "perfect calibration"]
    link = copied_link(page)
    assert link.startswith(f"{demo_server.url}/reliability?")
    assert len(link) < 300
    click_row(page, "2 lines", 1)
    wait_until(page, lambda: address(page).get("run"), "chains-35k-chains-choice-0-shot")
    again = browse(width=420, color_scheme="dark").open(link)
    assert legend(again) == before
    wide = again.evaluate("document.documentElement.scrollWidth")
    assert wide <= 420
