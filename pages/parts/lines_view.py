"""How do several runs or methods look beside one another?  Sentence, diagram and table of the lines."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import streamlit as st

from calib_core.analysis.limits import MIN_ROWS
from calib_core.analysis.lines import ReliabilityLines
from calib_core.analysis.looking import ViewCaption, view_caption, metric_caption
from calib_core.figures.lines import describe_lines, lines_figure
from calib_core.figures.lines_look import styles_by_line
from calib_core.figures.run_look import SYMBOL_CHARACTERS
from calib_core.figures.theme import LIGHT
from calib_core.metrics import METRICS
from calib_core.wording import plural
from pages.parts import exporting, picking, show, tables
from pages.parts.exporting import Export, make_file_stem
from pages.parts.lining import LinesChoice
from pages.parts.literal import escape_markdown


def show_lines(choice: LinesChoice) -> None:
    """Everything of the lines, above the page's own diagram; nothing where none is chosen."""
    if not choice.run_evidences and not choice.unavailable:
        return
    result = choice.cached_lines()
    chosen = choice.page_line if choice.page_line in result.labels else None
    show.show_headline(result.headline, _lines_view_caption(choice, result), key="looking_lines")
    show.show_remarks(*result.caveats)
    with st.grid(2, min_column_width=430, gap="medium"):
        diagram, table = st.container(), st.container()
    with diagram:
        st.markdown(f"**On one diagram**{': ' + escape_markdown(result.shared_label) if result.shared_label else ''}")
        show.show_figure(
            lambda theme: lines_figure(result, theme, style_indices=choice.style_indices, selected=chosen),
            key="lines_figure",
            alt=describe_lines(result),
            export=_lines_export(result, "Lines on one diagram"),
            on_select=lambda: _select_line_from_figure("lines_figure"),
        )
    with table:
        _show_lines_table(choice, result, chosen)
        st.caption(_lines_caption(result))
        _show_lines_not_drawn(choice, result)
    st.divider()


def _lines_view_caption(choice: LinesChoice, result: ReliabilityLines) -> ViewCaption:
    """The lines, of which runs and methods; of those chosen where none can be drawn."""
    drawn = [choice.run_evidences[line.key] for line in result.lines] or list(choice.run_evidences.values())
    return view_caption(
        "Reliability lines", [one.run.title for one in drawn], [one.evidence for one in drawn],
        metric_caption(result.metric, result.scheme),
    )


def _lines_export(result: ReliabilityLines, what: str) -> Export:
    bins = (result.scheme.binning, result.scheme.bins)
    return Export(
        make_file_stem("lines", len(result.lines), result.metric, *bins), result.to_frame, result.recipe, what,
        result.shared_label,
    )


def _lines_caption(result: ReliabilityLines) -> str:
    """How the diagram is read."""
    thin = sum(line.result.n_thin_bins for line in result.lines)
    bins = sum(line.result.table.height for line in result.lines)
    return (
        f"Below the diagonal: over-confident. A point is a bin; small, hollow, pale: fewer than {MIN_ROWS} pairs "
        f"({thin} of {bins} bins). Lower panel: the share of each line's pairs. Click a point or a row to "
        "see that run below."
    )


def _show_lines_table(choice: LinesChoice, result: ReliabilityLines, chosen: str | None) -> None:
    """One row a line; a click on one makes it the page's own run and method."""
    st.subheader("Lines", anchor=False)
    looks = styles_by_line(result, choice.style_indices, LIGHT)
    keys = [line.key for line in result.lines]
    widget = f"line_rows_{chosen}"
    frame = result.summary()
    rows = [
        {"mark": SYMBOL_CHARACTERS[looks[line.key].symbol], "line": result.labels[line.key], **row}
        for line, row in zip(result.lines, frame.iter_rows(named=True), strict=True)
    ]
    shown = pl.DataFrame([_line_row(row, result) for row in rows], infer_schema_length=None)
    st.dataframe(
        shown,
        key=widget,
        hide_index=True,
        column_config=_line_columns(result),
        placeholder="–",
        height="content",
        on_select=lambda: _select_line_from_table(widget, keys),
        selection_mode="single-row",
        selection_default={"selection": {"rows": [keys.index(chosen)], "columns": [], "cells": []}}
        if chosen
        else None,
        alt=plural(len(keys), "line"),
    )
    exporting.table_export_menu(
        replace(_lines_export(result, "Table of lines"), frame=result.summary), "lines_table",
        shown=shown.drop("mark", "recipe"), columns=_line_columns(result),
    )


def _line_row(row: dict[str, Any], result: ReliabilityLines) -> dict[str, Any]:
    """A line's row; the metric is left out where it has a column anyway."""
    share = {name: None if row[name] is None else 100 * row[name] for name in ("accuracy", "mean_confidence")}
    own = {} if result.metric in ("brier", "accuracy") else {"value": row["value"]}
    return {
        "mark": row["mark"], "line": row["line"], **own, "brier": row["brier"], **share,
        "used": f"{row['n_used']:,} / {row['n_total']:,}", "p": row["p"], "says": row["reading"],
        "judged": row["judged"], "recipe": row["recipe"], "remarks": row["remarks"],
    }


def _line_columns(result: ReliabilityLines) -> dict[str, Any]:
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    metric = METRICS[result.metric]
    return {
        "mark": text("", width=34, help="The line's symbol."),
        "line": text("Line"),
        "value": number(metric.title, format="%.4f", width=72, help=metric.help),
        "p": number("p", format="%.3f", width=56, help="How often it would be as large were it calibrated."),
        "brier": number("Brier", format="%.4f", width=68, help=METRICS["brier"].help),
        **{name: tables.COLUMN_CONFIG[name] for name in ("accuracy", "mean_confidence")},
        "used": text("Rows used / total"),
        "says": text("What it says"),
        "judged": text("Judged"),
        "recipe": text("Recipe"),
        "remarks": text("Remarks"),
    }


def _select_line_from_figure(key: str) -> None:
    """A click on a point: its line's key and its bin are the point's custom data."""
    if data := picking.clicked_point_data(key):
        line, bin_ = data
        _make_page_run(str(line))
        st.query_params["bin"] = str(bin_)


def _select_line_from_table(widget: str, keys: list[str]) -> None:
    key = picking.selected_row_value(widget, keys)
    if key is not None:
        _make_page_run(key)


def _make_page_run(key: str) -> None:
    """Makes the line's run and method the page's own."""
    run, _, method = key.partition("~")
    st.query_params["run"], st.query_params["method"] = run, method
    st.query_params.pop("bin", None)


def _show_lines_not_drawn(choice: LinesChoice, result: ReliabilityLines) -> None:
    """What is chosen and not drawn, each with its reason."""
    refused = {choice.titles[key]: why for key, why in {**choice.unavailable, **result.unavailable}.items()}
    show.show_reasons("Not drawn", refused, key="lines_not_drawn", expanded=not result.lines)
