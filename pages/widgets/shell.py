"""What surrounds every page: title, navigation, sidebar, the link to share, and what was left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic, Literal, NoReturn, TypeAlias, TypeVar, overload
from urllib.parse import quote, urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calib_core.errors import Unavailable, shorten
from calib_core.terms import EVENT_TERMS
from calib_core.wording import bad_rows_phrase, plural
from pages.state.cache import (
    FolderContents,
    LoadedFile,
    cached_result,
    data_folder,
    is_demo_data,
    load_files,
    reading_progress,
)
from pages.state.markdown import escape_markdown
from pages.state.progress import set_partial_note
from pages.state.run_preferences import (
    HIDE_KEY,
    in_preferred_order,
    pick_hidden_ids,
    remember_names,
    session_preferences,
)
from pages.state.runs import LoadedRun, dataset_id, file_id, loaded_runs, runs_with_tolerance, slug
from pages.state.uploads import take_uploads
from pages.state.url import DEMO_KEY, RUN_KEYS, UrlState
from pages.widgets.binning import BinsNotAvailable
from pages.widgets.copyable_text import show_copy_button
from pages.widgets.file_status import show_no_runs
from pages.widgets.manage_runs import show_hidden_runs, show_manage_runs
from pages.widgets.page_link import page_link
from pages.widgets.pages import MENU, PAGES, PageInfo
from pages.widgets.pickers import pick_tolerance
from pages.widgets.uploader import last_uploaded
from pages.widgets.uploads_under_way import n_uploads_under_way, wait_for_uploads
from pages.widgets.url_inputs import url_toggle

ChoiceT = TypeVar("ChoiceT")

Chooser: TypeAlias = Callable[[UrlState, Sequence[LoadedRun]], ChoiceT]
"""Draws a page's controls in the sidebar and returns the choice; raises Unavailable with what to do."""

DemoState: TypeAlias = Literal["none", "alone", "beside", "away"]
"""Of the demo data: there are none, they stand alone or beside a person's own files, or those stand alone."""

DEMO_NOTES: Final[Mapping[DemoState, str]] = {
    "alone": "Public predictions of known models, and tiny models trained for this demo.",
    "beside": "And the files that you uploaded.",
}
DEMO_HELP: Final = "List the runs that came with Calib beside your own."
STYLE_SHEET: Final = Path(__file__).with_name("styles.css")

_ICON: Final = (
    "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 100 100'>"
    "<text y='.9em' font-size='90'>%F0%9F%8E%AF</text></svg>"
)
"""The icon of the tab, as the browser draws it for 🎯, which Streamlit would seek in its list of emojis."""

FOLDER_DEPENDENT_KEYS: Final = ("run", "method", "dataset", "datasets", HIDE_KEY)
"""Keys whose default depends on the folder; the link names them, so that it shows the same elsewhere."""

COPY_LINK_HELP: Final = (
    "Opens this page with this choice wherever the same runs are loaded. Missing runs are listed; "
    "everything else opens."
)

_DEMO_STATE_KEY: Final = "_demo_state"

COLOUR_BUTTONS: Final = "".join(
    f'<button type="button" class="calib-colours" data-colours="{id_}" title="{help_}">{label}</button>'
    for id_, label, help_ in (
        ("light", "Light", "Light colours"),
        ("dark", "Dark", "Dark colours"),
        ("system", "Auto", "The colours of the system"),
    )
)
"""The choice of colours: `browser_script.js` makes it, the browser keeps it."""

NO_RUNS: Final = "No run is loaded."


@dataclass(frozen=True, slots=True, eq=False)
class PageContext(Generic[ChoiceT]):
    """What a page starts with.

    Attributes
    ----------
    files : tuple of LoadedFile
    runs : tuple of LoadedRun
    accepted_file_ids : tuple of str
        Ids of the files whose good rows are loaded without their bad ones.
    choice : ChoiceT
        What the page's own controls are set to.
    unread : tuple of LoadedFile
        The files of the folder that have not been read yet; runs and choice stand on the others.
    hidden_runs : tuple of LoadedRun
        Those that the person hid, which are not among `runs`.
    other_runs : tuple of LoadedRun
        Those that the page cannot show (`PageInfo.shows`).
    """

    files: tuple[LoadedFile, ...]
    runs: tuple[LoadedRun, ...]
    accepted_file_ids: tuple[str, ...]
    choice: ChoiceT
    unread: tuple[LoadedFile, ...] = ()
    hidden_runs: tuple[LoadedRun, ...] = ()
    other_runs: tuple[LoadedRun, ...] = ()

    @property
    def all_runs(self) -> tuple[LoadedRun, ...]:
        """The runs, and after them those that the page does not show, and the hidden ones."""
        return self.runs + self.other_runs + self.hidden_runs


