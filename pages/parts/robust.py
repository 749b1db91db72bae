"""How much does each metric depend on M?  The blocks of the Robustness page around its figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl
import streamlit as st

from calib_core.analysis.published import SOURCE, published_rsd
from calib_core.analysis.sweep import Curve, Sweep
from calib_core.binned import Scheme
from calib_core.figures.curves import short
from calib_core.metrics import METRICS
from calib_core.records import TokenRun
from calib_core.tokens.bounds import exact_up_to
from pages.parts import show, tables
from pages.parts.choice import Choice
from pages.parts.literal import literal

WHAT_IT_SAYS: Final = """
- RSD = standard deviation / mean of one metric's values over the set of M. It compares **metrics on one
  model**: the one with the smaller RSD leaves less to the choice of M.
- It never compares models, and a small one is no praise: it is near 0 when all gaps have one sign (a model
  that is over-confident everywhere) or when every value has a bin of its own.
- A perfectly calibrated model has a **large** RSD: all of its value is noise, and noise grows with M.
- So it stands beside its own null here: the RSD that draws from the model's own confidences would show.
"""


def verdict(choice: Choice, results: Sequence[Sweep]) -> None:
    """The reading, one tile a metric, how the numbers were made, and what has to be said besides."""
    first = results[0]
    st.subheader(literal(first.reading), anchor=False)
    if first.curves:
        show.tiles([_tile(curve) for curve in first.curves])
    _badge(choice)
    for other in results[1:]:
        st.caption(f"**{literal(other.run)}**: {literal(other.reading)}")
    _recipes(results)
    show.remarks(*_remarks(choice, first))
    for result in results:
        _refused(result, several=len(results) > 1)


def _recipes(results: Sequence[Sweep]) -> None:
    """How the number that the reading speaks of was made; that of the others, a line each, is folded away."""
    made = [(result.run, curve.recipe) for result in results for curve in result.curves]
    several = len(results) > 1
    lines = [f"{run}: {recipe}" if several else recipe for run, recipe in made]
    show.recipe(lines[0] if lines else "No metric can be swept here.")
    if len(lines) > 1:
        with st.expander(f"How the other curves were made ({len(lines) - 1})", key="recipes"):
            show.recipe("\n".join(lines[1:]))


def _remarks(choice: Choice, first: Sweep) -> list[str]:
    """What has to be said of the curves; where they are exact the badge says, and the table."""
    said = {
        choice.evidence.exactness(METRICS[curve.metric], Scheme("width", bins))
        for curve in first.curves
        for bins in curve.bins
    }
    return [
        remark
        for remark in dict.fromkeys(remark for curve in first.curves for remark in curve.remarks)
        if remark not in said
    ]


def _refused(result: Sweep, *, several: bool) -> None:
    """Metrics without a curve and M without a value, each reason once."""
    metrics: dict[str, list[str]] = {}
    for metric, why in result.refused.items():
        metrics.setdefault(why, []).append(short(metric))
    whose = f" of {literal(result.run)}" if several else ""
    for why, names in metrics.items():
        st.caption(f":material/block: **{literal(', '.join(names))}**{whose} not shown: {literal(why)}")
    for why in dict.fromkeys(why for curve in result.curves for why in curve.refused.values()):
        st.caption(f":material/block: {literal(why)}")


def _tile(curve: Curve) -> tuple[str, str, str, str]:
    """The RSD of one metric of the chosen run, beside that of its null."""
    metric = METRICS[curve.metric]
    null = curve.null.rsd_median if curve.null else None
    span = curve.span
    told = "" if span is None else f" Largest − smallest value over these M: {span:.4g}."
    how = f"standard deviation / mean over M in {{{_set(curve.bins)}}}, ddof {curve.ddof}"
    return (
        f"RSD of {short(curve.metric)}",
        show.percent(curve.rsd),
        f"{metric.title}: {how}.{told}",
        "" if null is None else f"if calibrated {show.percent(null)}",
    )


def _set(bins: Sequence[int]) -> str:
    return ", ".join(map(str, bins))


def _badge(choice: Choice) -> None:
    """What can be known of a file that stores the largest probabilities only."""
    run = choice.evidence.run
    if not isinstance(run, TokenRun) or run.sums.unseen is None:
        return
    exact = exact_up_to(run.sums)
    st.badge(f"Top-k file, Full-ECE: exact up to M = {exact}", icon=":material/straighten:", color="orange")


def full_ece(results: Sequence[Sweep]) -> None:
    """Full-ECE between what calibrated confidences would give and the most that it can be."""
    curve = next((curve for curve in results[0].curves if curve.metric == "full_ece"), None)
    if curve is None:
        return
    at = curve.bins.index(10) if 10 in curve.bins else 0
    bins, value = curve.bins[at], curve.values[at]
    low, high = curve.bounds.get(bins, (None, None))
    shown = show.number(value) if low is None or high is None else f"{low:.4f} to {high:.4f}"
    null = curve.null
    show.tiles([
        (f"Full-ECE at M = {bins}", shown, METRICS["full_ece"].meaning),
        (
            "If calibrated, median",
            show.number(null.median[at] if null else None),
            "Full-ECE of outcomes drawn from the model's own distributions: what noise alone gives.",
            f"{null.low[at]:.4f} to {null.high[at]:.4f}" if null else "",
        ),
        (
            "Ceiling 2·mean(1 − p)",
            show.number(curve.ceiling),
            "No binning can give more: p is the probability of the right class.",
        ),
        ("Rows used / total", f"{results[0].n_used:,} / {results[0].n_total:,}", "Rows or positions."),
    ])


def table(choice: Choice, results: Sequence[Sweep]) -> None:
    """One row a run and metric: RSD, its null, and the value at each M."""
    curves = [(result, curve) for result in results for curve in result.curves]
    rows = [_row(result, curve, several=len(results) > 1) for result, curve in curves]
    bins, ddof = _set(results[0].bins), results[0].ddof
    st.markdown(f"**RSD over M in {{{bins}}}, ddof {ddof}**")
    frame = pl.DataFrame(rows, infer_schema_length=None)
    tables.plain(frame, key="sweep", alt=f"RSD and values of {len(rows)} curves at {len(results[0].bins)} M")
    show.download(
        "Table as CSV",
        lambda: pl.concat([result.to_frame() for result in results]),
        f"{choice.run.id}-{choice.evidence.method.id}-sweep.csv",
        key="download_sweep",
    )


def _row(result: Sweep, curve: Curve, *, several: bool) -> dict[str, str]:
    null = curve.null
    known = null is not None and null.rsd_low is not None and null.rsd_high is not None
    return {
        **({"Run": result.run} if several else {}),
        "Metric": short(curve.metric),
        "RSD": show.percent(curve.rsd),
        "If calibrated": show.percent(null.rsd_median if null else None),
        "5–95 %": f"{show.percent(null.rsd_low)} to {show.percent(null.rsd_high)}" if null and known else "–",
        "Draws with a larger RSD": show.percent(null.rsd_p if null else None),
        **{f"M={bins}": _value(curve, at, bins) for at, bins in enumerate(curve.bins)},
        "Largest − smallest": "–" if (span := curve.span) is None else f"{span:.4g}",
    }


def _value(curve: Curve, at: int, bins: int) -> str:
    value = curve.values[at]
    if value is not None:
        return f"{value:.4f}" if value >= 0.001 or value == 0 else f"{value:.2e}"
    low_high = curve.bounds.get(bins)
    return "–" if low_high is None else f"{low_high[0]:.4f} to {low_high[1]:.4f}"


def published() -> None:
    """The paper's Table 1, and what RSD says and does not say."""
    beside, words = st.columns([1, 1.6], gap="medium")
    with beside:
        st.markdown("**Published figures, other models and data**")
        figures = published_rsd()
        shown = figures.select(
            pl.Series("Metric", [short(metric) for metric in figures["metric"]]),
            pl.col("model").alias("Model"),
            pl.Series("RSD over seven M", [f"{100 * rsd:.2f} %" for rsd in figures["rsd"]]),
        )
        tables.plain(shown, key="published", alt="RSD of two models in the Full-ECE paper")
        st.caption(f"{SOURCE}: M in {{5, 10, 20, 50, 100, 200, 500}}. Not computed here.")
    with words:
        st.markdown("**What RSD says and what it does not**")
        st.markdown(WHAT_IT_SAYS)
