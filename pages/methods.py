"""Which confidence serves which model?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, cast

import polars as pl
import streamlit as st

from calib_core.edges import Scheme
from calib_core.methods import METHODS
from calib_core.methods.answers.unparseable import UnparseableRule
from calib_core.methods.method import MethodOptions
from calib_core.report.ece_brier_table import (
    EceBrierTable,
    ece_brier_frame,
    ece_brier_table,
    published_ece_brier_table,
    runs_as_rows,
)
from calib_core.report.export.latex import ece_brier_latex
from calib_core.report.html import ece_brier_html
from calib_core.report.sections.methods import (
    OFFERED_METHODS,
    PUBLISHED_TITLE,
    methods_legend,
    methods_recipe,
    methods_rows,
    methods_tiles,
    run_columns,
    runs_without_rows,
)
from calib_core.results.evidence import AnswerEvidence
from calib_core.results.methods_table import (
    MethodOrder,
    MethodsTable,
    RowChoice,
    UnparsedChoice,
    compare_methods,
    evidence_of_unparsed_run,
)
from calib_core.results.published import METHODS_SETTING, METHODS_SOURCE, N_QUESTIONS, published_methods
from calib_core.results.view_caption import ViewCaption, bins_caption, view_caption
from calib_core.runs import AnswerRun
from calib_core.wording import plural
from pages.state.cache import cached_result
from pages.state.markdown import escape_markdown
from pages.state.runs import LoadedRun
from pages.state.url import UrlState
from pages.widgets.binning import pick_binning
from pages.widgets.export import Export, make_file_stem, stem_parts, table_export_menu
from pages.widgets.page_link import page_link
from pages.widgets.pickers import pick_segment, pick_unparseable_rule
from pages.widgets.run_selection import (
    RunEvidence,
    RunSelection,
    pick_run_selection,
    short_names_by_id,
    show_not_drawn,
)
from pages.widgets.shell import PAGES, shell
from pages.widgets.summary import show_headline, show_recipe, show_tiles
from pages.widgets.table import drop_constant_columns, show_table

# MERGED silent: Which runs have samples of which none parses, and what is said of them where that counts as wrong?


def unparsed_runs(runs: Sequence[LoadedRun], offered: Sequence[str]) -> dict[str, list[str]]:
    """Run id → methods of several samples that can say something of it only where silence is wrong."""
    several = [id_ for id_ in offered if METHODS[id_].uses_samples]
    return {
        run.id: several
        for run in runs
        if several
        and isinstance(run.report.run, AnswerRun)
        and not {*several} & {*run.report.survey.usable}
        and evidence_of_unparsed_run(run.report.run, METHODS[several[0]], MethodOptions())
        is not None  # so for each of them
    }


def with_unparsed_runs(selection: RunSelection, options: MethodOptions) -> RunSelection:
    """With the runs of which no sample parses: all of their questions are answered wrongly."""
    seen = list(selection.run_evidences)
    for run in selection.runs:
        for id_ in selection.methods:
            if (run.id, id_) in selection.unavailable and isinstance(run.report.run, AnswerRun):
                evidence = evidence_of_unparsed_run(run.report.run, METHODS[id_], options)
                seen += [] if evidence is None else [RunEvidence(run, evidence)]
    found = {(one.run.id, one.evidence.method.id) for one in seen}
    refused = {key: why for key, why in selection.unavailable.items() if key not in found}
    return replace(selection, run_evidences=tuple(seen), unavailable=refused)


# MERGED methods_table: Which runs, methods and rows stand in the methods table, and how does it appear?  The page Methods.

TABLE_STYLE_SHEET: Final = Path(__file__).parent / "widgets" / "ece_brier_table.css"
ROWS_TITLES: Final = {"common": "Common to all", "own": "Each its own"}
UNPARSED_TITLES: Final = {"missing": "Left out", "wrong": "Confidence 0, wrong"}
ORDER_TITLES: Final = {"brier": "Brier score", "method": "Kind"}


@dataclass(frozen=True, slots=True, eq=False)
class MethodsChoice:
    """What the table is made of."""

    selection: RunSelection
    scheme: Scheme
    rows: RowChoice
    unparsed: UnparsedChoice
    order: MethodOrder

    def cache_key(self) -> tuple[object, ...]:
        """What tells its numbers from any other's, for keeping them; their order is none of it."""
        return (*self.selection.cache_key(), self.scheme, self.rows, self.unparsed)


def choose_methods(url_state: UrlState, runs: Sequence[LoadedRun]) -> MethodsChoice:
    """The controls of the page Methods; raises Unavailable where no run fits."""
    above, below = st.container(), st.container()
    rule: UnparseableRule = "own"
    silent_here = unparsed_runs(runs, OFFERED_METHODS)
    sampled = (
        any(METHODS[id_].uses_samples for run in runs for id_ in run.report.survey.usable) or silent_here
    )
    with below:  # read before the methods are, shown after them
        if sampled:
            rule = pick_unparseable_rule(url_state)
        silent = (
            pick_segment(
                url_state,
                "unanswered",
                UNPARSED_TITLES,
                label="A question of which no sample parses",
                help_="For self-consistency: without a confidence it lowers n; or it counts as answered wrongly.",
            )
            if sampled
            else "missing"
        )
    with above:
        many = pick_run_selection(
            url_state,
            runs,
            methods=OFFERED_METHODS,
            max_methods=len(OFFERED_METHODS),
            options=MethodOptions(unparseable=rule),
            extra_methods=silent_here if silent == "wrong" else {},
        )
    if silent == "wrong":
        many = with_unparsed_runs(many, MethodOptions(unparseable=rule))
    with below:
        rows = pick_segment(
            url_state,
            "common",
            ROWS_TITLES,
            label="Rows",
            help_="Common: in each run, the rows for which every method shown has a confidence and an "
            "outcome.",
        )
        order = pick_segment(
            url_state,
            "sort",
            ORDER_TITLES,
            label="Order of the methods",
            help_="By mean Brier score, or logit before self-consistency before stated, as in the paper.",
        )
        scheme = pick_binning(url_state, many.run_evidences[0].evidence)
    return MethodsChoice(
        many, scheme, cast("RowChoice", rows), cast("UnparsedChoice", silent), cast("MethodOrder", order)
    )


