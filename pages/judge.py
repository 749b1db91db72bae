"""The page Judge: may a judge's verdict be believed?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

import streamlit as st

from calib_core.errors import Unavailable
from calib_core.results.judge import JudgeResult, judge_result
from calib_core.results.judge_comparison import JudgeComparison, compare_judges
from calib_core.results.judge_fairness import LabelsName
from calib_core.results.judge_labels import judge_labels
from calib_core.results.view_caption import ViewCaption
from calib_core.runs import AnswerRun
from calib_core.views.judge import cell_keys, judges_view, page_views, rows_view, score_text
from pages.state.cache import cached_result
from pages.state.markdown import escape_markdown
from pages.state.runs import LoadedRun
from pages.state.url import UrlState
from pages.widgets.figure import side_by_side
from pages.widgets.multiselect import MultiselectOffer, limited_multiselect
from pages.widgets.page_link import page_link
from pages.widgets.pages import PAGES
from pages.widgets.pickers import (
    pick_run,
    pick_second_run,
    pick_segment,
    select_point,
    selected_point,
    usual_run,
)
from pages.widgets.shell import shell
from pages.widgets.view import (
    MAX_ROWS_ABOVE_DETAIL,
    show_how_computed,
    show_how_to_read,
    show_opening,
    show_part,
    show_view_figure,
    show_view_table,
)

NAMED_TITLES: Final = {"": "As people's show", "place": "The place", "answer": "The answer"}


@dataclass(frozen=True, slots=True, eq=False)
class JudgeChoice:
    """What the page Judge shows.

    Attributes
    ----------
    run : LoadedRun
    passing : tuple of str
        The labels that pass; () where the words say it, or nothing does.
    labels_name : {"place", "answer"} or None
        What labels of swapped pairs name.
    second : LoadedRun or None
        The run of another judge.
    """

    run: LoadedRun
    passing: tuple[str, ...]
    labels_name: LabelsName | None
    second: LoadedRun | None

    @property
    def answers(self) -> AnswerRun:
        """The run's rows."""
        return cast("AnswerRun", self.run.report.run)

    def cache_key(self) -> tuple[object, ...]:
        """Return what determines the numbers."""
        return (*self.run.source, self.passing)


def choose_judge(url_state: UrlState, runs: Sequence[LoadedRun]) -> JudgeChoice:
    """Draw the sidebar controls: run, which labels pass, what labels of pairs name, and a second judge.

    Raises
    ------
    Unavailable
        Where the labels of the run cannot be compared.
    """
    judged = {run.id: run for run in runs}
    n_labelled = {id_: run.report.n_judged_by_people for id_, run in judged.items()}
    run = pick_run(url_state, judged, usual_run(judged, n_labelled))
    labels = judge_labels(run.report.run)
    passing = _pick_passing(url_state, labels.names, labels.passing_names)
    named: str = ""
    if labels.swaps.size:
        named = pick_segment(
            url_state,
            "named",
            NAMED_TITLES,
            label="A label such as A names",
            help_="In pairs shown in both orders: the answer in that place, or the same answer in both.",
        )
    others = {id_: other for id_, other in judged.items() if id_ != run.id}
    second = None
    if others:
        help_ = "Another judge's labels of the same rows, matched by id."
        second = pick_second_run(url_state, "Compare with judge", others, "no second judge", help_)
    return JudgeChoice(run, passing, cast("LabelsName | None", named or None), second)


def _pick_passing(url_state: UrlState, names: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Draw the choice of the labels that pass; those that are known by their words stand there at first."""
    default = list(known)
    ids = {name: str(at) for at, name in enumerate(names)}
    chosen = limited_multiselect(
        url_state,
        MultiselectOffer("passes", names, ids),
        label="Labels that pass",
        title_of=str,
        default=default,
        help_="Needed for sensitivity, specificity and the true pass rate.",
    )
    return () if chosen == default or len(chosen) == len(names) else tuple(chosen)


def cached_judge(choice: JudgeChoice) -> JudgeResult:
    """Return what is known of the judge, computed once."""
    return cached_result(
        ("judge", *choice.cache_key(), choice.labels_name),
        lambda: judge_result(choice.answers, choice.passing, labels_name=choice.labels_name),
    )


def cached_comparison(choice: JudgeChoice, second: LoadedRun) -> JudgeComparison:
    """Return the comparison with the second judge, computed once."""
    return cached_result(
        ("judges", *choice.cache_key(), *second.source),
        lambda: compare_judges(choice.answers, cast("AnswerRun", second.report.run), choice.passing),
    )


def show_agreement(choice: JudgeChoice, result: JudgeResult) -> None:
    """Draw the confusion with its measures, and below them the rows of the cell that was clicked."""
    cells = cell_keys(result.agreement)
    chosen = selected_point(cells)
    view = page_views(result, title=choice.run.title, chosen=chosen)[0]
    show_opening(view)
    figure, measures = side_by_side()
    with figure:
        show_view_figure(view, view.figures[0], select=select_point)
        show_how_to_read(view)
        if chosen is None:
            st.caption("Click a cell to see its rows, below.")
    with measures:
        for table in view.tables:
            show_view_table(view, table, narrow=True)
    caption = ViewCaption("Judge against people", [choice.run.title], ())
    show_how_computed(view, caption)
    rows = rows_view(result.agreement, choice.answers, chosen)
    for table in rows.tables:
        show_view_table(rows, table, max_rows=MAX_ROWS_ABOVE_DETAIL)


def show_second_judge(choice: JudgeChoice, second: LoadedRun) -> None:
    """Draw both judges on the rows that people and both labelled."""
    st.subheader("Two judges", anchor=False)
    try:
        view = judges_view(cached_comparison(choice, second))
    except Unavailable as reason:
        st.info(escape_markdown(str(reason)))
        return
    st.markdown(escape_markdown(view.headline))
    show_part(view, "judges")


def page() -> None:
    """Draw the page."""
    choice = shell("judge", choose_judge).choice
    try:
        result = cached_judge(choice)
    except Unavailable as reason:
        st.info(escape_markdown(str(reason)))
        return
    show_agreement(choice, result)
    if result.pass_rates is None:
        st.info("Choose which labels pass, in the sidebar, to see how many answers truly pass.")
    for number, view in enumerate(page_views(result)[1:]):
        st.subheader(view.title, anchor=False)
        st.markdown(escape_markdown(view.headline))
        if view.caveat:
            st.caption(escape_markdown(view.caveat))
        show_part(view, f"part_{number}")
    if choice.second is not None:
        show_second_judge(choice, choice.second)
    show_score(choice, result)


def show_score(choice: JudgeChoice, result: JudgeResult) -> None:
    """Say whether the judge's score can be looked at as a probability, and where."""
    text = score_text(result, choice.answers)
    if text:
        st.subheader("Is its score a probability?", anchor=False)
        st.markdown(escape_markdown(text))
        is_read = "event" in choice.run.report.survey.usable
        query = {"run": choice.run.id, "method": "event"} if is_read else None
        target = PAGES["reliability" if is_read else "files"]
        page_link(target.script, target.title, target.icon, query)


if __name__ == "__main__":
    page()
