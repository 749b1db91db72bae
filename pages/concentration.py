"""The page Bin concentration: where do the confidences lie, and can the bins be trusted?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl
import streamlit as st

from calib_core.errors import Unavailable
from calib_core.figures.concentration import (
    cumulative_figure,
    describe_cumulative,
    describe_histogram,
    histogram_figure,
)
from calib_core.results.concentration import (
    Concentration,
    concentration_headline,
    concentration_table,
    measure_concentration,
)
from calib_core.results.view_caption import ViewCaption, bins_caption, view_caption
from calib_core.views.concentration import (
    HISTOGRAM_TITLE,
    concentration_caption,
    concentration_tiles,
    cumulative_title,
)
from calib_core.views.view import file_parts
from pages.state.cache import cached_result
from pages.state.markdown import escape_markdown
from pages.widgets.export import Export, make_file_stem
from pages.widgets.figure import show_figure, side_by_side
from pages.widgets.run_choice import RunChoice, choose_confidences
from pages.widgets.shell import shell
from pages.widgets.summary import show_headline, show_provenance, show_tiles, show_warnings
from pages.widgets.table import show_table


def available_results(choice: RunChoice) -> list[Concentration]:
    """Return the concentration by each chosen method; where one is not available, show its reason instead."""
    results: list[Concentration] = []
    for evidence in (choice.evidence, *choice.other_methods):
        try:
            result = cached_result(
                ("concentration", *choice.cache_key(evidence)),
                lambda evidence=evidence: measure_concentration(evidence, choice.scheme),
            )
        except Unavailable as reason:
            st.info(escape_markdown(f"{evidence.method.title}: {reason}"))
        else:
            results.append(result)
    return results


def show_concentration_summary(choice: RunChoice, results: Sequence[Concentration]) -> None:
    """Draw the headline, warnings and numbers: tiles for one method, a table for several."""
    show_headline(concentration_headline(results))
    for result in results:
        if result.warning:
            name = f"**{escape_markdown(result.title)}**: " if len(results) > 1 else ""
            st.warning(name + escape_markdown(result.warning), icon=":material/warning:")
    if len(results) == 1:
        show_tiles(concentration_tiles(results[0]))
    else:
        table = concentration_table(results)
        show_table(
            table,
            key="methods",
            alt=f"{len(results)} methods side by side",
            export=replace(
                concentration_export(choice, results, "Methods side by side"), frame=lambda: table
            ),
        )


def _recipe(results: Sequence[Concentration]) -> str:
    """Return the recipe of one method, or of each under its title."""
    if len(results) == 1:
        return results[0].recipe
    return "\n".join(f"{result.title}: {result.recipe}" for result in results)


def _confidences_view_caption(choice: RunChoice, results: Sequence[Concentration]) -> ViewCaption:
    """Return the caption that says which run and methods the histogram is of."""
    evidences = {evidence.method.id: evidence for evidence in (choice.evidence, *choice.other_methods)}
    return view_caption(
        "Confidences",
        [choice.run.title],
        [evidences[result.method] for result in results],
        bins_caption(choice.scheme),
    )


def concentration_export(choice: RunChoice, results: Sequence[Concentration], content: str) -> Export:
    """Return the export of the bins of every method."""
    methods = file_parts((result.method for result in results), "methods")
    return Export(
        make_file_stem(choice.run.id, *methods, content, choice.scheme.binning, choice.scheme.bins),
        lambda: pl.concat([result.to_frame() for result in results]),
        _recipe(results),
        content,
        choice.description if len(results) == 1 else choice.run.title,
        headline=concentration_headline(results),
        tiles=concentration_tiles(results[0]) if len(results) == 1 else (),
    )


def show_concentration_figures(choice: RunChoice, results: Sequence[Concentration]) -> None:
    """Draw the histogram and the cumulative share, and how to read them."""
    histogram, cumulative = side_by_side(n_columns=2 if len(results) == 1 else 1)
    with histogram:
        st.subheader(HISTOGRAM_TITLE, anchor=False)
        show_figure(
            lambda theme: histogram_figure(results, theme),
            key="histogram",
            alt=describe_histogram(results),
            export=histogram_export(choice, results),
        )
    with cumulative:
        st.subheader(cumulative_title(results[0]), anchor=False)
        show_figure(
            lambda theme: cumulative_figure(results, theme),
            key="cumulative",
            alt=describe_cumulative(results),
            export=concentration_export(choice, results, "Cumulative share"),
        )
    show_provenance(_confidences_view_caption(choice, results), _recipe(results))
    st.caption(concentration_caption(results))


def histogram_export(choice: RunChoice, results: Sequence[Concentration]) -> Export:
    """Return the export of the bins of every method, with the fine bins of the strip below the histogram."""
    return replace(
        concentration_export(choice, results, HISTOGRAM_TITLE),
        frame=lambda: pl.concat([result.figure_frame() for result in results]),
    )


def page() -> None:
    """Draw the page."""
    choice = shell("concentration", choose_confidences).choice
    show_warnings(*choice.evidence.warnings)
    if results := available_results(choice):
        show_concentration_summary(choice, results)
        show_concentration_figures(choice, results)


if __name__ == "__main__":
    page()
