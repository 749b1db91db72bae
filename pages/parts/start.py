"""What does the front door show?  The runs at hand as a table, and the two ways on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl
import streamlit as st

from calib_core.analysis.limits import FEW, TEN
from calib_core.analysis.looking import Looking, bins_of, counted_of, methods_of
from calib_core.analysis.overview import Overview, frame_of, overview
from calib_core.analysis.overview_look import Look
from calib_core.figures.spark import HEIGHT, WIDTH, spark
from calib_core.wording import count
from pages.parts import cache, exporting, inventory, show, tables
from pages.parts.address import flag
from pages.parts.cache import File
from pages.parts.exporting import Export
from pages.parts.link import link
from pages.parts.literal import literal
from pages.parts.runs import Run
from pages.parts.shell import PAGES

_ROOM: Final = 8
"""Pixels of a row beside those of its curve."""

_TEXTS: Final = 567
"""Pixels of run, verdict and method together, where all columns are seen on a screen of 1440."""
_LEAST: Final = 224

_SHARES: Final = {"mean_confidence": "confidence", "accuracy": "accuracy"}
_CURVE: Final = (
    "Accuracy over confidence in ten bins; dashes: as often right as it says. A stem that hangs down is "
    "over-confident. Larger points have more rows; a bin without rows has none."
)
COLUMNS: Final = {
    **tables.COLUMNS,
    "curve": st.column_config.ImageColumn("Curve", width=WIDTH + 8, help=_CURVE),
    "verdict": st.column_config.TextColumn("It is"),
}


def result_of(runs: Sequence[Run]) -> Overview:
    """The runs at first sight, computed once."""
    return cache.kept(
        ("overview", *((run.id, run.title, run.file.stamp) for run in runs)),
        lambda: overview({run.title: tuple(run.report.survey.usable.values()) for run in runs}),
    )


def not_loaded(files: Sequence[File], runs: Sequence[Run]) -> None:
    """How many files are not in the table, and the way to why; nothing where all are."""
    loaded = {file for run in runs for file in run.parts}
    lost = [file for file in files if inventory.state(file, loaded, files) not in inventory.SETTLED]
    if lost:
        told = f"{len(lost):,} of {count(len(files), 'file')} {'is' if len(lost) == 1 else 'are'} not loaded"
        with st.container(key="not_loaded"):
            link(PAGES["files"].script, told, PAGES["files"].icon, _held("good"))


def ways(result: Overview) -> None:
    """The ways on, as large links that keep a run that is chosen already: no tour of a few rows."""
    held = _held("run", "method", "good")
    tour = any(look.used >= FEW for look in result.every)
    with st.container(horizontal=True, key="ways"):
        for page, label in (("reliability", "Look at the data"), ("tour", "Take the tour"))[:1 + tour]:
            link(PAGES[page].script, label, PAGES[page].icon, held, large=True)
    if tour:
        st.caption("The tour shows what calibration is, on this data, in six pictures and three minutes.")


def _held(*keys: str) -> dict[str, str]:
    """What the address says of these."""
    return {key: value for key, value in st.query_params.to_dict().items() if key in keys}


def runs_table(runs: Sequence[Run], result: Overview) -> None:
    """One row a run, or one a run and method; a click on a row goes to its reliability diagram."""
    several = len(result.every) > len(result.first)
    every = several and flag("every", "Every confidence method", "A row for each method of each run.")
    looks = result.every if every else result.first
    chosen = _clicked(looks)
    what = "Highest ECE first. Click a row to see its reliability diagram."
    if several and not every:
        what = f"Each run by the first confidence method it gives. {what}"
    st.caption(what)
    show.recipe(result.recipe)
    exporting.table(
        Export("runs", result.to_frame, result.recipe, "Table of runs", count(len(runs), "run")), "overview",
        shown=_read(looks).drop("method"), columns=COLUMNS,
    )
    if chosen is not None:
        run = next(run for run in runs if run.title == chosen.run)
        query = {"run": run.id, "method": chosen.method, **_held("good")}
        st.switch_page(PAGES["reliability"].script, query_params=query)


def _read(looks: Sequence[Look]) -> pl.DataFrame:
    """The rows as they are read: shares in percent."""
    shares = {name: pl.col(of) * 100 for name, of in _SHARES.items()}
    return frame_of(looks).with_columns(**shares).drop("confidence")


def _clicked(looks: Sequence[Look]) -> Look | None:
    """Draws the table; the row somebody clicked."""
    theme, several = show.theme(), len(looks) > len({look.run for look in looks})
    shown = _read(looks).select(
        "run", "verdict", "ece",  # what is seen of it on a telephone
        pl.Series("curve", [spark(look, theme) for look in looks], dtype=pl.String),
        "accuracy", "mean_confidence", "brier", "used", "title",
    )
    columns = tables.as_wide(COLUMNS, shown, "title", "verdict")
    room = max(_LEAST, _TEXTS - columns["title"]["width"] - columns["verdict"]["width"])
    event = st.dataframe(
        shown,
        key="overview",
        hide_index=True,
        column_config=tables.as_wide(columns, shown, "run", most=room),
        placeholder="–",
        row_height=HEIGHT + _ROOM,
        height="content" if shown.height <= 12 else 630,
        on_select="rerun",
        selection_mode="single-row",
        alt=f"{count(shown.height, 'row')}, one a run{' and confidence method' if several else ''}",
    )
    rows = event["selection"]["rows"]
    return looks[rows[0]] if rows else None


def reading(result: Overview) -> None:
    """What the runs come to."""
    looks = result.first
    units = sorted({look.unit for look in looks}, reverse=True)
    rows = counted_of([(look.used, look.rows) for look in looks], " or ".join(units))
    methods = methods_of([look.method for look in looks])
    show.reading(result.headline, Looking(
        "Table", [look.run for look in looks], methods,
        f"confidence, accuracy, Brier score and ECE, {bins_of(TEN)}", rows,
    ))
    if result.more:
        st.markdown(literal(result.more))
