"""How does a step of the tour stand on its page?  Where one is, two sentences, the picture, a way to more."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Literal

import streamlit as st

from calib_core.analysis.looking import looking
from calib_core.analysis.tour import STEPS
from calib_core.analysis.tour_step import ABOUT, Kind, Step
from calib_core.figures.tour import describe_tour, tour_figure
from calib_core.problems import Unavailable
from pages.parts import exporting, show
from pages.parts.exporting import Export
from pages.parts.link import link
from pages.parts.literal import literal
from pages.parts.shell import PAGES
from pages.parts.tour import Touring, computed

HERE: Final = Path(__file__)
MORE: Final[dict[Kind, tuple[str, str]]] = {
    "answer": ("reliability", "all its questions, bin by bin"),
    "bin": ("concentration", "where the confidences lie"),
    "whole": ("reliability", "the same diagram, to ask further"),
    "bins": ("robustness", "every metric at every M"),
    "samples": ("sampling", "how many samples are enough"),
    "models": ("comparison", "all runs, accuracy against Brier score"),
}
"""Step → the page that says more, and what of."""


def style(chosen: Touring) -> None:
    """The page's type; for a projector, larger."""
    st.html(HERE.with_name("tour_view.css"))
    if chosen.large:
        st.html(HERE.with_name("tour_large.css"))


def way(chosen: Touring) -> None:
    """Back, on, each step, and the size of type; the arrow keys go back and on.

    All of it buttons: a switch or a row of segments that was clicked would keep the arrow keys to itself.
    """
    with st.container(
        horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", key="tour_way"
    ):
        with st.container(horizontal=True, vertical_alignment="center", width="content", gap="xsmall"):
            _button("Back", chosen.at - 1, shortcut="Left")
            _button("Next", chosen.at + 1, shortcut="Right", type="primary")
            for at, kind in enumerate(STEPS, 1):
                here: Literal["secondary", "tertiary"] = "secondary" if at == chosen.at else "tertiary"
                _button(str(at), at, type=here, help=ABOUT[kind])
            st.markdown(f"{chosen.at} of {len(STEPS)}", width="content")
        st.button(
            "Normal type" if chosen.large else "Large type", key="tour_size", type="tertiary",
            icon=":material/format_size:", on_click=_enlarge, args=(not chosen.large,),
            help="For a projector: larger letters, and nothing but the step.",
        )


def _button(label: str, to: int, **more: Any) -> None:  # noqa: ANN401 (what a button takes)
    st.button(
        label, key=f"tour_{label.lower()}", on_click=_go, args=(to,), disabled=not 1 <= to <= len(STEPS),
        **more,
    )


def _go(to: int) -> None:
    st.session_state["step"] = str(to)


def _enlarge(large: bool) -> None:  # noqa: FBT001 (Streamlit passes it so)
    st.session_state["large"] = "1" if large else "0"


def step(chosen: Touring) -> None:
    """The step, or why the data cannot give it."""
    with st.container(key="tour_step"):
        try:
            told = computed(chosen)
        except Unavailable as reason:
            st.info(literal(str(reason)))
            return
        with st.grid(2, min_column_width=380, gap="large"):
            words, picture = st.container(key="tour_words"), st.container()
        with words:
            st.header(told.heading, anchor=False)
            for sentence in told.sentences:
                st.markdown(_together(sentence))
            _more(chosen)
        with picture:
            _picture(chosen, told)
    with st.container(key="tour_foot"):
        of = looking("Tour", [chosen.run.title], [chosen.subject.evidence])
        show.looking(" ".join(text for text in (of.words, chosen.why, told.chosen) if text))
        show.recipe(told.recipe)


def _together(sentence: str) -> str:
    """The sentence as Markdown that shows it, with no line broken between a number and its sign."""
    return literal(sentence).replace(" \\%", "\u00a0\\%")


def _picture(chosen: Touring, told: Step) -> None:
    name = exporting.named("tour", chosen.at, chosen.run.id, chosen.subject.method)
    show.figure(
        lambda theme: tour_figure(told.picture, theme, large=chosen.large), key=f"tour_picture_{chosen.kind}",
        alt=describe_tour(told.picture),
        export=Export(name, told.to_frame, told.recipe, told.heading, chosen.run.title),
    )


def _more(chosen: Touring) -> None:
    """The page that says more of this, of the same run and method."""
    page, label = MORE[chosen.kind]
    query = {"run": chosen.subject.run, "method": chosen.subject.method}
    link(PAGES[page].script, f"{PAGES[page].title}: {label}", PAGES[page].icon, query)
