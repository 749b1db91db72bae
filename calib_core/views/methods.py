"""The page Methods: ECE and Brier score of every run by every method, a block for each data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import polars as pl

from calib_core.errors import Unavailable
from calib_core.inference.missingness import ROWS_WITH_ONE, missing_caveat
from calib_core.methods import METHODS, in_order
from calib_core.methods.method import MethodOptions
from calib_core.results.best import paired_recipe
from calib_core.results.evidence import AnswerEvidence
from calib_core.results.judged_answer import judged_by_text
from calib_core.results.methods_table import (
    MethodsTable,
    compare_methods,
    multiple_choice_notes,
)
from calib_core.results.published import (
    METHODS_SETTING,
    METHODS_SOURCE,
    PAPER_METHODS,
    compare_published_methods,
    has_choices,
    published_methods,
)
from calib_core.results.recipe import scheme_text
from calib_core.results.run_names import short_run_names
from calib_core.runs import RunInfo
from calib_core.views.ece_brier_table import ece_brier_table, published_ece_brier_table, runs_as_rows
from calib_core.views.inputs import ReportInput
from calib_core.views.published_table import published_view
from calib_core.views.view import (
    FEW_BINS_MARK,
    Fact,
    Numbers,
    ProgressCallback,
    Section,
    View,
    ViewTable,
    file_parts,
    reasons_by_title,
    text_lines,
)
from calib_core.wording import as_clause, definite, names_sharing

ID, TITLE, QUESTION = "methods", "Methods", "Which confidence method suits which model?"
EVENT_QUESTION: Final = "Which probability suits which model?"

OFFERED_METHODS: Final = tuple(id_ for id_, method in METHODS.items() if method.run_kind == "answers")
PUBLISHED_TITLE: Final = "Published table: other models and data, not computed here"
NO_SAMPLED_METHOD: Final = "No method shown uses samples, so counting answers as wrong has no effect."


def section(report_input: ReportInput, progress: ProgressCallback) -> Section:
    """Build the table of all runs; raises Unavailable if no run has two methods to compare."""
    if not any(len(run.usable) > 1 for run in report_input.answer_runs):
        raise Unavailable("No run has more than one method to compare.")
    settings = report_input.settings
    options = MethodOptions(unparseable=settings.options.unparseable)
    keyed = {str(index): run for index, run in enumerate(report_input.answer_runs)}
    evidences: dict[str, list[AnswerEvidence]] = {}
    for index, (key, run) in enumerate(keyed.items()):
        progress(index / len(keyed), run.title)
        available = in_order(run.usable, OFFERED_METHODS)
        run_methods = [id_ for id_ in available if id_ in settings.methods] or available
        run_evidences = [report_input.evidence(run, id_, options) for id_ in run_methods]
        evidences[key] = [evidence for evidence in run_evidences if isinstance(evidence, AnswerEvidence)]
    result = compare_methods(evidences, settings.scheme, judged_choice=settings.judged_choice)
    if not result.cells:
        raise Unavailable("No run has any of these methods.")
    titles = {key: run.title for key, run in keyed.items()}
    names = names_in_datasets({key: run.report.run.info for key, run in keyed.items()}, titles)
    view = methods_view(
        result,
        names=names,
        titles=titles,
        notes=multiple_choice_notes(one for of_run in evidences.values() for one in of_run),
    )
    beside = compare_published_methods(
        result, titles, {key: has_choices(run.report.run) for key, run in keyed.items()}, names=names
    )
    is_comparable = any(method in PAPER_METHODS for _, method in result.cells)
    views = (view, published_view(beside)) if is_comparable else (view,)
    return Section(ID, TITLE, QUESTION, (*views, published_methods_view()))


def methods_view(
    result: MethodsTable,
    *,
    title: str = "",
    names: Mapping[str, str] | None = None,
    titles: Mapping[str, str] | None = None,
    refused: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
) -> View:
    """ECE and Brier score of every run by every method: a table, no figure.

    Parameters
    ----------
    result : MethodsTable
    title : str
        What the runs have in common, such as their data set.
    names : Mapping of str to str, optional
        Run key → short name, as by `names_in_datasets`; the keys themselves where omitted.
    titles : Mapping of str to str, optional
        Run key → title; the keys themselves where omitted.
    refused : Mapping of str to str, optional
        Run, or run and method → why it is not in the table.
    notes : sequence of str
        What to know about a method on these runs.
    """
    names = names or {run: run for run in result.runs}
    titles = titles or {run: run for run in result.runs}
    numbers = Numbers(
        lambda: _with_titles(result.to_frame(), titles),
        methods_recipe(result),
        ("ece-brier", result.scheme.binning, result.scheme.bins),
    )
    is_list = result.one_method_per_run and runs_as_rows(result)
    no_samples = result.unparsed_choice == "wrong" and not any(
        METHODS[id_].uses_samples for id_ in result.methods
    )
    without_rows = {titles[run]: why for (run, _), why in result.unavailable.items()}
    several_datasets = len(set(result.datasets.values())) > 1
    places = {
        run: f"{name} ({result.datasets[run]})" if several_datasets and result.datasets[run] else name
        for run, name in names.items()
    }
    missing = (
        (f"by {METHODS[method].short_title} in {places[run]}", each)
        for (run, method), each in result.missing.items()
    )
    caveat, *caveats = text_lines(
        missing_caveat(missing, ROWS_WITH_ONE, max_findings=1),
        NO_SAMPLED_METHOD if no_samples else "",
        *notes,
    ) or ("",)
    return View(
        title=title,
        headline=result.headline,
        caveat=caveat,
        recipes=(methods_recipe(result),) if result.cells else (),
        tables=(_list_of_runs(result, titles, numbers),) if is_list else (),
        ece_brier_tables=()
        if is_list or not result.cells
        else (replace(ece_brier_table(result, names), numbers=numbers),),
        how_to_read="" if is_list else " ".join(methods_legend(result)),
        facts=(
            *(Fact("Methods", text) for text in caveats),
            *(Fact("Outcome", text) for text in text_lines(_judged_text(result))),
        ),
        left_out=reasons_by_title({**without_rows, **(refused or {})}),
        name=("methods", *file_parts(result.runs, "runs")),
        terms=result.terms,
    )


def _list_of_runs(result: MethodsTable, titles: Mapping[str, str], numbers: Numbers) -> ViewTable:
    """A row for each of many runs that have one method each."""
    shown = [column for column in result.columns if column.title]  # of the others, p takes a draw each
    frame = _with_titles(result.frame_of(shown), titles).with_columns(
        pl.col("method").replace_strict({id_: METHODS[id_].heading for id_ in result.methods})
    )
    is_same = {"method": len(result.methods) == 1, "warning": frame["warning"].null_count() == frame.height}
    columns = tuple(column for column in shown if not is_same.get(column.name))
    return ViewTable("", frame, columns, id="methods_own", numbers=numbers)


def _with_titles(frame: pl.DataFrame, titles: Mapping[str, str]) -> pl.DataFrame:
    return frame.with_columns(pl.col("run").replace_strict(dict(titles), return_dtype=pl.String))


def _judged_text(result: MethodsTable) -> str:
    """Which answer each method is scored on."""
    methods_by_answer = names_sharing(
        (METHODS[method].heading, cell.judged) for (_, method), cell in result.cells.items()
    )
    texts = [
        f"{', '.join(methods)}: scored on {definite(answer)}" for answer, methods in methods_by_answer.items()
    ]
    return f"{'; '.join(texts)}." if texts else ""


def published_methods_view() -> View:
    """The published table, labelled as such."""
    source = f"{METHODS_SOURCE}: {METHODS_SETTING}"
    numbers = Numbers(published_methods, source, ("ece", "brier"))
    return View(
        PUBLISHED_TITLE,
        ece_brier_tables=(replace(published_ece_brier_table(), numbers=numbers),),
        how_to_read=f"{METHODS_SETTING}.",
        name=("published",),
    )


def names_in_datasets(infos: Mapping[str, RunInfo], titles: Mapping[str, str]) -> dict[str, str]:
    """Run key → short name that is unique within its data set."""
    names: dict[str, str] = {}
    for dataset in dict.fromkeys(info.dataset for info in infos.values()):
        of_dataset = {key: info for key, info in infos.items() if info.dataset == dataset}
        names |= short_run_names(of_dataset, {key: titles[key] for key in of_dataset})
    return names


def methods_recipe(result: MethodsTable) -> str:
    """How all numbers were computed."""
    row_rule = "common to the methods of a run" if result.row_choice == "common" else "each method's own"
    rows = f", {result.rows_text}" if result.rows_text else ""
    judged = "" if result.judged_choice == "own" else f"; all {judged_by_text(result.judged_choice)}"
    tested = [recipe for paired in result.paired.values() if (recipe := paired_recipe(paired, "brier"))]
    best = (
        f"; best: {tested[0]}" if len(set(tested)) == 1 else "; best: paired t, Holm by run" if tested else ""
    )
    return f"Brier; ECE-L1, {scheme_text(result.scheme)}; rows: {row_rule}{rows}{judged}{best}"


def methods_legend(result: MethodsTable) -> list[str]:
    """What bold numbers and marked ECEs mean, if there are any."""
    legend: list[str] = []
    if any(cell.best_brier or cell.best_ece for cell in result.cells.values()):
        legend.append(
            "Bold and underlined: by this metric, no other method of the run is clearly better on the same "
            f"rows, nor is always stating the {result.terms.accuracy}. Go by the Brier score: a method that "
            "always states the average has a low ECE, too."
        )
    warnings = [cell.warning for cell in result.cells.values() if cell.warning]
    if warnings:
        count_note = f" ({len(warnings)} cells). For example" if len(warnings) > 1 else ""
        legend.append(
            f"{FEW_BINS_MARK} The ECE rests on one or two bins{count_note}: {as_clause(warnings[0])}."
        )
    return legend
