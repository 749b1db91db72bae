"""Is the model right as often as it says? The reliability diagram, its per-bin table and its headline."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.bins import Binned, Counts
from calib_core.edges import Scheme
from calib_core.inference.bin_gaps import BinGaps, bin_gaps
from calib_core.inference.intervals import wilson_interval
from calib_core.inference.verdict import (
    LEVEL_KINDS,
    MIN_ROWS,
    VERDICT_WORDS,
    Verdict,
    score_suffix,
    top_label_verdict,
)
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.metrics.metric import Metric
from calib_core.results.columns import Column
from calib_core.results.concentration import CONCENTRATED_SHARE
from calib_core.results.display import Displayable
from calib_core.results.evidence import Evidence, RowUnit, bins_all_classes, get_metric
from calib_core.results.recipe import recipe_text
from calib_core.results.robustness import PAPER_BINS
from calib_core.results.score import Score, effective_scheme, score
from calib_core.terms import TERMS, Terms
from calib_core.wording import (
    ROUNDING_TOLERANCE,
    BinReading,
    bin_reading,
    format_percent,
    format_short,
    too_few_phrase,
)

MOST_OF_GAP: Final = 2 / 3
"""Bins that carry at least this share of the gap are said to carry most of it."""


@dataclass(frozen=True, slots=True)
class AllLabels:
    """Numbers of one pair a label, beside those of the top label.

    Attributes
    ----------
    brier : float or None
        Mean (p − y)² over every label.
    share_right : float or None
        Share of labels that are the right one: 1 / K where each row has K.
    mean_probability : float or None
        1 / K too where the probabilities of a row sum to 1.
    """

    brier: float | None
    share_right: float | None
    mean_probability: float | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Reliability(Displayable):
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
        interval and percent (the bin as text, see `wording.bin_reading`), gap (confidence − accuracy,
        positive where over-confident), share (the bin's part of Σ|Y − C|) and thin (fewer than `MIN_ROWS`
        pairs). Where pairs count by their confidence, count is their sum Σc, and means are weighted.
    pair_unit : {"rows", "positions", "labels", "sampled answers"}
        What a pair is: "labels" where each row contributes one pair for every class, "sampled answers" where
        these count by their confidence.
    headline : str
        The result in one sentence.
    recipe : str
        How the diagram was made; a metric without bins is not part of it.
    judged : str
        Which answer the outcome belongs to.
    remarks : tuple[str, ...]
        What a reader has to know about these rows.
    warning : str or None
        Why the number rests on how M cuts the bins, where it does.
    all_labels : AllLabels or None
        The numbers of every label, where every label is pooled.
    score_note : str or None
        Whether the diagram is of a score or of the model; None where it is of the model.
    part : str
        The class whose pairs these are; "" for all of them.
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
    warning: str | None = None
    all_labels: AllLabels | None = None
    score_note: str | None = None
    part: str = ""

    @property
    def terms(self) -> Terms:
        """The words for its probabilities and outcomes."""
        return METHODS[self.method].terms

    @property
    def score_title(self) -> str:
        """The name of the diagram's number: the metric, or that of one class."""
        return f"ECE of {self.part}" if self.part else self.score.worded_metric.title

    @property
    def pools_vocabulary(self) -> bool:
        """Whether these pairs are of a whole vocabulary, so that nearly all lie in the first bin."""
        is_pooled = bool(self.part) or self.pair_unit in ("labels", "sampled answers")
        return is_pooled and METHODS[self.method].run_kind == "tokens"

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the table that are shown; the numbers of a vocabulary, which are small, in full."""
        terms = self.terms
        share, gap = (4, 6) if self.pools_vocabulary else (1, 3)
        count = (
            Column("count", "n", "number", "Answers to expect, one sampled from each distribution.", digits=1)
            if self.pair_unit == "sampled answers"
            else Column("count", "n", "count")
        )
        worth = Column("effective", "Worth", "number", "So many rows of equal weight.", digits=1)
        interval = Column(
            "accuracy_low",
            "95 %",
            "share",
            f"Of the {terms.accuracy}.",
            upper="accuracy_high",
            digits=share,
            repeats=True,  # the whiskers show it
        )
        return (
            Column("percent", "Says", help=f"The {terms.confidences} in the bin, in percent."),
            Column("interval", "Bin", repeats=True),
            count,
            *((worth,) if "effective" in self.table.columns else ()),
            Column(
                "confidence",
                terms.confidence_title,
                "share",
                f"The average of the {terms.confidences}.",
                digits=share,
            ),
            Column(
                "accuracy",
                terms.accuracy_title,
                "share",
                METRICS["accuracy"].worded(terms).help,
                digits=share,
            ),
            Column("gap", "Gap", "signed", terms.gap, digits=gap),
            Column("share", "Part of gap", "part", "The bin's share of the total gap Σ|Y − C|."),
            *([interval] if self.table["accuracy_low"].count() else []),
        )

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
    dependent = pools_labels(evidence, metric_id)
    if metric.weighted_by_confidence:
        table, pair_unit = mass_table(binned), "sampled answers"
        headline = _mass_headline(binned, evidence.unit)
    else:
        table = bin_table(binned, with_intervals=not dependent, design_effect=evidence.design_effect)
        pair_unit = "labels" if dependent else evidence.unit
        headline = reliability_headline(
            binned,
            None if dependent else evidence.verdict,
            unit=evidence.unit,
            moved=evidence.moved_ends,
            design_effect=evidence.design_effect,
            score=evidence.method.score_name,
        )
    if dependent and binned.n_bins:
        headline = f"{headline} {top_label_verdict(evidence.verdict)}"
    return Reliability(
        run=evidence.run.label,
        method=evidence.method.id,
        score=metric_score,
        brier=evidence.brier,
        accuracy=evidence.accuracy,
        mean_confidence=evidence.mean_confidence,
        scheme=scheme,
        table=table,
        pair_unit=pair_unit,
        headline=headline,
        recipe=recipe_text(evidence, metric if metric.binned else None, scheme, binned.n_bins),
        judged=evidence.judged,
        remarks=evidence.remarks,
        warning=_cut_warning(evidence, metric, scheme, binned) if dependent else None,
        all_labels=_all_labels(evidence) if evidence.options.labels == "all" else None,
        score_note=evidence.score_note,
    )


def bin_table(binned: Binned, *, with_intervals: bool, design_effect: float = 1.0) -> pl.DataFrame:
    """The per-bin table of `Reliability`, for bins of any scheme.

    Parameters
    ----------
    binned : Binned
    with_intervals : bool
        Whether to compute Wilson intervals; otherwise their columns are null.
    design_effect : float, default 1
        Of repeated questions, or of positions of a text; widens the intervals. There are none where it is
        infinite.
    """
    low, high = (
        wilson_interval(*_effective_counts(binned), design_effect)
        if with_intervals and math.isfinite(design_effect)
        else (None, None)
    )
    intervals = [
        pl.lit(None, pl.Float64).alias("accuracy_low") if low is None else pl.Series("accuracy_low", low),
        pl.lit(None, pl.Float64).alias("accuracy_high") if high is None else pl.Series("accuracy_high", high),
    ]
    return _with_readings(binned.to_frame().with_columns(*intervals), binned, binned.absolute_gap)


def _effective_counts(binned: Binned) -> tuple[Counts, Counts]:
    """Right pairs and pairs of each bin, in numbers of pairs of equal weight."""
    if binned.pairs is None:
        return binned.correct, binned.count
    return np.asarray(binned.correct / binned.count * binned.effective, np.float64), binned.effective


def mass_table(binned: Binned) -> pl.DataFrame:
    """The table of `bin_table` with each pair counted by its confidence; bins without any are left out."""
    mass = np.where(binned.confidence > 0, binned.confidence, np.nan)
    frame = binned.to_frame().with_columns(
        pl.Series("count", binned.confidence),
        pl.Series("confidence", binned.squared_confidence / mass),
        pl.Series("accuracy", binned.correct_confidence / mass),
        pl.lit(None, pl.Float64).alias("accuracy_low"),
        pl.lit(None, pl.Float64).alias("accuracy_high"),
    )
    table = _with_readings(frame, binned, _mass_gap(binned))
    return table.filter(pl.Series(binned.confidence > 0))


def _mass_gap(binned: Binned) -> NDArray[np.float64]:
    """|Σcy − Σc²| of each bin, the term of a metric that counts pairs by their confidence."""
    return np.abs(binned.correct_confidence - binned.squared_confidence)


def _with_readings(frame: pl.DataFrame, binned: Binned, gap_parts: NDArray[np.float64]) -> pl.DataFrame:
    """The frame of bins with their names, gaps, parts of the whole gap, and whether they are thin."""
    total = gap_parts.sum()
    share = gap_parts / total if total > 0 else np.zeros_like(gap_parts)
    readings = [reading_of_bin(binned, bin_index) for bin_index in range(binned.n_bins)]
    return frame.with_columns(
        pl.Series("interval", [reading.interval for reading in readings], dtype=pl.String),
        pl.Series("percent", [reading.percent for reading in readings], dtype=pl.String),
        (pl.col("confidence") - pl.col("accuracy")).alias("gap"),
        pl.Series("share", share, dtype=pl.Float64),
        (pl.col("effective" if "effective" in frame.columns else "count") < MIN_ROWS).alias("thin"),
    )


def _all_labels(evidence: Evidence) -> AllLabels:
    """The numbers of every label of this evidence."""
    sums = evidence.sums
    n = sums.n_pairs
    return AllLabels(
        brier=METRICS["brier"].compute(sums, Scheme()),
        share_right=sums.n_correct / n if n else None,
        mean_probability=sums.confidence_sum / n if n else None,
    )


def pools_labels(evidence: Evidence, metric_id: str) -> bool:
    """Whether the bins behind a metric hold a pair for every label of every row."""
    return bins_all_classes(METRICS[metric_id]) or evidence.options.labels == "all"


# --- What the bins cannot say ---------------------------------------------------------------------

CUT_RATIO: Final = 2.0
"""Where the number at one M is this many times that at another, it rests on how M cuts the bins."""

NEARLY_ALL: Final = 0.999
"""A larger share than this is said to be larger, as its rounding would say all."""


def _cut_warning(evidence: Evidence, metric: Metric, scheme: Scheme, binned: Binned) -> str | None:
    """Why a number over all classes rests on where M cuts: most pairs lie in one bin, and other M differ."""
    if not metric.binned or scheme.binning != "width" or not binned.n_bins:
        return None
    weight = binned.confidence if metric.weighted_by_confidence else binned.count
    n_pairs, fullest = int(binned.n_pairs.sum()), int(np.argmax(weight))
    if binned.n_bins == 1 and metric.required_sums != "classes":
        return (
            f"All {n_pairs:,} probabilities fall into one bin, {reading_of_bin(binned, 0)}. One bin compares "
            f"only their average with the share that is right: {metric.title} says nothing about "
            "individual probabilities there. Choose a larger M."
        )
    share = float(weight[fullest] / weight.sum()) if weight.sum() > 0 else 0.0
    few, many = (_value_at(evidence, metric, bins) for bins in (PAPER_BINS[0], PAPER_BINS[-1]))
    if share < CONCENTRATED_SHARE or few is None or many is None:
        return None
    if max(few, many) < CUT_RATIO * min(few, many):
        return None
    held = format_percent(share) if share < NEARLY_ALL else f"more than {format_percent(NEARLY_ALL)}"
    of_what = "the sampled answers" if metric.weighted_by_confidence else f"the {n_pairs:,} probabilities"
    return (
        f"One bin, {reading_of_bin(binned, fullest)}, holds {held} of {of_what}, and {metric.title} changes "
        f"with M: {_zero_or_short(few)} at M = {PAPER_BINS[0]}, {_zero_or_short(many)} at M = "
        f"{PAPER_BINS[-1]}. Part of the change may be chance in small bins. Compare models at one M only."
    )


def _zero_or_short(value: float) -> str:
    """A number with significant digits; "0", without decimals, where it is a rounding error."""
    return "0" if value <= ROUNDING_TOLERANCE else format_short(value)


def _value_at(evidence: Evidence, metric: Metric, bins: int) -> float | None:
    """The metric at another M; None where only bounds are known, or nothing."""
    scheme = Scheme("width", bins)
    if evidence.unavailable_reason(metric, scheme) or evidence.bounds(metric, scheme):
        return None
    return metric.compute(evidence.sums_for(metric, scheme), scheme)


# --- The diagram in words -------------------------------------------------------------------------


def reliability_headline(
    binned: Binned,
    verdict: Verdict | None,
    *,
    unit: RowUnit = "rows",
    moved: tuple[float, float] = (0.0, 0.0),
    design_effect: float = 1.0,
    score: str | None = None,
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
    moved : (float, float)
        As for `bin_gaps`.
    design_effect : float, default 1
        Of repeated questions (`inference.clusters.design_effect`).
    score : str, optional
        As for `score_suffix`.
    """
    terms = TERMS["answer" if verdict is None else verdict.of]
    if not binned.n_bins:
        return f"No {unit[:-1]} {terms.no_pair}."
    n = int(binned.n_pairs.sum())
    if verdict is None:
        return _all_labels_headline(binned, binned.count.sum().item(), unit)
    if n < MIN_ROWS:
        return f"{too_few_phrase(n, unit[:-1])}: {stated_and_observed(binned, terms)}."
    clause = _verdict_clause(verdict, n, unit, score)
    noun = terms.answers if unit == "rows" else unit
    location = _location_sentence(binned, verdict, bin_gaps(binned, moved, design_effect), noun)
    said = stated_and_observed(binned, terms)
    return f"{_capitalised(clause)}: {said}.{f' {location}' if location else ''}"


