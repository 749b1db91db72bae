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
from calib_core.wording import plural
from pages.parts import bin_by_bin, exporting, picking, show, tables
from pages.parts.choice import RunChoice
from pages.parts.exporting import Export, stem_parts, make_file_stem
from pages.parts.runs import LoadedRun


def selected_checkpoint(result: Training) -> str | None:
    """The id of the clicked checkpoint's run, as the address has it; None where it is no point."""
    return picking.selected_point([point.run for point in _all_checkpoints(result)])


def _all_checkpoints(result: Training) -> list[Checkpoint]:
    return [point for line in result.lines for point in line.points]


def show_checkpoint_table(choice: RunChoice, result: Training, chosen: str | None) -> None:
    """One row a checkpoint; a click on one selects it, a second takes it back."""
    runs = [point.run for point in _all_checkpoints(result)]
    rows = section.training_rows(result)
    shown = tables.drop_constant_columns(pl.DataFrame(rows, infer_schema_length=None), "Line")
    key = f"checkpoints_{chosen}"
    st.dataframe(
        shown,
        key=key,
        hide_index=True,
        column_config=tables.fit_column_widths({}, shown, *({"Line", "Checkpoint"} & {*shown.columns})),
        placeholder="–",
        height="content" if len(rows) <= 12 else 460,
        on_select=lambda: picking.select_point_from_table(key, runs),
        selection_mode="single-row",
        selection_default={"selection": {"rows": [runs.index(chosen)], "columns": [], "cells": []}}
        if chosen in runs
        else None,
        alt=plural(len(rows), "checkpoint"),
    )
    exporting.table_export_menu(training_export(choice, result, "Table of checkpoints"), "training", shown=shown)


def training_export(choice: RunChoice, result: Training, content: str) -> Export:
    """Every checkpoint of every line."""
    scheme, method = choice.scheme, choice.evidence.method
    bins = (scheme.binning, scheme.bins) if METRICS[choice.metric].binned else ()
    titles = list(dict.fromkeys(line.title for line in result.lines))
    lines = stem_parts(titles, "lines")
    return Export(
        make_file_stem("training", *lines, method.id, choice.metric, *bins),
        result.to_frame, "\n".join(section.training_recipes(result)), content,
        f"{', '.join(titles) if len(titles) == len(lines) else plural(len(titles), 'line')}, {method.title}",
    )


def show_runs_left_out(result: Training, refused: Mapping[str, str], titles: Mapping[str, str]) -> None:
    """Runs that are no point of a line, each with the reason."""
    reasons = {**refused, **result.unplaced, **result.unavailable}
    show.show_reasons("Not drawn", {titles[run]: why for run, why in reasons.items()}, key="not_drawn")


def show_checkpoint_diagram(choice: RunChoice, evidence: Evidence, run: LoadedRun, script: str) -> None:
    """The reliability diagram of one checkpoint; script: of the page that has more of it."""
    one = replace(choice, run=run, evidence=evidence)
    bin_by_bin.show_reliability_diagram(one, run.title, "Open this checkpoint on the page Reliability", script)
