"""Which runs, methods and rows stand in the methods table, and how does it appear?  The page Methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, cast

import polars as pl
import streamlit as st

from calib_core.analysis.evidence import AnswerEvidence
from calib_core.analysis.looking import Looking, bins_of, looking
from calib_core.analysis.methods_table import MethodsTable, Order, Rows, Silent, methods_table
from calib_core.analysis.published import METHODS_SETTING, METHODS_SOURCE, QUESTIONS, published_methods
from calib_core.bins import Scheme
from calib_core.confidence import METHODS
from calib_core.confidence.method import Options, Unparseable
from calib_core.report.latex import to_latex
from calib_core.report.paired_table import PairedTable, of_paper, of_runs, runs_down, to_frame
from calib_core.report.sections import methods as section
from calib_core.report.table_html import to_html
from calib_core.wording import count
from pages.parts import cache, exporting, show, tables
from pages.parts.address import Address
from pages.parts.binning import binning_of
from pages.parts.exporting import Export, few, named
from pages.parts.link import link
from pages.parts.literal import literal
from pages.parts.many import Many, choose_many, names_of
from pages.parts.picking import segments
from pages.parts.runs import Run
from pages.parts.shell import PAGES
from pages.parts.silent import silent_runs, with_silent_runs
from pages.parts.switches import unparseable

STYLE: Final = Path(__file__).with_name("paired.css")
ROWS: Final = {"common": "Common to all", "own": "Each its own"}
SILENT: Final = {"missing": "Left out", "wrong": "Confidence 0, wrong"}
ORDER: Final = {"brier": "Brier score", "method": "Kind"}


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """What the table is made of."""

    many: Many
    scheme: Scheme
    rows: Rows
    silent: Silent
    order: Order

    def key(self) -> tuple[object, ...]:
        """What tells its numbers from any other's, for keeping them; their order is none of it."""
        return (*self.many.key(), self.scheme, self.rows, self.silent)


def choose_methods(address: Address, runs: Sequence[Run]) -> Choice:
    """The controls of the page Methods; raises Unavailable where no run fits."""
    above, below = st.container(), st.container()
    rule: Unparseable = "own"
    silent_here = silent_runs(runs, section.OFFERED)
    sampled = any(METHODS[id_].sampled for run in runs for id_ in run.report.survey.usable) or silent_here
    with below:  # read before the methods are, shown after them
        if sampled:
            rule = unparseable(address)
        silent = segments(
            address, "unanswered", SILENT, label="A question of which no sample parses",
            help_="For self-consistency: without a confidence it lowers n; or it counts as answered wrongly.",
        ) if sampled else "missing"
    with above:
        many = choose_many(
            address, runs, methods=section.OFFERED, most=len(section.OFFERED),
            options=Options(unparseable=rule), also=silent_here if silent == "wrong" else {},
        )
    if silent == "wrong":
        many = with_silent_runs(many, Options(unparseable=rule))
    with below:
        rows = segments(
            address, "common", ROWS, label="Rows",
            help_="Common: in each run, the rows for which every method shown has a confidence and an "
            "outcome.",
        )
        order = segments(
            address, "sort", ORDER, label="Order of the methods",
            help_="By mean Brier score, or logit before self-consistency before stated, as in the paper.",
        )
        scheme = binning_of(address, many.seen[0].evidence)
    return Choice(many, scheme, cast("Rows", rows), cast("Silent", silent), cast("Order", order))


def result_of(choice: Choice) -> MethodsTable:
    """The table, computed once, in the order wanted."""
    seen: dict[str, list[AnswerEvidence]] = {run.id: [] for run in choice.many.runs}
    for one in choice.many.seen:
        if isinstance(one.evidence, AnswerEvidence):
            seen[one.run.id].append(one.evidence)
    return cache.kept(
        ("methods", *choice.key()),
        lambda: methods_table(seen, choice.scheme, rows=choice.rows, silent=choice.silent),
    ).ordered(choice.order)


