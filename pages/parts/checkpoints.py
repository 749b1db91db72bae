"""What does one checkpoint of a training look like, and how is it chosen?  Table, click, diagram."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl
import streamlit as st

from calib_core.analysis.checkpoints import PER_STEP
from calib_core.analysis.evidence import Evidence
from calib_core.analysis.training import Checkpoint, Training
from calib_core.figures.training_axis import at_text
from pages.parts import bin_by_bin, show
from pages.parts.choice import Choice
from pages.parts.literal import literal
from pages.parts.runs import Run


def selected(result: Training) -> str | None:
    """The id of the chosen checkpoint's run, as the address has it; None where it is no point."""
    wanted = st.query_params.get("at", "")
    return next((point.run for point in _points(result) if point.run == wanted), None)


def _points(result: Training) -> list[Checkpoint]:
    return [point for line in result.lines for point in line.points]


def select(run: str | None) -> None:
    """Selects a checkpoint: it goes into the address, so a link shows the same diagram."""
    if run is None:
        st.query_params.pop("at", None)
    else:
        st.query_params["at"] = run


def from_figure(key: str) -> None:
    """A click in the figure: the run's id is the first value of the point's custom data."""
    points = st.session_state[key].selection.points
    if points and points[0].get("customdata"):
        select(str(points[0]["customdata"][0]))


def table(choice: Choice, result: Training, chosen: str | None) -> None:
    """One row a checkpoint; a click on one selects it, a second takes it back."""
    runs = [point.run for point in _points(result)]
    place = "Step" if result.axis == PER_STEP else "Tokens seen"
    rows = [_row(line.title, point, place) for line in result.lines for point in line.points]
    key = f"checkpoints_{chosen}"
    st.dataframe(
        pl.DataFrame(rows, infer_schema_length=None),
        key=key,
        hide_index=True,
        placeholder="–",
        height="content" if len(rows) <= 12 else 460,
        on_select=lambda: _from_table(key, runs),
        selection_mode="single-row",
        selection_default={"selection": {"rows": [runs.index(chosen)], "columns": [], "cells": []}}
        if chosen in runs
        else None,
        alt=f"{len(rows)} checkpoints",
    )
    show.download(
        "Table as CSV", result.to_frame, f"training-{choice.evidence.method.id}-{choice.metric}.csv",
        key="download_training",
    )


def _from_table(key: str, runs: list[str]) -> None:
    rows = st.session_state[key].selection.rows
    select(runs[rows[0]] if rows else None)


def _row(line: str, point: Checkpoint, place: str) -> dict[str, str]:
    known = point.null_low is not None and point.null_high is not None
    return {
        "Line": line,
        "Checkpoint": point.label,
        place: at_text(point.at),
        "Value": show.number(point.value),
        "If calibrated": show.number(point.null_median),
        "5–95 %": f"{show.number(point.null_low)} to {show.number(point.null_high)}" if known else "–",
        "p": show.number(point.p, ".3f"),
        "Used": f"{point.n_used:,}",
    }


def left_out(result: Training, refused: Mapping[str, str], titles: Mapping[str, str]) -> None:
    """Runs that are no point of a line, each with the reason."""
    reasons = {**refused, **result.without, **result.refused}
    if not reasons:
        return
    with st.expander(f"Not drawn ({len(reasons)})", key="not_drawn"):
        for run, why in reasons.items():
            st.caption(f"**{literal(titles[run])}**: {literal(why)}")


def diagram(choice: Choice, evidence: Evidence, run: Run, script: str) -> None:
    """The reliability diagram of one checkpoint; script: of the page that has more of it."""
    one = replace(choice, run=run, evidence=evidence)
    bin_by_bin.diagram(one, run.title, "Open this checkpoint on the page Reliability", script)
