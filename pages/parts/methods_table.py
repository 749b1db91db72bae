"""Which runs, methods and rows stand in the methods table, and how does it appear?  The page Methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, cast

import polars as pl
import streamlit as st

from calib_core.analysis.evidence import AnswerEvidence
from calib_core.analysis.families import short_names
from calib_core.analysis.methods_table import MethodsTable, Order, Rows, Silent, methods_table
from calib_core.analysis.published import METHODS_SETTING, METHODS_SOURCE, QUESTIONS
from calib_core.analysis.recipe import scheme_text
from calib_core.analysis.unanswered import of_silent_run
from calib_core.bins import Scheme
from calib_core.confidence import METHODS
from calib_core.confidence.method import Options, Unparseable
from calib_core.metrics import METRICS
from calib_core.problems import shorten
from calib_core.records import AnswerRun
from calib_core.report.latex import to_latex
from calib_core.report.paired_table import FLAG, PairedTable, of_paper, of_runs
from calib_core.report.table_html import to_html
from pages.parts import cache, show
from pages.parts.address import Address
from pages.parts.binning import binning_of
from pages.parts.literal import literal
from pages.parts.many import Many, Seen, choose_many, names_of
from pages.parts.runs import Run
from pages.parts.switches import UNPARSEABLE

STYLE: Final = Path(__file__).with_name("paired.css")
ROWS: Final = {"common": "Common to all", "own": "Each its own"}
SILENT: Final = {"missing": "Left out", "wrong": "Confidence 0, wrong"}
ORDER: Final = {"brier": "Brier", "method": "Kind"}
FEW_BINS: Final = f"Marked {FLAG}: the ECE rests on one or two bins that hold most of the confidences."
OFFERED: Final = tuple(id_ for id_ in METHODS if id_ != "tokens")


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """What the table is made of."""

    many: Many
    scheme: Scheme
    rows: Rows
    silent: Silent
    order: Order

    def key(self) -> tuple[object, ...]:
        """What tells its table from any other, for keeping it."""
        return (*self.many.key(), self.scheme, self.rows, self.silent, self.order)


def choose_methods(address: Address, runs: Sequence[Run]) -> Choice:
    """The controls of the page Methods; raises Unavailable where no run fits."""
    above, below = st.container(), st.container()
    rule: Unparseable = "own"
    sampled = any(METHODS[id_].sampled for run in runs for id_ in run.report.survey.usable)
    with below:  # read before the methods are, shown after them
        if sampled:
            rule = cast("Unparseable", address.pick("unparseable", list(UNPARSEABLE), "own"))
            st.selectbox(
                "Samples that do not parse", list(UNPARSEABLE), key="unparseable",
                format_func=lambda id_: UNPARSEABLE[id_],
            )
    with above:
        many = choose_many(
            address, runs, methods=OFFERED, most=len(OFFERED), options=Options(unparseable=rule)
        )
    with below:
        silent = _one_of(
            address, "unanswered", SILENT, "A question of which no sample parses",
            "For self-consistency: without a confidence it lowers n; or it counts as answered wrongly.",
        ) if sampled else "missing"
        rows = _one_of(
            address, "common", ROWS, "Rows",
            "Common: in each run, the rows for which every method shown has a confidence and an outcome.",
        )
        order = _one_of(address, "sort", ORDER, "Order of the methods", "By mean Brier, or logit before "
                        "self-consistency before stated, as in the paper.")
        scheme = binning_of(address, many.seen[0].evidence)
    if silent == "wrong":
        many = _with_silent_runs(many, Options(unparseable=rule))
    return Choice(many, scheme, cast("Rows", rows), cast("Silent", silent), cast("Order", order))


def _with_silent_runs(many: Many, options: Options) -> Many:
    """With the runs of which no sample parses: all of their questions are answered wrongly."""
    seen = list(many.seen)
    for run in many.runs:
        for id_ in many.methods:
            if (run.id, id_) in many.refused and isinstance(run.report.run, AnswerRun):
                evidence = of_silent_run(run.report.run, METHODS[id_], options)
                seen += [] if evidence is None else [Seen(run, evidence)]
    found = {(one.run.id, one.evidence.method.id) for one in seen}
    refused = {key: why for key, why in many.refused.items() if key not in found}
    return replace(many, seen=tuple(seen), refused=refused)


def _one_of(address: Address, key: str, titles: dict[str, str], label: str, help_: str) -> str:
    picked = address.pick(key, list(titles), next(iter(titles)))
    st.segmented_control(
        label, list(titles), key=key, required=True, format_func=lambda id_: titles[id_], help=help_
    )
    return picked


def result_of(choice: Choice) -> MethodsTable:
    """The table, computed once."""
    seen: dict[str, list[AnswerEvidence]] = {run.id: [] for run in choice.many.runs}
    for one in choice.many.seen:
        if isinstance(one.evidence, AnswerEvidence):
            seen[one.run.id].append(one.evidence)
    return cache.kept(
        ("methods", *choice.key()),
        lambda: methods_table(
            seen, choice.scheme, rows=choice.rows, silent=choice.silent, order=choice.order
        ),
    )


def verdict(choice: Choice, result: MethodsTable) -> None:
    """Which method has the lowest Brier score where, as a sentence and tiles; how all numbers were made."""
    st.subheader(literal(result.reading), anchor=False)
    cells = list(result.cells.values())
    known = [(cell.brier, cell) for cell in cells if cell.brier is not None]
    if known:
        least, best = min(known, key=lambda one: one[0])
        names = names_of([run for run in choice.many.runs if run.id in result.runs])
        flagged = sum(cell.warning is not None for cell in cells)
        few, many = (end(cells, key=lambda cell: cell.n_used / cell.n_total) for end in (min, max))
        more = "" if few.n_used == many.n_used else f"fewest; most {many.n_used:,} / {many.n_total:,}"
        runs = len({cell.run for cell in cells})
        show.tiles([
            (
                "Methods", str(len(result.methods)), "Rows of the table; its columns are runs.",
                f"{runs} run{'s' if runs > 1 else ''}",
            ),
            (
                "Lowest Brier", show.number(least), METRICS["brier"].meaning,
                literal(shorten(f"{names[best.run]}, {METHODS[best.method].title}", 60)),
            ),
            ("ECE on few bins", f"{flagged} of {len(cells)}", FEW_BINS),
            ("Rows used / total", f"{few.n_used:,} / {few.n_total:,}", "Of a run and method.", more),
        ])
    which = "common to the methods of a run" if choice.rows == "common" else "each method's own"
    show.recipe(f"Brier; ECE-L1, {scheme_text(choice.scheme)}; rows: {which}")


def own(choice: Choice, result: MethodsTable) -> None:
    """The person's own table, how each number was made, and its downloads."""
    st.html(STYLE)
    titles = {run.id: run.title for run in choice.many.runs}
    table = of_runs(result, _columns(choice.many.runs))
    st.html(to_html(table))
    _legend(choice, result)
    with st.expander(f"How each number was made ({len(table.notes)})", key="recipes"):
        show.recipe("\n".join(table.notes))
    for run, why in _without(result).items():
        st.caption(f":material/block: **{literal(titles[run])}**: {literal(why)}")
    _downloads(result, table, titles)


