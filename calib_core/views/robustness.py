"""The page Robustness: metrics over the number of bins M, with their relative standard deviation (RSD)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

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
from calib_core.metrics.conventions import NORM_TITLES
from calib_core.results.audit import AUDIT_COLUMNS, ConventionAudit, PublishedFigure, audit_conventions
from calib_core.results.columns import Column, frame_of
from calib_core.results.evidence import Evidence
from calib_core.results.pooling import (
    OCCURRENCE_COLUMNS,
    PairPools,
    class_occurrence_table,
    pools_of_position,
    pools_of_question,
)
from calib_core.results.published import compare_rsd
from calib_core.results.robustness import (
    PAPER_BINS,
    SWEPT_METRICS,
    Sweep,
    SweepCurve,
    one_sign_sentence,
    sweep_bins,
)
from calib_core.results.run_names import full_name
from calib_core.runs import TokenRun
from calib_core.terms import common_terms
from calib_core.views.inputs import ReportInput
from calib_core.views.published_table import published_view
from calib_core.views.score import used_tile
from calib_core.views.view import (
    Fact,
    Numbers,
    ProgressCallback,
    Section,
    View,
    ViewFigure,
    ViewTable,
    file_parts,
    not_drawn_views,
    reasons_by_title,
    text_lines,
)
from calib_core.wording import (
    join_names,
    names_sharing,
)

ID, TITLE, QUESTION = "robustness", "Robustness", "Does the number depend on M?"

RSD_BY_CHANCE_HELP: Final = (
    "The RSD of draws, 5th to 95th percentile: from a model fitted to the run, or else from a perfectly "
    "calibrated one."
)
HOW_TO_READ: Final = "Shaded band: noise alone, 5th to 95th percentile; dotted: its median."
POOLING_TITLE: Final = "Which pairs go into which bin?"
AUDIT_TITLE: Final = "ECE under different conventions"
SWEEPABLE_METRICS: Final = tuple(
    id_ for id_, metric in METRICS.items() if metric.binned and metric.binning in (None, "width")
)
EXAMPLE_BINS = 10
"""M of the pooling example."""

_FACTS: Final = (
    Fact(
        "RSD",
        "Standard deviation / mean of one metric's values over M. It compares metrics on one run: a smaller "
        "RSD leaves less to the choice of M. RSD never compares models: it is near 0 where all gaps have the "
        "same sign or every value has its own bin, and large for a calibrated model, whose ECE is all noise, "
        "which grows with M.",
    ),
    Fact(
        "Noise alone",
        "Simulated from a model fitted to the run whose gaps never cancel within a bin; for token-level runs "
        "and metrics of all classes, from a perfectly calibrated model.",
    ),
)
_SAME_RSD: Final = Fact("Same RSD", "K·cw-ECE is K times cw-ECE: it has the same RSD and relative curve.")
_AUDIT_FACTS: Final = (
    Fact(
        "Conventions",
        "All use the stored numbers as float64. ECE is the mean gap; the root mean square gap over the "
        "same bins is never smaller.",
    ),
)
_AUDIT_SHOWN: Final = ("title", "value", "bins", "binning", "closed", "norm", "verified")


def section(report_input: ReportInput, progress: ProgressCallback) -> Section:
    """Build the views of every run and method; raises Unavailable if nothing can be swept."""
    views: list[View] = []
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
            if not result.curves:
                refused += [f"{run.title}: {why}" for why in _refusals([result])]
                continue
            examples = [] if views else _pooling_views(evidence, run.title)
            views += [
                sweep_view(result, title=run.title, style_indices=(run.style_index,)),
                *examples,
                *_occurrence_views(evidence, run.title),
                *(_audit_views(evidence, run.title) if any(c.metric == "ece" for c in result.curves) else []),
            ]
            sweeps[f"{run.title}, {evidence.method.title}"] = result
    if not views:
        raise Unavailable(refused[0] if refused else "No run has any of these methods.")
    paper = published_view(compare_rsd(sweeps))
    return Section(ID, TITLE, QUESTION, (*views, paper, *not_drawn_views(refused)))


def _requested_metrics(report_input: ReportInput) -> tuple[str, ...]:
    """The requested metrics that can be swept; if there are none, the default ones."""
    requested = tuple(id_ for id_ in report_input.settings.metrics if id_ in SWEEPABLE_METRICS)
    return requested or SWEPT_METRICS


def _audit_views(evidence: Evidence, title: str) -> list[View]:
    """The ECE under every convention; [] where single confidences are not kept."""
    try:
        return [audit_view(audit_conventions(evidence), title=title)]
    except Unavailable:
        return []


def _pooling_views(evidence: Evidence, title: str) -> list[View]:
    """The pairs of the first question or position; [] without pairs."""
    run = evidence.run
    try:
        if isinstance(run, TokenRun):
            return [
                pooling_view(pools_of_position(run.label, example, EXAMPLE_BINS), title=title)
                for example in run.sums.examples[:1]
            ]
        return [pooling_view(pools_of_question(evidence, 0, EXAMPLE_BINS), title=title)]
    except (Unavailable, IndexError):
        return []


def _occurrence_views(evidence: Evidence, title: str) -> list[View]:
    return [occurrences_view(evidence.run, title=title)] if isinstance(evidence.run, TokenRun) else []


# --- Metrics over M ---------------------------------------------------------------------------------------


def sweep_view(
    result: Sweep,
    others: Sequence[Sweep] = (),
    *,
    title: str = "",
    style_indices: Sequence[int] = (),
    relative: bool = False,
) -> View:
    """Metrics over M, of one run or of several side by side.

    Parameters
    ----------
    result : Sweep
        What the headline is of.
    others : sequence of Sweep
        Of further runs, over the same M.
    title : str
        The run's title; its label where omitted.
    style_indices : sequence of int
        Position of each run among all runs.
    relative : bool
        Whether each metric is drawn relative to its own mean over M, and not at its values.
    """
    results = (result, *others)
    title, method = title or result.run, METHODS[result.method].title
    curves = [curve for each in results for curve in each.curves]
    recipes = sweep_recipes(results)
    numbers = Numbers(
        lambda: pl.concat(each.to_frame() for each in results),
        "\n".join(recipes),
        (
            *file_parts((curve.metric for curve in curves), "metrics"),
            f"m{result.bins[0]}-to-{result.bins[-1]}",
        ),
    )
    draw, describe = (
        (relative_values_figure, describe_relative_values)
        if relative
        else (metric_values_figure, describe_metric_values)
    )
    figure = ViewFigure(
        lambda theme: draw(results, theme, style_indices),
        describe(results),
        "Relative to the curve's own mean" if relative else "Values",
        id="sweep_figure",
        numbers=numbers,
    )
    caveat, *caveats = result.caveats or ("",)
    return View(
        title=title,
        method_title=method,
        headline=result.headline,
        caveat=caveat,
        recipes=recipes,
        figures=(figure,) if curves else (),
        tables=(*_rsd_by_run(results, numbers), _rsd_table(results, numbers)) if curves else (),
        how_to_read=HOW_TO_READ if curves and not relative else "",
        facts=(*(Fact("Caution", text) for text in caveats), *_sweep_facts(results), *_FACTS),
        left_out=_refusals(results),
        subject=f"{full_name(title)}, {method}",
        name=(title, result.method),
        terms=METHODS[result.method].terms,
    )


def values_view(results: Sequence[Sweep]) -> View:
    """Every value over M of one run, by method and metric, with what is said of each."""
    frame = pl.concat(result.to_frame() for result in results)
    facts: list[Fact] = []
    for result in results:
        of = ", ".join((result.method, *(curve.metric for curve in result.curves)))
        facts.append(Fact(of, f"{result.headline} {result.chance_note}".rstrip()))
        facts += [Fact(of, remark) for curve in result.curves for remark in curve.remarks]
    columns = next(
        (each.columns for each in results if any(c.bounds for c in each.curves)), results[0].columns
    )
    return View(
        terms=common_terms(METHODS[result.method].terms for result in results),
        tables=(ViewTable("", frame, columns),),
        facts=tuple(facts),
        recipes=sweep_recipes(results),
        left_out=_refusals(results),
    )


def sweep_recipes(results: Sequence[Sweep]) -> tuple[str, ...]:
    """The recipe of every curve, after the run's name where there are several runs."""
    several = len({result.run for result in results}) > 1
    return tuple(
        f"{result.run}: {curve.recipe}" if several else curve.recipe
        for result in results
        for curve in result.curves
    )


