"""The front door: what is here, and where to begin?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl
import streamlit as st

from calib_core.edges import DEFAULT_SCHEME
from calib_core.figures.sparkline import SPARKLINE_HEIGHT, SPARKLINE_WIDTH, sparkline
from calib_core.inference.verdict import MIN_ROWS
from calib_core.results.overview import Overview, RunSummary, overview_frame, summarise_runs
from calib_core.results.view_caption import ViewCaption, bins_caption, method_titles, rows_used_text
from calib_core.wording import plural
from pages.state.cache import LoadedFile, cached_result
from pages.state.markdown import escape_markdown
from pages.state.runs import LoadedRun
from pages.state.uploads import server_lifespan
from pages.widgets.export import Export, table_export_menu
from pages.widgets.figure import page_theme
from pages.widgets.file_status import SETTLED_STATES, file_state, show_no_runs
from pages.widgets.page_link import page_link
from pages.widgets.security_headers import MIDDLEWARE, disable_external_ip_lookup
from pages.widgets.shell import PAGES, shell
from pages.widgets.summary import show_headline, show_recipe
from pages.widgets.table import COLUMN_CONFIG, fit_column_widths
from pages.widgets.url_inputs import url_toggle

# MERGED start: What does the front door show?  The runs at hand as a table, and the two ways on.

_ROW_PADDING: Final = 8
"""Pixels of a row beside those of its curve."""

_TEXT_COLUMNS_WIDTH: Final = 567
"""Pixels of run, verdict and method together, where all columns are seen on a screen of 1440."""
_MIN_RUN_COLUMN_WIDTH: Final = 224

_SHARE_COLUMNS: Final = {"mean_confidence": "confidence", "accuracy": "accuracy"}
_CURVE_HELP: Final = (
    "Accuracy over confidence in ten bins; dashes: as often right as it says. A stem that hangs down is "
    "over-confident. Larger points have more rows; a bin without rows has none."
)
OVERVIEW_COLUMNS: Final = {
    **COLUMN_CONFIG,
    "curve": st.column_config.ImageColumn("Curve", width=SPARKLINE_WIDTH + 8, help=_CURVE_HELP),
    "verdict": st.column_config.TextColumn("It is"),
}


def cached_overview(runs: Sequence[LoadedRun]) -> Overview:
    """The runs at first sight, computed once."""
    return cached_result(
        ("overview", *((run.id, run.title, run.file.stamp) for run in runs)),
        lambda: summarise_runs({run.title: tuple(run.report.survey.usable.values()) for run in runs}),
    )


def show_not_loaded(files: Sequence[LoadedFile], runs: Sequence[LoadedRun]) -> None:
    """How many files are not in the table, and the way to why; nothing where all are."""
    loaded = {file for run in runs for file in run.part_files}
    lost = [file for file in files if file_state(file, loaded, files) not in SETTLED_STATES]
    if lost:
        told = f"{len(lost):,} of {plural(len(files), 'file')} {'is' if len(lost) == 1 else 'are'} not loaded"
        with st.container(key="not_loaded"):
            page_link(PAGES["files"].script, told, PAGES["files"].icon, _url_values("good"))


def show_next_steps(result: Overview) -> None:
    """The ways on, as large links that keep a run that is chosen already: no tour of a few rows."""
    held = _url_values("run", "method", "good")
    tour = any(look.used >= MIN_ROWS for look in result.by_every_method)
    with st.container(horizontal=True, key="ways"):
        for page, label in (("reliability", "Look at the data"), ("tour", "Take the tour"))[: 1 + tour]:
            page_link(PAGES[page].script, label, PAGES[page].icon, held, large=True)
    if tour:
        st.caption("The tour shows what calibration is, on this data, in six pictures and three minutes.")


def _url_values(*keys: str) -> dict[str, str]:
    """What the address says of these."""
    return {key: value for key, value in st.query_params.to_dict().items() if key in keys}


def show_runs_table(runs: Sequence[LoadedRun], result: Overview) -> None:
    """One row a run, or one a run and method; a click on a row goes to its reliability diagram."""
    several = len(result.by_every_method) > len(result.by_default_method)
    every = several and url_toggle("every", "Every confidence method", "A row for each method of each run.")
    looks = result.by_every_method if every else result.by_default_method
    chosen = _clicked_summary(looks)
    what = "Highest ECE first. Click a row to see its reliability diagram."
    if several and not every:
        what = f"Each run by the first confidence method it gives. {what}"
    st.caption(what)
    show_recipe(result.recipe)
    table_export_menu(
        Export("runs", result.to_frame, result.recipe, "Table of runs", plural(len(runs), "run")),
        "overview",
        shown=_readable_frame(looks).drop("method"),
        columns=OVERVIEW_COLUMNS,
    )
    if chosen is not None:
        run = next(run for run in runs if run.title == chosen.run)
        query = {"run": run.id, "method": chosen.method, **_url_values("good")}
        st.switch_page(PAGES["reliability"].script, query_params=query)


def _readable_frame(summaries: Sequence[RunSummary]) -> pl.DataFrame:
    """The rows as they are read: shares in percent."""
    shares = {name: pl.col(of) * 100 for name, of in _SHARE_COLUMNS.items()}
    return overview_frame(summaries).with_columns(**shares).drop("confidence")


def _clicked_summary(summaries: Sequence[RunSummary]) -> RunSummary | None:
    """Draws the table; the row somebody clicked."""
    theme, several = page_theme(), len(summaries) > len({look.run for look in summaries})
    shown = _readable_frame(summaries).select(
        "run",
        "verdict",
        "ece",  # what is seen of it on a telephone
        pl.Series("curve", [sparkline(look, theme) for look in summaries], dtype=pl.String),
        "accuracy",
        "mean_confidence",
        "brier",
        "used",
        "title",
    )
    columns = fit_column_widths(OVERVIEW_COLUMNS, shown, "title", "verdict")
    room = max(
        _MIN_RUN_COLUMN_WIDTH, _TEXT_COLUMNS_WIDTH - columns["title"]["width"] - columns["verdict"]["width"]
    )
    event = st.dataframe(
        shown,
        key="overview",
        hide_index=True,
        column_config=fit_column_widths(columns, shown, "run", max_width=room),
        placeholder="–",
        row_height=SPARKLINE_HEIGHT + _ROW_PADDING,
        height="content" if shown.height <= 12 else 630,
        on_select="rerun",
        selection_mode="single-row",
        alt=f"{plural(shown.height, 'row')}, one a run{' and confidence method' if several else ''}",
    )
    rows = event["selection"]["rows"]
    return summaries[rows[0]] if rows else None


def show_overview_headline(result: Overview) -> None:
    """What the runs come to."""
    looks = result.by_default_method
    units = sorted({look.unit for look in looks}, reverse=True)
    rows = rows_used_text([(look.used, look.rows) for look in looks], " or ".join(units))
    methods = method_titles([look.method for look in looks])
    show_headline(
        result.headline,
        ViewCaption(
            "Table",
            [look.run for look in looks],
            methods,
            f"confidence, accuracy, Brier score and ECE, {bins_caption(DEFAULT_SCHEME)}",
            rows,
        ),
    )
    if result.subheadline:
        st.markdown(escape_markdown(result.subheadline))


def start() -> None:
    """The page Start."""
    here = shell("start")
    st.markdown(
        "**Calib shows whether a language model's confidence can be believed:** when it says 80 % sure, is "
        "it right 80 times in 100?"
    )
    if not here.runs:
        show_no_runs(here.files, PAGES["files"].script)
        return
    result = cached_overview(here.runs)
    show_overview_headline(result)
    show_not_loaded(here.files, here.runs)
    show_next_steps(result)
    show_runs_table(here.runs, result)


if __name__ == "__main__":  # a session runs this file as a script
    start()
else:  # the server imports it once, to learn what it serves and with which headers
    disable_external_ip_lookup()
    app = st.App(__file__, middleware=MIDDLEWARE, lifespan=server_lifespan)
