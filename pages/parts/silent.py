"""Which runs have samples of which none parses, and what is said of them where that counts as wrong?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from calib_core.analysis.unanswered import of_silent_run
from calib_core.confidence import METHODS
from calib_core.confidence.method import Options
from calib_core.records import AnswerRun
from pages.parts.many import Many, Seen
from pages.parts.runs import Run


def silent_runs(runs: Sequence[Run], offered: Sequence[str]) -> dict[str, list[str]]:
    """Run id → methods of several samples that can say something of it only where silence is wrong."""
    several = [id_ for id_ in offered if METHODS[id_].sampled]
    return {
        run.id: several
        for run in runs
        if several and isinstance(run.report.run, AnswerRun) and not {*several} & {*run.report.survey.usable}
        and of_silent_run(run.report.run, METHODS[several[0]], Options()) is not None  # so for each of them
    }


def with_silent_runs(many: Many, options: Options) -> Many:
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
