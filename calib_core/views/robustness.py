"""The page Robustness: metrics over the number of bins M, with their relative standard deviation (RSD)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.figures.audit import audit_figure, describe_audit
from calib_core.figures.pooling import describe_pooling, pooling_figure
from calib_core.figures.robustness import (
    describe_metric_values,
    describe_relative_values,
    metric_values_figure,
    relative_values_figure,
    without_redundant_curves,
)
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.results.audit import ConventionAudit, audit_conventions
from calib_core.results.evidence import Evidence
from calib_core.results.pooling import class_occurrence_table, pools_of_position, pools_of_question
from calib_core.results.published import compare_rsd
from calib_core.results.robustness import PAPER_BINS, SWEPT_METRICS, Sweep, SweepCurve, sweep_bins
from calib_core.runs import TokenRun
from calib_core.views.inputs import ReportInput, ReportRun
from calib_core.views.published_table import published_view
from calib_core.views.reliability import used_tile
from calib_core.views.view import (
    ProgressCallback,
    Section,
    Tile,
    View,
    ViewFigure,
    ViewTable,
    not_drawn_blocks,
    text_lines,
)
from calib_core.wording import (
    NO_VALUE,
    ROUNDING_TOLERANCE,
    format_interval,
    format_number,
    format_percent,
    format_short,
)

ID, TITLE, QUESTION = "robustness", "Robustness", "Does the number depend on M?"

ROBUSTNESS_CAPTION: Final = (
    "Shaded band: noise alone, 5th to 95th percentile; dotted: its median. Noise is simulated from a model "
    "fitted to the run whose gaps never cancel within a bin; for token-level runs and metrics of all "
    "classes, from a perfectly calibrated model. Metrics on different scales have separate panels."
)
VALUES_TITLE, RELATIVE_TITLE, POOLING_TITLE = (
    "Values",
    "Relative to the curve's own mean",
    "Which pairs go into which bin?",
)
FULL_ECE_TITLE = "Full-ECE, between noise and ceiling"
SAME_RSD_REMARK: Final = "K·cw-ECE is K times cw-ECE: it has the same RSD and relative curve."
SWEEPABLE_METRICS: Final = tuple(
    id_ for id_, metric in METRICS.items() if metric.binned and metric.binning in (None, "width")
)
EXAMPLE_BINS = 10
"""M of the pooling example, and of the Full-ECE tiles if that M is swept."""


def section(report_input: ReportInput, progress: ProgressCallback) -> Section:
    """Builds the sweep of every run and method; raises Unavailable if nothing can be swept."""
    blocks: list[View] = []
    refused: list[str] = []
    sweeps: dict[str, Sweep] = {}
    for index, run in enumerate(report_input.runs):
        progress(index / len(report_input.runs), run.title)
        for method in report_input.methods_for(run):
            try:
                evidence = report_input.evidence(run, method)
                result = sweep_bins(evidence, _requested_metrics(report_input), PAPER_BINS)
            except Unavailable as reason:
                refused.append(f"{run.title}: {reason}")
                continue
            if result.curves:
                blocks.append(_block(run, evidence, result, with_pooling=not blocks))
                blocks += (
                    _audit_blocks(run, evidence)
                    if any(curve.metric == "ece" for curve in result.curves)
                    else []
                )
                sweeps[f"{run.title}, {evidence.method.title}"] = result
            else:
                refused += [f"{run.title}: {why}" for why in sweep_refusals(result)]
    if not blocks:
        raise Unavailable(refused[0] if refused else "No run has one of these confidence methods.")
    return Section(
        ID, TITLE, QUESTION, (*blocks, published_view(compare_rsd(sweeps)), *not_drawn_blocks(refused))
    )


def _requested_metrics(report_input: ReportInput) -> tuple[str, ...]:
    """The requested metrics that can be swept; if there are none, the default ones."""
    requested = tuple(id_ for id_ in report_input.settings.metrics if id_ in SWEEPABLE_METRICS)
    return requested or SWEPT_METRICS


def _block(run: ReportRun, evidence: Evidence, result: Sweep, *, with_pooling: bool) -> View:
    results, style_indices = [result], (run.style_index,)
    figures = [
        ViewFigure(
            lambda theme: metric_values_figure(results, theme, style_indices),
            describe_metric_values(results),
            VALUES_TITLE,
            narrow=True,
        ),
        ViewFigure(
            lambda theme: relative_values_figure(results, theme, style_indices),
            describe_relative_values(results),
            RELATIVE_TITLE,
            narrow=True,
        ),
    ]
    captions = [result.chance_note, ROBUSTNESS_CAPTION] if result.chance_note else [ROBUSTNESS_CAPTION]
    if with_pooling and (example := _pooling_example(evidence)):
        figures.append(example[0])
        captions.append(example[1])
    return View(
        title=run.title,
        method_title=evidence.method.title,
        headline=result.headline,
        tiles=(*robustness_tiles(result), *full_ece_tiles(result)),
        recipes=tuple(curve.recipe for curve in result.curves),
        figures=tuple(figures),
        tables=(
            ViewTable.from_rows(
                f"RSD over M in {{{bin_counts_text(result.bins)}}}, ddof {result.ddof}",
                robustness_rows(results),
            ),
            *_occurrence_tables(evidence),
        ),
        captions=tuple(captions),
        remarks=(*robustness_remarks(evidence, result), *sweep_refusals(result)),
    )


def _audit_blocks(run: ReportRun, evidence: Evidence) -> list[View]:
    """The ECE under every convention; [] where single confidences are not kept."""
    try:
        return [audit_view(audit_conventions(evidence), run.title)]
    except Unavailable:
        return []


def audit_view(result: ConventionAudit, title: str = "") -> View:
    """The ECE under every convention in use, under a title."""
    rows = [
        {"Convention": value.convention.title, "Value": format_short(value.value)}
        for value in sorted(result.values, key=lambda value: value.value)
    ]
    return View(
        title=title or result.run,
        method_title=METHODS[result.method].title,
        headline=result.headline,
        tiles=(used_tile(result.method, result.n_used, result.n_total),),
        recipes=(result.recipe,),
        figures=(ViewFigure(lambda theme: audit_figure(result, theme), describe_audit(result)),),
        tables=(ViewTable.from_rows("From lowest to highest", rows),),
        captions=(result.range_note,),
        remarks=(result.not_applicable_note,) if result.not_applicable_note else (),
    )


def _pooling_example(evidence: Evidence) -> tuple[ViewFigure, str] | None:
    """A figure of the pairs of the first question or position, and its caption; None without pairs."""
    run = evidence.run
    try:
        if isinstance(run, TokenRun):
            if not run.sums.examples:
                return None
            pools = pools_of_position(run.label, run.sums.examples[0], EXAMPLE_BINS)
        else:
            pools = pools_of_question(evidence, 0, EXAMPLE_BINS)
    except (Unavailable, IndexError):
        return None
    figure = ViewFigure(
        lambda theme: pooling_figure(pools, theme), describe_pooling(pools), POOLING_TITLE, narrow=True
    )
    return figure, f"{POOLING_TITLE} {pools.title}, M = {pools.n_bins}. {pools.summary}"


def _occurrence_tables(evidence: Evidence) -> list[ViewTable]:
    run = evidence.run
    if not isinstance(run, TokenRun):
        return []
    rows = [
        {
            "As the right class": occurrence,
            "Classes": f"{classes:,}",
            "Share of K": format_percent(share),
            "Positions": f"{positions:,}",
        }
        for occurrence, classes, share, positions in class_occurrence_table(run.sums.occurrences).iter_rows()
    ]
    return [ViewTable.from_rows("How often the classes occur", rows, f"K = {run.sums.n_classes:,}.")]


def robustness_tiles(result: Sweep) -> list[Tile]:
    """The tiles: the RSD of each metric, once for metrics with equal RSD, and the rows used."""
    return [
        *(_rsd_tile(curve) for curve in without_redundant_curves(result.curves)),
        used_tile(result.method, result.n_used, result.n_total),
    ]


def _rsd_tile(curve: SweepCurve) -> Tile:
    """The RSD of one metric, with that of draws below."""
    metric = METRICS[curve.metric]
    drawn = curve.noise.rsd_median if curve.noise else None
    range_note = (
        ""
        if curve.value_range is None
        else f" Range, largest − smallest value: {format_short(curve.value_range)}."
    )
    definition = f"standard deviation / mean over M in {{{bin_counts_text(curve.bins)}}}, ddof {curve.ddof}"
    return Tile(
        f"RSD of {METRICS[curve.metric].title_in_sentence}",
        format_percent(curve.rsd),
        f"{metric.title}: {definition}.{range_note} {metric.meaning}",
        "" if drawn is None else f"{_model_text(curve)} {format_percent(drawn)}",
    )


def _model_text(curve: SweepCurve) -> str:
    """Which model the draws are of."""
    return "fitted model" if curve.fitted else "calibrated model"


def full_ece_tiles(result: Sweep) -> list[Tile]:
    """Full-ECE, its value for calibrated confidences and its upper bound; [] if it is not swept."""
    curve = next((curve for curve in result.curves if curve.metric == "full_ece"), None)
    if curve is None:
        return []
    index = curve.bins.index(EXAMPLE_BINS) if EXAMPLE_BINS in curve.bins else 0
    n_bins, value, null = curve.bins[index], curve.values[index], curve.null
    low, high = curve.bounds.get(n_bins, (None, None))
    return [
        Tile(
            f"Full-ECE at M = {n_bins}",
            format_number(value) if low is None else format_interval(low, high),
            METRICS["full_ece"].help,
        ),
        Tile(
            "Calibrated model, median",
            format_number(null.median[index] if null else None),
            "Full-ECE of outcomes drawn from the model's own distributions, which is noise alone.",
            format_interval(null.low[index], null.high[index]) if null else "",
        ),
        Tile(
            "Ceiling 2·mean(1 − p)",
            format_number(curve.ceiling),
            "No binning gives a larger value. p is the probability of the right class.",
        ),
    ]


def bin_counts_text(bins: Sequence[int]) -> str:
    """Joins numbers of bins with commas: "5, 10, 20"."""
    return ", ".join(map(str, bins))


def robustness_remarks(evidence: Evidence, result: Sweep) -> list[str]:
    """Remarks on the curves, without the notes on exactness, which are shown elsewhere."""
    exactness_notes = {
        evidence.exactness_note(METRICS[curve.metric], Scheme("width", n_bins))
        for curve in result.curves
        for n_bins in curve.bins
    }
    remarks = dict.fromkeys(remark for curve in result.curves for remark in curve.remarks)
    same_rsd = [] if len(without_redundant_curves(result.curves)) == len(result.curves) else [SAME_RSD_REMARK]
    return [*(remark for remark in remarks if remark not in exactness_notes), *same_rsd]


def sweep_refusals(result: Sweep) -> list[str]:
    """Why metrics have no curve or some M no value, each reason once."""
    titles_by_reason: dict[str, list[str]] = {}
    for metric, why in result.unavailable.items():
        titles_by_reason.setdefault(why, []).append(METRICS[metric].title_in_sentence)
    refusals = [f"{', '.join(titles)} not shown: {why}" for why, titles in titles_by_reason.items()]
    return refusals + list(
        dict.fromkeys(why for curve in result.curves for why in curve.unavailable.values())
    )


def robustness_rows(results: Sequence[Sweep]) -> list[dict[str, str]]:
    """One row for each run and metric: RSD, that of draws, and the value at each M."""
    several_runs = len(results) > 1
    return [
        _robustness_row(result, curve, with_run=several_runs) for result in results for curve in result.curves
    ]


def _robustness_row(result: Sweep, curve: SweepCurve, *, with_run: bool) -> dict[str, str]:
    noise = curve.noise
    has_interval = noise is not None and noise.rsd_low is not None and noise.rsd_high is not None
    return {
        **({"Run": result.run} if with_run else {}),
        "Metric": METRICS[curve.metric].title,
        "RSD": format_percent(curve.rsd),
        "Noise alone": format_percent(noise.rsd_median if noise else None),
        "5–95 %": f"{format_percent(noise.rsd_low)} to {format_percent(noise.rsd_high)}"
        if noise and has_interval
        else NO_VALUE,
        "Noise ≥ RSD": format_percent(
            noise.rsd_p if noise and (curve.value_range or 0) > ROUNDING_TOLERANCE else None
        ),
        "Noise model": NO_VALUE if noise is None else f"{'fitted' if curve.fitted else 'calibrated'} model",
        **{f"M = {n_bins}": _value_text(curve, index, n_bins) for index, n_bins in enumerate(curve.bins)},
        "Range": NO_VALUE if curve.value_range is None else format_short(curve.value_range),
    }


def _value_text(curve: SweepCurve, index: int, n_bins: int) -> str:
    value = curve.values[index]
    if value is not None:
        return format_short(value)
    return format_interval(*curve.bounds.get(n_bins, (None, None)))


def sweep_view(result: Sweep) -> View:
    """Metrics over M."""
    results = [result]
    title = f"RSD over M in {{{bin_counts_text(result.bins)}}}, ddof {result.ddof}"
    return View(
        title=result.run,
        method_title=METHODS[result.method].title,
        headline=result.headline,
        tiles=(*robustness_tiles(result), *full_ece_tiles(result)),
        recipes=tuple(curve.recipe for curve in result.curves),
        figures=(
            ViewFigure(
                lambda theme: metric_values_figure(results, theme),
                describe_metric_values(results),
                VALUES_TITLE,
                narrow=True,
            ),
            ViewFigure(
                lambda theme: relative_values_figure(results, theme),
                describe_relative_values(results),
                RELATIVE_TITLE,
                narrow=True,
            ),
        ),
        tables=(ViewTable.from_rows(title, robustness_rows(results)),),
        captions=text_lines(result.chance_note, ROBUSTNESS_CAPTION),
        remarks=tuple(sweep_refusals(result)),
    )