def stated_and_observed(binned: Binned, terms: Terms) -> str:
    """ "states 75.0 % on average and is right 51.6 % of the time", of the pairs in these bins."""
    n = binned.count.sum().item()
    stated, observed = float(binned.confidence.sum()) / n, float(binned.correct.sum()) / n
    return terms.stated_and_observed(stated, observed)


def _all_labels_headline(binned: Binned, n: float, unit: RowUnit) -> str:
    """The headline of pairs that exclude one another: where the gap lies, without a test."""
    gap = float(binned.absolute_gap.sum()) / n
    pairs = "choices" if unit == "rows" else "tokens"
    if gap <= ROUNDING_TOLERANCE:
        return f"Over all {pairs}, predicted probabilities and observed frequencies agree in every bin."
    difference = f"{format_percent(gap)} on average"
    if unit == "positions":
        # A vocabulary's average is next to nothing; each position has one right class, so this is Full-ECE.
        difference = f"{format_short(n * gap / max(binned.correct.sum().item(), 1))} per position"
    location = _comma_clause(_gap_location(binned, binned.absolute_gap, "probabilities"))
    subject = f"Over all {pairs}, predicted probabilities differ from observed frequencies"
    return f"{subject} by {difference}{location}."


def _mass_headline(binned: Binned, unit: RowUnit) -> str:
    """The headline of pairs that count by their confidence: how far an answer sampled from them is off."""
    gaps, n_answers = _mass_gap(binned), float(binned.confidence.sum())
    if not n_answers:
        return f"No {unit[:-1]} has both a confidence and an outcome."
    gap = float(gaps.sum()) / n_answers
    subject = f"For {'an answer' if unit == 'rows' else 'a token'} sampled from the model's probabilities"
    location = _comma_clause(_gap_location(binned, gaps, "probabilities"))
    return f"{subject}, probability and accuracy are {format_percent(gap)} apart{location}."


