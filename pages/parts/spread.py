"""How far do the confidences spread, in numbers?  Tiles for one method, a table for several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl
import streamlit as st

from calib_core.analysis.concentration import Concentration, concentration_table, concentration_headline
from calib_core.analysis.looking import ViewCaption, bins_caption, view_caption
from calib_core.report.sections.concentration import HISTOGRAM_TITLE, concentration_tiles
from pages.parts import show, tables
from pages.parts.choice import RunChoice
from pages.parts.exporting import Export, stem_parts, make_file_stem
from pages.parts.literal import escape_markdown


def show_concentration_summary(choice: RunChoice, results: Sequence[Concentration]) -> None:
    """The sentence, warnings, numbers and recipes of one method or of several side by side."""
    show.show_headline(concentration_headline(results), _confidences_view_caption(choice, results))
    for result in results:
        if result.warning:
            name = f"**{escape_markdown(result.title)}**: " if len(results) > 1 else ""
            st.warning(name + escape_markdown(result.warning), icon=":material/warning:")
    if len(results) == 1:
        show.show_tiles(concentration_tiles(results[0]))
        show.show_recipe(results[0].recipe)
    else:
        compared = concentration_table(results)
        tables.show_table(
            compared, key="methods", alt=f"{len(results)} methods side by side",
            export=replace(concentration_export(choice, results, "Methods side by side"), frame=lambda: compared),
        )
        show.show_recipe("\n".join(f"{result.title}: {result.recipe}" for result in results))


def _confidences_view_caption(choice: RunChoice, results: Sequence[Concentration]) -> ViewCaption:
    """The histogram, of which run and by which methods."""
    seen = {one.method.id: one for one in (choice.evidence, *choice.other_methods)}
    return view_caption(
        "Confidences", [choice.run.title], [seen[result.method] for result in results],
        bins_caption(choice.scheme),
    )


def histogram_export(choice: RunChoice, results: Sequence[Concentration]) -> Export:
    """The bins of every method, and the finest ones of the strip below."""
    return replace(
        concentration_export(choice, results, HISTOGRAM_TITLE), frame=lambda: pl.concat([result.figure_frame() for result in results])
    )


def concentration_export(choice: RunChoice, results: Sequence[Concentration], content: str) -> Export:
    """The bins of every method."""
    methods = stem_parts((result.method for result in results), "methods")
    recipe = "\n".join(f"{result.title}: {result.recipe}" for result in results)
    return Export(
        make_file_stem(choice.run.id, *methods, content, choice.scheme.binning, choice.scheme.bins),
        lambda: pl.concat([result.to_frame() for result in results]),
        results[0].recipe if len(results) == 1 else recipe, content, choice.run.title,
    )

