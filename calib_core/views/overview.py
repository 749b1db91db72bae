"""The summary of a report: which runs it covers, and how good each is at first sight."""

from __future__ import annotations

from calib_core.errors import Unavailable
from calib_core.methods import METHODS
from calib_core.results.evidence import Evidence
from calib_core.results.overview import RunSummary, summarise_runs
from calib_core.terms import Terms, common_terms
from calib_core.views.inputs import ReportInput
from calib_core.views.view import ProgressCallback, Section, View, ViewTable
from calib_core.wording import NO_VALUE, format_number, format_percent

ID, TITLE, QUESTION = "overview", "Start", "Which runs are loaded, and how good is each?"


def section(report_input: ReportInput, progress: ProgressCallback) -> Section:
    """Builds a row for each run and requested method, in file order; raises Unavailable if there is none."""
    evidences: dict[str, list[Evidence]] = {}
    refused: list[str] = []
    for index, run in enumerate(report_input.runs):
        progress(index / len(report_input.runs), run.title)
        for method in report_input.methods_for(run):
            try:
                evidences.setdefault(run.title, []).append(report_input.evidence(run, method))
            except Unavailable as reason:
                refused.append(f"{run.title}: {reason}")
    if not evidences:
        raise Unavailable("No run has any of these methods.")
    result = summarise_runs(evidences)
    summaries = {(summary.run, summary.method): summary for summary in result.by_every_method}
    terms = common_terms(summary.terms for summary in result.by_every_method)
    rows = [
        _overview_row(summaries[run, evidence.method.id], terms)
        for run, run_evidences in evidences.items()
        for evidence in run_evidences
    ]
    block = View(
        title="",
        terms=terms,
        recipes=(result.recipe,),
        tables=(
            ViewTable.from_rows(
                "", rows, "Brier score and ECE: lower is better. ECE over ten bins of equal width."
            ),
        ),
        how_to_read=result.subheadline,
        left_out=tuple(refused),
    )
    return Section(ID, TITLE, QUESTION, (block,), (result.headline,))


def _overview_row(run_summary: RunSummary, terms: Terms) -> dict[str, object]:
    return {
        "Run": run_summary.run,
        "Method": METHODS[run_summary.method].heading,
        "Verdict": run_summary.marked_verdict,
        "q": run_summary.q_text or NO_VALUE,
        "Rows used / total": f"{run_summary.n_used:,} / {run_summary.n_total:,}"
        f"{', weighted' if run_summary.weighted else ''}",
        terms.accuracy_title: format_percent(run_summary.accuracy),
        f"Mean {terms.confidence}": format_percent(run_summary.mean_confidence),
        "Brier": format_number(run_summary.brier),
        "ECE": format_number(run_summary.ece),
    }
