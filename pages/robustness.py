"""The page Robustness: does the number depend on the number of bins M?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import polars as pl
import streamlit as st

from calib_core.errors import Unavailable
from calib_core.figures.audit import audit_figure, describe_audit
from calib_core.figures.pooling import describe_pooling, pooling_figure
from calib_core.figures.robustness import (
    describe_metric_values,
    describe_relative_values,
    metric_values_figure,
    relative_values_figure,
)
from calib_core.metrics import METRICS
from calib_core.results.audit import ConventionAudit, PublishedFigure, audit_conventions
from calib_core.results.pooling import (
    PairPools,
    class_occurrence_table,
    poolable_question_titles,
    pools_of_position,
    pools_of_question,
)
from calib_core.results.published import RSD_MODELS, compare_rsd
from calib_core.results.robustness import Sweep, sweep_bins
from calib_core.results.uncertainty import missing_statistics_note
from calib_core.results.view_caption import ViewCaption, names_or_count, view_caption
from calib_core.runs import TokenRun
from calib_core.tokens.bounds import largest_exact_bins
from calib_core.views.robustness import (
    FULL_ECE_TITLE,
    RELATIVE_TITLE,
    ROBUSTNESS_CAPTION,
    VALUES_TITLE,
    bin_counts_text,
    full_ece_tiles,
    robustness_remarks,
    robustness_rows,
    robustness_tiles,
    sweep_refusals,
)
from calib_core.views.view import file_parts
from calib_core.wording import format_short, join_names, plural
from pages.state.cache import cached_result
from pages.state.markdown import escape_markdown
from pages.state.progress import with_progress
from pages.widgets.export import Export, make_file_stem
from pages.widgets.figure import show_figure, side_by_side
from pages.widgets.published import pick_reference, published_area, show_published
from pages.widgets.run_choice import RunChoice, choose_sweep
from pages.widgets.shell import shell
from pages.widgets.summary import show_headline, show_provenance, show_remarks, show_tiles, show_warnings
from pages.widgets.table import show_table
from pages.widgets.url_inputs import url_labelled_text, url_selectbox

MAX_OFFERED_QUESTIONS: Final = 500
"""Number of questions that the select box offers."""

RSD_EXPLANATION: Final = """
- RSD = standard deviation / mean of one metric's values over the set of M. RSD compares **metrics on one
  model**: the one with the smaller RSD leaves less to the choice of M.
- RSD never compares models. RSD is near 0 where all gaps have the same sign (over-confident everywhere) or
  every value has its own bin. RSD is **large** for a calibrated model, because its ECE is all noise, which
  grows with M.
- So the table shows the RSD of noise alone beside each RSD. Noise is simulated from a model fitted to the
  run whose gaps never cancel within a bin, or from a calibrated model where none can be fitted.
