"""The browser shows the hostile texts literally.

A folder has all files of one kind of hostile texts, another the same files with plain words instead. One
page shows all of them at once: each text must appear literally, and the page must not have a link, image,
formula, icon, heading or mark that the plain one lacks.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Dialog

from app_server import SharedServer
from hostile.manifest import CASES, Case
from window import Windows

SHOWN: Final = {"literal": "methods", "names": ""}
"""Family → the page that shows all of its texts: models and columns; names of files that have bad rows.

Of the other pages `tests/app/test_literal_text.py` checks that such texts are sent escaped, and
`test_literal_figures.py` how a few look.
"""

PAGES: Final = tuple(SHOWN.values())

TAGS: Final = (
    "a",
    "b",
    "blockquote",
    "code",
    "del",
    "dialog",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "i",
    "iframe",
    "img",
    "input",
    "li",
    "math",
    "ol",
    "pre",
    "script",
    "strong",
    "sub",
    "sup",
    "svg a",
    "table:not([role=grid])",
    "u",
    "ul",
    ".katex",
    "[class*=Badge]",
    "[class*=colored]",
    "[data-testid=stIconMaterial]",
    "[data-testid=stIconEmoji]",
)
"""What an interpreted text becomes: counted, and compared with a page of plain words."""

TEXTS: Final = [
    case
    for case in CASES
    if case.get("literal") and case["family"] in SHOWN and not Path(case["path"]).name.startswith(".")
]
"""The cases whose texts are shown; a hidden file is not listed."""


PATIENCE: Final = 120.0
"""Seconds for a page of more than a hundred runs, while other tests have the machine, too."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One page. text: all of it, white space folded; count: of each of TAGS; strangers: other hosts asked."""

    text: str
    count: dict[str, int]
    strangers: list[str]
    dialogs: list[str]


def squeeze(text: str) -> str:
    """White space as single spaces, without what parts the marks; half a character as U+FFFD."""
    whole = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return " ".join(whole.replace("\u2060", "").replace("↵", " ").split())


@pytest.fixture(scope="module")
def pages(hostile: Path, windows: Windows, shared_server: SharedServer) -> dict[str, tuple[Seen, Seen]]:
    """Page → what is seen of it with hostile texts, and with plain ones."""
    seen: dict[str, tuple[Seen, Seen]] = {}
    for family, page in SHOWN.items():
        cases = [case for case in TEXTS if case["family"] == family]

        def write_hostile(data: Path, cases: list[Case] = cases) -> None:
            for case in cases:
                _write(case, hostile / "data", data, "")

        def write_plain(data: Path, cases: list[Case] = cases) -> None:
            for number, case in enumerate(cases):
                _write(case, hostile / "data", data, f"word{number:03}")

        with_texts = _seen(windows, f"{shared_server.holding(write_hostile).url}/{page}")
        seen[page] = with_texts, _seen(windows, f"{shared_server.holding(write_plain).url}/{page}")
    return seen


@pytest.mark.parametrize("case", TEXTS, ids=lambda case: ascii(case["name"]))
def test_what_is_shown_is_what_is_in_the_file(case: Case, pages: dict[str, tuple[Seen, Seen]]) -> None:
    shown = pages[SHOWN[case["family"]]][0].text
    assert [text for text in case["literal"] if squeeze(text) not in shown] == []


@pytest.mark.parametrize("page", PAGES)
def test_nothing_is_drawn_without_results(page: str, pages: dict[str, tuple[Seen, Seen]]) -> None:
    seen, plain = pages[page]
    assert seen.count == plain.count
    assert seen.strangers == seen.dialogs == []


def _write(case: Case, made: Path, folder: Path, word: str) -> None:
    """The case's file, a word in place of its text where one is given; one of an odd name has a bad row."""
    source = made / case["path"]
    if not source.is_file():
        return
    text, name = source.read_text(encoding="utf-8", errors="surrogateescape"), case["path"]
    if case["family"] == "names":
        text += "q5,most,1\n"
        name = f"names/{word}.csv" if word else name
    elif word:
        for shown in case["literal"]:
            text = text.replace(json.dumps(shown)[1:-1], word).replace(shown, word)
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", errors="surrogateescape")


COUNTED: Final = """tags => Object.fromEntries(
    tags.map(tag => [tag, document.body.querySelectorAll(tag).length]))"""


def _seen(windows: Windows, url: str) -> Seen:
    window = windows.open("light", 1440, 900)
    dialogs: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    try:
        window.page.on("dialog", dismiss)
        page = window.open(url, seconds=PATIENCE)
        count: dict[str, int] = page.evaluate(COUNTED, TAGS)
        text = squeeze(page.evaluate("() => document.body.textContent"))
        return Seen(text, count, window.strangers(), dialogs)
    finally:
        windows.close(window)
