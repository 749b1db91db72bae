"""Is the model right as often as it says, whatever the bins? The isotonic (CORP) and the smooth diagram.

Both are of the top label, one pair a row. What chance alone would draw is known from the outcomes that every
null distribution draws, which are counted in cells of width 1/3000; curve and band stand on the same cells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.bins import Binned, Counts
from calib_core.edges import FINEST_BINS, Scheme
from calib_core.errors import Unavailable
from calib_core.inference.honest_band import honest_band
from calib_core.inference.null import NULL_QUANTILES, NULL_SEED, BinnedNullDraws, monte_carlo_p_value
from calib_core.inference.verdict import MIN_ROWS
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.metrics.brier_decomposition import (
    BRIER_MISCALIBRATION,
    decompose_brier,
    recalibrated_accuracy,
)
from calib_core.metrics.smooth_ece import (
    KERNEL_INTERVALS,
    SMOOTH_ECE,
    KernelSmoother,
    spread_to_nodes,
)
from calib_core.results.columns import Column
from calib_core.results.evidence import AnswerEvidence, Evidence
from calib_core.results.recipe import recipe_text
from calib_core.results.score import Score, score
from calib_core.terms import Terms
from calib_core.wording import (
    ROUNDING_TOLERANCE,
    format_number,
    format_short,
    join_names,
    p_value_phrase,
    plural,
    too_few_phrase,
)

CELLS: Final = Scheme("width", FINEST_BINS)
"""The cells in which outcomes are drawn."""

HISTOGRAM_BINS: Final = 50
"""Bars of the histogram of confidences."""

SMOOTH_POINTS: Final = 512
"""The smooth curve is known at the ends of this many equal intervals of [0, 1]."""

MIN_BANDWIDTH: Final = 1 / SMOOTH_POINTS
"""The curve is smoothed at least this much; below, its points would be too far apart to show it."""


@dataclass(frozen=True, slots=True, eq=False)
class CorpReliability:
    """The isotonic reliability diagram of one method on one run, and the parts of its Brier score.

    Attributes
    ----------
    run, method : str
        The run's label and the method's id.
    brier : float
        Brier score, which is miscalibration − discrimination + uncertainty.
    miscalibration, discrimination, uncertainty : Score
        The three parts; the p-value and the median of a calibrated model are those of the first.
    table : pl.DataFrame
        One row for each occupied cell: confidence (mean), count, accuracy, recalibrated (the isotonic fit),
        block (its number, from 1), calibrated_low and calibrated_high, the 5 % and 95 % quantiles of the
        fit of a calibrated model, null where nothing is drawn, and curve_low and curve_high, between which a
        rising true curve lies everywhere with 95 % confidence; null where rows repeat questions.
    blocks : pl.DataFrame
        One row for each block of equal fitted accuracy: block, low and high (its least and largest
        confidence), count, confidence (mean), accuracy, and gap (confidence − accuracy).
    histogram : pl.DataFrame
        Non-empty bars: low, high and count.
    no_null_reason : str or None
        Why there is no band and no p-value; None where there are.
    headline : str
        The result in one sentence, which begins with the verdict.
    recipe : str
        How it was made.
    """

    run: str
    method: str
    brier: float
    miscalibration: Score
    discrimination: Score
    uncertainty: Score
    table: pl.DataFrame
    blocks: pl.DataFrame
    histogram: pl.DataFrame
    no_null_reason: str | None
    headline: str
    recipe: str

    @property
    def terms(self) -> Terms:
        """The words for its probabilities and outcomes."""
        return METHODS[self.method].terms

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the table of blocks that are shown."""
        terms = self.terms
        return (
            Column("low", "Bin", "number", upper="high", digits=3),
            Column("count", "n", "count"),
            Column("confidence", terms.confidence_title, "share", f"The average of the {terms.confidences}."),
            Column("accuracy", terms.accuracy_title, "share", METRICS["accuracy"].worded(terms).help),
            Column("gap", "Gap", "signed", terms.gap, digits=3),
        )

    @property
    def curve_text(self) -> str | None:
        """Where the diagonal leaves the band of the true curve; None without that band."""
        if self.table["curve_low"].null_count():
            return None
        gaps = {
            "too high": pl.col("confidence") > pl.col("curve_high") + ROUNDING_TOLERANCE,
            "too low": pl.col("confidence") < pl.col("curve_low") - ROUNDING_TOLERANCE,
        }
        off = {word: self.table.filter(gap) for word, gap in gaps.items()}
        parts = [
            f"{word} for {plural(int(rows['count'].sum()), 'row')} between {rows['confidence'][0]:.3f} and "
            f"{rows['confidence'][-1]:.3f}"
            for word, rows in off.items()
            if rows.height
        ]
        stated = self.terms.confidence
        where = f"The diagonal leaves it: {stated} is {join_names(parts)}." if parts else ""
        return (
            f"If the true curve rises with the {stated}, it lies in the coloured band everywhere at the 95 % "
            f"level. {where or 'The diagonal lies in it, too.'}"
        )

    def to_frame(self) -> pl.DataFrame:
        """The table, with run, method and recipe repeated in every row."""
        return _with_origin(self.table, self.run, self.method, self.recipe)


