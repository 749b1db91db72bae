"""Which runs have samples of which none parses, and what is said of them where that counts as wrong?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from calib_core.analysis.unanswered import evidence_of_unparsed_run
from calib_core.confidence import METHODS
from calib_core.confidence.method import MethodOptions
from calib_core.records import AnswerRun
from pages.parts.many import RunSelection, RunEvidence
from pages.parts.runs import LoadedRun


def unparsed_runs(runs: Sequence[LoadedRun], offered: Sequence[str]) -> dict[str, list[str]]:
    """Run id → methods of several samples that can say something of it only where silence is wrong."""
    several = [id_ for id_ in offered if METHODS[id_].uses_samples]
    return {
        run.id: several
        for run in runs
        if several and isinstance(run.report.run, AnswerRun) and not {*several} & {*run.report.survey.usable}
        and evidence_of_unparsed_run(run.report.run, METHODS[several[0]], MethodOptions()) is not None  # so for each of them
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
    return replace(selection, seen=tuple(seen), refused=refused)
