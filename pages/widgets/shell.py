"""What stands around every page?  Its title, the way to the others, the choice, what was left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, Generic, NoReturn, TypeAlias, TypeVar, overload
from urllib.parse import quote, urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calib_core.errors import Unavailable, shorten
from calib_core.report.sections import SECTIONS
from calib_core.wording import bad_rows_phrase
from pages.state.cache import LoadedFile, data_folder, is_demo_data, load_files
from pages.state.markdown import escape_markdown
from pages.state.runs import LoadedRun, file_id, loaded_runs
from pages.state.url import UrlState
from pages.widgets.binning import BinsNotAvailable
from pages.widgets.file_status import show_no_runs
from pages.widgets.page_link import page_link

# MERGED sharing: How does a person hand on what they see?  The link to this page with this choice, ready to be copied.

BODY_KEYS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "start": ("every",),
        "tour": ("step", "large"),
        "reliability": ("bin", "log", "search"),
        "robustness": ("place",),
        "comparison": ("at",),
        "sampling": ("place",),
        "training": ("at", "alone"),
    }
)
"""Page → what of its choice is made in its body, and not in the sidebar."""

FOLDER_DEPENDENT_KEYS: Final = ("run", "method", "dataset")
"""Defaults that depend on the folder: they are said in the link, so that another folder shows the same."""

PAGES_SHARING_ALL: Final = ("report",)
"""Pages that show what was chosen on the others."""

COPY_LINK_HELP: Final = (
    "Opens this page with this choice wherever the same runs are loaded. What is not there is said, and the "
    "rest is shown."
)


def show_copy_link(page: str, url_state: UrlState) -> None:
    """A small control that shows the link; the box that it stands in has a button to copy it."""
    with st.popover("Copy link", icon=":material/link:", key="copy_link", width="stretch"):
        st.code(share_link(page, url_state), language=None, wrap_lines=True)
        st.caption(COPY_LINK_HELP)


def share_link(page: str, url_state: UrlState) -> str:
    """This page's address with its own part of the choice alone: what other pages keep would make it long."""
    shown = {
        key: str(st.session_state.get(key, "")) for key in FOLDER_DEPENDENT_KEYS if key in url_state.picked
    }
    choice = shared_values(page, {**shown, **url_state.now}, url_state.picked)
    query = urlencode(choice, quote_via=quote, safe=",:~*-")
    return f"{page_url(page)}{f'?{query}' if query else ''}"


def page_url(page: str) -> str:
    """The page's address without a choice, as the browser has it."""
    known = (st.context.url or "").partition("?")[0]
    return known or f"/{'' if page == 'start' else page}"


def shared_values(page: str, values: Mapping[str, str], used_keys: set[str]) -> dict[str, str]:
    """The part of the choice that this page shows; good: whether rows are left out decides on every page."""
    own = {*used_keys, *BODY_KEYS.get(page, ()), "good"}
    return {
        key: value for key, value in values.items() if value and (key in own or page in PAGES_SHARING_ALL)
    }


ChoiceT = TypeVar("ChoiceT")


@dataclass(frozen=True, slots=True)
class PageInfo:
    """One page: its script, its title, the question it answers, its icon."""

    script: str
    title: str
    question: str
    icon: str


DEMO_NOTE: Final = " Demo data: tiny models trained for this demo."
STYLE_SHEET: Final = Path(__file__).with_name("styles.css")


def _report_pages(icons: dict[str, str]) -> dict[str, PageInfo]:
    """The pages that a report has as well, by the report's title and question; icons: page id → its icon."""
    return {
        id_: PageInfo(f"pages/{id_}.py", SECTIONS[id_].title, SECTIONS[id_].question, f":material/{icon}:")
        for id_, icon in icons.items()
    }


PAGES: Final = {
    "start": PageInfo("app.py", "Start", "What is here, and where to begin?", ":material/home:"),
    "tour": PageInfo("pages/tour.py", "Tour", "What is calibration, on this data?", ":material/tour:"),
    **_report_pages(
        {
            "reliability": "show_chart",
            "concentration": "bar_chart",
            "robustness": "tune",
            "comparison": "scatter_plot",
            "abstention": "front_hand",
            "sampling": "casino",
            "methods": "table_chart",
            "groups": "category",
            "training": "timeline",
        }
    ),
    "report": PageInfo("pages/report.py", "Report", "What can I send?", ":material/summarize:"),
    **_report_pages({"files": "folder_open"}),
}