@dataclass(frozen=True, slots=True, eq=False)
class SmoothReliability:
    """The smooth reliability diagram of one method on one run.

    Attributes
    ----------
    run, method : str
        The run's label and the method's id.
    smooth_ece : Score
        The smooth ECE, which is also its own bandwidth.
    bandwidth : float
        Standard deviation of the kernel of the curve: the smooth ECE, but at least `MIN_BANDWIDTH`.
    table : pl.DataFrame
        One row for each of the `SMOOTH_POINTS` + 1 confidences: confidence, density (of the smoothed
        confidences; its integral is 1), accuracy (the confidence plus the mean of y − c around it, weighted
        by the kernel), and calibrated_low and calibrated_high, the 5 % and 95 % quantiles of the same curve
        of a calibrated model. Null outside the confidences of the data, where less than one pair is near,
        or where nothing is drawn.
    no_null_reason : str or None
        Why there is no band; None where there is.
    headline : str
        The result in one sentence, which begins with the verdict.
    recipe : str
        How it was made.
    """

    run: str
    method: str
    smooth_ece: Score
    bandwidth: float
    table: pl.DataFrame
    no_null_reason: str | None
    headline: str
    recipe: str

    @property
    def terms(self) -> Terms:
        """The words for its probabilities and outcomes."""
        return METHODS[self.method].terms

    def to_frame(self) -> pl.DataFrame:
        """The table, with run, method and recipe repeated in every row."""
        return _with_origin(self.table, self.run, self.method, self.recipe)


def _with_origin(table: pl.DataFrame, run: str, method: str, recipe: str) -> pl.DataFrame:
    return table.with_columns(run=pl.lit(run), method=pl.lit(method), recipe=pl.lit(recipe))


def corp_reliability(evidence: Evidence) -> CorpReliability:
    """The isotonic reliability diagram with the decomposition of the Brier score (CORP).

    Raises
    ------
    Unavailable
        For token-level sums, which keep no single confidences, and where no row is usable.

    References
    ----------
    Dimitriadis, Gneiting, Jordan (2021), doi:10.1073/pnas.2016191118; the band of a calibrated model is their
    consistency band, and that of the curve is `inference.honest_band`.
    """
    top, cells = _top_label_cells(evidence, BRIER_MISCALIBRATION.id)
    confidence = cells.confidence / cells.count
    fitted = recalibrated_accuracy(cells.count, cells.correct)
    drawn = _drawn_outcomes(top.null_draws(METRICS["ece"], CELLS))
    band = median = p = None
    if drawn is not None:
        band = _band(np.array([recalibrated_accuracy(cells.count, correct) for correct in drawn]))
        median, p = miscalibration_null(cells, drawn)
    draws = None if drawn is None else len(drawn)
    parts = (score(top, f"brier_{name}") for name in ("miscalibration", "discrimination", "uncertainty"))
    miscalibration, discrimination, uncertainty = parts
    brier = score(top, "brier").value or 0.0
    block = np.cumsum(np.diff(fitted, prepend=-1.0) > 0).astype(np.intp)
    return CorpReliability(
        run=evidence.run.label,
        method=evidence.method.id,
        brier=brier,
        miscalibration=replace(miscalibration, null_median=median, p=p, draws=draws),
        discrimination=discrimination,
        uncertainty=uncertainty,
        table=pl.DataFrame(
            {
                "confidence": confidence,
                "count": cells.n_pairs,
                "accuracy": cells.correct / cells.count,
                "recalibrated": fitted,
                "block": block,
                **_band_columns(band, confidence.size),
                **_band_columns(_honest_band(top, cells), confidence.size, "curve"),
            }
        ),
        blocks=_blocks(cells, block),
        histogram=top.sums.binned(Scheme("width", HISTOGRAM_BINS)).to_frame().select("low", "high", "count"),
        no_null_reason=top.no_null_reason,
        headline=_corp_headline(top, brier, miscalibration.value or 0.0, median, p_value_phrase(p, draws)),
        recipe=_recipe("CORP, isotonic fit of least squares", top, cells, draws),
    )