@overload
def shell(page_id: str) -> PageContext[None]: ...
@overload
def shell(page_id: str, choose: Chooser[ChoiceT]) -> PageContext[ChoiceT]: ...
def shell(page_id: str, choose: Chooser[ChoiceT] | None = None) -> PageContext[ChoiceT] | PageContext[None]:
    """Draw title, navigation and sidebar, and return what the page starts with.

    Ends the page, with what to do, where there is nothing to show.

    Parameters
    ----------
    page_id : str
        A key of `PAGES`.
    choose : Callable, optional
        Draws the page's controls; its `terms`, or its evidence, word the question. Without it the page also
        shows something when no run is loaded.
    """
    page = PAGES[page_id]
    if not n_uploads_under_way():  # what is dropped together is taken together
        take_uploads()
    badge, question = _show_title(page)
    url_state = UrlState(page_id)
    accepted_file_ids = tuple(part for part in url_state.initial.get("good", "").split(",") if part)
    with (notices := st.container(key="notices", gap="xsmall")):  # always there: the rest keeps its place
        contents, all_runs, demo = _load_folder(page_id, url_state, accepted_file_ids)
        _show_what_comes(page_id, contents)
    if note := DEMO_NOTES.get(demo):
        badge.badge("Demo data", color="gray", help=note)
    files, unread = contents.files, contents.unread
    listed, hidden_runs = _runs_to_list(url_state, all_runs)
    runs, others = page.split(listed)
    url_state.known = {
        "run": {run.id for run in runs},
        "dataset": {dataset_id(run) for run in runs},
    }
    url_state.remember("good", ",".join(accepted_file_ids), "")
    choice: ChoiceT | None = None
    refusal: Unavailable | None = None
    with st.sidebar:
        _show_brand()
        links = st.container(gap="xxsmall", key="menu")
        controls = st.container(gap="xsmall")
        if runs and page.shows_verdicts:
            with st.expander("Verdict tolerance", key="verdict_settings", type="compact"):
                tolerance = pick_tolerance(url_state)
            runs = runs_with_tolerance(runs, tolerance)
        if choose and runs:
            controls.divider()
            try:
                with controls:
                    choice = choose(url_state, runs)
            except Unavailable as reason:
                refusal = reason
    _word_question(page, choice, question)
    url_state.carry_unused()
    url_state.write_url()
    _remember_choice(url_state, runs)
    with st.sidebar:
        _show_tools(page_id, url_state, runs, hidden_runs, demo)
    _show_navigation(links, url_state.current, pages_without_content(listed))
    with notices:
        _warn_rejected(url_state, {run.id: run.title for run in all_runs}, is_awaited=bool(unread))
        _show_bad_rows(page_id, files, accepted_file_ids)
    if choose is None:
        return PageContext(files, runs, accepted_file_ids, None, unread, hidden_runs, others)
    if hidden_runs and not listed:
        show_all_hidden(hidden_runs)
        st.stop()
    if choice is None:
        _stop_page(files, refusal or (Unavailable(page.nothing_shown) if listed else None))
    return PageContext(files, runs, accepted_file_ids, choice, unread, hidden_runs, others)


def _show_brand() -> None:
    with st.container(horizontal=True, horizontal_alignment="distribute", key="brand"):
        st.markdown("**Calib**", width="content")
        st.html(COLOUR_BUTTONS, width="content")


def _show_tools(
    page_id: str,
    url_state: UrlState,
    runs: Sequence[LoadedRun],
    hidden_runs: Sequence[LoadedRun],
    demo: DemoState,
) -> None:
    """Draw what ends the sidebar: the link to copy, the buttons on runs, and the switch of the demo data."""
    with st.container(horizontal=True, gap="small", key="page_tools"):
        show_copy_link(page_id, url_state)
        if page_id != "start":  # it has the button above its tables
            show_manage_runs(runs, hidden_runs, "manage_runs")
    show_hidden_runs(runs, hidden_runs, "show_hidden")
    if demo in ("beside", "away"):
        url_toggle(DEMO_KEY, "Show demo data", DEMO_HELP, default=demo == "beside")


