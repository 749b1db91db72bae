"""The link to copy shows the same lines again."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from app_server import Server
from browser_pages import address, click_row, recipe, wait_until
from window import Browse, Reopen

LINES = "lines=chains-0.8m-chains-choice-0-shot,chains-35k-chains-choice-0-shot"


def legend(page: Page) -> list[str]:
    return page.locator(".st-key-lines_figure .legendtext").all_text_contents()


def copied(page: Page, button: Locator) -> str:
    """What is in the clipboard once the button says that it has copied."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    button.click()
    expect(button).to_have_class("calib-copy calib-copied")
    return str(page.evaluate("navigator.clipboard.readText()"))


def copied_link(page: Page) -> str:
    """The link that one click on the control at the end of the sidebar puts into the clipboard."""
    control = page.locator(".st-key-copy_link")
    box = control.bounding_box()
    assert box is not None
    assert 30 < box["height"] < 50
    return copied(page, control.locator("button"))


def test_a_recipe_is_copied_with_and_without_the_clipboard_of_secure_pages(
    demo_server: Server, reopen: Reopen
) -> None:
    page = reopen(f"{demo_server.url}/reliability?m=20")
    page.locator(".st-key-looking summary").click()
    button = page.locator(".st-key-looking button.calib-copy")
    shown = recipe(page)
    assert shown.startswith("ECE-L1, equal width, M=20")
    assert copied(page, button) == shown
    page.evaluate("navigator.clipboard.writeText('')")
    page.evaluate("""() => { window.real = navigator.clipboard;
        Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true}) }""")
    expect(button).to_have_class("calib-copy")
    button.click()
    expect(button).to_have_class("calib-copy calib-copied")
    assert page.evaluate("window.real.readText()") == shown
    page.evaluate("delete navigator.clipboard")


def test_the_copied_link_shows_the_lines_again_and_a_row_opens_its_run(
    demo_server: Server, reopen: Reopen, browse: Browse
) -> None:
    page = reopen(f"{demo_server.url}/reliability?m=20&{LINES}")
    wait_until(page, lambda: len(legend(page)), 3)
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
