"""How do several runs or methods look beside one another?  Sentence, diagram and table of the lines."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import streamlit as st

from calib_core.analysis.limits import FEW
from calib_core.analysis.lines import Lines
from calib_core.analysis.looking import Looking, looking, number_of
from calib_core.figures.lines import describe_lines, lines_figure
from calib_core.figures.lines_look import line_looks
from calib_core.figures.run_look import LETTERS
from calib_core.figures.theme import LIGHT
from calib_core.metrics import METRICS
from calib_core.wording import count
from pages.parts import exporting, picking, show, tables
from pages.parts.exporting import Export, named
from pages.parts.lining import Lined
from pages.parts.literal import literal


def lines(wanted: Lined) -> None:
    """Everything of the lines, above the page's own diagram; nothing where none is chosen."""
    if not wanted.seen and not wanted.refused:
        return
    result = wanted.result()
    chosen = wanted.chosen if wanted.chosen in result.labels else None
    show.reading(result.reading, _looking_at(wanted, result), key="looking_lines")
    show.remarks(*result.unlike)
    with st.grid(2, min_column_width=430, gap="medium"):
        diagram, table = st.container(), st.container()
    with diagram:
        st.markdown(f"**On one diagram**{': ' + literal(result.common) if result.common else ''}")
        show.figure(
            lambda theme: lines_figure(result, theme, places=wanted.places, selected=chosen),
            key="lines_figure",
            alt=describe_lines(result),
            export=_export(result, "Lines on one diagram"),
            on_select=lambda: _from_figure("lines_figure"),
        )
    with table:
        _table(wanted, result, chosen)
        st.caption(_caption(result))
        _left_out(wanted, result)
    st.divider()


def _looking_at(wanted: Lined, result: Lines) -> Looking:
    """The lines, of which runs and methods; of those chosen where none can be drawn."""
    drawn = [wanted.seen[line.key] for line in result.lines] or list(wanted.seen.values())
    return looking(
        "Reliability lines", [one.run.title for one in drawn], [one.evidence for one in drawn],
        number_of(result.metric, result.scheme),
    )


def _export(result: Lines, what: str) -> Export:
    bins = (result.scheme.binning, result.scheme.bins)
    return Export(
        named("lines", len(result.lines), result.metric, *bins), result.to_frame, result.recipe, what,
        result.common,
    )


def _caption(result: Lines) -> str:
    """How the diagram is read."""
    thin = sum(line.result.thin for line in result.lines)
    bins = sum(line.result.table.height for line in result.lines)
    return (
        f"Below the diagonal: over-confident. A point is a bin; small, hollow, pale: fewer than {FEW} pairs "
        f"({thin} of {bins} bins). Lower panel: the share of each line's pairs. Click a point or a row to "
        "see that run below."
    )


def _table(wanted: Lined, result: Lines, chosen: str | None) -> None:
    """One row a line; a click on one makes it the page's own run and method."""
    st.subheader("Lines", anchor=False)
    looks = line_looks(result, wanted.places, LIGHT)
    keys = [line.key for line in result.lines]
    widget = f"line_rows_{chosen}"
    frame = result.summary()
    rows = [
        {"mark": LETTERS[looks[line.key].symbol], "line": result.labels[line.key], **row}
        for line, row in zip(result.lines, frame.iter_rows(named=True), strict=True)
    ]
    shown = pl.DataFrame([_row(row, result) for row in rows], infer_schema_length=None)
    st.dataframe(
        shown,
        key=widget,
        hide_index=True,
        column_config=_columns(result),
        placeholder="–",
        height="content",
        on_select=lambda: _from_table(widget, keys),
        selection_mode="single-row",
        selection_default={"selection": {"rows": [keys.index(chosen)], "columns": [], "cells": []}}
        if chosen
        else None,
        alt=count(len(keys), "line"),
    )
    exporting.table(
        replace(_export(result, "Table of lines"), frame=result.summary), "lines_table",
        shown=shown.drop("mark", "recipe"), columns=_columns(result),
    )


def _row(row: dict[str, Any], result: Lines) -> dict[str, Any]:
    """A line's row; the metric is left out where it has a column anyway."""
    share = {name: None if row[name] is None else 100 * row[name] for name in ("accuracy", "mean_confidence")}
    own = {} if result.metric in ("brier", "accuracy") else {"value": row["value"]}
    return {
        "mark": row["mark"], "line": row["line"], **own, "brier": row["brier"], **share,
        "used": f"{row['n_used']:,} / {row['n_total']:,}", "p": row["p"], "says": row["reading"],
        "judged": row["judged"], "recipe": row["recipe"], "remarks": row["remarks"],
    }


def _columns(result: Lines) -> dict[str, Any]:
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    metric = METRICS[result.metric]
    return {
        "mark": text("", width=34, help="The line's symbol."),
        "line": text("Line"),
        "value": number(metric.title, format="%.4f", width=72, help=metric.help),
        "p": number("p", format="%.3f", width=56, help="How often it would be as large were it calibrated."),
        "brier": number("Brier", format="%.4f", width=68, help=METRICS["brier"].help),
        **{name: tables.COLUMNS[name] for name in ("accuracy", "mean_confidence")},
        "used": text("Rows used / total"),
        "says": text("What it says"),
        "judged": text("Judged"),
        "recipe": text("Recipe"),
        "remarks": text("Remarks"),
    }


def _from_figure(key: str) -> None:
    """A click on a point: its line's key and its bin are the point's custom data."""
    if data := picking.clicked(key):
        line, bin_ = data
        _show(str(line))
        st.query_params["bin"] = str(bin_)


def _from_table(widget: str, keys: list[str]) -> None:
    key = picking.of_row(widget, keys)
    if key is not None:
        _show(key)


def _show(key: str) -> None:
    """Makes the line's run and method the page's own."""
    run, _, method = key.partition("~")
    st.query_params["run"], st.query_params["method"] = run, method
    st.query_params.pop("bin", None)


def _left_out(wanted: Lined, result: Lines) -> None:
    """What is chosen and not drawn, each with its reason."""
    refused = {wanted.titles[key]: why for key, why in {**wanted.refused, **result.refused}.items()}
    show.reasons("Not drawn", refused, key="lines_not_drawn", open_=not result.lines)
