"""The page Methods: which confidence method serves which model?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, cast

import polars as pl
import streamlit as st

from calib_core.edges import Scheme
from calib_core.methods import METHODS, in_order
from calib_core.methods.answers.unparseable import UnparseableRule
from calib_core.methods.method import MethodOptions
from calib_core.report.export.latex import ece_brier_latex
from calib_core.report.html import ece_brier_html
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
    METHOD_COLUMNS,
    METHODS_SETTING,
    METHODS_SOURCE,
    N_QUESTIONS,
    compare_published_methods,
    has_choices,
    published_methods,
)
from calib_core.results.uncertainty import missing_statistics_note
from calib_core.results.view_caption import ViewCaption, bins_caption, view_caption
from calib_core.runs import AnswerRun
from calib_core.views.ece_brier_table import (
    EceBrierTable,
    ece_brier_frame,
    ece_brier_table,
    published_ece_brier_table,
    runs_as_rows,
)
from calib_core.views.methods import (
    OFFERED_METHODS,
    PUBLISHED_TITLE,
    methods_legend,
    methods_recipe,
    methods_rows,
    methods_tiles,
    run_columns,
    runs_without_rows,
)
from calib_core.views.view import file_parts
from calib_core.wording import plural
from pages.state.cache import cached_result
from pages.state.markdown import escape_markdown
from pages.state.runs import LoadedRun
from pages.state.url import UrlState
from pages.widgets.binning import pick_binning
from pages.widgets.export import Export, make_file_stem, table_export_menu
from pages.widgets.page_link import page_link
from pages.widgets.pages import PAGES
from pages.widgets.pickers import pick_segment, pick_unparseable_rule
from pages.widgets.published import pick_reference, published_area, show_published
from pages.widgets.run_selection import (
    RunEvidence,
    RunSelection,
    pick_judged_answer,
    pick_run_selection,
    short_names_by_id,
    show_not_drawn,
)
from pages.widgets.shell import shell
from pages.widgets.summary import (
    show_headline,
    show_provenance,
    show_recipe,
    show_tiles,
    show_warnings_of_runs,
)
from pages.widgets.table import drop_constant_columns, show_table

TABLE_STYLE_SHEET: Final = Path(__file__).parent / "widgets" / "ece_brier_table.css"
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
            help_="Common to all: only rows where every method shown has a confidence and an outcome.",
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


def show_methods_summary(choice: MethodsChoice, result: MethodsTable) -> None:
    """Draw the headline and the tiles with the lowest Brier scores."""
    show_headline(result.headline)
    if result.one_method_per_run:
        _link_to_comparison(result)
        return
    names = short_names_by_id([run for run in choice.selection.runs if run.id in result.runs])
    if tiles := methods_tiles(result, names):
        show_tiles([tile._replace(below=escape_markdown(tile.below)) for tile in tiles])


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
    return replace(caption, rows_text=rows, missing_note=missing)


def _link_to_comparison(result: MethodsTable) -> None:
    """Link to the page Comparison with the same runs, since there is nothing to compare within a run."""
    if len(result.cells) > 1:
        page, url = PAGES["comparison"], st.query_params.to_dict()
        query = {key: url[key] for key in ("dataset", "runs", "methods", "judged") if key in url}
        page_link(page.script, f"{page.title}: compare these runs, with intervals", page.icon, query)


def show_methods_table(choice: MethodsChoice, result: MethodsTable) -> None:
    """Draw the table of the loaded runs, the recipe of each number, and the export menu."""
    st.html(TABLE_STYLE_SHEET)
    titles = {run.id: run.title for run in choice.selection.runs}
    infos = {run.id: run.report.run.info for run in choice.selection.runs}
    table = ece_brier_table(result, run_columns(infos, titles))
    if result.one_method_per_run and runs_as_rows(result):  # a sortable table as wide as the page
        show_table(
            drop_constant_columns(pl.DataFrame(methods_rows(result, titles)), "Confidence method"),
            key="methods_own",
            export=None,
            alt=plural(len(result.cells), "run"),
        )
    else:
        st.html(ece_brier_html(table))
    recipe = [methods_recipe(result)] if result.cells else []
    show_provenance(_methods_view_caption(choice, result), *recipe)
    for note in multiple_choice_notes(scored.evidence for scored in choice.selection.run_evidences):
        st.caption(f":material/info: {escape_markdown(note)}")
    _show_legend(choice, result)
    with st.expander(f"How each number was made ({len(table.notes)})", key="recipes"):
        show_recipe("\n".join(table.notes))
    for run, reason in runs_without_rows(result).items():
        st.caption(f":material/block: **{escape_markdown(titles[run])}**: {escape_markdown(reason)}")
    _show_table_export(choice, result, table)


def _show_legend(choice: MethodsChoice, result: MethodsTable) -> None:
    """Explain bold numbers and flags, and what counts as wrong."""
    for line in methods_legend(result):
        st.caption(escape_markdown(line))
    if choice.unparsed_choice == "wrong" and not any(METHODS[id_].uses_samples for id_ in result.methods):
        st.caption("No method shown uses samples, so this option has no effect.")


def _show_table_export(choice: MethodsChoice, result: MethodsTable, table: EceBrierTable) -> None:
    titles = {run.id: run.title for run in choice.selection.runs}

    def frame() -> pl.DataFrame:
        return result.to_frame().with_columns(pl.col("run").replace_strict(titles, return_dtype=pl.String))

    export = Export(
        make_file_stem(
            "methods",
            *file_parts(result.runs, "runs"),
            "ece-brier",
            choice.scheme.binning,
            choice.scheme.bins,
        ),
        frame,
        methods_recipe(result),
        "Table of methods",
    )
    table_export_menu(
        export, "methods", shown=ece_brier_frame(table), latex=lambda: ece_brier_latex(table).encode()
    )


def show_paper(choice: MethodsChoice, result: MethodsTable) -> None:
    """Draw the paper's Table 1 beside the runs, and its findings judged on them."""
    runs = choice.selection.runs
    names = short_names_by_id(runs)
    with_choices = {run.id: has_choices(run.report.run) for run in runs}
    with published_area(compare_published_methods(result, names, with_choices)):
        reference = pick_reference("paper", METHOD_COLUMNS)
        show_published(compare_published_methods(result, names, with_choices, reference), "methods")


