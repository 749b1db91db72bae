"""Is it right as often as it says?  Evidence, a metric and bins → one reliability result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.bins import Binned
from calib_core.edges import Scheme
from calib_core.inference.intervals import wilson_interval
from calib_core.inference.verdict import MIN_ROWS, VERDICT_WORDS, Verdict, judge_calibration
from calib_core.results.evidence import Evidence, RowUnit, bins_all_classes, get_metric
from calib_core.results.recipe import recipe_text
from calib_core.results.score import Score, effective_scheme, score
from calib_core.wording import ROUNDING_TOLERANCE, format_percent, too_few_phrase

# MERGED reading: What does a reliability diagram say, in one plain sentence?

MOST_OF_GAP: Final = 2 / 3
"""Bins that carry this part of the gap are said to carry most of it."""


def reliability_headline(
    binned: Binned, *, dependent: bool, unit: RowUnit = "rows", design_effect: float = 1.0
) -> str:
    """One sentence on the whole, and where the gap lies.

    dependent: the pairs are all choices of each row, whose mean confidence and share of right ones
    are both 1/K by construction, so only the gaps are spoken of; unit: what is counted; alike: as in
    `tendency`.
    """
    if not binned.size:
        return f"No {unit[:-1]} has both a confidence and an outcome."
    n = int(binned.count.sum())
    if dependent:
        return _all_labels_headline(binned, n, unit)
    if n < MIN_ROWS:
        return f"{too_few_phrase(n, unit[:-1])}: {stated_and_observed(binned)}."
    return f"{stated_and_observed(binned).capitalize()}{_verdict_clause(binned, judge_calibration(binned, design_effect=design_effect), n, unit)}."


def stated_and_observed(binned: Binned) -> str:
    """ "says 75.0 % on average, is right 51.6 % of the time": a verb's part of a sentence on some pairs."""
    n = int(binned.count.sum())
    said, right = float(binned.confidence.sum()) / n, int(binned.correct.sum()) / n
    return f"says {format_percent(said)} on average, is right {format_percent(right)} of the time"


def _all_labels_headline(binned: Binned, n: int, unit: RowUnit) -> str:
    """Of pairs that exclude one another chance is not judged: only where the gap lies is told."""
    gap = float(binned.absolute_gap.sum()) / n
    pairs = "choices of every question" if unit == "rows" else "classes of every position"
    subject = f"Over all {pairs}, probability and share of right ones"
    if gap <= ROUNDING_TOLERANCE:
        return f"{subject} agree in every bin."
    apart = f"{format_percent(gap)} apart on average"
    if unit == "positions":
        # A vocabulary's average is next to nothing; each position has one right class, so this is Full-ECE.
        apart = f"{n * gap / max(int(binned.correct.sum()), 1):.4f} apart a position"
    return f"{subject} are {apart}{_comma_clause(_gap_location(binned, binned.absolute_gap))}."


def _verdict_clause(binned: Binned, judgement: Verdict, n: int, unit: RowUnit) -> str:
    """Over- or under-confident, both, or neither, as far as the rows can tell (95 %)."""
    over, under, clear = judgement.over_gap, judgement.under_gap, judgement.significant
    if judgement.kind == "neither":
        return f": {VERDICT_WORDS[judgement.kind]} with {n:,} {unit}"
    if judgement.kind == "mixed":
        return _mixed_clause(binned, over * clear, under * clear)
    mine, other, whose = (over, under, "under") if judgement.kind == "over" else (under, over, "over")
    verdict = f": {VERDICT_WORDS[judgement.kind]}{_comma_clause(_gap_location(binned, mine))}"
    if (other * clear).any():
        verdict += f", though {VERDICT_WORDS[whose]} {_gap_location(binned, other * clear)}"
    return verdict


def _mixed_clause(binned: Binned, over: NDArray[np.float64], under: NDArray[np.float64]) -> str:
    """Averages that agree over bins that do not; `over`, `under`: the clear gaps, in rows."""
    sides = ((VERDICT_WORDS["over"], over), (VERDICT_WORDS["under"], under))
    told = ", ".join(f"{name} {_gap_location(binned, side)}" for name, side in sides if side.any())
    return f", {VERDICT_WORDS['mixed']}: {told}"


def _comma_clause(where: str) -> str:
    return f", {where}" if where else ""


def _gap_location(binned: Binned, gap_parts: NDArray[np.float64]) -> str:
    """Where the gap lies.

    "mostly in the top bin", "mostly in (0.3, 0.4] and in (0.8, 0.9]", "in 7 of 9 bins", "in both bins";
    empty where there is only one bin, which then need not be named.
    """
    if binned.size == 1:
        return ""
    total = gap_parts.sum()
    heaviest = np.argsort(-gap_parts, kind="stable")[:2]
    chosen = heaviest[:1] if gap_parts[heaviest[0]] >= MOST_OF_GAP * total else heaviest
    if len(chosen) == binned.size:
        return "in both bins"
    if gap_parts[chosen].sum() < MOST_OF_GAP * total:
        found = int((gap_parts > ROUNDING_TOLERANCE).sum())
        return f"in all {found} bins" if found == binned.size else f"in {found} of {binned.size} bins"
    if set(chosen.tolist()) == set(range(binned.size - len(chosen), binned.size)):
        return "mostly in the top bin" if len(chosen) == 1 else "mostly in the two top bins"
    return "mostly " + " and ".join(_bin_phrase(binned, int(bin_)) for bin_ in sorted(chosen.tolist()))


