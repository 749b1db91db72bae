"""Does the tool that wrote the file report the same accuracy as Calib, and if not, why?"""

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
"""The method id of metrics about the greedy answer."""

_TOLERANCE: Final = 1e-9
_MIN_ROUNDED_DECIMALS: Final = 3
"""A value with at least this many decimals may have been rounded to them."""


@dataclass(frozen=True, slots=True)
class ReportedComparison:
    """One of the tool's metrics beside Calib's.

    Attributes
    ----------
    reported : ReportedMetric
        The tool's.
    ours : float or None
        The same metric here; None where there is none.
    n_rows : int
        Rows behind `ours`.
    ours_description : str
    agrees : bool or None
        None where there is nothing to compare.
    reason : str
        Why they differ, or why there is none of ours; "" where they agree.
    """

    reported: ReportedMetric
    ours: float | None
    n_rows: int
    ours_description: str
    agrees: bool | None
    reason: str


def compare_reported_metrics(run: Run, usable: Mapping[str, Evidence]) -> tuple[ReportedComparison, ...]:
    """Compare each metric the tool reports for the run.

    Parameters
    ----------
    run : Run
    usable : Mapping[str, Evidence]
        Method id → evidence.
    """
    if not isinstance(run, AnswerRun):
        return ()
    return tuple(_compare_metric(run, reported, usable) for reported in run.reported_metrics)


def reported_metrics_frame(comparisons: Sequence[ReportedComparison]) -> pl.DataFrame:
    """One row for each metric: name, subject, theirs, rows, ours, n, ours_is, agrees, why."""
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
                "name": comparison.reported.name,
                "subject": comparison.reported.subject,
                "theirs": comparison.reported.value,
                "rows": comparison.reported.n_rows,
                "ours": comparison.ours,
                "n": comparison.n_rows if comparison.ours is not None else None,
                "ours_is": comparison.ours_description,
                "agrees": comparison.agrees,
                "why": comparison.reason,
            }
            for comparison in comparisons
        ],
        schema=schema,
    )


def _compare_metric(
    run: AnswerRun, reported: ReportedMetric, usable: Mapping[str, Evidence]
) -> ReportedComparison:
    if reported.method is None or reported.method not in {GREEDY_METHOD, *METHODS}:
        reason = reported.difference_reason or "Calib has no number of this kind."
        return ReportedComparison(reported, None, 0, "", None, reason)
    rows, correct = _judged_outcomes(run, reported.method, usable)
    if reported.subject is not None and "subject" in run.rows.columns:
        inside = (run.rows["subject"] == reported.subject).fill_null(value=False).to_numpy()[rows]
        correct = correct[inside]
    method = METHODS.get(reported.method)
    title = f"accuracy, {method.title}" if method else "accuracy of the greedy answer"
    if not correct.size:
        reason = "No row has both the outcome and the values this number needs."
        return ReportedComparison(reported, None, 0, title, None, reason)
    ours = float(np.count_nonzero(correct)) / correct.size
    agrees = _agree_within_rounding(ours, reported.value)
    reason = "" if agrees else _difference_reason(run, reported, correct.size)
    return ReportedComparison(reported, ours, correct.size, title, agrees, reason)


def _judged_outcomes(
    run: AnswerRun, method: str, usable: Mapping[str, Evidence]
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Row positions that the method judges (greedy: all with an outcome), and whether each is right."""
    if method == GREEDY_METHOD:
        outcome = greedy_correct(run)
        rows = outcome.is_not_null().arg_true().cast(pl.Int64).to_numpy().astype(np.intp)
        return rows, outcome.drop_nulls().to_numpy()
    evidence = usable.get(method)
    if not isinstance(evidence, AnswerEvidence):
        return np.zeros(0, np.intp), np.zeros(0, np.bool_)
    return evidence.confidences.pairs.rows, evidence.confidences.pairs.correct


def _agree_within_rounding(ours: float, theirs: float) -> bool:
    """Whether the values are equal at the precision of the tool's."""
    _, _, decimals = f"{theirs!r}".partition(".")
    written = len(decimals) if decimals.isdecimal() else 0
    rounding = 0.5 * 10.0**-written if written >= _MIN_ROUNDED_DECIMALS else 0.0
    return abs(ours - theirs) <= max(_TOLERANCE, rounding + ROUNDING_TOLERANCE)


def _difference_reason(run: AnswerRun, reported: ReportedMetric, n: int) -> str:
    """Why the two values differ, as far as the file shows."""
    parts: list[str] = []
    if reported.n_rows is not None and reported.n_rows != n:
        left_out = run.row_counts.n_left_out if reported.subject is None else 0
        bad = f", as {left_out:,} bad row{'s are' if left_out > 1 else ' is'} left out" if left_out else ""
        parts.append(f"The tool used {reported.n_rows:,} rows, Calib {n:,}{bad}.")
    if reported.difference_reason:
        parts.append(reported.difference_reason)
    return " ".join(parts) or "Both use the same number of rows; the file does not explain the difference."