def show_published_tables() -> None:
    """Draw the published tables, folded and labelled, since they are not of the loaded runs."""
    with st.expander(PUBLISHED_TITLE, key="published"):
        with st.grid(2, min_column_width=600, gap="medium"):
            for dataset in N_QUESTIONS:
                table = published_ece_brier_table(dataset)
                with st.container():
                    st.html(ece_brier_html(table))
                    _show_published_export(dataset, table)
        st.caption(f"{METHODS_SOURCE}: {METHODS_SETTING}.")


def _show_published_export(dataset: str, table: EceBrierTable) -> None:
    export = Export(
        make_file_stem("published", dataset, "ece", "brier"),
        lambda: published_methods().filter(dataset=dataset),
        f"{METHODS_SOURCE}: {METHODS_SETTING}",
        f"Published table of {dataset}",
    )
    table_export_menu(
        export,
        f"published_{dataset}",
        shown=ece_brier_frame(table),
        latex=lambda: ece_brier_latex(table).encode(),
    )


def page() -> None:
    """Draw the page."""
    choice = shell("methods", choose_methods).choice
    result = cached_methods_table(choice)
    show_methods_summary(choice, result)
    show_warnings_of_runs((scored.run.title, scored.evidence) for scored in choice.selection.run_evidences)
    show_methods_table(choice, result)
    show_not_drawn(choice.selection)
    show_paper(choice, result)
    show_published_tables()


if __name__ == "__main__":
    page()