def _sweep_facts(results: Sequence[Sweep]) -> list[Fact]:
    """What chance alone gives, the headlines of further runs, and what is special about single curves."""
    result, *others = results
    facts = [] if result.chance_note in result.caveats else [Fact("Noise and verdict", result.chance_note)]
    facts += [Fact(other.run, other.headline) for other in others]
    sharing = names_sharing(
        (title, remark)
        for curve in result.curves
        for title in (METRICS[curve.metric].title,)
        for remark in curve.remarks
        if remark != one_sign_sentence([title])
    )
    facts += [Fact(join_names(titles), remark) for remark, titles in sharing.items()]
    is_redundant = len(without_redundant_curves(result.curves)) < len(result.curves)
    return [*facts, _SAME_RSD] if is_redundant else facts


def _refusals(results: Sequence[Sweep]) -> tuple[str, ...]:
    """Why metrics have no curve or some M no value, each reason once, and of which runs if not of all."""
    runs_by_refusal: dict[str, list[str]] = {}
    for result in results:
        titled = {METRICS[metric].title_in_sentence: why for metric, why in result.unavailable.items()}
        refusals = list(reasons_by_title(titled))
        refusals += [why for curve in result.curves for why in curve.unavailable.values()]
        for refusal in dict.fromkeys(refusals):
            runs_by_refusal.setdefault(refusal, []).append(result.run)
    return tuple(
        refusal if len(runs) == len(results) else f"{join_names(runs)}: {refusal}"
        for refusal, runs in runs_by_refusal.items()
    )