"""


def cached_sweeps(choice: RunChoice) -> list[Sweep]:
    """Return the sweep of each chosen run, each computed once, with progress over the runs."""
    sweep = choice.required_sweep
    return [
        cached_result(
            ("sweep", *choice.cache_key(evidence, run), sweep.bin_counts, sweep.metrics, sweep.ddof),
            lambda evidence=evidence: sweep_bins(evidence, sweep.metrics, sweep.bin_counts, ddof=sweep.ddof),
        )
        for run, evidence in with_progress(
            ((choice.run, choice.evidence), *sweep.other_runs), "Simulating noise:"
        )
    ]


def show_sweep_summary(choice: RunChoice, results: Sequence[Sweep]) -> None:
    """Draw the headline, one tile per metric and the warnings."""
    first = results[0]
    show_headline(first.headline)
    if first.curves:
        show_tiles(robustness_tiles(first))
    show_warnings(*choice.evidence.warnings)


def show_sweep_remarks(choice: RunChoice, results: Sequence[Sweep]) -> None:
    """Draw what stands below the curves: what they show, the recipes and the remarks."""
    first = results[0]
    lines = _recipe_lines(results) or ["No metric of this run can be swept over M."]
    show_provenance(_sweep_view_caption(choice, results), lines[0], *filter(None, ["\n".join(lines[1:])]))
    _show_exactness_badge(choice)
    for other in results[1:]:
        st.caption(f"**{escape_markdown(other.run)}**: {escape_markdown(other.headline)}")
    show_remarks(first.chance_note)
    show_remarks(*robustness_remarks(choice.evidence, first))
    runs_by_refusal: dict[str, list[str]] = {}
    for result in results:
        for refusal in sweep_refusals(result):
            runs_by_refusal.setdefault(refusal, []).append(result.run)
    for refusal, titles in runs_by_refusal.items():
        prefix = f"**{escape_markdown(join_names(titles))}**: " if len(titles) < len(results) else ""
        st.caption(f":material/block: {prefix}{escape_markdown(refusal)}")


def _sweep_view_caption(choice: RunChoice, results: Sequence[Sweep]) -> ViewCaption:
    """Return the caption that says which runs and metrics the curves are of."""
    sweep = choice.required_sweep
    metrics = dict.fromkeys(METRICS[curve.metric].title for result in results for curve in result.curves)
    evidences = [choice.evidence, *(evidence for _, evidence in sweep.other_runs)]
    caption = view_caption(
        f"{names_or_count(list(metrics), 'metrics')} over M",
        [choice.run.title, *(run.title for run, _ in sweep.other_runs)],
        evidences,
        f"M in {{{bin_counts_text(sweep.bin_counts)}}}",
    )
    return replace(caption, missing_note=missing_statistics_note(evidences, sweep.metrics, intervals=False))


def _show_exactness_badge(choice: RunChoice) -> None:
    """Say up to which M Full-ECE is exact for a file that stores the largest probabilities only."""
    run = choice.evidence.run
    if not isinstance(run, TokenRun) or run.sums.unstored is None:
        return
    exact = largest_exact_bins(run.sums)
    st.badge(f"Top-k file, Full-ECE: exact up to M = {exact}", icon=":material/straighten:", color="orange")


def _recipe_lines(results: Sequence[Sweep]) -> list[str]:
    """Return the recipe of every curve, after the run's name where there are several runs."""
    recipes = [(result.run, curve.recipe) for result in results for curve in result.curves]
    several = len(results) > 1
    return [f"{run}: {recipe}" if several else recipe for run, recipe in recipes]


def show_curves(choice: RunChoice, results: Sequence[Sweep]) -> None:
    """Draw each metric over M, as it is and relative to its mean, and how to read both figures."""
    values, relative = side_by_side()
    with values:
        st.subheader(VALUES_TITLE, anchor=False)
        show_figure(
            lambda theme: metric_values_figure(results, theme, choice.style_indices),
            key="values",
            alt=describe_metric_values(results),
            export=sweep_export(choice, results, VALUES_TITLE),
        )
    with relative:
        st.subheader(RELATIVE_TITLE, anchor=False)
        show_figure(
            lambda theme: relative_values_figure(results, theme, choice.style_indices),
            key="relative",
            alt=describe_relative_values(results),
            export=sweep_export(choice, results, RELATIVE_TITLE),
        )
        show_full_ece(results)
    st.caption(ROBUSTNESS_CAPTION)


def show_full_ece(results: Sequence[Sweep]) -> None:
    """Draw Full-ECE between the value of calibrated confidences and its upper bound."""
    if tiles := full_ece_tiles(results[0]):
        st.subheader(FULL_ECE_TITLE, anchor=False)
        show_tiles(tiles)


