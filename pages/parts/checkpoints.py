"""What does one checkpoint of a training look like, and how is it chosen?  Table, click, diagram."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl
import streamlit as st

from calib_core.analysis.evidence import Evidence
from calib_core.analysis.training import Checkpoint, Training
from calib_core.metrics import METRICS
from calib_core.report.sections import training as section
from calib_core.wording import count
from pages.parts import bin_by_bin, exporting, picking, show, tables
from pages.parts.choice import Choice
from pages.parts.exporting import Export, few, named
from pages.parts.runs import Run


def selected(result: Training) -> str | None:
    """The id of the clicked checkpoint's run, as the address has it; None where it is no point."""
    return picking.point([point.run for point in _points(result)])


def _points(result: Training) -> list[Checkpoint]:
    return [point for line in result.lines for point in line.points]


def table(choice: Choice, result: Training, chosen: str | None) -> None:
    """One row a checkpoint; a click on one selects it, a second takes it back."""
    runs = [point.run for point in _points(result)]
    rows = section.rows(result)
    shown = tables.unlike(pl.DataFrame(rows, infer_schema_length=None), "Line")
    key = f"checkpoints_{chosen}"
    st.dataframe(
        shown,
        key=key,
        hide_index=True,
        column_config=tables.as_wide({}, shown, *({"Line", "Checkpoint"} & {*shown.columns})),
        placeholder="–",
        height="content" if len(rows) <= 12 else 460,
        on_select=lambda: picking.point_from_table(key, runs),
        selection_mode="single-row",
        selection_default={"selection": {"rows": [runs.index(chosen)], "columns": [], "cells": []}}
        if chosen in runs
        else None,
        alt=count(len(rows), "checkpoint"),
    )
    exporting.table(export(choice, result, "Table of checkpoints"), "training", shown=shown)


def export(choice: Choice, result: Training, what: str) -> Export:
    """Every checkpoint of every line."""
    scheme, method = choice.scheme, choice.evidence.method
    bins = (scheme.binning, scheme.bins) if METRICS[choice.metric].binned else ()
    titles = list(dict.fromkeys(line.title for line in result.lines))
    lines = few(titles, "lines")
    return Export(
        named("training", *lines, method.id, choice.metric, *bins),
        result.to_frame, "\n".join(section.recipes(result)), what,
        f"{', '.join(titles) if len(titles) == len(lines) else count(len(titles), 'line')}, {method.title}",
    )


def left_out(result: Training, refused: Mapping[str, str], titles: Mapping[str, str]) -> None:
    """Runs that are no point of a line, each with the reason."""
    reasons = {**refused, **result.without, **result.refused}
    show.reasons("Not drawn", {titles[run]: why for run, why in reasons.items()}, key="not_drawn")


def diagram(choice: Choice, evidence: Evidence, run: Run, script: str) -> None:
    """The reliability diagram of one checkpoint; script: of the page that has more of it."""
    one = replace(choice, run=run, evidence=evidence)
    bin_by_bin.diagram(one, run.title, "Open this checkpoint on the page Reliability", script)
