"""The views: of each class of results, and, question by question, of a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from calib_core.results.abstention import AbstentionCurve, GuaranteedThreshold
from calib_core.results.audit import ConventionAudit
from calib_core.results.classwise import Classwise
from calib_core.results.comparison import Comparison
from calib_core.results.concentration import Concentration
from calib_core.results.groups import GroupResults
from calib_core.results.judge import JudgeResult
from calib_core.results.judge_agreement import JudgeAgreement
from calib_core.results.judge_comparison import JudgeComparison
from calib_core.results.judge_fairness import JudgeFairness
from calib_core.results.judge_pass_rate import PassRates
from calib_core.results.methods_table import MethodsTable
from calib_core.results.recalibration import Recalibration
from calib_core.results.reliability import Reliability
from calib_core.results.robustness import Sweep
from calib_core.results.run_verdict import RunVerdict
from calib_core.results.sampling import SampleSizeSweep
from calib_core.results.score import Score, Scores
from calib_core.results.threshold_cost import ThresholdCost
from calib_core.results.training import Training
from calib_core.terms import Terms
from calib_core.views import (
    abstention,
    comparison,
    concentration,
    files,
    groups,
    judge,
    methods,
    overview,
    recalibrate,
    reliability,
    robustness,
    sampling,
    score,
    summary,
    training,
    verdict,
)
from calib_core.views.inputs import ReportInput, ReportRun
from calib_core.views.view import ProgressCallback, Section, View

ALL_PAGES: Final = "all"
"""Stands for every page where pages are asked for."""

DEFAULT_PAGES: Final = (summary.ID,)
"""The pages of a report for which none is named …"""

JUDGE_PAGES: Final = (judge.ID,)
"""… and where no run has a confidence, but a judge's labels."""


@dataclass(frozen=True, slots=True)
class ReportPage:
    """One page of a report.

    Attributes
    ----------
    title, question : str
        The page's title and the question it answers.
    event_question : str
        The question about probabilities of an event; "" where it is the same.
    section : Callable[[ReportInput, ProgressCallback], Section]
        Builds the section; raises Unavailable, with the reason, if the page does not apply to the runs.
    seconds_per_run : float
        Measured on the demo data with two cores; only the ratios between pages matter, to the progress.
    runs : Callable[[ReportInput], Sequence[ReportRun]]
        The runs that take that time.
    needs_confidences : bool
        Whether it is of runs that have a confidence.
    """

    title: str
    question: str
    event_question: str
    section: Callable[[ReportInput, ProgressCallback], Section]
    seconds_per_run: float
    runs: Callable[[ReportInput], Sequence[ReportRun]]
    needs_confidences: bool = True

    def build(self, report_input: ReportInput, progress: ProgressCallback) -> Section:
        """Build the section; raises Unavailable, with the reason, if it does not apply to the runs."""
        shown = report_input.with_confidences() if self.needs_confidences else report_input
        return self.section(shown, progress)

    def question_about(self, terms: Terms) -> str:
        """The question in the words of what is shown."""
        return self.event_question if self.event_question and terms.of == "event" else self.question

    def seconds(self, report_input: ReportInput) -> float:
        """About how long the section takes to build."""
        return self.seconds_per_run * len(self.runs(report_input))


def _every_run(report_input: ReportInput) -> Sequence[ReportRun]:
    return report_input.runs


def _answer_runs(report_input: ReportInput) -> Sequence[ReportRun]:
    return report_input.answer_runs


SECTIONS: Final[dict[str, ReportPage]] = {
    module.ID: ReportPage(
        module.TITLE,
        module.QUESTION,
        getattr(module, "EVENT_QUESTION", ""),
        module.section,
        seconds_per_run,
        runs,
        module not in (judge, files),
    )
    for module, seconds_per_run, runs in (
        (summary, 0.2, _every_run),
        (overview, 0.15, _every_run),
        (reliability, 0.04, _every_run),
        (concentration, 0.01, _every_run),
        (robustness, 0.7, _every_run),
        (comparison, 0.5, _answer_runs),
        (abstention, 0.25, _answer_runs),
        (recalibrate, 0.3, _answer_runs),
        (sampling, 12.0, sampling.sampled_runs),
        (methods, 0.3, _answer_runs),
        (groups, 0.4, _answer_runs),
        (training, 0.01, _every_run),
        (judge, 0.1, judge.judged_runs),
        (files, 0.01, _every_run),
    )
}
"""Page id → page, in the order of the report."""

VIEWS: Final = MappingProxyType[type, Callable[[Any], View]](
    {
        Score: score.score_view,
        Scores: score.all_scores_view,
        RunVerdict: verdict.verdict_view,
        Reliability: reliability.reliability_view,
        Classwise: reliability.classwise_view,
        Concentration: concentration.concentration_view,
        Sweep: robustness.sweep_view,
        AbstentionCurve: abstention.curve_view,
        GuaranteedThreshold: abstention.abstention_view,
        ThresholdCost: abstention.threshold_cost_view,
        Comparison: comparison.comparison_view,
        MethodsTable: methods.methods_view,
        SampleSizeSweep: sampling.sampling_view,
        GroupResults: groups.groups_view,
        Training: training.training_view,
        ConventionAudit: robustness.audit_view,
        Recalibration: recalibrate.recalibration_view,
        JudgeResult: judge.judge_view,
        JudgeAgreement: judge.agreement_view,
        PassRates: judge.pass_rate_view,
        JudgeFairness: judge.fairness_view,
        JudgeComparison: judge.judges_view,
    }
)
"""Class of results → the view of one of them."""
