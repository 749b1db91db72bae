"""The page Start, and the application the server runs: what is here, and where to begin?"""

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
from pages.widgets.summary import show_headline, show_recipe, show_warnings_of_runs
from pages.widgets.table import COLUMN_CONFIG, fit_column_widths
from pages.widgets.url_inputs import url_toggle

_ROW_PADDING: Final = 8
"""Pixels of a row above and below its curve."""

_TEXT_COLUMNS_WIDTH: Final = 567
"""Pixels of run, verdict and method together with which all columns fit on a 1440-pixel screen."""
_MIN_RUN_COLUMN_WIDTH: Final = 224

_SHARE_COLUMNS: Final = {"mean_confidence": "confidence", "accuracy": "accuracy"}
_CURVE_HELP: Final = (
    "Accuracy over confidence in ten bins; dashes: as often right as it says. A stem that hangs down is "
    "over-confident. Larger points have more rows; a bin without rows has none."
)
VERDICT_HELP: Final = (
    "From this run and method alone, by a test of whether its confidences are right: the same word stands on "
    "every page."
)
Q_HELP: Final = (
    "The false discovery rate at which the verdict is still one, among all verdicts of this table. The "
    "sentence above counts those up to 0.05."
)
OVERVIEW_COLUMNS: Final = {
    **COLUMN_CONFIG,
    "curve": st.column_config.ImageColumn("Curve", width=SPARKLINE_WIDTH + 8, help=_CURVE_HELP),
    "verdict": st.column_config.TextColumn("Verdict", help=VERDICT_HELP),
    "q": st.column_config.TextColumn("q", help=Q_HELP),
}


def cached_overview(runs: Sequence[LoadedRun]) -> Overview:
    """Return the overview of all runs, computed once."""
    return cached_result(
        ("overview", *((run.id, run.title, run.file.stamp) for run in runs)),
        lambda: summarise_runs({run.title: tuple(run.report.survey.usable.values()) for run in runs}),
    )


def show_overview_headline(result: Overview) -> None:
    """Draw the headline over all runs, each scored with its default method, and its caption."""
    summaries = result.by_default_method
    units = sorted({summary.unit for summary in summaries}, reverse=True)
    rows = rows_used_text([(summary.n_used, summary.n_total) for summary in summaries], " or ".join(units))
    methods = method_titles([summary.method for summary in summaries])
    show_headline(
        result.headline,
        ViewCaption(
            "Table",
            [summary.run for summary in summaries],
            methods,
            f"confidence, accuracy, Brier score and ECE, {bins_caption(DEFAULT_SCHEME)}",
            rows,
        ),
    )
    if result.subheadline:
        st.markdown(escape_markdown(result.subheadline))


def show_not_loaded(files: Sequence[LoadedFile], runs: Sequence[LoadedRun]) -> None:
    """Say how many files are not in the table and link to the reasons; draw nothing where all are loaded."""
    loaded = {file for run in runs for file in run.part_files}
    not_loaded = [file for file in files if file_state(file, loaded, files) not in SETTLED_STATES]
    if not_loaded:
        verb = "is" if len(not_loaded) == 1 else "are"
        label = f"{len(not_loaded):,} of {plural(len(files), 'file')} {verb} not loaded"
        with st.container(key="not_loaded"):
            page_link(PAGES["files"].script, label, PAGES["files"].icon, _url_values("good"))


def show_next_steps(result: Overview) -> None:
    """Draw the large links to the next pages, which keep a run that is already chosen.

    The tour is offered only where a run has at least `MIN_ROWS` usable rows.
    """
    query = _url_values("run", "method", "good")
    has_tour = any(summary.n_used >= MIN_ROWS for summary in result.by_every_method)
    with st.container(horizontal=True, key="ways"):
        for page_id, label in (("reliability", "Look at the data"), ("tour", "Take the tour"))[
            : 1 + has_tour
        ]:
            page_link(PAGES[page_id].script, label, PAGES[page_id].icon, query, large=True)
    if has_tour:
        st.caption("The tour shows what calibration is, on this data, in six pictures and three minutes.")


