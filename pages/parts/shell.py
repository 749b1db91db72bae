"""What stands around every page?  Its title, the way to the others, the choice, what was left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic, NoReturn, TypeAlias, TypeVar, overload

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calib_core.problems import Unavailable, shorten
from calib_core.report.sections import SECTIONS
from calib_core.wording import bad_rows
from pages.parts import cache, empty, sharing
from pages.parts.address import Address
from pages.parts.binning import NotServed
from pages.parts.cache import File
from pages.parts.link import link
from pages.parts.literal import literal
from pages.parts.runs import Run, file_id, runs_of

C = TypeVar("C")


@dataclass(frozen=True, slots=True)
class Page:
    """One page: its script, its title, the question it answers, its icon."""

    script: str
    title: str
    question: str
    icon: str


DEMO: Final = " Demo data: tiny models trained for this demo."
STYLE: Final = Path(__file__).with_name("style.css")


def _of_report(icons: dict[str, str]) -> dict[str, Page]:
    """The pages that a report has as well, by the report's title and question; icons: page id → its icon."""
    return {
        id_: Page(f"pages/{id_}.py", SECTIONS[id_].title, SECTIONS[id_].question, f":material/{icon}:")
        for id_, icon in icons.items()
    }


PAGES: Final = {
    "start": Page("app.py", "Start", "What is here, and where to begin?", ":material/home:"),
    "tour": Page("pages/tour.py", "Tour", "What is calibration, on this data?", ":material/tour:"),
    **_of_report({
        "reliability": "show_chart", "concentration": "bar_chart", "robustness": "tune",
        "comparison": "scatter_plot", "abstention": "front_hand", "sampling": "casino",
        "methods": "table_chart", "groups": "category", "training": "timeline",
    }),
    "report": Page("pages/report.py", "Report", "What can I send?", ":material/summarize:"),
    **_of_report({"files": "folder_open"}),
}


@dataclass(frozen=True, slots=True, eq=False)
class Surroundings(Generic[C]):
    """What a page knows when it begins: the files, the runs that load, and what is chosen among them."""

    files: tuple[File, ...]
    runs: tuple[Run, ...]
    good: tuple[str, ...]
    chosen: C


Chooser: TypeAlias = Callable[[Address, Sequence[Run]], C]
"""Draws a page's controls in the sidebar and returns what is chosen; raises Unavailable with what to do."""


@overload
def shell(page_id: str) -> Surroundings[None]: ...
@overload
def shell(page_id: str, choose: Chooser[C]) -> Surroundings[C]: ...
def shell(page_id: str, choose: Chooser[C] | None = None) -> Surroundings[C] | Surroundings[None]:
    """Title, navigation and sidebar; ends the page with what to do where there is nothing to look at.

    choose: the page's controls; None for a page that has none and shows something without a run, too.
    """
    page = PAGES[page_id]
    st.set_page_config(f"{page.title} · Calib", page_icon="🎯", layout="wide", initial_sidebar_state=320)
    st.html(STYLE)
    st.title(page.title, anchor=False)
    st.caption(page.question + (DEMO if cache.on_demo_data() else ""))
    address = Address(page_id)
    files = _files()
    good = tuple(part for part in address.held.get("good", "").split(",") if part)
    runs = runs_of(files, good)
    address.note("good", ",".join(good), "")
    chosen: C | None = None
    trouble: Unavailable | None = None
    with st.sidebar:
        st.markdown("**Calib**")
        links = st.container(gap="xxsmall")
        if choose and runs:
            st.divider()
            try:
                chosen = choose(address, runs)
            except Unavailable as reason:
                trouble = reason
    address.keep()
    address.write()
    with st.sidebar:
        sharing.copy_link(page_id, address)
    _links(links, address.now)
    _lost(address)
    if page_id != "files":
        _left_out(files, good)
    if choose is None:
        return Surroundings(files, runs, good, None)
    if chosen is None:
        _stop(files, trouble)
    return Surroundings(files, runs, good, chosen)


def _files() -> tuple[File, ...]:
    folder = cache.data_folder()
    return cache.found(folder if folder.is_dir() else None)


def _links(container: DeltaGenerator, now: dict[str, str]) -> None:
    for page in PAGES.values():
        link(page.script, page.title, page.icon, now, into=container, width="stretch")


def _lost(address: Address) -> None:
    """A link may name what is not here: said once, in one message, and the rest shown."""
    if not address.lost:
        return
    asked = ", ".join(f"{key} “{literal(shorten(value))}”" for key, value in address.lost.items())
    shown = ", ".join(f"{key} {literal(shorten(_instead(address, key)))}" for key in address.lost)
    which = "which is not here" if len(address.lost) == 1 else "which are not here"
    st.warning(f"The link asks for {asked}, {which}. Shown: {shown}.", icon=":material/link_off:")


def _instead(address: Address, key: str) -> str:
    """What is shown in the place of what is not here."""
    value = address.now.get(key) or str(st.session_state.get(key) or "") or "none"
    return "the rest" if "," in value else value


def _left_out(files: Sequence[File], good: Sequence[str]) -> None:
    """Bad rows stay visible on every page: those left out, and those nobody has decided on."""
    for file in files:
        if file.report is None or file.report.status != "asks":
            continue
        bad = bad_rows(file.report.bad_rows, file.report.rows)
        if file_id(file) in good:
            st.info(f"**{literal(file.name)}**: {bad} and left out. See Files.", icon=":material/rule:")
        else:
            st.warning(
                f"**{literal(file.name)}** is not loaded: {bad}. Decide on the page Files.",
                icon=":material/rule:",
            )


def _stop(files: Sequence[File], trouble: Unavailable | None) -> NoReturn:
    """What to do where nothing can be shown."""
    if trouble:
        st.info(literal(str(trouble)))
        if isinstance(trouble, NotServed):
            st.button(f"Use M = {trouble.near}", key="near_m", on_click=_use_m, args=(trouble.near,))
    else:
        empty.no_runs(files, PAGES["files"].script)
    st.stop()


def _use_m(bins: int) -> None:
    st.query_params["m"] = str(bins)
