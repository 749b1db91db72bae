"""How many samples are enough?  The blocks of the Sampling page around its figures."""

from __future__ import annotations

import polars as pl
import streamlit as st

from calib_core.analysis.looking import Looking, counted_of, methods_of
from calib_core.analysis.question_clusters import (
    QuestionClusters,
    question_clusters,
    questions,
    typical,
)
from calib_core.analysis.samples import samples
from calib_core.analysis.samples_result import Sampled
from calib_core.figures.clusters import clusters_figure, describe_clusters
from calib_core.metrics import METRICS
from calib_core.report.sections import sampling as section
from calib_core.wording import count
from pages.parts import cache, show, tables
from pages.parts.address import pick_here
from pages.parts.exporting import Export, few, named
from pages.parts.literal import literal
from pages.parts.sampling import Sampling


def computed(chosen: Sampling) -> Sampled:
    """The draws, with progress where they are not kept yet. Raises Unavailable where none can be made."""

    def compute() -> Sampled:
        bar = st.progress(0.0, "Drawing parts of the samples …")
        try:
            return samples(
                chosen.answers, chosen.plan, chosen.options,
                progress=lambda share, text: bar.progress(min(share, 1.0), f"Drawing parts: {text}"),
            )
        finally:
            bar.empty()

    return cache.kept(("samples", *chosen.key()), compute).at(chosen.within)


def verdict(chosen: Sampling, result: Sampled) -> None:
    """What is enough, a tile a method, how the numbers were made, and what has to be said besides."""
    show.reading(result.reading, _looking_at(chosen, result))
    show.tiles(section.tiles(result))
    show.recipe(section.recipe(result, chosen.metric))
    show.remarks(result.measure)
    show.remarks(*section.remarks(result))
    for why in (*result.greyed.values(), *result.refused.values()):
        st.caption(f":material/block: {literal(why)}")


def _looking_at(chosen: Sampling, result: Sampled) -> Looking:
    """The curves, of which run and metric, over which numbers of samples."""
    title = METRICS[chosen.metric].title
    return Looking(
        f"{title} of parts of the samples", (chosen.run.title,), methods_of(list(result.said)),
        f"N' in {{{', '.join(map(str, result.sizes))}}}",
        counted_of([(result.n_used, result.n_total)], "rows"),
    )


def table(chosen: Sampling, result: Sampled) -> None:
    """One row an N', and one a method and N' for the paired difference."""
    st.subheader(section.sizes_title(chosen.metric), anchor=False)
    rows = section.size_rows(result, chosen.metric)
    tables.plain(
        pl.DataFrame(rows), key="sizes_table",
        alt=f"{METRICS[chosen.metric].title} of three methods at {len(rows)} N'",
        export=export(chosen, result, "Table over N'"),
    )
    _gaps(chosen, result)


def export(chosen: Sampling, result: Sampled, what: str) -> Export:
    """Every curve, gap and baseline."""
    methods = few(result.said, "methods")
    return Export(
        named(chosen.run.id, *methods, chosen.metric, "n", *result.sizes, "seed", result.seed),
        result.to_frame, section.recipe(result, chosen.metric), what,
        f"{chosen.run.title}, {METRICS[chosen.metric].title}",
    )


def _gaps(chosen: Sampling, result: Sampled) -> None:
    rows = section.gap_rows(result)
    if not rows:
        return
    st.subheader(section.gaps_title(result), anchor=False)
    tables.plain(
        pl.DataFrame(rows), key="gaps", alt=f"Paired Brier differences to N' = {result.against}",
        export=export(chosen, result, "Brier differences"),
    )


def question(chosen: Sampling) -> None:
    """One question: its clusters as bars, and the three confidences worked out."""
    st.header(section.WORKED, anchor=False)
    coded = chosen.coded()
    places, titles = questions(chosen.answers, coded)
    place = pick_here(
        "place", "Question", titles,
        f"Of the first {len(titles):,} with samples; type to search, “tie” and “not parse” too.",
        typical(coded, places),
    )
    result = question_clusters(chosen.answers, coded, places[place], chosen.options.unparseable)
    with st.grid(2, min_column_width=430, gap="medium"):
        bars, words = st.container(), st.container()
    with bars:
        show.figure(
            lambda theme: clusters_figure(result, theme), key="clusters", alt=describe_clusters(result),
            export=one_question(chosen, result, "Clusters of one question"),
        )
    with words:
        _worked(chosen, result)


def one_question(chosen: Sampling, result: QuestionClusters, what: str) -> Export:
    """The clusters of one question."""
    recipe = "\n".join([result.sizes, *result.worked.values()])
    return Export(
        named(chosen.run.id, "row", result.row, "clusters"), result.to_frame, recipe, what,
        f"{chosen.run.title}, {result.title}",
    )


def _worked(chosen: Sampling, result: QuestionClusters) -> None:
    st.markdown(literal(section.worked_reading(result)))
    st.code("\n".join([result.sizes, *result.worked.values()]), language=None, wrap_lines=True)
    tables.plain(
        pl.DataFrame(section.cluster_rows(result), infer_schema_length=None),
        key="cluster_rows", alt=f"{count(len(result.clusters), 'cluster')} of one question",
        export=one_question(chosen, result, "Table of clusters"),
    )
