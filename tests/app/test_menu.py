"""The menu: every page in one group, and pages with nothing to show say why."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1.element_tree import PageLink

import screens
from app_server import ROOT
from pages.widgets.pages import MENU, PAGES
from pages.widgets.pickers import clicked_row
from pages.widgets.shell import NO_RUNS
from predictions import quiz, write_csv
from screens import Visit
from token_files import positions, write_checkpoints, write_npz


def reasons(at: screens.AppTest) -> dict[str, str]:
    """Title of a page whose link is pale → what its tooltip says."""
    links = [node for node in screens.walk(at.sidebar) if isinstance(node, PageLink)]
    assert sorted(link.value for link in links) == sorted(screens.TITLES.values())
    return {link.value: link.proto.help for link in links if link.proto.help}


def test_the_menu_has_every_page_once() -> None:
    assert [page.id for pages in MENU.values() for page in pages] == list(PAGES)
    assert all((ROOT / page.script).is_file() for page in PAGES.values())


@pytest.mark.parametrize(
    ("write", "pale"),
    [
        (lambda data: write_csv(data / "quiz.csv", quiz(40)), {"sampling", "training"}),
        (write_checkpoints, {"abstention", "recalibrate", "sampling", "groups"}),
        (
            lambda data: write_npz(data / "text.npz", positions(), model="text"),
            {"abstention", "recalibrate", "sampling", "groups", "training"},
        ),
    ],
    ids=["answers", "tokens", "one token run"],
)
def test_a_pale_link_gives_the_reason_that_its_page_gives(
    write: Callable[[Path], object], pale: set[str], data: Path, visit: Visit
) -> None:
    write(data)
    given = reasons(visit("start"))
    selective = {id_: page.title for id_, page in PAGES.items() if page.has_content}
    assert {screens.TITLES[page] for page in pale} <= set(given) <= set(selective.values())
    for page, title in selective.items():
        infos = [screens.plain(info.value) for info in visit(page).info]
        assert infos == ([given[title]] if title in given else []), page


def test_without_a_run_only_start_and_files_have_something_to_show(data: Path, visit: Visit) -> None:
    assert not list(data.iterdir())
    pale = reasons(visit("start"))
    assert set(pale) == set(screens.TITLES.values()) - {"Start", "Files"}
    assert set(pale.values()) == {NO_RUNS}


@pytest.mark.parametrize(
    ("rows", "cells", "row"), [([], [(3, "n")], 3), ([2], [], 2), ([2], [(0, "n")], 0), ([], [], None)]
)
def test_a_click_on_a_cell_or_a_box_is_a_click_on_its_row(
    rows: list[int], cells: list[tuple[int, str]], row: int | None
) -> None:
    assert clicked_row(SimpleNamespace(rows=rows, cells=cells)) == row
