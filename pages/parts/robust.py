"""How much does each metric depend on M?  The blocks of the Robustness page around its figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl
import streamlit as st

from calib_core.analysis.looking import Looking, called, looking
from calib_core.analysis.published import SOURCE, published_rsd
from calib_core.analysis.sweep import Sweep
from calib_core.metrics import METRICS
from calib_core.records import TokenRun
from calib_core.report.sections import robustness as section
from calib_core.tokens.bounds import exact_up_to
from calib_core.wording import count
from pages.parts import show, tables
from pages.parts.choice import Choice
from pages.parts.exporting import Export, few, named
from pages.parts.literal import literal

WHAT_IT_SAYS: Final = """
- RSD = standard deviation / mean of one metric's values over the set of M. It compares **metrics on one
  model**: the one with the smaller RSD leaves less to the choice of M.
- It never compares models. It is near 0 where all gaps have one sign (over-confident everywhere) or every
  value has a bin of its own, and **large** where a model is calibrated: all of it is noise, which grows
  with M.
- So it stands beside what it would be if calibrated: that of draws from the model's own confidences.
"""


def verdict(choice: Choice, results: Sequence[Sweep]) -> None:
    """The reading, one tile a metric, how the numbers were made, and what has to be said besides."""
    first = results[0]
    show.reading(first.reading, _looking_at(choice, results))
    if first.curves:
        show.tiles(section.tiles(first))
    _badge(choice)
    for other in results[1:]:
        st.caption(f"**{literal(other.run)}**: {literal(other.reading)}")
    _recipes(results)
    show.remarks(first.chance)
    show.remarks(*section.remarks(choice.evidence, first))
    for result in results:
        whose = f"**{literal(result.run)}**: " if len(results) > 1 else ""
        for why in section.refusals(result):
            st.caption(f":material/block: {whose}{literal(why)}")


def _looking_at(choice: Choice, results: Sequence[Sweep]) -> Looking:
    """The curves, of which runs and metrics."""
    wanted = choice.sweeping
    metrics = dict.fromkeys(METRICS[curve.metric].title for result in results for curve in result.curves)
    return looking(
        f"{called(list(metrics), 'metrics')} over M",
        [choice.run.title, *(run.title for run, _ in wanted.beside)],
        [choice.evidence, *(evidence for _, evidence in wanted.beside)],
        f"M in {{{section.set_text(wanted.bins)}}}",
    )


def _recipes(results: Sequence[Sweep]) -> None:
    """How the number that the reading speaks of was made; that of the others, a line each, is folded away."""
    lines = _made(results)
    show.recipe(lines[0] if lines else "No metric can be swept here.")
    if len(lines) > 1:
        with st.expander(f"How the other curves were made ({len(lines) - 1})", key="recipes"):
            show.recipe("\n".join(lines[1:]))


def _made(results: Sequence[Sweep]) -> list[str]:
    made = [(result.run, curve.recipe) for result in results for curve in result.curves]
    several = len(results) > 1
    return [f"{run}: {recipe}" if several else recipe for run, recipe in made]


def _badge(choice: Choice) -> None:
    """What can be known of a file that stores the largest probabilities only."""
    run = choice.evidence.run
    if not isinstance(run, TokenRun) or run.sums.unseen is None:
        return
    exact = exact_up_to(run.sums)
    st.badge(f"Top-k file, Full-ECE: exact up to M = {exact}", icon=":material/straighten:", color="orange")


def full_ece(results: Sequence[Sweep]) -> None:
    """Full-ECE between what calibrated confidences would give and the most that it can be."""
    if tiles := section.full_ece_tiles(results[0]):
        st.subheader(section.FULL_ECE, anchor=False)
        show.tiles(tiles)


def table(choice: Choice, results: Sequence[Sweep]) -> None:
    """One row a run and metric: RSD, its null, and the value at each M."""
    rows = section.rows(results)
    bins, ddof = section.set_text(results[0].bins), results[0].ddof
    st.subheader(f"RSD over M in {{{bins}}}, ddof {ddof}", anchor=False)
    frame = pl.DataFrame(rows, infer_schema_length=None)
    tables.plain(
        frame, key="sweep", alt=f"RSD and values of {count(len(rows), 'curve')} at {len(results[0].bins)} M",
        export=export(choice, results, "Table of RSD"),
    )


def export(choice: Choice, results: Sequence[Sweep], what: str) -> Export:
    """Every value of every curve."""
    metrics = few((curve.metric for result in results for curve in result.curves), "metrics")
    bins = results[0].bins
    return Export(
        named(choice.run.id, choice.evidence.method.id, *metrics, f"m{bins[0]}-to-{bins[-1]}", what),
        lambda: pl.concat([result.to_frame() for result in results]),
        "\n".join(_made(results)), what, choice.of,
    )


def published() -> None:
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
        source = f"{SOURCE}: M in {{5, 10, 20, 50, 100, 200, 500}}. Not computed here."
        tables.plain(
            shown, key="published", alt="RSD of two models in the Full-ECE paper",
            export=Export("published-rsd", lambda: figures, source, "Published RSD"),
        )
        st.caption(source)
    with words:
        st.subheader("What RSD says and what it does not", anchor=False)
        st.markdown(WHAT_IT_SAYS)
