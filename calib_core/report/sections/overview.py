"""Which runs are these, and how good is each at first sight?  The summary of a report."""

from __future__ import annotations

from calib_core.analysis.evidence import Evidence
from calib_core.analysis.recipe import scheme_text
from calib_core.bins import Scheme
from calib_core.metrics import METRICS
from calib_core.problems import Unavailable
from calib_core.report.numbers import count, number, percent
from calib_core.report.parts import Block, Progress, Section, Table
from calib_core.report.subject import RunHere, Subject

ID, TITLE, QUESTION = "overview", "Overview", "Which runs are these, and how good is each?"


def section(subject: Subject, tell: Progress) -> Section:
    """One row a run and method asked for, in the order of the files. Raises Unavailable without a run."""
    rows: list[dict[str, object]] = []
    refused: list[str] = []
    for at, run in enumerate(subject.runs):
        tell(at / len(subject.runs), run.title)
        for method in subject.methods_of(run):
            try:
                rows.append(_row(run, subject.evidence(run, method)))
            except Unavailable as reason:
                refused.append(f"{run.title}: {reason}")
    if not rows:
        raise Unavailable("No run gives one of these confidences.")
    runs, files = len(subject.runs), len({run.report.run.file for run in subject.runs})
    block = Block(
        title="",
        reading=f"{count(runs, 'run')} of {count(files, 'file')}.",
        recipes=(f"Brier; ECE-L1, {scheme_text(Scheme())}; top label",),
        tables=(Table.of(
            "", rows, "Brier score and ECE: lower is better. ECE over ten bins of equal width."
        ),),
        remarks=tuple(refused),
    )
    return Section(ID, TITLE, QUESTION, (block,))


def _row(run: RunHere, evidence: Evidence) -> dict[str, object]:
    return {
        "Run": run.title,
        "Confidence method": evidence.method.title,
        "Rows used / total": f"{evidence.n_used:,} / {evidence.n_total:,}",
        "Accuracy": percent(evidence.accuracy),
        "Mean confidence": percent(evidence.mean_confidence),
        "Brier": number(evidence.brier),
        "ECE": number(METRICS["ece"].of(evidence.top_sums, Scheme())),
    }