def _show_title(page: PageInfo) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Draw title and question, name the browser's tab; return the places of a badge and of the question."""
    st.set_page_config(f"{page.title} · Calib", page_icon=_ICON, layout="wide", initial_sidebar_state=320)
    st.html(STYLE_SHEET)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="page_title"):
        st.title(page.title, anchor=False, width="content")
        badge = st.empty()
        question = st.empty()
        question.caption(page.question, width="content")
    return badge, question


def _word_question(page: PageInfo, choice: object, place: DeltaGenerator) -> None:
    """Ask about an event where that is what the choice shows."""
    terms = getattr(choice, "terms", getattr(getattr(choice, "evidence", None), "terms", None))
    if page.event_question and terms == EVENT_TERMS:
        place.caption(page.event_question, width="content")


def _show_what_comes(page_id: str, contents: FolderContents) -> None:
    """Say how much of the folder has been read so far, while that goes on, and what is being uploaded."""
    if not PAGES[page_id].needs_runs or n_uploads_under_way():
        wait_for_uploads()
    n_read, n_unread = sum(not file.is_uploaded for file in contents.files), len(contents.unread)
    set_partial_note(f"{n_read:,} of {n_read + n_unread:,} files read" if n_unread else "")
    if n_unread:
        show_reading_progress(n_read)


def _runs_to_list(
    url_state: UrlState, runs: Sequence[LoadedRun]
) -> tuple[tuple[LoadedRun, ...], tuple[LoadedRun, ...]]:
    """Return the runs as the person wants them listed, and those that are hidden."""
    named = in_preferred_order(runs, session_preferences())
    remember_names(named)
    hidden = pick_hidden_ids(url_state, [run.id for run in named])
    return (
        tuple(run for run in named if run.id not in hidden),
        tuple(run for run in named if run.id in hidden),
    )


def show_all_hidden(hidden_runs: Sequence[LoadedRun]) -> None:
    """Say that every run is hidden, and offer to show them."""
    st.info("Every run is hidden.")
    show_hidden_runs((), hidden_runs, "show_all_hidden")


def _load_folder(
    page_id: str, url_state: UrlState, accepted_file_ids: Sequence[str]
) -> tuple[FolderContents, tuple[LoadedRun, ...], DemoState]:
    """Return the files and runs with which the page can be drawn, and what is shown of the demo data.

    While files are being read, every page but Files waits for the first run, and a page of one run for that
    which the address names.
    """
    folder = data_folder()
    wanted = url_state.requested("run", "") if PAGES[page_id].is_of_one_run else ""
    runs: tuple[LoadedRun, ...] = ()

    def is_enough(contents: FolderContents) -> bool:
        nonlocal runs
        runs = loaded_runs(contents.files, accepted_file_ids)
        _follow_choice(url_state, runs)
        run_id = url_state.requested("run", "") if wanted else ""
        return page_id == "files" or (bool(runs) and (not run_id or any(run.id == run_id for run in runs)))

    contents = load_files(
        folder if folder.is_dir() else None, wanted, waits=page_id != "start", is_enough=is_enough
    )
    demo = _demo_state(url_state, runs)
    if demo == "away":
        contents = FolderContents(tuple(file for file in contents.files if file.is_uploaded))
        runs = loaded_runs(contents.files, accepted_file_ids)
    url_state.awaits_files = bool(contents.unread)
    return contents, runs, demo


def _demo_state(url_state: UrlState, runs: Sequence[LoadedRun]) -> DemoState:
    """Return what is shown of the demo data: nothing beside a file of one's own, unless they are asked for.

    The switch asks for them, and so does a link to a run of theirs.
    """
    if not is_demo_data():
        return "none"
    if not any(run.file.is_uploaded for run in runs):
        return "alone"
    of_demo = {run.id for run in runs if not run.file.is_uploaded}
    is_asked_for = url_state.url_changed and url_state.initial.get("run") in of_demo
    state: DemoState = (
        "beside" if {"1": True, "0": False}.get(url_state.initial.get(DEMO_KEY, ""), is_asked_for) else "away"
    )
    if state == "away" and st.session_state.get(_DEMO_STATE_KEY) != "away":
        url_state.forget(*RUN_KEYS)  # those chosen so far are of the demo data
    st.session_state[_DEMO_STATE_KEY] = state
    url_state.used_keys.add(DEMO_KEY)
    url_state.remember(DEMO_KEY, "1" if state == "beside" else "", "")
    return state