def _capitalised(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"


def _verdict_clause(verdict: Verdict, n: int, unit: RowUnit, score: str | None) -> str:
    """The verdict's word, with the number of rows or the size of the deviation where it needs them."""
    words = f"{verdict.words}{score_suffix(verdict.kind, score)}{verdict.scope}"
    match verdict.kind:
        case "few" | "dependent":
            return f"{words} ({verdict.reason.removeprefix('Not judged: ').removesuffix('.')})"
        case "none":
            return f"{words} in {n:,} {unit}"
        case "tolerable" | "uneven" | "unclear":
            return f"{words}, {format_percent(verdict.deviation or 0.0)} off on average"
        case "over" | "under" | "often" | "rarely" | "extreme" | "timid":
            return words


def _location_sentence(binned: Binned, verdict: Verdict, gaps: BinGaps, noun: str) -> str:
    """Where the gap lies, beyond chance; it stands apart from the averages, which are of all bins."""
    match verdict.kind:
        case "over" | "under" | "often" | "rarely":
            main, opposite = gaps.clear_over, gaps.clear_under
            if verdict.kind in ("under", "rarely"):
                main, opposite = opposite, main
            parts = [_clear_location(binned, main, verdict.words, noun)]
            if opposite.any():
                parts.append(f"the opposite gap is {_gap_location(binned, opposite, noun)}")
        case "extreme" | "timid" | "uneven":
            over, under = LEVEL_KINDS[verdict.of]
            sides = ((VERDICT_WORDS[over], gaps.clear_over), (VERDICT_WORDS[under], gaps.clear_under))
            located = [
                f"{word} {_gap_location(binned, side, noun)}".rstrip() for word, side in sides if side.any()
            ]
            parts = [" and ".join(located)]
        case "few" | "dependent" | "none" | "tolerable" | "unclear":
            parts = []
    sentence = "; ".join(filter(None, parts))
    return f"{_capitalised(sentence)}." if sentence else ""


def _clear_location(binned: Binned, clear_gap: NDArray[np.float64], word: str, noun: str) -> str:
    """Where the clear part of the gap lies; says so if no bin is clearly off by itself."""
    if not clear_gap.any():
        return "" if binned.n_bins == 1 else "no single bin is clearly off"
    location = _gap_location(binned, clear_gap, noun)
    if location.startswith("in ") and binned.n_bins > 2:
        return f"{location.removeprefix('in ')} are {word}"
    return f"the gap is {location}" if location else ""


def _comma_clause(clause: str) -> str:
    return f", {clause}" if clause else ""


def _gap_location(binned: Binned, gap_parts: NDArray[np.float64], noun: str) -> str:
    """Where the gap lies.

    "mostly in the top bin", "mostly in 80–90 % (0.8, 0.9]", "in 7 of the 9 bins", "in both bins"; empty where
    there is only one bin, which needs no name. The noun is what a bin holds: "answers".
    """
    if binned.n_bins == 1:
        return ""
    total = gap_parts.sum()
    heaviest = np.argsort(-gap_parts, kind="stable")[:2]
    main_bins = heaviest[:1] if gap_parts[heaviest[0]] >= MOST_OF_GAP * total else heaviest
    if len(main_bins) == binned.n_bins:
        return "in both bins"
    if gap_parts[main_bins].sum() < MOST_OF_GAP * total:
        return _bins_off(binned, gap_parts > ROUNDING_TOLERANCE, noun)
    if set(main_bins.tolist()) == set(range(binned.n_bins - len(main_bins), binned.n_bins)):
        return "mostly in the top bin" if len(main_bins) == 1 else "mostly in the two top bins"
    return "mostly " + " and ".join(_bin_phrase(binned, int(bin_)) for bin_ in sorted(main_bins.tolist()))


def _bins_off(binned: Binned, is_off: NDArray[np.bool_], noun: str) -> str:
    """How many bins are off: "in 7 of the 9 bins".

    Bins of few rows, which the diagram draws pale, are not counted if others are off.
    """
    is_full = binned.effective >= MIN_ROWS
    counted = is_full if (is_off & is_full).any() else np.ones_like(is_off)
    n_off, n_counted = int((is_off & counted).sum()), int(counted.sum())
    if n_off == n_counted:
        return ""
    few_left_out = "" if n_counted == binned.n_bins else f" with at least {MIN_ROWS} {noun}"
    return f"in {n_off} of the {n_counted} bins{few_left_out}"


def _bin_phrase(binned: Binned, bin_index: int) -> str:
    """ "in 80–90 % (0.8, 0.9]", or "at 90 %, 0.9" where the bin is a single value."""
    reading = reading_of_bin(binned, bin_index)
    return f"{'in' if reading.interval.endswith(']') else 'at'} {reading}"


def reading_of_bin(binned: Binned, bin_index: int) -> BinReading:
    """The bin as a newcomer and as a researcher reads it."""
    return bin_reading(
        float(binned.low[bin_index]),
        float(binned.high[bin_index]),
        equal_width=binned.scheme.binning == "width",
    )
