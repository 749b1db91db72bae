"""Where do the pairs of one position or question go?  A chooser, the picture, and how often classes occur."""

from __future__ import annotations

from typing import Final

import polars as pl
import streamlit as st

from calib_core.analysis.occurrences import class_occurrence_table
from calib_core.analysis.pools import PairPools, pools_of_position, pools_of_question, poolable_question_titles
from calib_core.figures.pools import describe_pooling, pooling_figure
from calib_core.problems import Unavailable
from calib_core.records import TokenRun
from pages.parts import show, tables
from pages.parts.address import url_selectbox
from pages.parts.choice import RunChoice
from pages.parts.exporting import Export, make_file_stem
from pages.parts.literal import escape_markdown

MAX_OFFERED_QUESTIONS: Final = 500
"""So many questions are offered to choose from."""


def show_pooling(choice: RunChoice, bins: tuple[int, ...]) -> None:
    """The Full-ECE paper's Figure 1 of one position or question, with M = 10 or the smallest of the set."""
    st.subheader("Which pairs go into which bin?", anchor=False)
    try:
        result = _chosen_pools(choice, 10 if 10 in bins else bins[0])
    except Unavailable as reason:
        st.caption(escape_markdown(str(reason)))
        return
    if result is None:
        st.caption("No single positions are kept with these sums.")
        return
    export = Export(
        make_file_stem(choice.run.id, choice.evidence.method.id, "pools", result.title.partition(":")[0], result.n_bins),
        lambda: result.table, f"M={result.n_bins}, K={result.n_classes}, {result.title}",
        "Which pairs go into which bin", f"{choice.description}, {result.title}",
    )
    show.show_figure(
        lambda theme: pooling_figure(result, theme), key="pools", alt=describe_pooling(result), export=export
    )
    st.caption(escape_markdown(f"M = {result.n_bins}. {result.sentences}"))


def _chosen_pools(choice: RunChoice, bins: int) -> PairPools | None:
    run = choice.evidence.run
    if isinstance(run, TokenRun):
        examples = run.sums.examples
        if not examples:
            return None
        titles = [f"{example.row + 1:,}: right token {example.target}" for example in examples]
        place = url_selectbox("place", "Position", titles, "The first positions of the file are kept to look at.")
        return pools_of_position(run.label, examples[place], bins)
    titles = poolable_question_titles(choice.evidence)[:MAX_OFFERED_QUESTIONS]
    place = url_selectbox("place", "Question", titles, f"Of the first {MAX_OFFERED_QUESTIONS} questions.")
    return pools_of_question(choice.evidence, place, bins)


def show_occurrences(choice: RunChoice) -> None:
    """How many classes of the vocabulary occur never, seldom, often."""
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
        make_file_stem(choice.run.id, "occurrences"), lambda: table,
        f"classes of the vocabulary by how often they are right, K={run.sums.classes}, {run.label}",
        "How often the classes occur", choice.run.title,
    )
    tables.show_table(
        shown, key="occurrences", alt=f"How often {run.sums.classes} classes occur", export=export
    )
    st.caption(
        f"K = {run.sums.classes:,}. cw-ECE averages over all of them, also those that never occur. "
        "Published (Full-ECE paper, 5,000 test sentences): 30 % never, 41 % one to ten times."
    )
