"""How much does each metric depend on M?  The blocks of the Robustness page around its figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl
import streamlit as st

from calib_core.analysis.looking import ViewCaption, names_or_count, view_caption
from calib_core.analysis.published import RSD_SOURCE, published_rsd
from calib_core.analysis.sweep import Sweep
from calib_core.metrics import METRICS
from calib_core.records import TokenRun
from calib_core.report.sections import robustness as section
from calib_core.tokens.bounds import largest_exact_bins
from calib_core.wording import plural
from pages.parts import show, tables
from pages.parts.choice import RunChoice
from pages.parts.exporting import Export, stem_parts, make_file_stem
from pages.parts.literal import escape_markdown

RSD_EXPLANATION: Final = """
- RSD = standard deviation / mean of one metric's values over the set of M. It compares **metrics on one
  model**: the one with the smaller RSD leaves less to the choice of M.
- It never compares models. It is near 0 where all gaps have one sign (over-confident everywhere) or every
  value has a bin of its own, and **large** where a model is calibrated: all of it is noise, which grows
  with M.
- So it stands beside what it would be if calibrated: that of draws from the model's own confidences.
"""


def show_sweep_summary(choice: RunChoice, results: Sequence[Sweep]) -> None:
    """The reading, one tile a metric, how the numbers were made, and what has to be said besides."""
    first = results[0]
    show.show_headline(first.headline, _sweep_view_caption(choice, results))
    if first.curves:
        show.show_tiles(section.robustness_tiles(first))
    _show_exactness_badge(choice)
    for other in results[1:]:
        st.caption(f"**{escape_markdown(other.run)}**: {escape_markdown(other.headline)}")
    _show_recipes(results)
    show.show_remarks(first.chance_note)
    show.show_remarks(*section.robustness_remarks(choice.evidence, first))
    for result in results:
        whose = f"**{escape_markdown(result.run)}**: " if len(results) > 1 else ""
        for why in section.sweep_refusals(result):
            st.caption(f":material/block: {whose}{escape_markdown(why)}")


def _sweep_view_caption(choice: RunChoice, results: Sequence[Sweep]) -> ViewCaption:
    """The curves, of which runs and metrics."""
    wanted = choice.required_sweep
    metrics = dict.fromkeys(METRICS[curve.metric].title for result in results for curve in result.curves)
    return view_caption(
        f"{names_or_count(list(metrics), 'metrics')} over M",
        [choice.run.title, *(run.title for run, _ in wanted.other_runs)],
        [choice.evidence, *(evidence for _, evidence in wanted.other_runs)],
        f"M in {{{section.bin_counts_text(wanted.bin_counts)}}}",
    )


def _show_recipes(results: Sequence[Sweep]) -> None:
    """How the number that the reading speaks of was made; that of the others, a line each, is folded away."""
    lines = _recipe_lines(results)
    show.show_recipe(lines[0] if lines else "No metric can be swept here.")
    if len(lines) > 1:
        with st.expander(f"How the other curves were made ({len(lines) - 1})", key="recipes"):
            show.show_recipe("\n".join(lines[1:]))


def _recipe_lines(results: Sequence[Sweep]) -> list[str]:
    made = [(result.run, curve.recipe) for result in results for curve in result.curves]
    several = len(results) > 1
    return [f"{run}: {recipe}" if several else recipe for run, recipe in made]


def _show_exactness_badge(choice: RunChoice) -> None:
    """What can be known of a file that stores the largest probabilities only."""
    run = choice.evidence.run
    if not isinstance(run, TokenRun) or run.sums.unstored is None:
        return
    exact = largest_exact_bins(run.sums)
    st.badge(f"Top-k file, Full-ECE: exact up to M = {exact}", icon=":material/straighten:", color="orange")


def show_full_ece(results: Sequence[Sweep]) -> None:
    """Full-ECE between what calibrated confidences would give and the most that it can be."""
    if tiles := section.full_ece_tiles(results[0]):
        st.subheader(section.FULL_ECE_TITLE, anchor=False)
        show.show_tiles(tiles)


def show_rsd_table(choice: RunChoice, results: Sequence[Sweep]) -> None:
    """One row a run and metric: RSD, its null, and the value at each M."""
    rows = section.robustness_rows(results)
    bins, ddof = section.bin_counts_text(results[0].bins), results[0].ddof
    st.subheader(f"RSD over M in {{{bins}}}, ddof {ddof}", anchor=False)
    frame = pl.DataFrame(rows, infer_schema_length=None)
    tables.show_table(
        frame, key="sweep", alt=f"RSD and values of {plural(len(rows), 'curve')} at {len(results[0].bins)} M",
        export=sweep_export(choice, results, "Table of RSD"),
    )


def sweep_export(choice: RunChoice, results: Sequence[Sweep], content: str) -> Export:
    """Every value of every curve."""
    metrics = stem_parts((curve.metric for result in results for curve in result.curves), "metrics")
    bins = results[0].bins
    return Export(
        make_file_stem(choice.run.id, choice.evidence.method.id, *metrics, f"m{bins[0]}-to-{bins[-1]}", content),
        lambda: pl.concat([result.to_frame() for result in results]),
        "\n".join(_recipe_lines(results)), content, choice.description,
    )


def show_published_rsd() -> None:
    """The paper's Table 1, and what RSD says and does not say."""
    beside, words = st.columns([1, 1.6], gap="medium")
    with beside:
        st.subheader("Published figures, other models and data", anchor=False)
        figures = published_rsd()
        shown = figures.select(
            pl.Series("Metric", [METRICS[metric].title for metric in figures["metric"]]),
            pl.col("model").alias("Model"),
            pl.Series("RSD over seven M", [f"{100 * rsd:.2f} %" for rsd in figures["rsd"]]),
        )
        source = f"{RSD_SOURCE}: M in {{5, 10, 20, 50, 100, 200, 500}}. Not computed here."
        tables.show_table(
            shown, key="published", alt="RSD of two models in the Full-ECE paper",
            export=Export("published-rsd", lambda: figures, source, "Published RSD"),
        )
        st.caption(source)
    with words:
        st.subheader("What RSD says and what it does not", anchor=False)
        st.markdown(RSD_EXPLANATION)
