"""Where do the pairs of one position or question go?  A chooser, the picture, and how often classes occur."""

from __future__ import annotations

from typing import Final

import polars as pl
import streamlit as st

from calib_core.analysis.occurrences import occurrences_table
from calib_core.analysis.pools import Pools, pools_of_position, pools_of_question, questions
from calib_core.figures.pools import describe_pools, pools_figure
from calib_core.problems import Unavailable
from calib_core.records import TokenRun
from pages.parts import show, tables
from pages.parts.address import pick_here
from pages.parts.choice import Choice
from pages.parts.exporting import Export, named
from pages.parts.literal import literal

OFFERED: Final = 500
"""So many questions are offered to choose from."""


def picture(choice: Choice, bins: tuple[int, ...]) -> None:
    """The Full-ECE paper's Figure 1 of one position or question, with M = 10 or the smallest of the set."""
    st.subheader("Which pairs go into which bin?", anchor=False)
    try:
        result = _chosen(choice, 10 if 10 in bins else bins[0])
    except Unavailable as reason:
        st.caption(literal(str(reason)))
        return
    if result is None:
        st.caption("No single positions are kept with these sums.")
        return
    export = Export(
        named(choice.run.id, choice.evidence.method.id, "pools", result.title.partition(":")[0], result.bins),
        lambda: result.table, f"M={result.bins}, K={result.classes}, {result.title}",
        "Which pairs go into which bin", f"{choice.of}, {result.title}",
    )
    show.figure(
        lambda theme: pools_figure(result, theme), key="pools", alt=describe_pools(result), export=export
    )
    st.caption(literal(f"M = {result.bins}. {result.reading}"))


def _chosen(choice: Choice, bins: int) -> Pools | None:
    run = choice.evidence.run
    if isinstance(run, TokenRun):
        examples = run.sums.examples
        if not examples:
            return None
        titles = [f"{example.row + 1:,}: right token {example.target}" for example in examples]
        place = pick_here("place", "Position", titles, "The first positions of the file are kept to look at.")
        return pools_of_position(run.label, examples[place], bins)
    titles = questions(choice.evidence)[:OFFERED]
    place = pick_here("place", "Question", titles, f"Of the first {OFFERED} questions.")
    return pools_of_question(choice.evidence, place, bins)


def occurrences(choice: Choice) -> None:
    """How many classes of the vocabulary occur never, seldom, often."""
    run = choice.evidence.run
    if not isinstance(run, TokenRun):
        return
    st.subheader("How often the classes occur", anchor=False)
    table = occurrences_table(run.sums.occurrences)
    shown = table.select(
        pl.col("occurs").alias("As the right class"),
        pl.col("classes").alias("Classes"),
        pl.format("{} %", (pl.col("share") * 100).round(1)).alias("Share of K"),
        pl.col("positions").alias("Positions"),
    )
    export = Export(
        named(choice.run.id, "occurrences"), lambda: table,
        f"classes of the vocabulary by how often they are right, K={run.sums.classes}, {run.label}",
        "How often the classes occur", choice.run.title,
    )
    tables.plain(
        shown, key="occurrences", alt=f"How often {run.sums.classes} classes occur", export=export
    )
    st.caption(
        f"K = {run.sums.classes:,}. cw-ECE averages over all of them, also those that never occur. "
        "Published (Full-ECE paper, 5,000 test sentences): 30 % never, 41 % one to ten times."
    )
