"""Is it over-confident, and where; and what does the number depend on?  Steps three and four of the tour."""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from calib_core.analysis.limits import FEW, TEN
from calib_core.analysis.null import Null
from calib_core.analysis.reading import says_and_is
from calib_core.analysis.reliability import Reliability, reliability
from calib_core.analysis.sweep import PAPER_BINS, Curve, sweep
from calib_core.analysis.tendency import WORDS, Kind, Tendency, tendency
from calib_core.analysis.tour_step import ABOUT, Step
from calib_core.analysis.tour_subject import Subject
from calib_core.problems import Unavailable
from calib_core.wording import count, percent, short

SIDES: Final[dict[Kind, str]] = {
    "over": "the over-confidence", "under": "the under-confidence", "mixed": "what is more than chance",
}
"""What is spoken of where the largest gap of all is on the other side, or within chance."""


def whole_step(subject: Subject) -> Step:
    """The reliability diagram, and what it comes to."""
    evidence = subject.evidence
    result = reliability(evidence, "ece", TEN)
    binned = evidence.top_sums.binned(TEN)
    found = tendency(binned, alike=evidence.alike)
    # Of few rows the second sentence says that they are.
    few = found.kind == "few"
    told = f"{says_and_is(binned)}." if few else result.reading[0].lower() + result.reading[1:]
    return Step(
        kind="whole",
        heading=f"{WORDS[found.kind].capitalize()}{', and where' if found.kind in {'over', 'under'} else ''}",
        sentences=(f"{subject.name} {told}", _where(result, found, subject.noun)),
        picture=result,
        chosen=f"All its {subject.noun} are shown, in ten bins.",
        recipe=result.score.recipe,
    )


def _where(result: Reliability, found: Tendency, noun: str) -> str:
    """The bin with the largest part of the claimed gap, which is all of it or one side; else the fullest."""
    kind, table = found.kind, result.table.with_columns(clear=pl.Series(found.clear))
    if kind == "few":
        return f"{_bin(_fullest(table), noun)}; below {FEW} {noun} no more is said of them."
    if kind == "neither":
        return f"No bin is farther off than chance allows: {_bin(_fullest(table), noun)}, in the fullest."
    side = {"over": pl.col("gap") > 0, "under": pl.col("gap") < 0}.get(kind, pl.col("clear"))
    worst = table.filter(side).sort("share", descending=True).row(0, named=True)
    claimed = "the gap" if worst["share"] == table["share"].max() else SIDES[kind]
    return f"The largest part of {claimed} is in {worst['interval']}: {_bin(worst, noun)}."


def _fullest(table: pl.DataFrame) -> dict[str, Any]:
    return table.sort("count", descending=True, maintain_order=True).row(0, named=True)


def _bin(row: dict[str, Any], noun: str) -> str:
    """"412 answers say 97.5 % on average, and 80.1 % of them are right"."""
    if row["count"] == 1:
        judged = "right" if row["accuracy"] else "wrong"
        return f"1 {noun[:-1]} says {percent(row['confidence'])} and is {judged}"
    return (
        f"{row['count']:,} {noun} say {percent(row['confidence'])} on average, and "
        f"{percent(row['accuracy'])} of them are right"
    )


def bins_step(subject: Subject) -> Step:
    """The ECE over M, and what chance alone would give. Raises Unavailable where it has no curve."""
    evidence = subject.evidence
    result = sweep(evidence, ("ece",), PAPER_BINS)
    if not result.curves:
        raise Unavailable(result.refused["ece"])
    curve = result.curves[0]
    few, many = curve.bins[0], curve.bins[-1]
    ends = (curve.values[0], curve.values[-1])
    low, high = ("not known" if value is None else short(value) for value in ends)
    number = f"{low} with {few} bins" + (f" and {high} with {many}" if low != high else f" as with {many}")
    return Step(
        kind="bins",
        heading=ABOUT["bins"],
        sentences=(
            (
                "The usual number, ECE, is the average gap of M bins, of which fuller ones count more, and M "
                f"is a choice: for {subject.name} it is {number}."
            ),
            _by_chance(curve, count(evidence.n_used, subject.noun[:-1])),
        ),
        picture=result,
        chosen=f"ECE at the {len(curve.bins)} M of the Full-ECE paper.",
        recipe=curve.recipe,
    )


def _by_chance(curve: Curve, counted: str) -> str:
    advice = "an ECE has to be read with its M and its rows"
    if curve.null is None:
        return f"How much of it {counted} would give by chance is not known here: {advice}."
    few, many = curve.bins[0], curve.bins[-1]
    return (
        f"Confidences that are exactly right would give about {_told(curve, curve.null, 0)} with {few} bins "
        f"and {_told(curve, curve.null, -1)} with {many} on {counted}, by chance alone: {advice}."
    )


def _told(curve: Curve, null: Null, at: int) -> str:
    """"0.0198 (13 % of it)": the null's median, and its share of what was found where it is the smaller."""
    median, value = null.median[at], curve.values[at]
    share = f" ({100 * median / value:.0f} % of it)" if value is not None and median < value else ""
    return f"{short(median)}{share}"
