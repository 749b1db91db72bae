"""How far do the confidences spread, in numbers?  Tiles for one method, a table for several."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from calib_core.analysis.concentration import Concentration, compare
from pages.parts import show, tables
from pages.parts.literal import literal


def methods(results: Sequence[Concentration]) -> None:
    """The warnings, the numbers and the recipes of one method or of several side by side."""
    for result in results:
        if result.warning:
            name = f"**{literal(result.title)}**: " if len(results) > 1 else ""
            st.warning(name + literal(result.warning), icon=":material/warning:")
    if len(results) == 1:
        _tiles(results[0])
        show.recipe(results[0].recipe)
    else:
        tables.plain(compare(results), key="methods", alt=f"{len(results)} methods side by side")
        show.recipe("\n".join(f"{result.title}: {result.recipe}" for result in results))


def _tiles(result: Concentration) -> None:
    show.tiles(
        [
            (
                "Top two bins",
                show.percent(result.top_two),
                f"Share of the {result.unit} in the two fullest bins.",
            ),
            (
                "Effective bins",
                f"{show.number(result.effective, '.1f')} of {result.bins}",
                f"1/Σw², w = a bin's share of the {result.unit}: so many full bins would be as spread out.",
            ),
            ("Distinct values", show.number(result.distinct, ",d"), _known(result, "Different confidences.")),
            (
                "ECE",
                show.number(result.ece),
                "Of the same bins. Lower is better, if the bins can be trusted.",
            ),
            ("At exactly 0", show.percent(result.at_zero), _certain(result, "wrong")),
            ("At exactly 1", show.percent(result.at_one), _certain(result, "right")),
            (
                "Non-empty bins",
                f"{result.table.height} of {result.bins}",
                "Empty bins have no accuracy and add nothing to the ECE.",
            ),
            (
                f"{result.unit.capitalize()} used / total",
                f"{result.n_used:,} / {result.n_total:,}",
                f"{result.unit.capitalize()} with confidence and outcome.",
            ),
        ]
    )


def _certain(result: Concentration, outcome: str) -> str:
    return _known(result, f"Share of the {result.unit} that are certain to be {outcome}.")


def _known(result: Concentration, text: str) -> str:
    """The help of a number that single confidences are needed for."""
    kept = result.distinct is not None
    return text if kept else f"{text} Not known: of a token-level run only sums are kept."
