"""What stands around every page?  Its title, the way to the others, the choice, what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.errors import StreamlitPageNotFoundError

from calib_core.problems import Unavailable, shorten
from pages.parts import cache, tables
from pages.parts.address import Address
from pages.parts.binning import NotServed
from pages.parts.cache import File
from pages.parts.choice import Choice, choose
from pages.parts.literal import literal
from pages.parts.runs import Run, runs_of, slug
from pages.parts.trainings import choose_training


@dataclass(frozen=True, slots=True)
class Page:
    """One page: its script, its title, the question it answers, its icon."""

    script: str
    title: str
    question: str
    icon: str


STYLE: Final = Path(__file__).with_name("style.css")
PAGES: Final = {
    "start": Page("app.py", "Start", "What is here, and where to begin?", ":material/home:"),
    "reliability": Page(
        "pages/reliability.py", "Reliability", "Is it right as often as it says?", ":material/show_chart:"
    ),
    "concentration": Page(
        "pages/concentration.py",
        "Bin concentration",
        "Where do the confidences lie, and can the bins be trusted?",
        ":material/bar_chart:",
    ),
    "robustness": Page(
        "pages/robustness.py", "Robustness", "Does the number depend on M?", ":material/tune:"
    ),
    "training": Page(
        "pages/training.py",
        "Training",
        "Does calibration improve as training goes on?",
        ":material/timeline:",
    ),
    "files": Page(
        "pages/files.py", "Files", "What was loaded, what was left out, and why?", ":material/folder_open:"
    ),
}


@dataclass(frozen=True, slots=True, eq=False)
class Surroundings:
    """What a page knows when it begins: the files, the runs that load, and the choice among them."""

    files: tuple[File, ...]
    runs: tuple[Run, ...]
    good: tuple[str, ...]
    choice: Choice | None

    @property
    def chosen(self) -> Choice:
        """The choice of a page that needs one: `shell` has ended the page where there is none."""
        if self.choice is None:
            raise RuntimeError("this page was begun without a choice")
        return self.choice


def shell(page_id: str, *, needs_choice: bool = True) -> Surroundings:
    """Title, navigation and sidebar; ends the page with what to do where there is nothing to look at."""
    page = PAGES[page_id]
    st.set_page_config(f"{page.title} · Calib", page_icon="🎯", layout="wide", initial_sidebar_state=320)
    st.html(STYLE)
    st.title(page.title, anchor=False)
    st.caption(
        page.question + (" Demo data: tiny models trained for this demo." if cache.on_demo_data() else "")
    )
    address = Address(page_id)
    files = _files()
    good = tuple(part for part in address.held.get("good", "").split(",") if part)
    runs = runs_of(files, good)
    address.note("good", ",".join(good), "")
    choice: Choice | None = None
    trouble: Unavailable | None = None
    with st.sidebar:
        st.markdown("**Calib**")
        links = st.container(gap="xxsmall")
        if needs_choice and runs:
            st.divider()
            try:
                if page_id == "training":
                    choice = choose_training(address, runs)
                else:
                    choice = choose(address, runs, page_id)
            except Unavailable as reason:
                trouble = reason
    address.keep()
    address.write()
    _links(links, address.now)
    _lost(address)
    if page_id != "files":
        _left_out(files, good)
    if needs_choice and choice is None:
        _stop(files, trouble)
    return Surroundings(files, runs, good, choice)


def _files() -> tuple[File, ...]:
    folder = cache.data_folder()
    return cache.found(folder) if folder.is_dir() else ()


def _links(container: DeltaGenerator, now: dict[str, str]) -> None:
    for page in PAGES.values():
        try:
            container.page_link(
                page.script, label=page.title, icon=page.icon, query_params=now or None, width="stretch"
            )
        except StreamlitPageNotFoundError:  # a page's script run alone by a test
            container.caption(page.title)


def _lost(address: Address) -> None:
    """A link may name what is not here: said, and the rest shown."""
    for key, value in address.lost.items():
        shown = literal(address.now.get(key, "the default"))
        st.warning(f"The link asks for {key} “{literal(shorten(value))}”, which is not here. Shown: {shown}.")


def _left_out(files: Sequence[File], good: Sequence[str]) -> None:
    """Bad rows stay visible on every page: those left out, and those nobody has decided on."""
    for file in files:
        if file.report is None or file.report.status != "asks":
            continue
        count = f"{file.report.bad_rows:,} of {file.report.rows:,} rows"
        if slug(file.name) in good:
            st.info(
                f"**{literal(file.name)}**: {count} are bad and left out. See Files.", icon=":material/rule:"
            )
        else:
            st.warning(
                f"**{literal(file.name)}** is not loaded: {count} are bad. Decide on the page Files.",
                icon=":material/rule:",
            )


def _stop(files: Sequence[File], trouble: Unavailable | None) -> NoReturn:
    """What to do where nothing can be shown."""
    if trouble:
        st.info(literal(str(trouble)))
        if isinstance(trouble, NotServed):
            st.button(f"Use M = {trouble.near}", key="near_m", on_click=_use_m, args=(trouble.near,))
    else:
        tables.no_runs(files)
    st.stop()


def _use_m(bins: int) -> None:
    st.query_params["m"] = str(bins)
