"""Does the number depend on M?  One block a run and method: curves over M, their RSD beside its null."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from calib_core import wording
from calib_core.analysis.evidence import Evidence
from calib_core.analysis.occurrences import occurrences_table
from calib_core.analysis.pools import pools_of_position, pools_of_question
from calib_core.analysis.sweep import PAPER_BINS, SWEPT, Curve, Sweep, sweep
from calib_core.binned import Scheme
from calib_core.confidence import METHODS
from calib_core.figures.curves import of_own_spread
from calib_core.figures.pools import describe_pools, pools_figure
from calib_core.figures.relative import describe_relative, relative_figure
from calib_core.figures.robustness import describe_robustness, values_figure
from calib_core.metrics import METRICS
from calib_core.problems import Unavailable
from calib_core.records import TokenRun
from calib_core.report.parts import Block, Drawn, Progress, Section, Table, Tile, not_drawn
from calib_core.report.subject import RunHere, Subject
from calib_core.wording import NOTHING, number, percent, span

ID, TITLE, QUESTION = "robustness", "Robustness", "Does the number depend on M?"

CAPTION: Final = (
    "Pale: what exactly right confidences would give (5th to 95th percentile; dotted: the median). Each "
    "scale has a panel of its own."
)
VALUES, RELATIVE, POOLED = "Values", "Relative to the curve's own mean", "Which pairs go into which bin?"
FULL_ECE = "Full-ECE, between noise and ceiling"
SAME_SPREAD: Final = "K·cw-ECE is K times cw-ECE: it has the same RSD and relative curve."
LOOKED_AT = 10
"""Bins of the picture of one question, where they are among those swept."""


def section(subject: Subject, tell: Progress) -> Section:
    """The sweep of every run. Raises Unavailable where nothing can be swept."""
    blocks: list[Block] = []
    refused: list[str] = []
    for at, run in enumerate(subject.runs):
        tell(at / len(subject.runs), run.title)
        for method in subject.methods_of(run):
            try:
                evidence = subject.evidence(run, method)
                result = sweep(evidence, _metrics(subject), PAPER_BINS)
            except Unavailable as reason:
                refused.append(f"{run.title}: {reason}")
                continue
            if result.curves:
                blocks.append(_block(run, evidence, result, pictured=not blocks))
            else:
                refused += [f"{run.title}: {why}" for why in refusals(result)]
    if not blocks:
        raise Unavailable(refused[0] if refused else "No run gives one of these confidences.")
    return Section(ID, TITLE, QUESTION, (*blocks, *not_drawn(refused)))


def _metrics(subject: Subject) -> tuple[str, ...]:
    """Those asked for that can be swept, else the usual ones."""
    asked = tuple(id_ for id_ in subject.asked.metrics if id_ in SWEEPABLE)
    return asked or SWEPT


SWEEPABLE: Final = tuple(
    id_ for id_, metric in METRICS.items() if metric.binned and metric.binning in (None, "width")
)


def _block(run: RunHere, evidence: Evidence, result: Sweep, *, pictured: bool) -> Block:
    own, places = [result], (run.place,)
    figures = [
        Drawn.of(
            lambda theme: values_figure(own, theme, places), describe_robustness(own), VALUES, narrow=True
        ),
        Drawn.of(
            lambda theme: relative_figure(own, theme, places), describe_relative(own), RELATIVE, narrow=True
        ),
    ]
    captions = [result.chance, CAPTION] if result.chance else [CAPTION]
    if pictured and (picture := _picture(evidence)):
        figures.append(picture[0])
        captions.append(picture[1])
    return Block(
        title=run.title,
        by=evidence.method.title,
        reading=result.reading,
        tiles=(*tiles(result), *full_ece_tiles(result)),
        recipes=tuple(curve.recipe for curve in result.curves),
        figures=tuple(figures),
        tables=(
            Table.of(f"RSD over M in {{{set_text(result.bins)}}}, ddof {result.ddof}", rows(own)),
            *_occurrences(evidence),
        ),
        captions=tuple(captions),
        remarks=(*remarks(evidence, result), *refusals(result)),
    )


def _picture(evidence: Evidence) -> tuple[Drawn, str] | None:
    """The pairs of the first question or position, and how they are read; None where there are none."""
    run = evidence.run
    try:
        if isinstance(run, TokenRun):
            if not run.sums.examples:
                return None
            pools = pools_of_position(run.label, run.sums.examples[0], LOOKED_AT)
        else:
            pools = pools_of_question(evidence, 0, LOOKED_AT)
    except (Unavailable, IndexError):
        return None
    drawn = Drawn.of(lambda theme: pools_figure(pools, theme), describe_pools(pools), POOLED, narrow=True)
    return drawn, f"{POOLED} {pools.title}, M = {pools.bins}. {pools.reading}"


def _occurrences(evidence: Evidence) -> list[Table]:
    run = evidence.run
    if not isinstance(run, TokenRun):
        return []
    rows_ = [
        {
            "As the right class": occurs, "Classes": f"{classes:,}", "Share of K": percent(share),
            "Positions": f"{positions:,}",
        }
        for occurs, classes, share, positions in occurrences_table(run.sums.occurrences).iter_rows()
    ]
    return [Table.of("How often the classes occur", rows_, f"K = {run.sums.classes:,}.")]


def tiles(result: Sweep) -> list[Tile]:
    """The RSD of each metric, one for those that have the same, and how many rows it stands on."""
    return [
        *(_tile(curve) for curve in of_own_spread(result.curves)),
        Tile(
            f"{'Positions' if METHODS[result.method].reads == 'tokens' else 'Rows'} used / total",
            f"{result.n_used:,} / {result.n_total:,}", "With a confidence and an outcome.",
        ),
    ]


def _tile(curve: Curve) -> Tile:
    """The RSD of one metric, beside that of its null."""
    metric = METRICS[curve.metric]
    null = curve.null.rsd_median if curve.null else None
    told = "" if curve.span is None else f" Range, largest − smallest value: {wording.short(curve.span)}."
    how = f"standard deviation / mean over M in {{{set_text(curve.bins)}}}, ddof {curve.ddof}"
    return Tile(
        f"RSD of {METRICS[curve.metric].in_sentence}",
        percent(curve.rsd),
        f"{metric.title}: {how}.{told} {metric.meaning}",
        "" if null is None else f"if calibrated {percent(null)}",
    )


def full_ece_tiles(result: Sweep) -> list[Tile]:
    """Full-ECE between what calibrated confidences would give and the most that it can be; [] without it."""
    curve = next((curve for curve in result.curves if curve.metric == "full_ece"), None)
    if curve is None:
        return []
    at = curve.bins.index(LOOKED_AT) if LOOKED_AT in curve.bins else 0
    bins, value, null = curve.bins[at], curve.values[at], curve.null
    low, high = curve.bounds.get(bins, (None, None))
    return [
        Tile(
            f"Full-ECE at M = {bins}", number(value) if low is None else span(low, high),
            METRICS["full_ece"].help,
        ),
        Tile(
            "If calibrated, median", number(null.median[at] if null else None),
            "Full-ECE of outcomes drawn from the model's own distributions: what noise alone gives.",
            span(null.low[at], null.high[at]) if null else "",
        ),
        Tile(
            "Ceiling 2·mean(1 − p)", number(curve.ceiling),
            "No binning can give more: p is the probability of the right class.",
        ),
    ]


def set_text(bins: Sequence[int]) -> str:
    """"5, 10, 20"."""
    return ", ".join(map(str, bins))


def remarks(evidence: Evidence, result: Sweep) -> list[str]:
    """What has to be said of the curves; for which M they are exact is told apart."""
    exact = {
        evidence.exactness(METRICS[curve.metric], Scheme("width", bins))
        for curve in result.curves
        for bins in curve.bins
    }
    told = dict.fromkeys(remark for curve in result.curves for remark in curve.remarks)
    same = [] if len(of_own_spread(result.curves)) == len(result.curves) else [SAME_SPREAD]
    return [*(remark for remark in told if remark not in exact), *same]


def refusals(result: Sweep) -> list[str]:
    """Metrics without a curve and M without a value, each reason once."""
    metrics: dict[str, list[str]] = {}
    for metric, why in result.refused.items():
        metrics.setdefault(why, []).append(METRICS[metric].in_sentence)
    told = [f"{', '.join(names)} not shown: {why}" for why, names in metrics.items()]
    return told + list(dict.fromkeys(why for curve in result.curves for why in curve.refused.values()))


def rows(results: Sequence[Sweep]) -> list[dict[str, str]]:
    """One row a run and metric: RSD, its null, and the value at each M."""
    several = len(results) > 1
    return [_row(result, curve, several=several) for result in results for curve in result.curves]


def _row(result: Sweep, curve: Curve, *, several: bool) -> dict[str, str]:
    null = curve.null
    known = null is not None and null.rsd_low is not None and null.rsd_high is not None
    return {
        **({"Run": result.run} if several else {}),
        "Metric": METRICS[curve.metric].title,
        "RSD": percent(curve.rsd),
        "If calibrated": percent(null.rsd_median if null else None),
        "5–95 %": f"{percent(null.rsd_low)} to {percent(null.rsd_high)}" if null and known else NOTHING,
        "Larger by chance": percent(null.rsd_p if null and (curve.span or 0) > wording.ROUNDED else None),
        **{f"M = {bins}": _value(curve, at, bins) for at, bins in enumerate(curve.bins)},
        "Range": NOTHING if curve.span is None else wording.short(curve.span),
    }


def _value(curve: Curve, at: int, bins: int) -> str:
    value = curve.values[at]
    if value is not None:
        return wording.short(value)
    return span(*curve.bounds.get(bins, (None, None)))