def _remember_choice(url_state: UrlState, runs: Sequence[LoadedRun]) -> None:
    """Remember which files the chosen run comes from, and which runs belong to the chosen data set."""
    chosen = next((run for run in runs if run.id == st.session_state.get("run")), None)
    if chosen is not None:
        paths = [file.listing.path for file in chosen.part_files]
        st.session_state["_run_source"] = (chosen.id, chosen.report.run.label, paths)
    dataset = url_state.current.get("dataset", "")
    if of_dataset := [run.id for run in runs if dataset_id(run) == dataset]:
        st.session_state["_runs_of_dataset"] = (dataset, of_dataset)


def _follow_choice(url_state: UrlState, runs: Sequence[LoadedRun]) -> None:
    """Keep the run and the data set that were chosen where they have another id now.

    Another file has a run of that label, or the data set of a file was named.
    """
    id_, label, paths = st.session_state.get("_run_source", ("", "", ()))
    if id_ and all(run.id != id_ for run in runs):
        of_files = [run for run in runs if any(file.listing.path in paths for file in run.part_files)]
        same = [run for run in of_files if run.report.run.label == label]
        if same or len(of_files) == 1:
            url_state.rename_value("run", id_, (same or of_files)[0].id)
    dataset, run_ids = st.session_state.get("_runs_of_dataset", ("", ()))
    now = {run.id: dataset_id(run) for run in runs}
    named = [now[run_id] for run_id in run_ids if run_id in now]
    if named and dataset not in now.values():
        url_state.rename_value("dataset", dataset, named[0])


@st.fragment(run_every=1.0)
def show_reading_progress(n_shown: int) -> None:
    """Draw how far the reading of the folder is, once a second; draw the page anew when all is read.

    Parameters
    ----------
    n_shown : int
        Number of files of the folder that the page is drawn with.
    """
    progress = reading_progress()
    if progress.is_finished:
        st.rerun()
    with st.container(key="reading", horizontal=True, vertical_alignment="center"):
        st.progress(progress.share, f"Reading the folder: {progress.n_read:,} of {progress.n_files:,} files.")
        if progress.n_read > n_shown and st.button(
            f"Show {plural(progress.n_read, 'file')}", key="show_read"
        ):
            st.rerun()
    st.caption(
        f"This page shows {plural(n_shown, 'file')} of the folder and updates when all files are read."
    )


def _show_navigation(
    container: DeltaGenerator, values: dict[str, str], without_content: Mapping[str, str]
) -> None:
    """Draw the links to all pages in groups; those with nothing to show are pale and say why."""
    row = None
    for heading, pages in MENU.items():
        if len(pages) == 1:  # the last groups
            row = row or container.container(gap="xxsmall", key="menu_row")
        group = (row or container).container(gap="xxsmall", key=f"menu_of_{slug(heading)}")
        group.markdown(heading)
        for page in pages:
            reason = without_content.get(page.id)
            key = f"pale_{page.id}" if reason else f"link_{page.id}"
            page_link(
                page.script,
                page.title,
                page.icon,
                values,
                into=group.container(key=key),
                width="stretch",
                help_=reason,
            )


def pages_without_content(runs: Sequence[LoadedRun]) -> Mapping[str, str]:
    """Return the pages that can show nothing of these runs: page id → the reason that the page itself gives.

    The runs' files are not read for it.
    """
    if not runs:
        return {page.id: NO_RUNS for page in PAGES.values() if page.needs_runs}
    key = ("pages_without_content", *(run.source for run in runs))
    return cached_result(
        key,
        lambda: {
            page.id: reason for page in PAGES.values() if (reason := _reason_without_content(page, runs))
        },
    )


def _reason_without_content(page: PageInfo, runs: Sequence[LoadedRun]) -> str:
    """Return why a page can show nothing of these runs; "" where it can."""
    shown, _ = page.split(runs)
    if not shown and page.needs_runs:
        return page.nothing_shown
    return "" if page.has_content is None or page.has_content(shown) else page.no_content


def show_copy_link(page: str, url_state: UrlState) -> None:
    """Draw the button that copies the link."""
    with st.container(key="copy_link"):
        show_copy_button(share_link(page, url_state), "Copy link", COPY_LINK_HELP)


