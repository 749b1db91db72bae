"""Is it over-confident, and where; and what does the number depend on?  Steps three and four of the tour."""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from calib_core.analysis.limits import MIN_ROWS, DEFAULT_SCHEME
from calib_core.analysis.null import NullDistribution
from calib_core.analysis.reading import stated_and_observed
from calib_core.analysis.reliability import Reliability, reliability_diagram
from calib_core.analysis.sweep import PAPER_BINS, SweepCurve, sweep_bins
from calib_core.analysis.tendency import VERDICT_WORDS, VerdictKind, Verdict, judge_calibration
from calib_core.analysis.tour_step import STEP_TITLES, TourStep
from calib_core.analysis.tour_subject import TourSubject
from calib_core.problems import Unavailable
from calib_core.wording import plural, format_percent, format_short

GAP_NAMES: Final[dict[VerdictKind, str]] = {
    "over": "the over-confidence", "under": "the under-confidence", "mixed": "what is more than chance",
}
"""What is spoken of where the largest gap of all is on the other side, or within chance."""


def overall_step(subject: TourSubject) -> TourStep:
    """The reliability diagram, and what it comes to."""
    evidence = subject.evidence
    result = reliability_diagram(evidence, "ece", DEFAULT_SCHEME)
    binned = evidence.top_label_sums.binned(DEFAULT_SCHEME)
    found = judge_calibration(binned, design_effect=evidence.design_effect)
    # Of few rows the second sentence says that they are.
    few = found.kind == "few"
    told = f"{stated_and_observed(binned)}." if few else result.headline[0].lower() + result.headline[1:]
    return TourStep(
        kind="whole",
        heading=f"{VERDICT_WORDS[found.kind].capitalize()}{', and where' if found.kind in {'over', 'under'} else ''}",
        sentences=(f"{subject.name} {told}", _largest_gap_sentence(result, found, subject.unit_plural)),
        picture=result,
        selection_note=f"All its {subject.unit_plural} are shown, in ten bins.",
        recipe=result.score.recipe,
    )


def _largest_gap_sentence(result: Reliability, verdict: Verdict, unit_plural: str) -> str:
    """The bin with the largest part of the claimed gap, which is all of it or one side; else the fullest."""
    kind, table = verdict.kind, result.table.with_columns(clear=pl.Series(verdict.significant))
    if kind == "few":
        return f"{_bin_clause(_fullest_bin(table), unit_plural)}; below {MIN_ROWS} {unit_plural} no more is said of them."
    if kind == "neither":
        return f"No bin is farther off than chance allows: {_bin_clause(_fullest_bin(table), unit_plural)}, in the fullest."
    side = {"over": pl.col("gap") > 0, "under": pl.col("gap") < 0}.get(kind, pl.col("clear"))
    worst = table.filter(side).sort("share", descending=True).row(0, named=True)
    claimed = "the gap" if worst["share"] == table["share"].max() else GAP_NAMES[kind]
    return f"The largest part of {claimed} is in {worst['interval']}: {_bin_clause(worst, unit_plural)}."


def _fullest_bin(table: pl.DataFrame) -> dict[str, Any]:
    return table.sort("count", descending=True, maintain_order=True).row(0, named=True)


def _bin_clause(row: dict[str, Any], unit_plural: str) -> str:
    """"412 answers say 97.5 % on average, and 80.1 % of them are right"."""
    if row["count"] == 1:
        judged = "right" if row["accuracy"] else "wrong"
        return f"1 {unit_plural[:-1]} says {format_percent(row['confidence'])} and is {judged}"
    return (
        f"{row['count']:,} {unit_plural} say {format_percent(row['confidence'])} on average, and "
        f"{format_percent(row['accuracy'])} of them are right"
    )


def bins_step(subject: TourSubject) -> TourStep:
    """The ECE over M, and what chance alone would give. Raises Unavailable where it has no curve."""
    evidence = subject.evidence
    result = sweep_bins(evidence, ("ece",), PAPER_BINS)
    if not result.curves:
        raise Unavailable(result.unavailable["ece"])
    curve = result.curves[0]
    few, many = curve.bins[0], curve.bins[-1]
    ends = (curve.values[0], curve.values[-1])
    low, high = ("not known" if value is None else format_short(value) for value in ends)
    number = f"{low} with {few} bins" + (f" and {high} with {many}" if low != high else f" as with {many}")
    return TourStep(
        kind="bins",
        heading=STEP_TITLES["bins"],
        sentences=(
            (
                "The usual number, ECE, is the average gap of M bins, of which fuller ones count more, and M "
                f"is a choice: for {subject.name} it is {number}."
            ),
            _null_sentence(curve, plural(evidence.n_used, subject.unit_plural[:-1])),
        ),
        picture=result,
        selection_note=f"ECE at the {len(curve.bins)} M of the Full-ECE paper.",
        recipe=curve.recipe,
    )


def _null_sentence(curve: SweepCurve, rows_text: str) -> str:
    advice = "an ECE has to be read with its M and its rows"
    if curve.null is None:
        return f"How much of it {rows_text} would give by chance is not known here: {advice}."
    few, many = curve.bins[0], curve.bins[-1]
    return (
        f"Confidences that are exactly right would give about {_null_median_text(curve, curve.null, 0)} with {few} bins "
        f"and {_null_median_text(curve, curve.null, -1)} with {many} on {rows_text}, by chance alone: {advice}."
    )


def _null_median_text(curve: SweepCurve, null: NullDistribution, bins_index: int) -> str:
    """"0.0198 (13 % of it)": the null's median, and its share of what was found where it is the smaller."""
    median, value = null.median[bins_index], curve.values[bins_index]
    share = f" ({100 * median / value:.0f} % of it)" if value is not None and median < value else ""
    return f"{format_short(median)}{share}"