def show_rsd_table(choice: RunChoice, results: Sequence[Sweep]) -> None:
    """Draw one row per run and metric: the RSD, its null distribution, and the value at each M."""
    rows = robustness_rows(results)
    bins, ddof = bin_counts_text(results[0].bins), results[0].ddof
    st.subheader(f"RSD over M in {{{bins}}}, ddof {ddof}", anchor=False)
    frame = pl.DataFrame(rows, infer_schema_length=None)
    show_table(
        frame,
        key="sweep",
        alt=f"RSD and values of {plural(len(rows), 'curve')} at {len(results[0].bins)} M",
        export=sweep_export(choice, results, "Table of RSD"),
    )


def sweep_export(choice: RunChoice, results: Sequence[Sweep], content: str) -> Export:
    """Return the export of every value of every curve."""
    metrics = file_parts((curve.metric for result in results for curve in result.curves), "metrics")
    bins = results[0].bins
    return Export(
        make_file_stem(
            choice.run.id, choice.evidence.method.id, *metrics, f"m{bins[0]}-to-{bins[-1]}", content
        ),
        lambda: pl.concat([result.to_frame() for result in results]),
        "\n".join(_recipe_lines(results)),
        content,
        choice.description,
        headline=results[0].headline,
        tiles=robustness_tiles(results[0]),
    )


def show_paper(choice: RunChoice, results: Sequence[Sweep]) -> None:
    """Draw the paper's Table 1 beside the swept runs, and what the RSD says and does not say."""
    sweep = choice.required_sweep
    titles = [choice.run.title, *(run.title for run, _ in sweep.other_runs)]
    sweeps = dict(zip(titles, results, strict=True))
    paper, explanation = st.columns([1.6, 1], gap="medium")
    with paper, published_area(compare_rsd(sweeps)):
        reference = pick_reference("paper_rsd", RSD_MODELS, len(RSD_MODELS) - 1)
        show_published(compare_rsd(sweeps, reference), "rsd")
    with explanation:
        st.subheader("What RSD means", anchor=False)
        st.markdown(RSD_EXPLANATION)


def cached_audit(choice: RunChoice) -> ConventionAudit:
    """Return the run's ECE under every convention, computed once."""
    return cached_result(
        ("audit", *choice.cache_key(choice.evidence, choice.run)), lambda: audit_conventions(choice.evidence)
    )


def show_audit(choice: RunChoice) -> None:
    """Draw the ECE under every convention, and which of them give a figure that was published."""
    st.subheader("ECE under different conventions", anchor=False)
    try:
        audit = cached_audit(choice)
    except Unavailable as reason:
        st.caption(escape_markdown(str(reason)))
        return
    st.markdown(f"**{escape_markdown(audit.headline)}** {escape_markdown(audit.range_note)}")
    text = url_labelled_text(
        "published",
        "Published ECE",
        "0.037 or 3.7 %",
        "Type an ECE as it was published, with all its digits, to see which conventions give it.",
    )
    if text:
        st.markdown(escape_markdown(audit.published_sentence(text)))
    export = Export(
        make_file_stem(choice.run.id, choice.evidence.method.id, "conventions"),
        audit.to_frame,
        audit.recipe,
        "ECE under every convention",
        choice.description,
        headline=audit.headline,
    )
    show_figure(
        lambda theme: audit_figure(audit, theme, PublishedFigure.parse(text)),
        key="conventions",
        alt=describe_audit(audit),
        export=export,
    )
    frame = audit.to_frame().sort("value", maintain_order=True)
    checked_against = {each.convention.check_note: each.convention.checked_against for each in audit.values}
    shown = frame.select(
        pl.col("title").alias("Convention"),
        pl.col("value").map_elements(format_short, pl.String).alias("Value"),
        pl.col("bins").cast(pl.String).alias("M"),
        pl.col("binning").alias("Bins"),
        pl.col("closed").alias("Closed"),
        pl.col("verified")
        .replace_strict(checked_against, default="", return_dtype=pl.String)
        .alias("Checked against"),
        pl.col("source").alias("Source"),
    )
    show_table(
        shown, key="convention_table", alt=f"ECE under {plural(shown.height, 'convention')}", export=export
    )
    st.caption(
        "All conventions use the stored confidences as float64. ECE is the mean gap; the root mean square "
        f"gap over the same bins is never smaller. {escape_markdown(audit.not_applicable_note)}"
    )