def share_link(page: str, url_state: UrlState) -> str:
    """Return the page's address with the page's own part of the choice, which keeps it short."""
    folder_dependent = {
        key: str(st.session_state.get(key, "")) for key in FOLDER_DEPENDENT_KEYS if key in url_state.used_keys
    }
    choice = shared_values(page, {**folder_dependent, **url_state.current}, url_state.used_keys)
    query = urlencode(choice, quote_via=quote, safe=",:~*-")
    return f"{page_url(page)}{f'?{query}' if query else ''}"


def page_url(page: str) -> str:
    """Return the page's address without a choice, as the browser has it."""
    url = (st.context.url or "").partition("?")[0]
    return url or f"/{'' if page == 'start' else page}"


def shared_values(page: str, values: Mapping[str, str], used_keys: set[str]) -> dict[str, str]:
    """Return the part of the choice that this page shows; "good" always, as it decides which rows count."""
    info = PAGES[page]
    keys = {*used_keys, *info.body_keys, "good"}
    return {key: value for key, value in values.items() if value and (key in keys or info.shares_all)}


def _warn_rejected(url_state: UrlState, titles: Mapping[str, str], *, is_awaited: bool) -> None:
    """Say once, in one message, which values are not available and what is shown instead.

    Parameters
    ----------
    url_state : UrlState
    titles : Mapping of str to str
        Run id → title.
    is_awaited : bool
        Whether files that are still to be read may have them.
    """
    if url_state.run_not_shown:
        _say_nothing_to_show("run", titles[url_state.run_not_shown])
    if not url_state.rejected:
        return
    if not url_state.url_changed:
        _note_kept_choice(url_state, titles)
        return
    requested = ", ".join(
        f"{key} “{escape_markdown(shorten(value))}”" for key, value in url_state.rejected.items()
    )
    shown = ", ".join(
        f"{key} {escape_markdown(shorten(_shown_instead(url_state, key)))}" for key in url_state.rejected
    )
    clause = f"which {'is' if len(url_state.rejected) == 1 else 'are'} not available here"
    if is_awaited:
        clause = f"{clause} so far"
    st.warning(f"The link asks for {requested}, {clause}. Shown: {shown}.", icon=":material/link_off:")


def _note_kept_choice(url_state: UrlState, titles: Mapping[str, str]) -> None:
    """Say quietly that what was chosen on another page has nothing to show on this one."""
    names = {"run": "run", "dataset": "data set"}
    for key, value in url_state.rejected.items():
        shown = _shown_instead(url_state, key)
        _say_nothing_to_show(names.get(key, key), titles.get(value, value), titles.get(shown, shown))


def _say_nothing_to_show(kind: str, title: str, shown: str = "") -> None:
    instead = f"; it shows {escape_markdown(shown)}" if shown else ""
    st.caption(
        f":material/info: The {kind} chosen before, {escape_markdown(title)}, has nothing to show on this "
        f"page{instead}."
    )


def _shown_instead(url_state: UrlState, key: str) -> str:
    """Return what is shown in place of a value that is not available."""
    value = url_state.current.get(key) or str(st.session_state.get(key) or "") or "none"
    return "the rest" if "," in value else value


def _show_bad_rows(page_id: str, files: Sequence[LoadedFile], accepted_file_ids: Sequence[str]) -> None:
    """Say which bad rows were left out, and which files await a decision, unless the page asks for it."""
    asked_below = last_uploaded(files) if page_id == "start" else ()
    for file in files if page_id != "files" else ():
        if file.report is None or file.report.status != "asks":
            continue
        phrase = bad_rows_phrase(file.report.n_bad_rows, file.report.n_rows)
        if file_id(file) in accepted_file_ids:
            st.info(
                f"**{escape_markdown(file.name)}**: {phrase} and left out. See Files.", icon=":material/rule:"
            )
        elif file not in asked_below:
            st.warning(
                f"**{escape_markdown(file.name)}** is not loaded: {phrase}. Decide on the page Files.",
                icon=":material/rule:",
            )


def _stop_page(files: Sequence[LoadedFile], reason: Unavailable | None) -> NoReturn:
    """Say what to do where nothing can be shown, and end the page."""
    if reason:
        st.info(escape_markdown(str(reason)))
        if isinstance(reason, BinsNotAvailable):
            st.button(
                f"Use M = {reason.nearest_bins}",
                key="near_m",
                on_click=_use_bins,
                args=(reason.nearest_bins,),
            )
    else:
        show_no_runs(files, PAGES["files"].script)
    st.stop()


def _use_bins(bins: int) -> None:
    st.query_params["m"] = str(bins)
