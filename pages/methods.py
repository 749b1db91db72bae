"""The page Methods: which confidence method serves which model?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, cast

import streamlit as st

from calib_core.edges import Scheme
from calib_core.methods import METHODS, in_order
from calib_core.methods.answers.unparseable import UnparseableRule
from calib_core.methods.method import MethodOptions
from calib_core.results.evidence import AnswerEvidence
from calib_core.results.judged_answer import JudgedChoice
from calib_core.results.methods_table import (
    MethodOrder,
    MethodsTable,
    RowChoice,
    UnparsedChoice,
    compare_methods,
    evidence_of_unparsed_run,
    multiple_choice_notes,
)
from calib_core.results.published import (
    N_QUESTIONS,
    PAPER_METHODS,
    PUBLISHED_MODELS,
    compare_published_methods,
    has_choices,
)
from calib_core.results.uncertainty import missing_statistics_note
from calib_core.results.view_caption import ViewCaption, bins_caption, view_caption
from calib_core.runs import AnswerRun
from calib_core.terms import Terms, common_terms
from calib_core.views.methods import OFFERED_METHODS, methods_view, names_in_datasets, published_methods_view
from pages.state.cache import cached_result
from pages.state.runs import LoadedRun, dataset_id
from pages.state.url import UrlState
from pages.widgets.binning import pick_binning
from pages.widgets.page_link import page_link
from pages.widgets.pages import PAGES
from pages.widgets.pickers import pick_segment, pick_unparseable_rule
from pages.widgets.published import pick_reference, published_area, show_published
from pages.widgets.run_selection import (
    RunEvidence,
    RunSelection,
    pick_judged_answer,
    pick_run_selection,
    pick_several_datasets,
    short_names_by_id,
)
from pages.widgets.shell import shell
from pages.widgets.summary import show_warnings_of_runs
from pages.widgets.view import show_ece_brier_table, show_view

ROWS_TITLES: Final = {"common": "Common to all", "own": "Each method's own"}
UNPARSED_TITLES: Final = {"missing": "Left out", "wrong": "Confidence 0, wrong"}
ORDER_TITLES: Final = {"brier": "Brier score", "method": "Kind"}


@dataclass(frozen=True, slots=True, eq=False)
class MethodsChoice:
    """What the page Methods shows.

    Attributes
    ----------
    selection : RunSelection
    scheme : Scheme
        Binning of the ECE.
    rows : {"common", "own"}
        Whether the methods of a run are compared on their common rows or each on its own.
    unparsed : {"missing", "wrong"}
        How a question without a readable sample counts.
    judged : {"own", "greedy", "majority"}
        Which answer the methods are judged by.
    order : {"brier", "method"}
    """

    selection: RunSelection
    scheme: Scheme
    row_choice: RowChoice
    unparsed_choice: UnparsedChoice
    judged_choice: JudgedChoice
    order: MethodOrder

    @property
    def terms(self) -> Terms:
        """The words for what is shown."""
        return common_terms(one.evidence.terms for one in self.selection.run_evidences)

    def cache_key(self) -> tuple[object, ...]:
        """Return what determines the numbers; their order does not."""
        return (
            *self.selection.cache_key(),
            self.scheme,
            self.row_choice,
            self.unparsed_choice,
            self.judged_choice,
        )


def choose_methods(url_state: UrlState, runs: Sequence[LoadedRun]) -> MethodsChoice:
    """Draw the sidebar controls: runs, methods, rows, order and binning.

    Raises
    ------
    Unavailable
        Where no run gives one of the methods.
    """
    above, bins, below = st.container(), st.container(), st.container()
    rule: UnparseableRule = "own"
    usable = (id_ for run in runs for id_ in run.report.survey.usable)
    offered = in_order([*OFFERED_METHODS, *usable], OFFERED_METHODS)
    unparsed = unparsed_runs(runs, offered)
    has_samples = (
        any(METHODS[id_].uses_samples for run in runs for id_ in run.report.survey.usable) or unparsed
    )
    with below:  # shown below the methods, which depend on these two
        if has_samples:
            rule = pick_unparseable_rule(url_state)
        unparsed_choice = (
            pick_segment(
                url_state,
                "unanswered",
                UNPARSED_TITLES,
                label="Questions without a readable answer",
                help_="For self-consistency: leave these questions out, or count them as wrong with "
                "confidence 0.",
            )
            if has_samples
            else "missing"
        )
    with above:
        selection = pick_run_selection(
            url_state,
            runs,
            methods=offered,
            default_methods=lambda available, _n_runs: available,
            pick_dataset=lambda url_state, runs, studied: pick_several_datasets(
                url_state, runs, studied, datasets_like_the_paper(runs)
            ),
            options=MethodOptions(unparseable=rule),
            extra_methods=unparsed if unparsed_choice == "wrong" else {},
        )
    if unparsed_choice == "wrong":
        selection = with_unparsed_runs(selection, MethodOptions(unparseable=rule))
    with below:
        rows = pick_segment(
            url_state,
            "common",
            ROWS_TITLES,
            label="Rows",
            help_="Common to all: only rows that every method shown can use.",
        )
        judged = pick_judged_answer(url_state, selection)
        order = pick_segment(
            url_state,
            "sort",
            ORDER_TITLES,
            label="Order methods by",
            help_="By mean Brier score, or in the paper's order: logit, self-consistency, stated.",
        )
    with bins:
        scheme = pick_binning(url_state, selection.run_evidences[0].evidence)
    return MethodsChoice(
        selection,
        scheme,
        cast("RowChoice", rows),
        cast("UnparsedChoice", unparsed_choice),
        judged,
        cast("MethodOrder", order),
    )


def datasets_like_the_paper(runs: Sequence[LoadedRun]) -> list[str]:
    """Return the ids of as many data sets as the paper's table has, of runs that have all of its methods."""
    ids = dict.fromkeys(dataset_id(run) for run in runs if {*PAPER_METHODS} <= {*run.report.survey.usable})
    return list(ids)[: len(N_QUESTIONS)]


