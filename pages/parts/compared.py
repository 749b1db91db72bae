"""What does a comparison come to?  Tiles, sentences and the table of the Comparison page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import streamlit as st

from calib_core.analysis.comparison import BASE_METRICS, Comparison
from calib_core.analysis.comparison_points import ComparisonPoint
from calib_core.confidence import METHODS
from calib_core.metrics import METRICS
from calib_core.report.sections import comparison
from calib_core.wording import plural, format_interval
from pages.parts import exporting, picking, show, tables
from pages.parts.exporting import Export, stem_parts, make_file_stem
from pages.parts.literal import escape_markdown


def show_comparison_tiles(result: Comparison) -> None:
    """How many points, the best of each kind, and how many beat a constant."""
    if result.points:
        show.show_tiles([tile._replace(below=escape_markdown(tile.below)) for tile in comparison.comparison_tiles(result)])


def show_comparison_caption(result: Comparison) -> None:
    """How the picture is read."""
    st.caption(f"{comparison.comparison_caption(result)} Click a point or a row to see its reliability diagram.")


def show_trends(result: Comparison) -> None:
    """The ranks and the share of a(1−a), method by method: a sentence, or a row each."""
    if len(result.trends) == 1 or comparison.no_trend_reason(result):
        st.markdown(escape_markdown(comparison.trend_sentences(result)[0]))
    elif result.trends:
        rows = comparison.trend_rows(result)
        st.subheader(comparison.TRENDS_TITLE, anchor=False)
        tables.show_table(
            pl.DataFrame(rows, infer_schema_length=None), key="trends", alt=plural(len(rows), "method"),
            export=replace(comparison_export(result), what="Table of trends"),
        )


def show_points_table(result: Comparison, chosen: str | None) -> None:
    """One row a point, the lowest Brier score first; a click on one selects it, a second takes it back."""
    keys = [point.key for point in result.points_by_brier]
    widget = f"points_{chosen}"
    rows = [{"number": at, **_point_row(point, result)} for at, point in enumerate(result.points_by_brier, 1)]
    shown = tables.drop_constant_columns(pl.DataFrame(rows, infer_schema_length=None), "judged", "used")
    st.dataframe(
        shown,
        key=widget,
        hide_index=True,
        column_config=_point_columns(result),
        placeholder="–",
        height="content" if len(keys) <= 12 else 460,
        on_select=lambda: picking.select_point_from_table(widget, keys),
        selection_mode="single-row",
        selection_default={"selection": {"rows": [keys.index(chosen)], "columns": [], "cells": []}}
        if chosen in keys
        else None,
        alt=f"{plural(len(keys), 'point')}, the lowest Brier score first",
    )
    exporting.table_export_menu(
        replace(comparison_export(result), what="Table of points"), "points", shown=shown, columns=_point_columns(result)
    )


def comparison_export(result: Comparison) -> Export:
    """Every point with its intervals."""
    binned = any(METRICS[id_].binned for id_ in (result.x, result.y))
    bins = (result.scheme.binning, result.scheme.bins) if binned else ()
    sets = {trend.dataset for trend in result.trends}
    methods = stem_parts((point.method for point in result.points), "methods")
    return Export(
        make_file_stem("comparison", *methods, result.x, result.y, *bins),
        result.to_frame, result.recipe, "Comparison", ", ".join(sorted(filter(None, sets))),
    )


def _other_metrics(result: Comparison) -> list[str]:
    return [id_ for id_ in dict.fromkeys((result.x, result.y)) if id_ not in BASE_METRICS]


def _point_row(point: ComparisonPoint, result: Comparison) -> dict[str, Any]:
    axes = {one.metric: one for one in (point.x, point.y)}
    more: dict[str, Any] = {}
    for id_ in _other_metrics(result):
        more |= {id_: axes[id_].value, f"{id_}_": format_interval(axes[id_].low, axes[id_].high)}
    return {
        "run": point.name,
        "title": METHODS[point.method].title,
        "judged": point.judged,
        **more,
        "accuracy": 100 * point.accuracy.value,
        "accuracy_": format_interval(point.accuracy.low, point.accuracy.high, ".1f", 100),
        "brier": point.brier.value,
        "brier_": format_interval(point.brier.low, point.brier.high),
        "skill": point.brier_skill,
        "ece_10": point.ece_10,
        "used": f"{point.n_used:,} / {point.n_total:,}",
    }


def _full_name_help(result: Comparison) -> str | None:
    """What the first run is called in full, where that is not what it is called here."""
    first = next(iter(result.points_by_brier), None)
    if first is None or first.name == first.run:
        return None
    return f"What tells runs apart; in full, the first is {escape_markdown(first.run)}."


def _point_columns(result: Comparison) -> dict[str, Any]:
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    others = [METRICS[id_] for id_ in _other_metrics(result)]
    return {
        "number": number("No.", width=38, help="Its number in the figure where names have no room."),
        "run": text("Run", help=_full_name_help(result)),
        "title": text("Confidence method"),
        **{own.id: number(own.title, format="%.4f", help=own.help) for own in others},
        **{f"{own.id}_": text(f"{own.title} 95 %") for own in others},
        "accuracy": tables.COLUMN_CONFIG["accuracy"],
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