def _columns(runs: Sequence[Run]) -> dict[str, tuple[str, str]]:
    """Run id → (data set, model and what else tells the runs of that data set apart)."""
    found: dict[str, tuple[str, str]] = {}
    for dataset in dict.fromkeys(run.report.run.info.dataset for run in runs):
        own = [run for run in runs if run.report.run.info.dataset == dataset]
        infos = {run.id: run.report.run.info for run in own}
        names = short_names(infos, {run.id: run.title for run in own})
        found |= {id_: (dataset or "", name) for id_, name in names.items()}
    return found


def _legend(choice: Choice, result: MethodsTable) -> None:
    """What bold, the flag and the second line mean; what the order is, and what it does not say."""
    flagged = [cell for cell in result.cells.values() if cell.warning]
    st.caption(
        "Bold and underlined: lowest of its run, where all methods stand on the same rows (ties all). "
        "Brier leads, as in the paper: a low ECE alone may only mean that a method says the average each "
        "time. Lowest is not yet better: the page Comparison has the intervals. Below each pair: the share "
        "of the judged answers that is right, the rows it stands on, and which answer is judged."
    )
    if flagged:
        several = f", {len(flagged)} cells; one of them" if len(flagged) > 1 else ""
        why = literal(flagged[0].warning or "")
        st.caption(f"{FLAG} An ECE that rests on one or two bins{several}: {why}")
    if choice.silent == "wrong" and not any(METHODS[id_].sampled for id_ in result.methods):
        st.caption("No method shown is made from samples, so nothing is counted as wrong for want of one.")


def _without(result: MethodsTable) -> dict[str, str]:
    """Runs without a single row to stand on → why."""
    return {run: why for (run, _), why in result.refused.items()}


def _downloads(result: MethodsTable, table: PairedTable, titles: dict[str, str]) -> None:
    def frame() -> pl.DataFrame:
        return result.to_frame().with_columns(pl.col("run").replace_strict(titles, return_dtype=pl.String))

    with st.container(horizontal=True):
        show.download("Table as CSV", frame, "methods.csv", key="download_methods")
        st.download_button(
            "Table as LaTeX", data=lambda: to_latex(table).encode(), file_name="methods.tex",
            mime="text/x-tex", key="download_latex", on_click="ignore", icon=":material/download:",
            help="For a document with \\usepackage{booktabs}. How each number was made stands in comments.",
        )


def published() -> None:
    """The paper's table, labelled as such."""
    st.markdown("**Published figures, other models and data, not computed here**")
    with st.grid(2, min_column_width=640, gap="medium"):
        for dataset in QUESTIONS:
            st.html(to_html(of_paper(dataset)))
    st.caption(f"{METHODS_SOURCE}: {METHODS_SETTING}.")