def cached_methods_table(choice: MethodsChoice) -> MethodsTable:
    """The table, computed once, in the order wanted."""
    seen: dict[str, list[AnswerEvidence]] = {run.id: [] for run in choice.selection.runs}
    for one in choice.selection.run_evidences:
        if isinstance(one.evidence, AnswerEvidence):
            seen[one.run.id].append(one.evidence)
    return cached_result(
        ("methods", *choice.cache_key()),
        lambda: compare_methods(seen, choice.scheme, rows=choice.rows, unparsed=choice.unparsed),
    ).ordered(choice.order)


def show_methods_summary(choice: MethodsChoice, result: MethodsTable) -> None:
    """Which method has the lowest Brier score where, as a sentence and tiles; how all numbers were made."""
    show_headline(result.headline, _methods_view_caption(choice, result))
    if result.one_method_per_run:
        _link_to_comparison(result)
        return
    names = short_names_by_id([run for run in choice.selection.runs if run.id in result.runs])
    if tiles := methods_tiles(result, names):
        show_tiles([tile._replace(below=escape_markdown(tile.below)) for tile in tiles])
    show_recipe(methods_recipe(result))


def _link_to_comparison(result: MethodsTable) -> None:
    """The way to the page that compares runs, with the same ones."""
    if len(result.cells) > 1:
        page, asked = PAGES["comparison"], st.query_params.to_dict()
        held = {key: asked[key] for key in ("dataset", "runs", "methods") if key in asked}
        page_link(
            page.script, f"{page.title}: these runs beside one another, with intervals", page.icon, held
        )
    if result.cells:
        show_recipe(methods_recipe(result))


def _methods_view_caption(choice: MethodsChoice, result: MethodsTable) -> ViewCaption:
    """The table, of which runs and methods."""
    seen = [one for one in choice.selection.run_evidences if one.run.id in result.runs]
    rows = "rows common to the methods of a run" if choice.rows == "common" else "each method's own rows"
    number = f"ECE, {bins_caption(choice.scheme)}, and Brier score"
    made = view_caption("Table", [one.run.title for one in seen], [one.evidence for one in seen], number)
    return replace(made, rows_text=rows)


def show_methods_table(choice: MethodsChoice, result: MethodsTable) -> None:
    """The person's own table, how each number was made, and its downloads."""
    st.html(TABLE_STYLE_SHEET)
    titles = {run.id: run.title for run in choice.selection.runs}
    infos = {run.id: run.report.run.info for run in choice.selection.runs}
    table = ece_brier_table(result, run_columns(infos, titles))
    if result.one_method_per_run and runs_as_rows(
        result
    ):  # a row a run: as wide as the page, and to be sorted
        show_table(
            drop_constant_columns(pl.DataFrame(methods_rows(result, titles)), "Confidence method"),
            key="methods_own",
            export=None,
            alt=plural(len(result.cells), "run"),
        )
    else:
        st.html(ece_brier_html(table))
    _show_legend(choice, result)
    with st.expander(f"How each number was made ({len(table.notes)})", key="recipes"):
        show_recipe("\n".join(table.notes))
    for run, why in runs_without_rows(result).items():
        st.caption(f":material/block: **{escape_markdown(titles[run])}**: {escape_markdown(why)}")
    _show_table_export(choice, result, table)


def _show_legend(choice: MethodsChoice, result: MethodsTable) -> None:
    """What bold and the flag mean, and what counts as wrong."""
    for told in methods_legend(result):
        st.caption(escape_markdown(told))
    if choice.unparsed == "wrong" and not any(METHODS[id_].uses_samples for id_ in result.methods):
        st.caption("No method shown is made from samples, so nothing is counted as wrong for want of one.")


def _show_table_export(choice: MethodsChoice, result: MethodsTable, table: EceBrierTable) -> None:
    titles = {run.id: run.title for run in choice.selection.runs}

    def frame() -> pl.DataFrame:
        return result.to_frame().with_columns(pl.col("run").replace_strict(titles, return_dtype=pl.String))

    export = Export(
        make_file_stem(
            "methods",
            *stem_parts(result.runs, "runs"),
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


def show_published_tables() -> None:
    """The paper's table, labelled as such and folded: it is not of these runs."""
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
    """Draws the page."""
    choice = shell("methods", choose_methods).choice
    result = cached_methods_table(choice)
    show_methods_summary(choice, result)
    show_methods_table(choice, result)
    show_not_drawn(choice.selection)
    show_published_tables()


if __name__ == "__main__":
    page()