def _url_values(*keys: str) -> dict[str, str]:
    """Return those of `keys` that the address holds, with their values."""
    return {key: value for key, value in st.query_params.to_dict().items() if key in keys}


def show_runs_table(runs: Sequence[LoadedRun], result: Overview) -> None:
    """Draw one row per run, or per run and method; a click on a row opens its reliability diagram."""
    has_several_methods = len(result.by_every_method) > len(result.by_default_method)
    shows_every_method = has_several_methods and url_toggle(
        "every", "Every confidence method", "A row for each method of each run."
    )
    summaries = result.by_every_method if shows_every_method else result.by_default_method
    clicked = _clicked_summary(summaries)
    caption = "Highest ECE first. Click a row to see its reliability diagram."
    if has_several_methods and not shows_every_method:
        caption = f"Each run by the first confidence method it gives. {caption}"
    st.caption(caption)
    show_recipe(result.recipe)
    table_export_menu(
        Export("runs", result.to_frame, result.recipe, "Table of runs", plural(len(runs), "run")),
        "overview",
        shown=_readable_frame(summaries).drop("method"),
        columns=OVERVIEW_COLUMNS,
    )
    if clicked is not None:
        run = next(run for run in runs if run.title == clicked.run)
        query = {"run": run.id, "method": clicked.method, **_url_values("good")}
        st.switch_page(PAGES["reliability"].script, query_params=query)


def _readable_frame(summaries: Sequence[RunSummary]) -> pl.DataFrame:
    """Return the summaries as a table to read, with shares in percent."""
    shares = {name: pl.col(source) * 100 for name, source in _SHARE_COLUMNS.items()}
    return overview_frame(summaries).with_columns(**shares).drop("confidence")


def _clicked_summary(summaries: Sequence[RunSummary]) -> RunSummary | None:
    """Draw the table and return the summary whose row is selected, None where no row is."""
    theme, several = page_theme(), len(summaries) > len({summary.run for summary in summaries})
    shown = _readable_frame(summaries).select(
        "run",
        "verdict",
        "ece",  # the last column that a phone shows without scrolling
        pl.Series("curve", [sparkline(summary, theme) for summary in summaries], dtype=pl.String),
        pl.Series("q", [summary.q_text for summary in summaries], dtype=pl.String),
        "accuracy",
        "mean_confidence",
        "brier",
        "used",
        "title",
    )
    columns = fit_column_widths(OVERVIEW_COLUMNS, shown, "title", "verdict")
    run_column_width = max(
        _MIN_RUN_COLUMN_WIDTH, _TEXT_COLUMNS_WIDTH - columns["title"]["width"] - columns["verdict"]["width"]
    )
    event = st.dataframe(
        shown,
        key="overview",
        hide_index=True,
        column_config=fit_column_widths(columns, shown, "run", max_width=run_column_width),
        placeholder="–",
        row_height=SPARKLINE_HEIGHT + _ROW_PADDING,
        height="content" if shown.height <= 12 else 630,
        on_select="rerun",
        selection_mode="single-row",
        alt=f"{plural(shown.height, 'row')}, one a run{' and confidence method' if several else ''}",
    )
    rows = event["selection"]["rows"]
    return summaries[rows[0]] if rows else None


def page() -> None:
    """Draw the page."""
    context = shell("start")
    st.markdown(
        "**Calib shows whether a language model's confidence can be believed:** when it says 80 % sure, is "
        "it right 80 times in 100?"
    )
    if not context.runs:
        show_no_runs(context.files, PAGES["files"].script)
        return
    result = cached_overview(context.runs)
    show_overview_headline(result)
    show_warnings_of_runs(
        (run.title, evidence)
        for run in context.runs
        for evidence in tuple(run.report.survey.usable.values())[:1]  # the method it is shown by
    )
    show_not_loaded(context.files, context.runs)
    show_next_steps(result)
    show_runs_table(context.runs, result)


if __name__ == "__main__":  # run as a script at every interaction of a session
    page()
else:  # imported once by the server, which looks for `app`
    disable_external_ip_lookup()
    app = st.App(__file__, middleware=MIDDLEWARE, lifespan=server_lifespan)