def _rsd_table(results: Sequence[Sweep], numbers: Numbers) -> ViewTable:
    """A row for each metric and run, runs below one another: RSD, that of draws, and the value at each M."""
    bins = results[0].bins
    bounded = {n_bins for result in results for curve in result.curves for n_bins in curve.bounds}
    columns = (
        Column("metric", "Metric"),
        Column("run", "Run" if len(results) > 1 else ""),
        Column("rsd", "RSD", "share"),
        Column("noise_low", "RSD by chance", "share", RSD_BY_CHANCE_HELP, upper="noise_high"),
        Column("noise_high", kind="share"),
        *(
            Column(f"m{n_bins}", f"M = {n_bins}", "mixed", upper=f"high{n_bins}" if n_bins in bounded else "")
            for n_bins in bins
        ),
        *(Column(f"high{n_bins}", kind="mixed") for n_bins in bins),
    )
    metrics = dict.fromkeys(curve.metric for result in results for curve in result.curves)
    rows = [
        {"run": result.run, **_rsd_row(curve)}
        for metric in metrics
        for result in results
        for curve in result.curves
        if curve.metric == metric
    ]
    return ViewTable(
        f"RSD over M in {{{bin_counts_text(bins)}}}, ddof {results[0].ddof}",
        frame_of(columns, rows),
        columns,
        id="sweep",
        numbers=numbers,
    )


def _rsd_by_run(results: Sequence[Sweep], numbers: Numbers) -> tuple[ViewTable, ...]:
    """The RSD alone, metrics by runs, as Table 1 of the Full-ECE paper; () for a single run."""
    if len(results) == 1:
        return ()
    columns = (
        Column("metric", "Metric"),
        *(Column(f"run {number}", result.run, "share") for number, result in enumerate(results)),
    )
    rows: dict[str, dict[str, object]] = {}
    for number, result in enumerate(results):
        for curve in result.curves:
            row = rows.setdefault(curve.metric, {"metric": METRICS[curve.metric].title})
            row[f"run {number}"] = curve.rsd
    return (ViewTable("RSD by run", frame_of(columns, rows.values()), columns, id="rsd", numbers=numbers),)