def verdict(choice: Choice, result: MethodsTable) -> None:
    """Which method has the lowest Brier score where, as a sentence and tiles; how all numbers were made."""
    show.reading(result.reading, _looking_at(choice, result))
    if result.alone:
        _to_comparison(result)
        return
    names = names_of([run for run in choice.many.runs if run.id in result.runs])
    if tiles := section.tiles(result, names):
        show.tiles([tile._replace(below=literal(tile.below)) for tile in tiles])
    show.recipe(section.recipe(result))


def _to_comparison(result: MethodsTable) -> None:
    """The way to the page that compares runs, with the same ones."""
    if len(result.cells) > 1:
        page, asked = PAGES["comparison"], st.query_params.to_dict()
        held = {key: asked[key] for key in ("dataset", "runs", "methods") if key in asked}
        link(page.script, f"{page.title}: these runs beside one another, with intervals", page.icon, held)
    if result.cells:
        show.recipe(section.recipe(result))


def _looking_at(choice: Choice, result: MethodsTable) -> Looking:
    """The table, of which runs and methods."""
    seen = [one for one in choice.many.seen if one.run.id in result.runs]
    rows = "rows common to the methods of a run" if choice.rows == "common" else "each method's own rows"
    number = f"ECE, {bins_of(choice.scheme)}, and Brier score"
    made = looking("Table", [one.run.title for one in seen], [one.evidence for one in seen], number)
    return replace(made, rows=rows)


def own(choice: Choice, result: MethodsTable) -> None:
    """The person's own table, how each number was made, and its downloads."""
    st.html(STYLE)
    titles = {run.id: run.title for run in choice.many.runs}
    infos = {run.id: run.report.run.info for run in choice.many.runs}
    table = of_runs(result, section.columns(infos, titles))
    if result.alone and runs_down(result):  # a row a run: as wide as the page, and to be sorted
        tables.plain(
            tables.unlike(pl.DataFrame(section.rows(result, titles)), "Confidence method"),
            key="methods_own", export=None, alt=count(len(result.cells), "run"),
        )
    else:
        st.html(to_html(table))
    _legend(choice, result)
    with st.expander(f"How each number was made ({len(table.notes)})", key="recipes"):
        show.recipe("\n".join(table.notes))
    for run, why in section.without(result).items():
        st.caption(f":material/block: **{literal(titles[run])}**: {literal(why)}")
    _export(choice, result, table)


def _legend(choice: Choice, result: MethodsTable) -> None:
    """What bold and the flag mean, and what counts as wrong."""
    for told in section.legend(result):
        st.caption(literal(told))
    if choice.silent == "wrong" and not any(METHODS[id_].sampled for id_ in result.methods):
        st.caption("No method shown is made from samples, so nothing is counted as wrong for want of one.")


def _export(choice: Choice, result: MethodsTable, table: PairedTable) -> None:
    titles = {run.id: run.title for run in choice.many.runs}

    def frame() -> pl.DataFrame:
        return result.to_frame().with_columns(pl.col("run").replace_strict(titles, return_dtype=pl.String))

    export = Export(
        named("methods", *few(result.runs, "runs"), "ece-brier", choice.scheme.binning, choice.scheme.bins),
        frame, section.recipe(result), "Table of methods",
    )
    exporting.table(
        export, "methods", shown=to_frame(table), latex=lambda: to_latex(table).encode()
    )


def published() -> None:
    """The paper's table, labelled as such and folded: it is not of these runs."""
    with st.expander(section.PUBLISHED, key="published"):
        with st.grid(2, min_column_width=600, gap="medium"):
            for dataset in QUESTIONS:
                table = of_paper(dataset)
                with st.container():
                    st.html(to_html(table))
                    _export_published(dataset, table)
        st.caption(f"{METHODS_SOURCE}: {METHODS_SETTING}.")


def _export_published(dataset: str, table: PairedTable) -> None:
    export = Export(
        named("published", dataset, "ece", "brier"), lambda: published_methods().filter(dataset=dataset),
        f"{METHODS_SOURCE}: {METHODS_SETTING}", f"Published table of {dataset}",
    )
    exporting.table(
        export, f"published_{dataset}", shown=to_frame(table), latex=lambda: to_latex(table).encode()
    )
