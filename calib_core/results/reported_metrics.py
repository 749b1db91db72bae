"""Does the tool that wrote the file count the same accuracy as we do, and if not, why?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.methods import METHODS
from calib_core.methods.answers.outcomes import greedy_correct
from calib_core.results.evidence import AnswerEvidence, Evidence
from calib_core.runs import AnswerRun, ReportedMetric, Run
from calib_core.wording import ROUNDING_TOLERANCE

GREEDY_METHOD: Final = ""
"""The method of a number that is the greedy answer's."""

_TOLERANCE: Final = 1e-9
_MIN_ROUNDED_DECIMALS: Final = 3
"""A number written with so many decimals or more may be rounded to them."""


@dataclass(frozen=True, slots=True)
class ReportedComparison:
    """One of the tool's numbers beside ours.

    reported: the tool's; ours: the same number here, None where there is none; n: how many rows it stands on;
    ours_is: what ours is, in words; agrees: None where there is nothing to compare; why: why they differ, or
    why there is none of ours, "" where they agree.
    """

    reported: ReportedMetric
    ours: float | None
    n_rows: int
    ours_description: str
    agrees: bool | None
    reason: str


def compare_reported_metrics(run: Run, usable: Mapping[str, Evidence]) -> tuple[ReportedComparison, ...]:
    """Each number that the tool says of the run; usable: method id → what it says of the run."""
    if not isinstance(run, AnswerRun):
        return ()
    return tuple(_compare_metric(run, reported, usable) for reported in run.reported_metrics)


def reported_metrics_frame(comparisons: Sequence[ReportedComparison]) -> pl.DataFrame:
    """One row a number: name, subject, theirs, rows, ours, n, ours_is, agrees, why."""
    schema = {
        "name": pl.String,
        "subject": pl.String,
        "theirs": pl.Float64,
        "rows": pl.Int64,
        "ours": pl.Float64,
        "n": pl.Int64,
        "ours_is": pl.String,
        "agrees": pl.Boolean,
        "why": pl.String,
    }
    return pl.DataFrame(
        [
            {
                "name": one.reported.name,
                "subject": one.reported.subject,
                "theirs": one.reported.value,
                "rows": one.reported.rows,
                "ours": one.ours,
                "n": one.n_rows if one.ours is not None else None,
                "ours_is": one.ours_description,
                "agrees": one.agrees,
                "why": one.reason,
            }
            for one in comparisons
        ],
        schema=schema,
    )


def _compare_metric(
    run: AnswerRun, reported: ReportedMetric, usable: Mapping[str, Evidence]
) -> ReportedComparison:
    if reported.method is None or reported.method not in {GREEDY_METHOD, *METHODS}:
        why = reported.why or "No number here is meant to be this one."
        return ReportedComparison(reported, None, 0, "", None, why)
    rows, correct = _judged_outcomes(run, reported.method, usable)
    if reported.subject is not None and "subject" in run.rows.columns:
        inside = (run.rows["subject"] == reported.subject).fill_null(value=False).to_numpy()[rows]
        correct = correct[inside]
    named = METHODS.get(reported.method)
    title = f"accuracy, {named.title}" if named else "accuracy of the greedy answer"
    if not correct.size:
        why = "No row here has both this outcome and what the number needs."
        return ReportedComparison(reported, None, 0, title, None, why)
    ours = float(np.count_nonzero(correct)) / correct.size
    agrees = _agree_within_rounding(ours, reported.value)
    why = "" if agrees else _difference_reason(run, reported, correct.size)
    return ReportedComparison(reported, ours, correct.size, title, agrees, why)


def _judged_outcomes(
    run: AnswerRun, method: str, usable: Mapping[str, Evidence]
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Positions of the rows that the method judges (greedy: all outcomes), and whether each is right."""
    if method == GREEDY_METHOD:
        outcome = greedy_correct(run)
        rows = outcome.is_not_null().arg_true().cast(pl.Int64).to_numpy().astype(np.intp)
        return rows, outcome.drop_nulls().to_numpy()
    evidence = usable.get(method)
    if not isinstance(evidence, AnswerEvidence):
        return np.zeros(0, np.intp), np.zeros(0, np.bool_)
    return evidence.confidences.pairs.rows, evidence.confidences.pairs.correct


def _agree_within_rounding(ours: float, theirs: float) -> bool:
    """Whether the numbers are the same, as far as theirs is written out."""
    _, _, decimals = f"{theirs!r}".partition(".")
    written = len(decimals) if decimals.isdecimal() else 0
    rounding = 0.5 * 10.0**-written if written >= _MIN_ROUNDED_DECIMALS else 0.0
    return abs(ours - theirs) <= max(_TOLERANCE, rounding + ROUNDING_TOLERANCE)


def _difference_reason(run: AnswerRun, reported: ReportedMetric, n: int) -> str:
    """What tells the two numbers apart, as far as the file shows."""
    parts: list[str] = []
    if reported.rows is not None and reported.rows != n:
        left_out = run.row_counts.n_left_out if reported.subject is None else 0
        bad = f", as {left_out:,} bad row{'s are' if left_out > 1 else ' is'} left out" if left_out else ""
        parts.append(f"Theirs is of {reported.rows:,} rows, ours of {n:,}{bad}.")
    if reported.why:
        parts.append(reported.why)
    return " ".join(parts) or "Both are of the same number of rows, and nothing in the file explains it."
