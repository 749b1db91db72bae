"""The page Methods: ECE and Brier score of every run by every method, one view for each data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import polars as pl

from calib_core.errors import Unavailable, shorten
from calib_core.methods import METHODS, in_order
from calib_core.methods.method import MethodOptions
from calib_core.metrics import METRICS
from calib_core.results.best import abbreviated_list, paired_recipe
from calib_core.results.evidence import AnswerEvidence
from calib_core.results.judged_answer import judged_by_text
from calib_core.results.methods_table import (
    METHODS_COLUMNS,
    MethodsCell,
    MethodsTable,
    compare_methods,
    multiple_choice_notes,
)
from calib_core.results.published import (
    METHODS_SETTING,
    METHODS_SOURCE,
    N_QUESTIONS,
    compare_published_methods,
    has_choices,
    published_methods,
)
from calib_core.results.recipe import scheme_text
from calib_core.results.run_names import short_run_names
from calib_core.runs import RunInfo
from calib_core.views.ece_brier_table import ece_brier_table, published_ece_brier_table, runs_as_rows
from calib_core.views.inputs import ReportInput, ReportRun, runs_by_dataset
from calib_core.views.published_table import published_view
from calib_core.views.view import (
    FEW_BINS_MARK,
    Numbers,
    ProgressCallback,
    Section,
    Tile,
    View,
    ViewTable,
    file_parts,
    reasons_by_title,
    text_lines,
)
from calib_core.wording import NO_VALUE, as_clause, format_number, plural

ID, TITLE, QUESTION = "methods", "Methods", "Which confidence method suits which model?"

OFFERED_METHODS: Final = tuple(id_ for id_, method in METHODS.items() if method.run_kind == "answers")
PUBLISHED_TITLE: Final = "Published table: other models and data, not computed here"
FEW_BINS_HELP: Final = f"Marked {FEW_BINS_MARK}: one or two bins hold most of the confidences."
NO_SAMPLED_METHOD: Final = "No method shown uses samples, so counting answers as wrong has no effect."
BOLD_LEGEND: Final = (
    "Bold and underlined: by this metric, no other method of the run is clearly better on the same rows, "
    "nor is always stating the accuracy. Go by the Brier score: a method that always states the average has "
    "a low ECE, too."
)


def section(report_input: ReportInput, progress: ProgressCallback) -> Section:
    """Build the table of every data set; raises Unavailable if no run has two methods to compare."""
    if not any(len(run.usable) > 1 for run in report_input.answer_runs):
        raise Unavailable("No run has more than one confidence method to compare.")
    by_dataset = runs_by_dataset(report_input.answer_runs)
    views: list[View] = []
    for index, (dataset, runs) in enumerate(by_dataset.items()):
        progress(index / len(by_dataset), dataset or "")
        views += _dataset_views(report_input, dataset, runs)
    if not views:
        raise Unavailable("No run has one of these confidence methods.")
    return Section(ID, TITLE, QUESTION, (*views, published_methods_view()))


def _dataset_views(
    report_input: ReportInput, dataset: str | None, runs: Sequence[ReportRun]
) -> Sequence[View]:
    """The table of a data set, and the paper's beside it where a run gives one of its confidences."""
    available = in_order((id_ for run in runs for id_ in run.usable), OFFERED_METHODS)
    methods = [id_ for id_ in available if id_ in report_input.settings.methods] or available
    options = MethodOptions(unparseable=report_input.settings.options.unparseable)
    keyed = {str(index): run for index, run in enumerate(runs)}
    evidences: dict[str, list[AnswerEvidence]] = {}
    for key, run in keyed.items():
        run_methods = [id_ for id_ in methods if id_ in run.usable]
        run_evidences = [report_input.evidence(run, id_, options) for id_ in run_methods]
        evidences[key] = [evidence for evidence in run_evidences if isinstance(evidence, AnswerEvidence)]
    settings = report_input.settings
    result = compare_methods(evidences, settings.scheme, judged_choice=settings.judged_choice)
    if not result.cells:
        return ()
    titles = {key: run.title for key, run in keyed.items()}
    view = methods_view(
        result,
        title=dataset or "",
        names=run_columns({key: run.report.run.info for key, run in keyed.items()}, titles),
        titles=titles,
        notes=multiple_choice_notes(one for of_run in evidences.values() for one in of_run),
    )
    comparison = compare_published_methods(
        result, titles, {key: has_choices(run.report.run) for key, run in keyed.items()}
    )
    return (view, published_view(comparison)) if comparison.own_columns else (view,)


