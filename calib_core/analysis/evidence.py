"""What does one method say of one run?  The pairs and their sums, computed once, read by every result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import overload

from calib_core.analysis.answer_evidence import AnswerEvidence
from calib_core.analysis.basis import Evidence, bins_all_classes
from calib_core.analysis.token_evidence import NO_ANSWER_METHODS, TokenEvidence
from calib_core.confidence import METHODS
from calib_core.confidence.method import Method, MethodOptions
from calib_core.confidence.tokens import TOKENS
from calib_core.metrics import METRICS
from calib_core.metrics.metric import Metric
from calib_core.problems import Unavailable
from calib_core.records import AnswerRun, Run, TokenRun

__all__ = [
    "AnswerEvidence", "Evidence", "Survey", "TokenEvidence", "draws_all_classes",
    "gather", "method_of", "metric_of", "survey",
]


def get_method(method_id: str) -> Method:
    """The registered method; raises Unavailable for an id that does not exist."""
    if method_id not in METHODS:
        raise Unavailable(f"There is no method {method_id!r}. Methods: {', '.join(METHODS)}.")
    return METHODS[method_id]


def get_metric(metric_id: str) -> Metric:
    """The registered metric; raises Unavailable for an id that does not exist."""
    if metric_id not in METRICS:
        raise Unavailable(f"There is no metric {metric_id!r}. Metrics: {', '.join(METRICS)}.")
    return METRICS[metric_id]


@overload
def gather_evidence(run: AnswerRun, method_id: str, options: MethodOptions | None = None) -> AnswerEvidence: ...
@overload
def gather_evidence(run: TokenRun, method_id: str, options: MethodOptions | None = None) -> TokenEvidence: ...
@overload
def gather_evidence(run: Run, method_id: str, options: MethodOptions | None = None) -> Evidence: ...
def gather_evidence(run: Run, method_id: str, options: MethodOptions | None = None) -> Evidence:
    """What the method says of the run; raises Unavailable with the reason where it cannot."""
    method = get_method(method_id)
    options = options or MethodOptions()
    if isinstance(run, TokenRun):
        if method is not TOKENS:
            raise Unavailable(NO_ANSWER_METHODS)
        return TokenEvidence(run, method, options)
    evidence = AnswerEvidence(run, method, options, method.compute(run, options))
    _ = evidence.pairs  # all labels of a method without choices is refused here, not at the first number
    return evidence


@dataclass(frozen=True, slots=True, eq=False)
class MethodSurvey:
    """Which methods a run can give (evidence by id), and why it cannot give the others."""

    usable: Mapping[str, Evidence]
    unavailable: Mapping[str, str]


def survey_methods(run: Run, options: MethodOptions | None = None) -> MethodSurvey:
    """Every registered method tried on the run, in the registry's order."""
    usable: dict[str, Evidence] = {}
    refused: dict[str, str] = {}
    for method_id in METHODS:
        try:
            usable[method_id] = gather_evidence(run, method_id, options)
        except Unavailable as reason:
            refused[method_id] = str(reason)
    return MethodSurvey(usable, refused)