def unparsed_runs(runs: Sequence[LoadedRun], offered: Sequence[str]) -> dict[str, list[str]]:
    """Return the runs without any readable sample, with the methods that then count every question as wrong.

    Parameters
    ----------
    runs : Sequence of LoadedRun
    offered : Sequence of str
        Ids of the methods on the page.

    Returns
    -------
    dict of str to list of str
        Run id → ids of the sample-based methods.
    """
    sample_methods = [id_ for id_ in offered if METHODS[id_].uses_samples]
    return {
        run.id: sample_methods
        for run in runs
        if sample_methods
        and isinstance(run.report.run, AnswerRun)
        and not {*sample_methods} & {*run.report.survey.usable}
        # All sample-based methods agree on this, so the first one decides.
        and evidence_of_unparsed_run(run.report.run, METHODS[sample_methods[0]], MethodOptions()) is not None
    }


def with_unparsed_runs(selection: RunSelection, options: MethodOptions) -> RunSelection:
    """Return the selection with its runs without a readable sample, whose answers all count as wrong."""
    run_evidences = list(selection.run_evidences)
    for run in selection.runs:
        for id_ in selection.methods:
            if (run.id, id_) in selection.unavailable and isinstance(run.report.run, AnswerRun):
                evidence = evidence_of_unparsed_run(run.report.run, METHODS[id_], options)
                run_evidences += [] if evidence is None else [RunEvidence(run, evidence)]
    scored = {(scored_run.run.id, scored_run.evidence.method.id) for scored_run in run_evidences}
    unavailable = {key: reason for key, reason in selection.unavailable.items() if key not in scored}
    return replace(selection, run_evidences=tuple(run_evidences), unavailable=unavailable)


