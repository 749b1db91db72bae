"""The export menus of a page, and how to open them."""

from __future__ import annotations

import re

from streamlit.testing.v1 import AppTest

import screens
from screens import walk


def menu_keys(at: AppTest) -> list[str]:
    """The keys of the menus on the page, each of which says what it exports."""
    blocks = (getattr(node, "proto", None) for node in walk(at.main))
    menus = [
        block
        for block in blocks
        if block is not None
        and type(block).__name__ == "Block"
        and block.HasField("popover")
        and "-export_" in block.id
    ]
    assert all(re.fullmatch(r"Export \*\*[^*].*\*\*", menu.popover.label) for menu in menus)
    return [menu.id.split("-", 2)[2] for menu in menus]


def open_menus(at: AppTest) -> AppTest:
    """The page with all its menus open."""
    for key in menu_keys(at):
        at.session_state[key] = True
    return screens.run(at)
