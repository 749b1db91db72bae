"""How far do the confidences spread, in numbers?  Tiles for one method, a table for several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl
import streamlit as st

from calib_core.analysis.concentration import Concentration, compare, reading
from calib_core.analysis.looking import Looking, bins_of, looking
from calib_core.report.sections.concentration import HISTOGRAM, tiles
from pages.parts import show, tables
from pages.parts.choice import Choice
from pages.parts.exporting import Export, few, named
from pages.parts.literal import literal


def methods(choice: Choice, results: Sequence[Concentration]) -> None:
    """The sentence, warnings, numbers and recipes of one method or of several side by side."""
    show.reading(reading(results), _looking_at(choice, results))
    for result in results:
        if result.warning:
            name = f"**{literal(result.title)}**: " if len(results) > 1 else ""
            st.warning(name + literal(result.warning), icon=":material/warning:")
    if len(results) == 1:
        show.tiles(tiles(results[0]))
        show.recipe(results[0].recipe)
    else:
        compared = compare(results)
        tables.plain(
            compared, key="methods", alt=f"{len(results)} methods side by side",
            export=replace(export(choice, results, "Methods side by side"), frame=lambda: compared),
        )
        show.recipe("\n".join(f"{result.title}: {result.recipe}" for result in results))


def _looking_at(choice: Choice, results: Sequence[Concentration]) -> Looking:
    """The histogram, of which run and by which methods."""
    seen = {one.method.id: one for one in (choice.evidence, *choice.beside)}
    return looking(
        "Confidences", [choice.run.title], [seen[result.method] for result in results],
        bins_of(choice.scheme),
    )


def histogram_export(choice: Choice, results: Sequence[Concentration]) -> Export:
    """The bins of every method, and the finest ones of the strip below."""
    return replace(
        export(choice, results, HISTOGRAM), frame=lambda: pl.concat([result.drawn() for result in results])
    )


def export(choice: Choice, results: Sequence[Concentration], what: str) -> Export:
    """The bins of every method."""
    methods = few((result.method for result in results), "methods")
    recipe = "\n".join(f"{result.title}: {result.recipe}" for result in results)
    return Export(
        named(choice.run.id, *methods, what, choice.scheme.binning, choice.scheme.bins),
        lambda: pl.concat([result.to_frame() for result in results]),
        results[0].recipe if len(results) == 1 else recipe, what, choice.run.title,
    )