def cached_methods_table(choice: MethodsChoice) -> MethodsTable:
    """Return the table, computed once, in the chosen order."""
    evidences: dict[str, list[AnswerEvidence]] = {run.id: [] for run in choice.selection.runs}
    for scored in choice.selection.run_evidences:
        if isinstance(scored.evidence, AnswerEvidence):
            evidences[scored.run.id].append(scored.evidence)
    return cached_result(
        ("methods", *choice.cache_key()),
        lambda: compare_methods(
            evidences,
            choice.scheme,
            row_choice=choice.row_choice,
            unparsed_choice=choice.unparsed_choice,
            judged_choice=choice.judged_choice,
        ),
    ).ordered(choice.order)


def _methods_view_caption(choice: MethodsChoice, result: MethodsTable) -> ViewCaption:
    """Return the caption that says which runs, methods and rows the table is of."""
    shown = [scored for scored in choice.selection.run_evidences if scored.run.id in result.runs]
    rows = (
        "rows common to the methods of a run" if choice.row_choice == "common" else "each method's own rows"
    )
    metrics = f"ECE, {bins_caption(choice.scheme)}, and Brier score"
    evidences = [scored.evidence for scored in shown]
    caption = view_caption("Table", [scored.run.title for scored in shown], evidences, metrics)
    missing = missing_statistics_note(evidences, ["ece"], choice.scheme, intervals=False)
    rows = ", ".join(filter(None, (rows, result.rows_text)))
    return replace(caption, rows_text=rows, missing_note=missing)


def _link_to_comparison(result: MethodsTable) -> None:
    """Link to the page Comparison with the same runs, since there is nothing to compare within a run."""
    if len(result.cells) > 1:
        page, url = PAGES["comparison"], st.query_params.to_dict()
        query = {key: url[key] for key in ("dataset", "runs", "methods", "judged") if key in url}
        page_link(page.script, f"{page.title}: compare these runs, with intervals", page.icon, query)


def show_paper(choice: MethodsChoice, result: MethodsTable) -> None:
    """Draw the paper's Table 1 beside the runs, and its findings judged on them."""
    runs = choice.selection.runs
    with_choices = {run.id: has_choices(run.report.run) for run in runs}
    compare = partial(
        compare_published_methods, result, short_names_by_id(runs), with_choices, names=dataset_names(runs)
    )
    comparison = compare()
    with published_area(comparison):
        if comparison.tables:
            comparison = compare(reference=pick_reference("paper", PUBLISHED_MODELS))
        show_published(comparison, "methods")


def dataset_names(runs: Sequence[LoadedRun]) -> dict[str, str]:
    """Return run id → short name that is unique within the run's data set."""
    infos = {run.id: run.report.run.info for run in runs}
    return names_in_datasets(infos, {run.id: run.title for run in runs})


def show_published_table() -> None:
    """Draw the published table, folded and labelled, since it is not of the loaded runs."""
    view = published_methods_view()
    with st.expander(view.title, key="published"):
        for table in view.ece_brier_tables:
            show_ece_brier_table(view, table)
        st.caption(view.how_to_read)


def page() -> None:
    """Draw the page."""
    choice = shell("methods", choose_methods).choice
    result, selection = cached_methods_table(choice), choice.selection
    titles = {run.id: run.title for run in selection.runs}

    def above_the_table() -> None:
        if result.one_method_per_run:
            _link_to_comparison(result)
        show_warnings_of_runs((scored.run.title, scored.evidence) for scored in selection.run_evidences)

    show_view(
        methods_view(
            result,
            names=dataset_names(selection.runs),
            titles=titles,
            refused={
                f"{titles[run]}, {METHODS[method].title}": why
                for (run, method), why in selection.unavailable.items()
            },
            notes=multiple_choice_notes(scored.evidence for scored in selection.run_evidences),
        ),
        _methods_view_caption(choice, result),
        controls=above_the_table,
    )
    if result.terms.of == "answer":
        show_paper(choice, result)
    show_published_table()


if __name__ == "__main__":
    page()