def methods_view(
    result: MethodsTable,
    *,
    title: str = "",
    names: Mapping[str, tuple[str, str]] | None = None,
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
    names : Mapping of str to (str, str), optional
        Run key → (data set, short name), as by `run_columns`; the keys themselves where omitted.
    titles : Mapping of str to str, optional
        Run key → title; the keys themselves where omitted.
    refused : Mapping of str to str, optional
        Run, or run and method → why it is not in the table.
    notes : sequence of str
        What to know about a method on these runs.
    """
    names = names or {run: ("", run) for run in result.runs}
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
    return View(
        title=title,
        headline=result.headline,
        caveat=" ".join((*notes, *text_lines(NO_SAMPLED_METHOD if no_samples else ""))),
        tiles=() if result.one_method_per_run else tuple(methods_tiles(result, names)),
        recipes=(methods_recipe(result),) if result.cells else (),
        tables=(_list_of_runs(result, titles, numbers),) if is_list else (),
        ece_brier_tables=()
        if is_list or not result.cells
        else (replace(ece_brier_table(result, names), numbers=numbers),),
        how_to_read="" if is_list else " ".join(methods_legend(result)),
        left_out=reasons_by_title({**without_rows, **(refused or {})}),
        name=("methods", *file_parts(result.runs, "runs")),
    )


def _list_of_runs(result: MethodsTable, titles: Mapping[str, str], numbers: Numbers) -> ViewTable:
    """A row for each of many runs that have one method each."""
    frame = _with_titles(result.to_frame(), titles).with_columns(
        pl.col("method").replace_strict({id_: METHODS[id_].title for id_ in result.methods})
    )
    is_same = {"method": len(result.methods) == 1, "warning": frame["warning"].null_count() == frame.height}
    columns = tuple(column for column in METHODS_COLUMNS if column.title and not is_same.get(column.name))
    return ViewTable("", frame, columns, id="methods_own", numbers=numbers)


def _with_titles(frame: pl.DataFrame, titles: Mapping[str, str]) -> pl.DataFrame:
    return frame.with_columns(pl.col("run").replace_strict(dict(titles), return_dtype=pl.String))


def published_methods_view() -> View:
    """The published tables, labelled as such."""
    source = f"{METHODS_SOURCE}: {METHODS_SETTING}"
    tables = (
        replace(
            published_ece_brier_table(dataset),
            id=f"published_{dataset}",
            numbers=Numbers(
                lambda dataset=dataset: published_methods().filter(dataset=dataset),
                source,
                (dataset, "ece", "brier"),
            ),
        )
        for dataset in N_QUESTIONS
    )
    return View(
        PUBLISHED_TITLE, ece_brier_tables=tuple(tables), how_to_read=f"{source}.", name=("published",)
    )


def run_columns(infos: Mapping[str, RunInfo], titles: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Run key → (data set, short name that is unique within the data set)."""
    columns: dict[str, tuple[str, str]] = {}
    for dataset in dict.fromkeys(info.dataset for info in infos.values()):
        dataset_infos = {key: info for key, info in infos.items() if info.dataset == dataset}
        names = short_run_names(dataset_infos, {key: titles[key] for key in dataset_infos})
        columns |= {key: (dataset or "", name) for key, name in names.items()}
    return columns


def methods_tiles(result: MethodsTable, names: Mapping[str, tuple[str, str]]) -> list[Tile]:
    """The tiles: methods, lowest Brier score, warnings, rows used; `names` as of `methods_view`."""
    cells = list(result.cells.values())
    if not any(cell.brier is not None for cell in cells):
        return []
    fewest, most = _extreme_cells(cells)
    range_note = (
        "" if fewest.n_used == most.n_used else f"minimum; maximum {most.n_used:,} / {most.n_total:,}"
    )
    n_flagged = sum(cell.warning is not None for cell in cells)
    return [
        Tile(
            "Methods",
            str(len(result.methods)),
            "Columns of the table; the rows are runs."
            if runs_as_rows(result)
            else "Rows of the table; the columns are runs.",
            plural(len({cell.run for cell in cells}), "run"),
        ),
        _best_tile(result, names),
        Tile("ECE from few bins", f"{n_flagged} of {len(cells)}", FEW_BINS_HELP),
        Tile(
            "Rows used / total",
            f"{fewest.n_used:,} / {fewest.n_total:,}",
            "Of the run and method with the fewest rows.",
            range_note,
        ),
    ]


def _best_tile(result: MethodsTable, names: Mapping[str, tuple[str, str]]) -> Tile:
    """The lowest Brier score of a single run, and what cannot be told from it; of several how many decide."""
    label, meaning = "Lowest Brier score", METRICS["brier"].help
    best_sets = {run: paired.best_sets("brier")[0] for run, paired in result.paired.items()}
    if len(best_sets) != 1:
        n_won = sum(best_set.has_winner for best_set in best_sets.values())
        value = f"{n_won} of {len(best_sets)}" if best_sets else NO_VALUE
        return Tile("Runs with one best method", value, f"By Brier score. {meaning}")
    ((run, best_set),) = best_sets.items()
    if best_set.leader is None:
        return Tile(label, NO_VALUE, meaning, shorten(best_set.no_best_reason or "", 60))
    order = [best_set.leader, *(id_ for id_ in best_set.best if id_ != best_set.leader)]
    titles = abbreviated_list([METHODS[id_].short_title for id_ in order])
    below = f"{names[run][1]}, {titles}{': not told apart' if len(order) > 1 else ''}"
    return Tile(label, format_number(result.cells[run, best_set.leader].brier), meaning, shorten(below, 90))


def _extreme_cells(cells: Sequence[MethodsCell]) -> tuple[MethodsCell, MethodsCell]:
    """The cells that use the smallest and the largest share of their rows."""
    ordered = sorted(cells, key=lambda cell: cell.n_used / cell.n_total)
    largest_share = ordered[-1].n_used / ordered[-1].n_total
    return ordered[0], next(cell for cell in cells if cell.n_used / cell.n_total == largest_share)


def methods_recipe(result: MethodsTable) -> str:
    """How all numbers were computed."""
    row_rule = "common to the methods of a run" if result.row_choice == "common" else "each method's own"
    judged = "" if result.judged_choice == "own" else f"; all {judged_by_text(result.judged_choice)}"
    tested = [recipe for paired in result.paired.values() if (recipe := paired_recipe(paired, "brier"))]
    best = (
        f"; best: {tested[0]}" if len(set(tested)) == 1 else "; best: paired t, Holm by run" if tested else ""
    )
    return f"Brier; ECE-L1, {scheme_text(result.scheme)}; rows: {row_rule}{judged}{best}"


def methods_legend(result: MethodsTable) -> list[str]:
    """What bold numbers and marked ECEs mean, if there are any."""
    legend = [BOLD_LEGEND] if any(cell.best_brier or cell.best_ece for cell in result.cells.values()) else []
    warnings = [cell.warning for cell in result.cells.values() if cell.warning]
    if warnings:
        count_note = f" ({len(warnings)} cells). For example" if len(warnings) > 1 else ""
        legend.append(
            f"{FEW_BINS_MARK} The ECE rests on one or two bins{count_note}: {as_clause(warnings[0])}."
        )
    return legend