@dataclass(frozen=True, slots=True, eq=False)
class PageContext(Generic[ChoiceT]):
    """What a page knows when it begins: the files, the runs that load, and what is chosen among them."""

    files: tuple[LoadedFile, ...]
    runs: tuple[LoadedRun, ...]
    accepted_file_ids: tuple[str, ...]
    choice: ChoiceT


Chooser: TypeAlias = Callable[[UrlState, Sequence[LoadedRun]], ChoiceT]
"""Draws a page's controls in the sidebar and returns what is chosen; raises Unavailable with what to do."""


@overload
def shell(page_id: str) -> PageContext[None]: ...
@overload
def shell(page_id: str, choose: Chooser[ChoiceT]) -> PageContext[ChoiceT]: ...
def shell(page_id: str, choose: Chooser[ChoiceT] | None = None) -> PageContext[ChoiceT] | PageContext[None]:
    """Title, navigation and sidebar; ends the page with what to do where there is nothing to look at.

    choose: the page's controls; None for a page that has none and shows something without a run, too.
    """
    page = PAGES[page_id]
    st.set_page_config(f"{page.title} · Calib", page_icon="🎯", layout="wide", initial_sidebar_state=320)
    st.html(STYLE_SHEET)
    st.title(page.title, anchor=False)
    st.caption(page.question + (DEMO_NOTE if is_demo_data() else ""))
    address = UrlState(page_id)
    files = _folder_files()
    good = tuple(part for part in address.held.get("good", "").split(",") if part)
    runs = loaded_runs(files, good)
    address.remember("good", ",".join(good), "")
    chosen: ChoiceT | None = None
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
    address.carry_unused()
    address.write_url()
    with st.sidebar:
        show_copy_link(page_id, address)
    _show_navigation(links, address.now)
    _warn_rejected(address)
    if page_id != "files":
        _show_bad_rows(files, good)
    if choose is None:
        return PageContext(files, runs, good, None)
    if chosen is None:
        _stop_page(files, trouble)
    return PageContext(files, runs, good, chosen)


def _folder_files() -> tuple[LoadedFile, ...]:
    folder = data_folder()
    return load_files(folder if folder.is_dir() else None)


def _show_navigation(container: DeltaGenerator, values: dict[str, str]) -> None:
    for page in PAGES.values():
        page_link(page.script, page.title, page.icon, values, into=container, width="stretch")


def _warn_rejected(url_state: UrlState) -> None:
    """A link may name what is not here: said once, in one message, and the rest shown."""
    if not url_state.lost:
        return
    asked = ", ".join(f"{key} “{escape_markdown(shorten(value))}”" for key, value in url_state.lost.items())
    shown = ", ".join(
        f"{key} {escape_markdown(shorten(_shown_instead(url_state, key)))}" for key in url_state.lost
    )
    which = "which is not here" if len(url_state.lost) == 1 else "which are not here"
    st.warning(f"The link asks for {asked}, {which}. Shown: {shown}.", icon=":material/link_off:")


def _shown_instead(url_state: UrlState, key: str) -> str:
    """What is shown in the place of what is not here."""
    value = url_state.now.get(key) or str(st.session_state.get(key) or "") or "none"
    return "the rest" if "," in value else value


def _show_bad_rows(files: Sequence[LoadedFile], accepted_file_ids: Sequence[str]) -> None:
    """Bad rows stay visible on every page: those left out, and those nobody has decided on."""
    for file in files:
        if file.report is None or file.report.status != "asks":
            continue
        bad = bad_rows_phrase(file.report.bad_rows, file.report.rows)
        if file_id(file) in accepted_file_ids:
            st.info(
                f"**{escape_markdown(file.name)}**: {bad} and left out. See Files.", icon=":material/rule:"
            )
        else:
            st.warning(
                f"**{escape_markdown(file.name)}** is not loaded: {bad}. Decide on the page Files.",
                icon=":material/rule:",
            )


def _stop_page(files: Sequence[LoadedFile], reason: Unavailable | None) -> NoReturn:
    """What to do where nothing can be shown."""
    if reason:
        st.info(escape_markdown(str(reason)))
        if isinstance(reason, BinsNotAvailable):
            st.button(f"Use M = {reason.near}", key="near_m", on_click=_use_bins, args=(reason.near,))
    else:
        show_no_runs(files, PAGES["files"].script)
    st.stop()


def _use_bins(bins: int) -> None:
    st.query_params["m"] = str(bins)