def smooth_reliability(evidence: Evidence) -> SmoothReliability:
    """The smooth reliability diagram, at the bandwidth of the smooth ECE.

    Raises
    ------
    Unavailable
        For token-level sums, which keep no single confidences, and where no row is usable.

    References
    ----------
    Błasiok, Nakkiran (2023), arXiv:2309.12236.
    """
    top, cells = _top_label_cells(evidence, SMOOTH_ECE.id)
    smooth_ece = score(top, SMOOTH_ECE.id)
    bandwidth = max(smooth_ece.value or 0.0, MIN_BANDWIDTH)
    confidence, n = cells.confidence / cells.count, cells.count.sum().item()

    def smoothed(weight: NDArray[np.float64]) -> NDArray[np.float64]:
        nodes = spread_to_nodes(confidence, weight / n)
        return KernelSmoother(nodes).density(bandwidth)[:: KERNEL_INTERVALS // SMOOTH_POINTS]

    at = np.arange(SMOOTH_POINTS + 1) / SMOOTH_POINTS
    density = np.maximum(smoothed(cells.count.astype(np.float64)), 0.0)
    # A pair right at a point adds 1 to this number (of average weight), one far away next to nothing.
    is_near_a_pair = density * top.n_effective * bandwidth * np.sqrt(2 * np.pi) >= 1
    is_near_a_pair &= (at >= confidence[0] - 1 / SMOOTH_POINTS) & (at <= confidence[-1] + 1 / SMOOTH_POINTS)

    def curve(correct: Counts) -> NDArray[np.float64]:
        residual = smoothed(correct - cells.confidence)
        mean = np.divide(residual, density, out=np.full(at.size, np.nan), where=is_near_a_pair)
        return np.clip(at + mean, 0, 1)

    drawn = _drawn_outcomes(top.null_draws(METRICS["ece"], CELLS))
    band = None if drawn is None else _band(np.array([curve(correct) for correct in drawn]))
    draws = None if drawn is None else len(drawn)
    return SmoothReliability(
        run=evidence.run.label,
        method=evidence.method.id,
        smooth_ece=smooth_ece,
        bandwidth=bandwidth,
        table=pl.DataFrame(
            {
                "confidence": at,
                "density": density,
                "accuracy": curve(cells.correct),
                **_band_columns(band, at.size),
            }
        ).fill_nan(None),
        no_null_reason=top.no_null_reason,
        headline=(
            f"{_verdict_lead(top)}: smoothed over a width of ± {format_number(bandwidth, '.3f')}, "
            f"{top.terms.confidence} and {top.terms.accuracy} are {format_number(smooth_ece.value)} apart on "
            "average."
        ),
        recipe=_recipe(f"smECE, reflected Gaussian kernel, σ={bandwidth:.4g}", top, cells, draws),
    )


def unavailable_without_bins(evidence: Evidence) -> str | None:
    """Why a run has neither diagram; None where it has both."""
    return evidence.top_label.unavailable_reason(BRIER_MISCALIBRATION, CELLS)


def _top_label_cells(evidence: Evidence, metric_id: str) -> tuple[Evidence, Binned]:
    """The evidence of the top label, and its pairs by cell; raises Unavailable where there are none."""
    top = evidence.top_label
    if reason := top.unavailable_reason(METRICS[metric_id], CELLS):
        raise Unavailable(reason)
    if not top.n_used:
        raise Unavailable(f"No row {top.terms.no_pair}.")
    return top, top.sums.binned(CELLS)


def miscalibration_null(cells: Binned, drawn: Counts) -> tuple[float, float]:
    """Median miscalibration of a calibrated model, and the p-value of the one observed.

    Parameters
    ----------
    cells : Binned
        The pairs by cell (`CELLS`).
    drawn : NDArray[np.int64], shape (R, cells)
        Right outcomes in each draw and cell.
    """
    confidence = cells.confidence / cells.count
    observed, *of_draws = (
        decompose_brier(confidence, cells.count, correct).miscalibration
        for correct in (cells.correct, *drawn)
    )
    values = np.array(of_draws)
    return float(np.median(values)), monte_carlo_p_value(values, observed)


def _drawn_outcomes(draws: BinnedNullDraws | None) -> Counts | None:
    """Number of right outcomes in each draw and cell, shape (R, cells); None where nothing is drawn."""
    return None if draws is None else np.array([draw.bins.correct for draw in draws])


def _band(curves: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper end of the band of some curves, shape (points,) each."""
    _median, low, high = NULL_QUANTILES
    ends = np.quantile(curves, (low, high), axis=0)
    return ends[0], ends[1]


def _band_columns(
    band: tuple[NDArray[np.float64], NDArray[np.float64]] | None, n_points: int, what: str = "calibrated"
) -> dict[str, pl.Series]:
    ends = band or (None, None)
    return {
        name: pl.Series(name, [None] * n_points if end is None else end, pl.Float64)
        for name, end in zip((f"{what}_low", f"{what}_high"), ends, strict=True)
    }


def _honest_band(top: Evidence, cells: Binned) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Where the true curve may lie; None for rows that depend on one another, or have weights."""
    independent = isinstance(top, AnswerEvidence) and top.cluster is None and top.weight is None
    if not independent:
        return None
    return honest_band(np.asarray(cells.count, np.int64), np.asarray(cells.correct, np.int64))


def _blocks(cells: Binned, block: NDArray[np.intp]) -> pl.DataFrame:
    """One row for each block of cells."""
    frame = pl.DataFrame(
        {
            "block": block,
            "low": cells.confidence / cells.count,
            "high": cells.confidence / cells.count,
            "count": cells.n_pairs,
            "total": cells.count,
            "confidence": cells.confidence,
            "accuracy": cells.correct,
        }
    )
    return (
        frame.group_by("block", maintain_order=True)
        .agg(
            pl.col("low").first(),
            pl.col("high").last(),
            pl.col("count", "total", "confidence", "accuracy").sum(),
        )
        .with_columns(pl.col("confidence", "accuracy") / pl.col("total"))
        .drop("total")
        .with_columns(gap=pl.col("confidence") - pl.col("accuracy"))
    )


def _verdict_lead(top: Evidence) -> str:
    """The verdict's word as the beginning of a sentence."""
    if top.n_effective < MIN_ROWS:
        return too_few_phrase(top.n_used, "row")
    words = top.verdict.words
    in_rows = f" in {top.n_used:,} rows" if top.verdict.kind == "none" else ""
    return f"{words[0].upper()}{words[1:]}{top.verdict.scope}{in_rows}"


def _corp_headline(
    top: Evidence, brier: float, miscalibration: float, median: float | None, p_phrase: str
) -> str:
    """The verdict, and what recalibration would save beside what it would save by chance."""
    saved = (
        f"recalibration would lower the Brier score of {format_number(brier)} by "
        f"{format_number(miscalibration)}"
    )
    chance = (
        "" if median is None else f", that of a calibrated model by about {format_short(median)} ({p_phrase})"
    )
    return f"{_verdict_lead(top)}: {saved}{chance}."


def _recipe(opening: str, top: Evidence, cells: Binned, draws: int | None) -> str:
    parts = [opening, recipe_text(top, None, None)]
    if top.n_distinct is not None and top.n_distinct > cells.n_bins:
        parts.append(f"curve on {FINEST_BINS:,} cells of {top.terms.confidence}")
    if draws is not None:
        parts.append(f"band 5–95 % over R={draws} draws, seed {NULL_SEED}")
    return ", ".join(parts)