def _rsd_row(curve: SweepCurve) -> Mapping[str, object]:
    noise = curve.noise
    ends = {n_bins: (value, None) for n_bins, value in zip(curve.bins, curve.values, strict=True)}
    ends |= dict(curve.bounds)
    return {
        "metric": METRICS[curve.metric].title,
        "rsd": curve.rsd,
        "noise_low": noise and noise.rsd_low,
        "noise_high": noise and noise.rsd_high,
        **{f"m{n_bins}": low for n_bins, (low, _) in ends.items()},
        **{f"high{n_bins}": high for n_bins, (_, high) in ends.items()},
    }


# --- ECE under every convention, and where pairs go -------------------------------------------------------


def audit_view(result: ConventionAudit, *, title: str = "", published: PublishedFigure | None = None) -> View:
    """The ECE under every convention in use.

    Parameters
    ----------
    result : ConventionAudit
    title : str
        The run's title; its label where omitted.
    published : PublishedFigure, optional
        A published value, which the figure marks.
    """
    title, method = title or result.run, METHODS[result.method].title
    numbers = Numbers(result.to_frame, result.recipe, ("conventions",))
    checked = {each.convention.check_note: each.convention.checked_against for each in result.values}
    frame = result.to_frame().sort("value", maintain_order=True)
    frame = frame.with_columns(
        pl.col("norm").replace_strict(dict(NORM_TITLES), return_dtype=pl.String),
        pl.col("verified").replace_strict(checked, return_dtype=pl.String)
        + pl.when("default").then(pl.lit(", default")).otherwise(pl.lit("")),
    )
    columns = {column.name: column for column in AUDIT_COLUMNS}
    return View(
        title=title,
        method_title=method,
        headline=result.headline,
        tiles=(used_tile(result.method, result.n_used, result.n_total),),
        terms=METHODS[result.method].terms,
        recipes=(result.recipe,),
        figures=(
            ViewFigure(
                lambda theme: audit_figure(result, theme, published),
                describe_audit(result),
                AUDIT_TITLE,
                id="conventions",
                numbers=numbers,
            ),
        ),
        tables=(
            ViewTable(
                "",
                frame,
                tuple(columns[name] for name in _AUDIT_SHOWN),
                id="convention_table",
                numbers=numbers,
            ),
        ),
        facts=(Fact("Range", result.range_note), *_AUDIT_FACTS),
        left_out=text_lines(result.not_applicable_note),
        subject=f"{full_name(title)}, {method}",
        name=(title, result.method),
    )


def pooling_view(result: PairPools, *, title: str = "") -> View:
    """Which pairs of one position or question go into which bin, as Figure 1 of the Full-ECE paper."""
    figure = ViewFigure(
        lambda theme: pooling_figure(result, theme),
        describe_pooling(result),
        POOLING_TITLE,
        narrow=True,
        id="pools",
        numbers=Numbers(
            lambda: result.table,
            f"M={result.n_bins}, K={result.n_classes}, {result.title}",
            ("pools", result.title.partition(":")[0], result.n_bins),
        ),
    )
    run = title or result.run
    return View(
        run,
        figures=(figure,),
        how_to_read=f"{result.title}, M = {result.n_bins}. {result.summary}",
        subject=f"{full_name(run)}, {result.title}",
        name=(run,),
    )


def occurrences_view(run: TokenRun, *, title: str = "") -> View:
    """How many classes of the vocabulary never, seldom and often occur."""
    n_classes, title = run.sums.n_classes, title or run.label
    recipe = f"classes of the vocabulary by how often they are right, K={n_classes}, {run.label}"
    frame = class_occurrence_table(run.sums.occurrences)
    table = ViewTable(
        "How often the classes occur",
        frame,
        OCCURRENCE_COLUMNS,
        f"K = {n_classes:,}. cw-ECE averages over all classes, including those that never occur. Published "
        "(Full-ECE paper, 5,000 test sentences): 30 % never, 41 % one to ten times.",
        id="occurrences",
        numbers=Numbers(lambda: frame, recipe, ("occurrences",)),
    )
    return View(title, tables=(table,), subject=full_name(title), name=(title,))


def bin_counts_text(bins: Sequence[int]) -> str:
    """Joins numbers of bins with commas: "5, 10, 20"."""
    return ", ".join(map(str, bins))
