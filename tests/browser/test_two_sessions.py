"""Do two browsers on one server keep their choices apart, also when they act at once?"""

from __future__ import annotations

import views
from serving import Server
from window import Browse, Settled


def test_two_browsers(server: Server, browse: Browse, settled: Settled) -> None:
    mine = browse().open(f"{server.url}/reliability?run=four")
    yours = browse(color_scheme="dark").open(f"{server.url}/reliability?run=quiz&method=given")
    alone = {"mine": views.tiles(mine), "yours": views.tiles(yours)}
    for page, steps in ((mine, 3), (yours, 1)):
        page.locator(views.SLIDER).focus()
        for _ in range(steps):
            page.keyboard.press("ArrowRight")
    for page, wanted in ((mine, {"m": "50"}), (yours, {"run": "quiz", "method": "given", "m": "15"})):
        views.until(page, lambda page=page: views.address(page), wanted)
        settled(page)
        assert views.address(page) == wanted
        assert views.recipe(page).startswith(f"ECE-L1, equal width, M={wanted['m']},")
    for page in (mine, yours):
        views.type_m(page, 10)
    assert {"mine": views.tiles(mine), "yours": views.tiles(yours)} == alone
    views.click_bar(mine, views.bars(mine) - 1)
    settled(yours)
    views.until(mine, lambda: "bin" in views.address(mine), wanted=True)
    assert "bin" not in views.address(yours)
    assert views.table(yours, views.QUESTIONS).count() == 0
