"""Is the model right as often as it says? The reliability diagram, its per-bin table and its headline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.bins import Binned
from calib_core.edges import Scheme
from calib_core.inference.bin_gaps import BinGaps, bin_gaps
from calib_core.inference.intervals import wilson_interval
from calib_core.inference.verdict import MIN_ROWS, VERDICT_WORDS, Verdict
from calib_core.results.evidence import Evidence, RowUnit, bins_all_classes, get_metric
from calib_core.results.recipe import recipe_text
from calib_core.results.score import Score, effective_scheme, score
from calib_core.wording import ROUNDING_TOLERANCE, format_percent, too_few_phrase

MOST_OF_GAP: Final = 2 / 3
"""Bins that carry at least this share of the gap are said to carry most of it."""


@dataclass(frozen=True, slots=True, eq=False)
class Reliability:
    """The reliability diagram of one method on one run, as numbers.

    Attributes
    ----------
    run, method : str
        The run's label and the method's id.
    score : Score
        The metric the diagram belongs to; `score.recipe` says how that number was made.
    brier, accuracy, mean_confidence : float or None
        Of the top label, in [0, 1]; None without rows.
    scheme : Scheme
        The bins.
    table : pl.DataFrame
        One row for each non-empty bin: bin (from 1), low, high, count, confidence and accuracy (means),
        accuracy_low and accuracy_high (95 % Wilson interval; null where pairs depend on one another),
        interval (the bin as text), gap (confidence − accuracy, positive where over-confident), share (the
        bin's part of Σ|Y − C|) and thin (fewer than `MIN_ROWS` pairs).
    pair_unit : {"rows", "positions", "labels"}
        What a pair is; "labels" where each row contributes one pair for every class.
    headline : str
        The result in one sentence.
    recipe : str
        How the diagram was made; a metric without bins is not part of it.
    judged : str
        Which answer the outcome belongs to.
    remarks : tuple[str, ...]
        What a reader has to know about these rows.
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
        """Number of bins with fewer than `MIN_ROWS` pairs."""
        return int(self.table["thin"].sum())

    def to_frame(self) -> pl.DataFrame:
        """The table, with run, method and recipe repeated in every row."""
        return self.table.with_columns(
            run=pl.lit(self.run), method=pl.lit(self.method), recipe=pl.lit(self.recipe)
        )


def reliability_diagram(evidence: Evidence, metric_id: str, scheme: Scheme | None = None) -> Reliability:
    """The diagram behind a metric: the metric's own bins, or those of the scheme if it has none.

    Parameters
    ----------
    evidence : Evidence
    metric_id : str
    scheme : Scheme, optional
        Ten bins of equal width where omitted.

    Returns
    -------
    Reliability

    Raises
    ------
    Unavailable
        Where the evidence does not support the metric or the bins.
    """
    metric = get_metric(metric_id)
    scheme = effective_scheme(metric, scheme or Scheme())
    metric_score = score(evidence, metric_id, scheme)
    binned = evidence.binned(metric, scheme)
    dependent = bins_all_classes(metric) or evidence.options.labels == "all"
    return Reliability(
        run=evidence.run.label,
        method=evidence.method.id,
        score=metric_score,
        brier=evidence.brier,
        accuracy=evidence.accuracy,
        mean_confidence=evidence.mean_confidence,
        scheme=scheme,
        table=bin_table(binned, with_intervals=not dependent, design_effect=evidence.design_effect),
        pair_unit="labels" if dependent else evidence.unit,
        headline=reliability_headline(
            binned,
            None if dependent else evidence.verdict,
            unit=evidence.unit,
            design_effect=evidence.design_effect,
        ),
        recipe=recipe_text(evidence, metric if metric.binned else None, scheme, binned.n_bins),
        judged=evidence.judged,
        remarks=evidence.remarks,
    )


def bin_table(binned: Binned, *, with_intervals: bool, design_effect: float = 1.0) -> pl.DataFrame:
    """The per-bin table of `Reliability`, for bins of any scheme.

    Parameters
    ----------
    binned : Binned
    with_intervals : bool
        Whether to compute Wilson intervals; otherwise their columns are null.
    design_effect : float, default 1
        Of repeated questions; widens the intervals.
    """
    total = binned.absolute_gap.sum()
    share = binned.absolute_gap / total if total > 0 else np.zeros_like(binned.absolute_gap)
    low, high = (
        wilson_interval(binned.correct, binned.count, design_effect) if with_intervals else (None, None)
    )
    return binned.to_frame().with_columns(
        pl.lit(None, pl.Float64).alias("accuracy_low") if low is None else pl.Series("accuracy_low", low),
        pl.lit(None, pl.Float64).alias("accuracy_high") if high is None else pl.Series("accuracy_high", high),
        pl.Series(
            "interval", [bin_name(binned, bin_index) for bin_index in range(binned.n_bins)], dtype=pl.String
        ),
        (pl.col("confidence") - pl.col("accuracy")).alias("gap"),
        pl.Series("share", share, dtype=pl.Float64),
        (pl.col("count") < MIN_ROWS).alias("thin"),
    )


# --- The diagram in words -------------------------------------------------------------------------


def reliability_headline(
    binned: Binned,
    verdict: Verdict | None,
    *,
    unit: RowUnit = "rows",
    design_effect: float = 1.0,
) -> str:
    """One sentence: the verdict, and the bins whose gap is clear beyond chance.

    Parameters
    ----------
    binned : Binned
    verdict : Verdict or None
        The verdict on the same pairs. None where they are all choices of each row: their mean confidence and
        share of correct ones are both 1/K by construction, so the sentence speaks only of the gaps.
    unit : {"rows", "positions"}
        What is counted.
    design_effect : float, default 1
        Of repeated questions (`inference.clusters.design_effect`).
    """
    if not binned.n_bins:
        return f"No {unit[:-1]} has both a confidence and an outcome."
    n = int(binned.count.sum())
    if verdict is None:
        return _all_labels_headline(binned, n, unit)
    if n < MIN_ROWS:
        return f"{too_few_phrase(n, unit[:-1])}: {stated_and_observed(binned)}."
    clause = _verdict_clause(binned, verdict, bin_gaps(binned, design_effect), n, unit)
    return f"{clause[0].upper()}{clause[1:]}: {stated_and_observed(binned)}."


def stated_and_observed(binned: Binned) -> str:
    """ "states 75.0 % on average and is right 51.6 % of the time", of the pairs in these bins."""
    n = int(binned.count.sum())
    stated, observed = float(binned.confidence.sum()) / n, int(binned.correct.sum()) / n
    return f"states {format_percent(stated)} on average and is right {format_percent(observed)} of the time"


def _all_labels_headline(binned: Binned, n: int, unit: RowUnit) -> str:
    """The headline of pairs that exclude one another: where the gap lies, without a test."""
    gap = float(binned.absolute_gap.sum()) / n
    pairs = "choices of every question" if unit == "rows" else "classes of every position"
    subject = f"For all {pairs}, the mean probability and the share that is right"
    if gap <= ROUNDING_TOLERANCE:
        return f"{subject} agree in every bin."
    difference = f"{format_percent(gap)} apart on average"
    if unit == "positions":
        # A vocabulary's average is next to nothing; each position has one right class, so this is Full-ECE.
        difference = f"{n * gap / max(int(binned.correct.sum()), 1):.4f} apart per position"
    return f"{subject} are {difference}{_comma_clause(_gap_location(binned, binned.absolute_gap))}."


def _verdict_clause(binned: Binned, verdict: Verdict, gaps: BinGaps, n: int, unit: RowUnit) -> str:
    """The verdict's word, and the bins that are clearly off."""
    match verdict.kind:
        case "few":
            return f"{verdict.words} ({verdict.reason.removeprefix('Not judged: ').removesuffix('.')})"
        case "none":
            return f"{verdict.words} in {n:,} {unit}"
        case "tolerable":
            return f"{verdict.words}, {format_percent(verdict.deviation or 0.0)} off on average"
        case "over" | "under":
            main, opposite = gaps.clear_over, gaps.clear_under
            if verdict.kind == "under":
                main, opposite = opposite, main
            clause = f"{verdict.words}{_comma_clause(_clear_location(binned, main))}"
            other = VERDICT_WORDS["under" if verdict.kind == "over" else "over"]
            return f"{clause}, though {other} {_gap_location(binned, opposite)}" if opposite.any() else clause
        case "extreme" | "timid":
            sides = ((VERDICT_WORDS["over"], gaps.clear_over), (VERDICT_WORDS["under"], gaps.clear_under))
            located = [f"{word} {_gap_location(binned, side)}".rstrip() for word, side in sides if side.any()]
            return f"{verdict.words}{_comma_clause(' and '.join(located))}"


def _clear_location(binned: Binned, clear_gap: NDArray[np.float64]) -> str:
    """Where the clear part of the gap lies; says so if no bin is clearly off by itself."""
    if clear_gap.any():
        return _gap_location(binned, clear_gap)
    return "" if binned.n_bins == 1 else "though no single bin is clearly off"


def _comma_clause(clause: str) -> str:
    return f", {clause}" if clause else ""


def _gap_location(binned: Binned, gap_parts: NDArray[np.float64]) -> str:
    """Where the gap lies.

    "mostly in the top bin", "mostly in (0.3, 0.4] and in (0.8, 0.9]", "in 7 of 9 bins", "in both bins"; empty
    where there is only one bin, which needs no name.
    """
    if binned.n_bins == 1:
        return ""
    total = gap_parts.sum()
    heaviest = np.argsort(-gap_parts, kind="stable")[:2]
    main_bins = heaviest[:1] if gap_parts[heaviest[0]] >= MOST_OF_GAP * total else heaviest
    if len(main_bins) == binned.n_bins:
        return "in both bins"
    if gap_parts[main_bins].sum() < MOST_OF_GAP * total:
        n_off = int((gap_parts > ROUNDING_TOLERANCE).sum())
        return "" if n_off == binned.n_bins else f"in {n_off} of {binned.n_bins} bins"
    if set(main_bins.tolist()) == set(range(binned.n_bins - len(main_bins), binned.n_bins)):
        return "mostly in the top bin" if len(main_bins) == 1 else "mostly in the two top bins"
    return "mostly " + " and ".join(_bin_phrase(binned, int(bin_)) for bin_ in sorted(main_bins.tolist()))


def _bin_phrase(binned: Binned, bin_index: int) -> str:
    """ "in (0.8, 0.9]", or "at 0.9" where the bin is a single value."""
    name = bin_name(binned, bin_index)
    return f"in {name}" if name.endswith("]") else f"at {name}"


def bin_name(binned: Binned, bin_index: int) -> str:
    """ "(0.8, 0.9]" for equal width, "[0.62, 0.71]" or "0.9375" for bins whose ends are data values."""
    low, high = float(binned.low[bin_index]), float(binned.high[bin_index])
    # Three digits, or as many more as it takes to tell the two ends apart.
    digits = next((digits for digits in range(3, 17) if f"{low:.{digits}g}" != f"{high:.{digits}g}"), 3)
    if binned.scheme.binning == "width":
        return f"{'[' if low == 0 else '('}{low:.{digits}g}, {high:.{digits}g}]"
    return f"[{low:.{digits}g}, {high:.{digits}g}]" if low < high else f"{low:.6g}"
