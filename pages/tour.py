"""The page Tour: what is calibration, on this data?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import streamlit as st

from calib_core.errors import Unavailable
from calib_core.figures.tour import describe_tour, tour_figure
from calib_core.results.defaults import default_method
from calib_core.results.tour import (
    STEP_KINDS,
    StepKind,
    TourCandidate,
    TourStep,
    TourSubject,
    choice_reason,
    default_tour_run,
    step_title,
    tour_step,
)
from calib_core.results.view_caption import view_caption
from pages.state.cache import cached_result
from pages.state.markdown import escape_markdown
from pages.state.runs import LoadedRun, cached_measure, judged_with
from pages.state.url import UrlState
from pages.widgets.export import Export, make_file_stem
from pages.widgets.figure import show_figure
from pages.widgets.page_link import page_link
from pages.widgets.pages import PAGES
from pages.widgets.pickers import pick_method, pick_run
from pages.widgets.shell import shell
from pages.widgets.summary import show_recipe

STEP_NUMBERS = tuple(str(at) for at in range(1, len(STEP_KINDS) + 1))
"""Step numbers as the address has them."""

STYLES: Final = Path(__file__).parent / "widgets"
FURTHER_PAGES: Final[dict[StepKind, tuple[str, str]]] = {
    "answer": ("reliability", "the whole run, bin by bin"),
    "bin": ("concentration", "how the {confidences} are distributed"),
    "whole": ("reliability", "the full diagram with its controls"),
    "bins": ("robustness", "every metric at every M"),
    "models": ("comparison", "all runs, {axis} against Brier score"),
}
"""Step → the page that goes further, and what it shows, with words of `Terms`."""


@dataclass(frozen=True, slots=True, eq=False)
class TourChoice:
    """What the page Tour shows.

    Attributes
    ----------
    subject : TourSubject
        Run and method of the tour, and every run it may use.
    runs : tuple of LoadedRun
    step_number : int
        From 1.
    large_type : bool
        Whether the page is laid out for a projector.
    run_reason : str
        Why the tour picked this run; empty where the person picked it.
    """

    subject: TourSubject
    runs: tuple[LoadedRun, ...]
    step_number: int
    large_type: bool
    run_reason: str

    @property
    def kind(self) -> StepKind:
        """The kind of the current step."""
        return STEP_KINDS[self.step_number - 1]

    @property
    def run(self) -> LoadedRun:
        """The run that the tour is about."""
        return next(run for run in self.runs if run.id == self.subject.run)


def choose_tour(url_state: UrlState, runs: Sequence[LoadedRun]) -> TourChoice:
    """Draw the sidebar controls of run and method; step and size of type are set on the page itself."""
    candidates = {run.id: TourCandidate(run.title, run.report.survey.usable) for run in runs}
    by_id, default_run = {run.id: run for run in runs}, default_tour_run(candidates)
    run_id = pick_run(url_state, by_id, default_run).id
    usable = candidates[run_id].usable
    method = pick_method(url_state, list(usable), default_method(usable))
    step_number = int(url_state.pick("step", STEP_NUMBERS, "1"))
    large_type = url_state.pick("large", ["1", "0"], "0") == "1"
    reason = choice_reason(candidates, run_id) if run_id == default_run else ""
    return TourChoice(TourSubject(run_id, method, candidates), tuple(runs), step_number, large_type, reason)


def cached_step(choice: TourChoice) -> TourStep:
    """Return the current step, computed once.

    Raises
    ------
    Unavailable
        Where the data cannot show this step.
    """
    sources = tuple((run.id, run.title, run.file.stamp) for run in choice.runs)
    return cached_result(
        ("tour", choice.kind, choice.subject.run, choice.subject.method, judged_with(choice.runs), sources),
        lambda: tour_step(
            choice.kind, choice.subject, cached_measure({run.report.run: run for run in choice.runs})
        ),
    )


def apply_style_sheets(choice: TourChoice) -> None:
    """Load the style of the page, and for a projector the one with larger type."""
    st.html(STYLES / "tour.css")
    if choice.large_type:
        st.html(STYLES / "tour_large.css")


def show_step_buttons(choice: TourChoice) -> None:
    """Draw the buttons: back, next, one per step, and the size of type; the arrow keys go back and on.

    All are buttons, since a toggle or segmented control keeps the arrow keys to itself once clicked.
    """
    with st.container(
        horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", key="tour_way"
    ):
        with st.container(horizontal=True, vertical_alignment="center", width="content", gap="xsmall"):
            _step_button("Back", choice.step_number - 1, shortcut="Left")
            _step_button("Next", choice.step_number + 1, shortcut="Right", type="primary")
            for number, kind in enumerate(STEP_KINDS, 1):
                button_type: Literal["secondary", "tertiary"] = (
                    "secondary" if number == choice.step_number else "tertiary"
                )
                _step_button(
                    str(number), number, type=button_type, help=step_title(kind, choice.subject.terms)
                )
            st.markdown(f"Step {choice.step_number} of {len(STEP_KINDS)}", width="content")
        st.button(
            "Normal type" if choice.large_type else "Large type",
            key="tour_size",
            type="tertiary",
            icon=":material/format_size:",
            on_click=_set_type_size,
            args=(not choice.large_type,),
            help="For a projector: larger type, and only the step is shown.",
        )


def _step_button(label: str, step_number: int, **options: Any) -> None:  # noqa: ANN401 (what a button takes)
    st.button(
        label,
        key=f"tour_{label.lower()}",
        on_click=_go_to_step,
        args=(step_number,),
        disabled=not 1 <= step_number <= len(STEP_KINDS),
        **options,
    )


def _go_to_step(step_number: int) -> None:
    st.session_state["step"] = str(step_number)


def _set_type_size(large: bool) -> None:  # noqa: FBT001 (Streamlit passes it so)
    st.session_state["large"] = "1" if large else "0"


def show_step(choice: TourChoice) -> None:
    """Draw the current step, or why the data cannot show it."""
    with st.container(key="tour_step"):
        try:
            step = cached_step(choice)
        except Unavailable as reason:
            st.info(escape_markdown(str(reason)))
            return
        with st.grid(2, min_column_width=380, gap="large"):
            text, picture = st.container(key="tour_words"), st.container()
        with text:
            st.header(step.heading, anchor=False)
            for sentence in step.sentences:
                st.markdown(_unbroken_percent(sentence))
            _show_further_link(choice)
            if choice.step_number == len(STEP_KINDS):
                _show_next_steps(choice)
        with picture:
            _show_picture(choice, step)
    with st.container(key="tour_foot"):
        caption = view_caption("Tour", [choice.run.title], [choice.subject.evidence])
        notes = (caption.sentence, choice.run_reason, step.selection_note)
        sentence = escape_markdown(" ".join(note for note in notes if note))
        with st.expander(f":material/visibility: {sentence}", key="looking", type="compact"):
            show_recipe(step.recipe)


def _unbroken_percent(sentence: str) -> str:
    """Return the sentence as Markdown, with no line break between a number and its percent sign."""
    return escape_markdown(sentence).replace(" \\%", "\u00a0\\%")


def _show_picture(choice: TourChoice, step: TourStep) -> None:
    name = make_file_stem("tour", choice.step_number, choice.run.id, choice.subject.method)
    show_figure(
        lambda theme: tour_figure(step.picture, theme, large=choice.large_type),
        key=f"tour_picture_{choice.kind}",
        alt=describe_tour(step.picture),
        export=Export(name, step.to_frame, step.recipe, step.heading, choice.run.title),
    )
    if step.picture_key:
        st.caption(escape_markdown(step.picture_key))


def _show_further_link(choice: TourChoice) -> None:
    """Link to the page that goes further, with the same run and method."""
    page, label = FURTHER_PAGES[choice.kind]
    terms = choice.subject.terms
    label = label.format(
        confidences=terms.confidences, axis=terms.accuracy if terms.of == "answer" else "AUROC"
    )
    query = {"run": choice.subject.run, "method": choice.subject.method}
    page_link(PAGES[page].script, f"{PAGES[page].title}: {label}", PAGES[page].icon, query)


def _show_next_steps(choice: TourChoice) -> None:
    """Draw where to go after the last step: the person's own files, and the run of the tour in full."""
    query = {"run": choice.subject.run, "method": choice.subject.method}
    with st.container(horizontal=True, key="ways"):
        page_link(PAGES["files"].script, "Open your own files", PAGES["files"].icon, large=True)
        label = f"Open {escape_markdown(choice.subject.name)}"
        page_link(PAGES["reliability"].script, label, PAGES["reliability"].icon, query, large=True)


def page() -> None:
    """Draw the page."""
    choice = shell("tour", choose_tour).choice
    apply_style_sheets(choice)
    show_step_buttons(choice)
    show_step(choice)


if __name__ == "__main__":
    page()