def show_pooling(choice: RunChoice, bins: tuple[int, ...]) -> None:
    """Draw which pairs of one position or question go into which bin, as Figure 1 of the Full-ECE paper.

    Parameters
    ----------
    choice : RunChoice
    bins : tuple of int
        The swept numbers of bins; M = 10 is drawn where it is among them, else the first.
    """
    st.subheader("Which pairs go into which bin?", anchor=False)
    try:
        result = _chosen_pools(choice, 10 if 10 in bins else bins[0])
    except Unavailable as reason:
        st.caption(escape_markdown(str(reason)))
        return
    if result is None:
        st.caption("This file keeps sums only, no single positions.")
        return
    export = Export(
        make_file_stem(
            choice.run.id, choice.evidence.method.id, "pools", result.title.partition(":")[0], result.n_bins
        ),
        lambda: result.table,
        f"M={result.n_bins}, K={result.n_classes}, {result.title}",
        "Which pairs go into which bin",
        f"{choice.description}, {result.title}",
    )
    show_figure(
        lambda theme: pooling_figure(result, theme), key="pools", alt=describe_pooling(result), export=export
    )
    st.caption(escape_markdown(f"M = {result.n_bins}. {result.summary}"))


def _chosen_pools(choice: RunChoice, bins: int) -> PairPools | None:
    """Draw the control of the position or question and return its pools; None where none is stored."""
    run = choice.evidence.run
    if isinstance(run, TokenRun):
        examples = run.sums.examples
        if not examples:
            return None
        titles = [f"{example.row + 1:,}: right token {example.target}" for example in examples]
        index = url_selectbox("place", "Position", titles, "The first positions of the file.")
        return pools_of_position(run.label, examples[index], bins)
    titles = poolable_question_titles(choice.evidence)[:MAX_OFFERED_QUESTIONS]
    index = url_selectbox("place", "Question", titles, f"Of the first {MAX_OFFERED_QUESTIONS} questions.")
    return pools_of_question(choice.evidence, index, bins)


def show_occurrences(choice: RunChoice) -> None:
    """Draw how many classes of the vocabulary never, seldom and often occur."""
    run = choice.evidence.run
    if not isinstance(run, TokenRun):
        return
    st.subheader("How often the classes occur", anchor=False)
    table = class_occurrence_table(run.sums.occurrences)
    shown = table.select(
        pl.col("occurs").alias("As the right class"),
        pl.col("classes").alias("Classes"),
        pl.format("{} %", (pl.col("share") * 100).round(1)).alias("Share of K"),
        pl.col("positions").alias("Positions"),
    )
    export = Export(
        make_file_stem(choice.run.id, "occurrences"),
        lambda: table,
        f"classes of the vocabulary by how often they are right, K={run.sums.n_classes}, {run.label}",
        "How often the classes occur",
        choice.run.title,
    )
    show_table(shown, key="occurrences", alt=f"How often {run.sums.n_classes} classes occur", export=export)
    st.caption(
        f"K = {run.sums.n_classes:,}. cw-ECE averages over all classes, including those that never occur. "
        "Published (Full-ECE paper, 5,000 test sentences): 30 % never, 41 % one to ten times."
    )


def page() -> None:
    """Draw the page."""
    choice = shell("robustness", choose_sweep).choice
    results = cached_sweeps(choice)
    show_sweep_summary(choice, results)
    show_curves(choice, results)
    show_sweep_remarks(choice, results)
    show_rsd_table(choice, results)
    show_audit(choice)
    show_paper(choice, results)
    pooling, occurrences = side_by_side()
    with pooling:
        show_pooling(choice, choice.required_sweep.bin_counts)
    with occurrences:
        show_occurrences(choice)


if __name__ == "__main__":
    page()
