"""Which runs are these, and how good is each at first sight?  The summary of a report."""

from __future__ import annotations

from calib_core.analysis.evidence import Evidence
from calib_core.analysis.overview import overview
from calib_core.analysis.overview_look import Look
from calib_core.analysis.tendency import WORDS
from calib_core.problems import Unavailable
from calib_core.report.parts import Block, Progress, Section, Table
from calib_core.report.subject import Subject
from calib_core.wording import number, percent

ID, TITLE, QUESTION = "overview", "Start", "Which runs are these, and how good is each?"


def section(subject: Subject, tell: Progress) -> Section:
    """One row a run and method asked for, in the order of the files. Raises Unavailable without a run."""
    seen: dict[str, list[Evidence]] = {}
    refused: list[str] = []
    for at, run in enumerate(subject.runs):
        tell(at / len(subject.runs), run.title)
        for method in subject.methods_of(run):
            try:
                seen.setdefault(run.title, []).append(subject.evidence(run, method))
            except Unavailable as reason:
                refused.append(f"{run.title}: {reason}")
    if not seen:
        raise Unavailable("No run gives one of these confidences.")
    result = overview(seen)
    looks = {(look.run, look.method): look for look in result.every}
    rows = [_row(looks[run, each.method.id]) for run, own in seen.items() for each in own]
    block = Block(
        title="",
        recipes=(result.recipe,),
        tables=(Table.of(
            "", rows, "Brier score and ECE: lower is better. ECE over ten bins of equal width."
        ),),
        remarks=tuple(refused),
    )
    lead = (result.headline, *([result.more] if result.more else []))
    return Section(ID, TITLE, QUESTION, (block,), lead)


def _row(look: Look) -> dict[str, object]:
    return {
        "Run": look.run,
        "Confidence method": look.title,
        "It is": WORDS[look.kind],
        "Rows used / total": f"{look.used:,} / {look.rows:,}",
        "Accuracy": percent(look.accuracy),
        "Mean confidence": percent(look.confidence),
        "Brier": number(look.brier),
        "ECE": number(look.ece),
    }