def _bin_phrase(binned: Binned, bin_index: int) -> str:
    """ "in (0.8, 0.9]", or "at 0.9" where the bin is a single value."""
    name = bin_name(binned, bin_index)
    return f"in {name}" if name.endswith("]") else f"at {name}"


def bin_name(binned: Binned, bin_index: int) -> str:
    """ "(0.8, 0.9]" for equal width, "[0.62, 0.71]" or "0.9375" for bins of found values."""
    low, high = float(binned.low[bin_index]), float(binned.high[bin_index])
    # Three digits, or as many more as it takes to tell the two ends apart.
    digits = next((digits for digits in range(3, 17) if f"{low:.{digits}g}" != f"{high:.{digits}g}"), 3)
    if binned.scheme.binning == "width":
        return f"{'[' if low == 0 else '('}{low:.{digits}g}, {high:.{digits}g}]"
    return f"[{low:.{digits}g}, {high:.{digits}g}]" if low < high else f"{low:.6g}"


@dataclass(frozen=True, slots=True, eq=False)
class Reliability:
    """The reliability diagram of one method on one run, as numbers.

    table: one row a non-empty bin: bin (from 1), low, high, count, confidence, accuracy (means),
    accuracy_low, accuracy_high (95 % Wilson; null where pairs depend on one another), interval (the bin
    as text), gap = confidence − accuracy (positive: over-confident), share = the bin's part of Σ|Y − C|,
    thin = fewer than FEW pairs. of_pairs: "rows", "positions" of a text, or "labels" where each gives one
    pair a class.
    brier, accuracy: of the top label; mean_confidence: of the top label, in [0, 1], None without rows.
    recipe: of the diagram (a metric without bins is not part of it); score.recipe: of the number.
    reading: one sentence.
    """

    run: str
    method: str
    score: Score
    brier: float | None
    accuracy: float | None
    mean_confidence: float | None
    scheme: Scheme
    table: pl.DataFrame
    pair_unit: str
    headline: str
    recipe: str
    judged: str
    remarks: tuple[str, ...]

    @property
    def n_thin_bins(self) -> int:
        """Number of thin bins."""
        return int(self.table["thin"].sum())

    def to_frame(self) -> pl.DataFrame:
        """The table with run, method and recipe beside every row."""
        return self.table.with_columns(
            run=pl.lit(self.run), method=pl.lit(self.method), recipe=pl.lit(self.recipe)
        )


def reliability_diagram(evidence: Evidence, metric_id: str, scheme: Scheme | None = None) -> Reliability:
    """The diagram behind the metric: its own bins, or the scheme's for a metric without bins.

    Raises Unavailable where the evidence cannot give the metric or the bins.
    """
    metric = get_metric(metric_id)
    scheme = effective_scheme(metric, scheme or Scheme())
    number = score(evidence, metric_id, scheme)
    binned = evidence.binned(metric, scheme)
    dependent = bins_all_classes(metric) or evidence.options.labels == "all"
    return Reliability(
        run=evidence.run.label,
        method=evidence.method.id,
        score=number,
        brier=evidence.brier,
        accuracy=evidence.accuracy,
        mean_confidence=evidence.mean_confidence,
        scheme=scheme,
        table=bin_table(binned, with_intervals=not dependent, design_effect=evidence.design_effect),
        pair_unit="labels" if dependent else evidence.unit,
        headline=reliability_headline(
            binned, dependent=dependent, unit=evidence.unit, design_effect=evidence.design_effect
        ),
        recipe=recipe_text(evidence, metric if metric.binned else None, scheme, binned.size),
        judged=evidence.judged,
        remarks=evidence.remarks,
    )


def bin_table(binned: Binned, *, with_intervals: bool, design_effect: float = 1.0) -> pl.DataFrame:
    """The per-bin table of `Reliability`, from bins of any scheme; alike: as in `intervals.wilson`."""
    total = binned.absolute_gap.sum()
    share = binned.absolute_gap / total if total > 0 else np.zeros_like(binned.absolute_gap)
    low, high = (
        wilson_interval(binned.correct, binned.count, design_effect) if with_intervals else (None, None)
    )
    return binned.to_frame().with_columns(
        pl.lit(None, pl.Float64).alias("accuracy_low") if low is None else pl.Series("accuracy_low", low),
        pl.lit(None, pl.Float64).alias("accuracy_high") if high is None else pl.Series("accuracy_high", high),
        pl.Series("interval", [bin_name(binned, at) for at in range(binned.size)], dtype=pl.String),
        (pl.col("confidence") - pl.col("accuracy")).alias("gap"),
        pl.Series("share", share, dtype=pl.Float64),
        (pl.col("count") < MIN_ROWS).alias("thin"),
    )
