"""Runs of several models on one quiz, with accuracy and Brier score that can be computed by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from calib_core.inference.paired_test import PairedTest
from calib_core.results.best import RANKED_METRICS, PairDifference, PairedComparison
from calib_core.results.evidence import AnswerEvidence, gather_evidence
from calib_core.runs import RunInfo
from core.run_builders import make_answer_run


def model_run(
    name: str, right: int, *, of: int = 200, sure: float = 0.8, unsure: float = 0.3, **info: Any
) -> AnswerEvidence:
    """`right` of `of` rows are right; right rows have the confidence `sure`, wrong ones `unsure`."""
    run = make_answer_run(
        {
            "id": [f"q{place}" for place in range(of)],
            "confidence": [sure if place < right else unsure for place in range(of)],
            "correct": [place < right for place in range(of)],
        },
        label=f"{name} · quiz",
    )
    told = RunInfo(**{"model": name, "dataset": "quiz", **info})
    return gather_evidence(replace(run, info=told), "given")


def brier_of(right: int, of: int, sure: float, unsure: float) -> float:
    """Σ (c − y)² / n of such a run."""
    return (right * (1 - sure) ** 2 + (of - right) * unsure**2) / of


def paired_by_hand(
    keys: list[str], brier: dict[tuple[str, str], PairedTest] | None = None
) -> PairedComparison:
    """Points of one data set without values, and tests of their Brier scores, each first minus second."""
    tests = tuple(PairDifference("brier", *pair, test, test.p) for pair, test in (brier or {}).items())
    return PairedComparison(
        values={metric: {} for metric in RANKED_METRICS},
        datasets=dict.fromkeys(keys, "quiz"),
        pairs=dict.fromkeys(RANKED_METRICS, ()) | {"brier": tests},
        family_sizes=dict.fromkeys(RANKED_METRICS, 0) | {"brier": len(tests)},
        unpaired={},
    )
