"""Runs pages with AppTest, reads what they show, and operates their controls."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Protocol
from urllib.parse import parse_qsl

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block, Element, PageLink

from app_server import ROOT
from calib_core.views.registry import SECTIONS
from pages.widgets.pages import PAGES

SECONDS: Final = 60.0
SCRIPTS: Final = {page.id: page.script for page in PAGES.values()}
TITLES: Final = {page.id: page.title for page in PAGES.values()}
ANSWERS: Final[dict[str, dict[str, str]]] = {
    id_: {"sampling": {"run": "ten"}, "groups": {"run": "four"}}.get(id_, {})
    for id_ in PAGES
    if id_ in SECTIONS and id_ not in ("training", "judge", "files")
}
"""Page that answers a question about the runs of `folder` → the address at which it does."""
TEXTS: Final = frozenset(
    {
        "title",
        "header",
        "subheader",
        "caption",
        "markdown",
        "error",
        "warning",
        "info",
        "text",
    }
)
COPIED: Final = re.compile(r'data-text="([^"]*)"')
ESCAPED: Final = re.compile(r"\u2060?\\([!-/:-@\[-`{-~])|\*\*")


class Visit(Protocol):
    """Opens a page of the app on the data folder of the test: a fresh session at this address."""

    def __call__(self, page: str, **params: str) -> AppTest: ...


class ShowFolder(Protocol):
    """Makes this folder, which the test only reads, the app's, and returns it."""

    def __call__(self, made: Path) -> Path: ...


def copied_link(at: AppTest) -> str:
    """What the button "Copy link" copies."""
    (text,) = (found[1] for html in at.sidebar.get("html") if (found := COPIED.search(html.proto.body)))
    return unescape(text)


def visit(page: str, params: dict[str, str]) -> AppTest:
    """A fresh session at this page's address, run once; fails where the script does."""
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=SECONDS)
    for key, value in params.items():
        at.query_params[key] = value
    if page != "start":
        at.switch_page(SCRIPTS[page])
    return run(at)


def open_single_page(page: str, params: dict[str, str]) -> AppTest:
    """The page's script run by itself, without the app around it."""
    at = AppTest.from_file(str(ROOT / SCRIPTS[page]), default_timeout=SECONDS)
    for key, value in params.items():
        at.query_params[key] = value
    return run(at)


def run(at: AppTest) -> AppTest:
    """One more run of the script; it must neither fail nor leave a page without its title."""
    at.run()
    assert [element.message for element in at.exception] == []
    assert len(at.title) == 1
    return at


def go(at: AppTest, page: str) -> AppTest:
    """Another page in the same session, by its link: the link carries the choice in its address."""
    links = [node for node in walk(at.sidebar) if isinstance(node, PageLink)]
    query = next(link.proto.query_string for link in links if link.value == TITLES[page])
    at.query_params.clear()
    for key, value in parse_qsl(query):
        at.query_params[key] = value
    at.switch_page(SCRIPTS[page])
    return run(at)


def plain(markdown: str) -> str:
    """Text as it is read: what `literal` put before a mark taken away, and bold stars."""
    return ESCAPED.sub(lambda mark: mark[1] or "", markdown).replace("\N{NO-BREAK SPACE}", " ")


def walk(block: Block) -> Iterator[Element | Block]:
    """The block's elements and blocks, depth first."""
    for child in block.children.values():
        yield child
        if isinstance(child, Block):
            yield from walk(child)


def page_text(at: AppTest) -> str:
    """Every message, caption, heading and label of the main part, as it is read, one a line."""
    texts: list[str] = []
    for node in walk(at.main):
        if isinstance(node, Block):
            texts.append(plain(getattr(node, "label", "")))
        elif node.type in TEXTS:
            texts.append(plain(str(node.value)))
    return "\n".join(text for text in texts if text)


def tiles(at: AppTest) -> dict[str, str]:
    """Label → value of every tile."""
    return {plain(metric.label): metric.value for metric in at.metric}


def table(at: AppTest, *columns: str) -> pd.DataFrame:
    """The first table that has these columns."""
    return tables(at, *columns)[0]


def tables(at: AppTest, *columns: str) -> list[pd.DataFrame]:
    """Every table that has these columns, in the page's order."""
    frames = [element.value.map(_chip_text) for element in at.dataframe]
    return [frame for frame in frames if set(columns) <= set(frame.columns)]


def _chip_text(cell: object) -> object:
    """The text of a cell that holds a chip; any other cell as it is."""
    return cell[0] if isinstance(cell, np.ndarray) else cell


def click_row(at: AppTest, key: str, row: int) -> None:
    """Selects a row of the table whose key begins so, as a browser that still shows this table does."""
    tick_rows(at, key, row)


def click_cell(at: AppTest, key: str, row: int) -> None:
    """Clicks the first cell of a row, as `click_row` clicks its box."""
    _select(at, key, {"rows": [], "cells": [[row, "run"]]})


def tick_rows(at: AppTest, key: str, *rows: int) -> None:
    """Ticks the boxes of these rows."""
    _select(at, key, {"rows": list(rows), "cells": []})


def _select(at: AppTest, key: str, selection: dict[str, Any]) -> None:
    (widget,) = (
        str(shown.key) for shown in at.dataframe if re.fullmatch(rf"{key}_[0-9a-f]{{8}}", str(shown.key))
    )
    at.session_state[widget] = {"selection": {"columns": [], **selection}}


def figure(at: AppTest, key: str) -> dict[str, Any]:
    """The plotly figure of this key, as it is sent to the browser."""
    chart = next(chart for chart in at.get("plotly_chart") if chart.key == key)
    return json.loads(chart.proto.spec)


def targets(at: AppTest) -> list[tuple[int, int]]:
    """Bin number and height of every lower bar that the reliability diagram lets one click, left to right.

    The height is the bin's count or, where both axes go by powers of ten, its part of the sum.
    """
    counts = [trace for trace in figure(at, "reliability")["data"] if trace.get("customdata")][-1]
    return [(own[0], count) for own, count in zip(counts["customdata"], counts["y"], strict=True)]


def address(at: AppTest) -> dict[str, str]:
    """The address's parameters as they stand after the run."""
    return {key: value[-1] if isinstance(value, list) else value for key, value in at.query_params.items()}


def choose(at: AppTest, key: str, value: object) -> AppTest:
    """Sets the control of this key, as a person would, and runs."""
    control(at, key).set_value(value)
    return run(at)


def control(at: AppTest, key: str) -> Any:
    """The control of this key; those of M carry a number besides."""
    for node in (*walk(at.sidebar), *walk(at.main)):
        if re.fullmatch(rf"{key}(_\d+)?", getattr(node, "key", None) or ""):
            return node
    raise AssertionError(f"the page has no control {key!r}")


def record_results(patch: pytest.MonkeyPatch, module: ModuleType, name: str) -> list[object]:
    """Results of this function of the module from now on, one for each call."""
    real, given = getattr(module, name), []

    @functools.wraps(real)
    def asked(*args: Any, **more: Any) -> Any:
        given.append(real(*args, **more))
        return given[-1]

    patch.setattr(module, name, asked)
    return given


def unmet_link_warnings(at: AppTest, key: str = "", value: str = "") -> list[str]:
    """Warnings about a part of the link that is not available."""
    said_of = (plain(warning.value) for warning in at.warning)
    return [text for text in said_of if "link asks for" in text and f" {key}" in text and value in text]
