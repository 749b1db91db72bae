"""How many samples are enough?  The blocks of the Sampling page around its figures."""

from __future__ import annotations

import polars as pl
import streamlit as st

from calib_core.analysis.looking import ViewCaption, rows_used_text, method_titles
from calib_core.analysis.question_clusters import (
    QuestionClusters,
    question_clusters,
    sampled_question_titles,
    typical_question,
)
from calib_core.analysis.samples import sample_size_sweep
from calib_core.analysis.samples_result import SampleSizeSweep
from calib_core.figures.clusters import question_clusters_figure, describe_question_clusters
from calib_core.metrics import METRICS
from calib_core.report.sections import sampling as section
from calib_core.wording import plural
from pages.parts import cache, show, tables
from pages.parts.address import url_selectbox
from pages.parts.exporting import Export, stem_parts, make_file_stem
from pages.parts.literal import escape_markdown
from pages.parts.sampling import SamplingChoice


def cached_samples(choice: SamplingChoice) -> SampleSizeSweep:
    """The draws, with progress where they are not kept yet. Raises Unavailable where none can be made."""

    def compute() -> SampleSizeSweep:
        bar = st.progress(0.0, "Drawing parts of the samples …")
        try:
            return sample_size_sweep(
                choice.answers, choice.plan, choice.options,
                progress=lambda share, text: bar.progress(min(share, 1.0), f"Drawing parts: {text}"),
            )
        finally:
            bar.empty()

    return cache.cached_result(("samples", *choice.cache_key()), compute).with_tolerance(choice.tolerance)


def show_sampling_summary(choice: SamplingChoice, result: SampleSizeSweep) -> None:
    """What is enough, a tile a method, how the numbers were made, and what has to be said besides."""
    show.show_headline(result.headline, _sampling_view_caption(choice, result))
    show.show_tiles(section.sampling_tiles(result))
    show.show_recipe(section.sampling_recipe(result, choice.metric))
    show.show_remarks(result.sufficiency_definition)
    show.show_remarks(*section.sampling_remarks(result))
    for why in (*result.spread_caveats.values(), *result.unavailable.values()):
        st.caption(f":material/block: {escape_markdown(why)}")


def _sampling_view_caption(choice: SamplingChoice, result: SampleSizeSweep) -> ViewCaption:
    """The curves, of which run and metric, over which numbers of samples."""
    title = METRICS[choice.metric].title
    return ViewCaption(
        f"{title} of parts of the samples", (choice.run.title,), method_titles(list(result.mean_confidence)),
        f"N' in {{{', '.join(map(str, result.sizes))}}}",
        rows_used_text([(result.n_used, result.n_total)], "rows"),
    )


def show_sampling_tables(choice: SamplingChoice, result: SampleSizeSweep) -> None:
    """One row an N', and one a method and N' for the paired difference."""
    st.subheader(section.sizes_title(choice.metric), anchor=False)
    rows = section.size_rows(result, choice.metric)
    tables.show_table(
        pl.DataFrame(rows), key="sizes_table",
        alt=f"{METRICS[choice.metric].title} of three methods at {len(rows)} N'",
        export=sampling_export(choice, result, "Table over N'"),
    )
    _show_gap_table(choice, result)


def sampling_export(choice: SamplingChoice, result: SampleSizeSweep, content: str) -> Export:
    """Every curve, gap and baseline."""
    methods = stem_parts(result.mean_confidence, "methods")
    return Export(
        make_file_stem(choice.run.id, *methods, choice.metric, "n", *result.sizes, "seed", result.seed),
        result.to_frame, section.sampling_recipe(result, choice.metric), content,
        f"{choice.run.title}, {METRICS[choice.metric].title}",
    )


def _show_gap_table(choice: SamplingChoice, result: SampleSizeSweep) -> None:
    rows = section.gap_rows(result)
    if not rows:
        return
    st.subheader(section.gaps_title(result), anchor=False)
    tables.show_table(
        pl.DataFrame(rows), key="gaps", alt=f"Paired Brier differences to N' = {result.reference_size}",
        export=sampling_export(choice, result, "Brier differences"),
    )


def show_question(choice: SamplingChoice) -> None:
    """One question: its clusters as bars, and the three confidences worked out."""
    st.header(section.EXAMPLE_TITLE, anchor=False)
    coded = choice.sample_codes()
    places, titles = sampled_question_titles(choice.answers, coded)
    place = url_selectbox(
        "place", "Question", titles,
        f"Of the first {len(titles):,} with samples; type to search, “tie” and “not parse” too.",
        typical_question(coded, places),
    )
    result = question_clusters(choice.answers, coded, places[place], choice.options.unparseable)
    with st.grid(2, min_column_width=430, gap="medium"):
        bars, words = st.container(), st.container()
    with bars:
        show.show_figure(
            lambda theme: question_clusters_figure(result, theme), key="clusters", alt=describe_question_clusters(result),
            export=question_export(choice, result, "Clusters of one question"),
        )
    with words:
        _show_worked_question(choice, result)


def question_export(choice: SamplingChoice, result: QuestionClusters, content: str) -> Export:
    """The clusters of one question."""
    recipe = "\n".join([result.sizes_text, *result.derivations.values()])
    return Export(
        make_file_stem(choice.run.id, "row", result.row, "clusters"), result.to_frame, recipe, content,
        f"{choice.run.title}, {result.title}",
    )


def _show_worked_question(choice: SamplingChoice, result: QuestionClusters) -> None:
    st.markdown(escape_markdown(section.example_headline(result)))
    st.code("\n".join([result.sizes_text, *result.derivations.values()]), language=None, wrap_lines=True)
    tables.show_table(
        pl.DataFrame(section.cluster_rows(result), infer_schema_length=None),
        key="cluster_rows", alt=f"{plural(len(result.clusters), 'cluster')} of one question",
        export=question_export(choice, result, "Table of clusters"),
    )
