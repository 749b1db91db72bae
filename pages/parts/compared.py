"""What does a comparison come to?  Tiles, sentences and the table of the Comparison page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import streamlit as st

from calib_core.analysis.comparison import FIXED, Comparison
from calib_core.analysis.comparison_points import Point
from calib_core.confidence import METHODS
from calib_core.metrics import METRICS
from calib_core.report.sections import comparison
from calib_core.wording import count, span
from pages.parts import exporting, picking, show, tables
from pages.parts.exporting import Export, few, named
from pages.parts.literal import literal


def tiles(result: Comparison) -> None:
    """How many points, the best of each kind, and how many beat a constant."""
    if result.points:
        show.tiles([tile._replace(below=literal(tile.below)) for tile in comparison.tiles(result)])


def caption(result: Comparison) -> None:
    """How the picture is read."""
    st.caption(f"{comparison.caption(result)} Click a point or a row to see its reliability diagram.")


def trends(result: Comparison) -> None:
    """The ranks and the share of a(1−a), method by method: a sentence, or a row each."""
    if len(result.trends) == 1 or comparison.no_trend(result):
        st.markdown(literal(comparison.trends(result)[0]))
    elif result.trends:
        rows = comparison.trend_rows(result)
        st.subheader(comparison.TOGETHER, anchor=False)
        tables.plain(
            pl.DataFrame(rows, infer_schema_length=None), key="trends", alt=count(len(rows), "method"),
            export=replace(export(result), what="Table of trends"),
        )


def table(result: Comparison, chosen: str | None) -> None:
    """One row a point, the lowest Brier score first; a click on one selects it, a second takes it back."""
    keys = [point.key for point in result.by_brier]
    widget = f"points_{chosen}"
    rows = [{"number": at, **_row(point, result)} for at, point in enumerate(result.by_brier, 1)]
    shown = tables.unlike(pl.DataFrame(rows, infer_schema_length=None), "judged", "used")
    st.dataframe(
        shown,
        key=widget,
        hide_index=True,
        column_config=_columns(result),
        placeholder="–",
        height="content" if len(keys) <= 12 else 460,
        on_select=lambda: picking.point_from_table(widget, keys),
        selection_mode="single-row",
        selection_default={"selection": {"rows": [keys.index(chosen)], "columns": [], "cells": []}}
        if chosen in keys
        else None,
        alt=f"{count(len(keys), 'point')}, the lowest Brier score first",
    )
    exporting.table(
        replace(export(result), what="Table of points"), "points", shown=shown, columns=_columns(result)
    )


def export(result: Comparison) -> Export:
    """Every point with its intervals."""
    binned = any(METRICS[id_].binned for id_ in (result.x, result.y))
    bins = (result.scheme.binning, result.scheme.bins) if binned else ()
    sets = {trend.dataset for trend in result.trends}
    methods = few((point.method for point in result.points), "methods")
    return Export(
        named("comparison", *methods, result.x, result.y, *bins),
        result.to_frame, result.recipe, "Comparison", ", ".join(sorted(filter(None, sets))),
    )


def _others(result: Comparison) -> list[str]:
    return [id_ for id_ in dict.fromkeys((result.x, result.y)) if id_ not in FIXED]


def _row(point: Point, result: Comparison) -> dict[str, Any]:
    axes = {one.metric: one for one in (point.x, point.y)}
    more: dict[str, Any] = {}
    for id_ in _others(result):
        more |= {id_: axes[id_].value, f"{id_}_": span(axes[id_].low, axes[id_].high)}
    return {
        "run": point.name,
        "title": METHODS[point.method].title,
        "judged": point.judged,
        **more,
        "accuracy": 100 * point.accuracy.value,
        "accuracy_": span(point.accuracy.low, point.accuracy.high, ".1f", 100),
        "brier": point.brier.value,
        "brier_": span(point.brier.low, point.brier.high),
        "skill": point.skill,
        "ece_10": point.ece,
        "used": f"{point.n_used:,} / {point.n_total:,}",
    }


def _in_full(result: Comparison) -> str | None:
    """What the first run is called in full, where that is not what it is called here."""
    first = next(iter(result.by_brier), None)
    if first is None or first.name == first.run:
        return None
    return f"What tells runs apart; in full, the first is {literal(first.run)}."


def _columns(result: Comparison) -> dict[str, Any]:
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    others = [METRICS[id_] for id_ in _others(result)]
    return {
        "number": number("No.", width=38, help="Its number in the figure where names have no room."),
        "run": text("Run", help=_in_full(result)),
        "title": text("Confidence method"),
        **{own.id: number(own.title, format="%.4f", help=own.help) for own in others},
        **{f"{own.id}_": text(f"{own.title} 95 %") for own in others},
        "accuracy": tables.COLUMNS["accuracy"],
        "accuracy_": text("Accuracy 95 %", width=96, help="Wilson."),
        "brier": number("Brier", format="%.4f", width=62, help=METRICS["brier"].help),
        "brier_": text("Brier 95 %", width=122, help="Basic bootstrap, approximate."),
        "skill": number("Skill", format="%+.3f", width=60, help="1 − Brier/(a(1−a)), a the accuracy."),
        "ece_10": number(
            "ECE, M = 10" if METRICS["ece"] in others else "ECE", format="%.4f",
            help=f"M = 10 bins of equal width. {METRICS['ece'].help}",
        ),
        "used": text("Rows used / total", width=114),
        "judged": text("Judged"),
    }
