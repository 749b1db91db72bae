"""The page Start, and the application the server runs: what is here, and where to begin?"""

from __future__ import annotations

import os

# Set before numpy is loaded. OpenBLAS would share each small product among threads that wait for one another:
# up to a thousand times slower while the browser keeps a core busy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from calib_core.reader_process import start_ahead

start_ahead()  # while this process loads its libraries, that one loads what it needs for reading

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import polars as pl
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calib_core.edges import DEFAULT_SCHEME
from calib_core.figures.sparkline import SPARKLINE_HEIGHT, SPARKLINE_WIDTH, sparkline
from calib_core.metrics import METRICS
from calib_core.results.defaults import default_method
from calib_core.results.overview import (
    Overview,
    RunSummary,
    group_by_dataset,
    overview_frame,
    summarise_runs,
)
from calib_core.results.view_caption import ViewCaption, bins_caption, method_titles, rows_caption
from calib_core.terms import Of, Terms, common_terms
from calib_core.views.glossary import GLOSSARY
from calib_core.views.view import Fact, text_lines
from calib_core.wording import plural
from pages.state.cache import MAX_LARGE_RESULTS, LoadedFile, cached_result
from pages.state.markdown import escape_markdown
from pages.state.runs import UNNAMED_DATASET, LoadedRun, dataset_id, dataset_titles, judged_with
from pages.state.server import server_lifespan
from pages.widgets.dropped_files import open_accepted_diagram, show_dropped_files
from pages.widgets.export import Export, table_export_menu
from pages.widgets.figure import page_theme
from pages.widgets.file_status import SETTLED_STATES, file_state, show_no_runs
from pages.widgets.manage_runs import has_words, show_hidden_runs, show_manage_runs
from pages.widgets.page_link import kept_query, page_link
from pages.widgets.pages import PAGES
from pages.widgets.pickers import rows_key
from pages.widgets.run_selection import ALL_DATASETS
from pages.widgets.security_headers import MIDDLEWARE, disable_external_ip_lookup
from pages.widgets.shell import PageContext, shell, show_all_hidden
from pages.widgets.summary import show_headline, show_provenance, show_warnings_of_runs
from pages.widgets.table import COLUMN_CONFIG, as_arrow, fit_column_widths, fit_to_page
from pages.widgets.uploader import show_upload_field
from pages.widgets.url_inputs import url_text_input, url_toggle
from pages.widgets.verdicts import CHIP_PADDING, pick_verdicts, verdict_cells

_ROW_PADDING: Final = 8
"""Pixels of a row above and below its curve."""

_MIN_RUN_COLUMN_WIDTH, _MAX_RUN_COLUMN_WIDTH = 174, 306
"""Pixels: the same in most tables, so that their columns lie below one another; on a phone, the ECE and most
of the verdict lie beside it."""

_N_OPENED: Final = "_n_opened_runs"
"""Key of the session: how many runs were opened by a click on their row."""

_MAX_JUDGES: Final = 5
"""Runs of judges with a link each."""

_MAX_TABLES: Final = 20
"""Data sets with a table each; the runs of further ones share the last table, under their full names."""

_SHARE_COLUMNS: Final = {"mean_confidence": "confidence", "accuracy": "accuracy"}
_MEAN_LABELS: Final[Mapping[Of, str]] = {"answer": "Mean conf.", "event": "Mean P(yes)", "both": "Mean prob."}
"""What the probabilities are of → the heading of their mean, short enough for the first screen."""


def overview_columns(terms: Terms) -> dict[str, Any]:
    """Return the columns of a table of runs, in these terms."""
    accuracy = st.column_config.NumberColumn(
        terms.accuracy_title,
        format="%.1f %%",
        width=70 if terms.of == "answer" else 98,
        help=METRICS["accuracy"].worded(terms).help,
    )
    curve_help = (
        f"{terms.accuracy_title} over {terms.confidence} in ten bins. Dashed line: perfect calibration. A "
        f"stem below the line: {terms.over}. Larger points: more rows."
    )
    return {
        **COLUMN_CONFIG,
        "curve": st.column_config.ImageColumn("Curve", width=SPARKLINE_WIDTH + 8, help=curve_help),
        "verdict": st.column_config.TextColumn("Verdict", help=GLOSSARY["verdict"].meaning),
        "accuracy": accuracy,
        "mean_confidence": st.column_config.NumberColumn(
            _MEAN_LABELS[terms.of],
            format="%.1f %%",
            width=78 if terms.of == "answer" else 96,
            help=f"The average of the {terms.confidences}.",
        ),
        "brier": _number_column("brier", "Brier", terms),
        "ece": _number_column("ece", "ECE", terms),
        "title": st.column_config.TextColumn("Method"),
        "used": st.column_config.NumberColumn(
            "Used", format="localized", help=f"Rows used: those with a {terms.confidence} and an outcome."
        ),
        "q": st.column_config.TextColumn("q", width=60, help=GLOSSARY["q"].meaning),
    }


def _number_column(metric: str, label: str, terms: Terms) -> Any:  # noqa: ANN401 (Streamlit has no type for it)
    return st.column_config.NumberColumn(label, format="%.4f", help=METRICS[metric].worded(terms).help)


_STEP_HELP: Final = {"tour": "Calibration in five pictures, on one of these models."}

MIN_RUNS_TO_SEARCH: Final = 6
"""Fewer runs are seen at a glance."""


def cached_overview(runs: Sequence[LoadedRun]) -> Overview:
    """Return the overview of all runs, computed once."""
    return cached_result(
        ("overview", judged_with(runs), *((run.id, run.title, run.file.stamp) for run in runs)),
        lambda: summarise_runs({run.title: tuple(run.report.survey.usable.values()) for run in runs}),
        max_results=MAX_LARGE_RESULTS,  # it holds the runs themselves
    )


def overview_caption(result: Overview) -> ViewCaption:
    """Return the caption that says which runs, methods and rows the tables are of."""
    summaries = result.by_default_method
    terms = common_terms(summary.terms for summary in summaries)
    return ViewCaption(
        "Table",
        [summary.run for summary in summaries],
        method_titles([summary.method for summary in summaries]),
        f"{terms.confidence}, {terms.accuracy}, Brier score and ECE, {bins_caption(DEFAULT_SCHEME)}",
        rows_caption(result.default_evidence),
    )


def show_not_loaded(files: Sequence[LoadedFile], runs: Sequence[LoadedRun]) -> None:
    """Say how many files are not in the table and link to the reasons; draw nothing where all are loaded."""
    loaded = {file for run in runs for file in run.part_files}
    not_loaded = [file for file in files if file_state(file, loaded, files) not in SETTLED_STATES]
    if not_loaded:
        verb = "is" if len(not_loaded) == 1 else "are"
        label = f"{len(not_loaded):,} of {plural(len(files), 'file')} {verb} not loaded"
        with st.container(key="not_loaded"):
            page_link(PAGES["files"].script, label, PAGES["files"].icon)


def show_judges(runs: Sequence[LoadedRun]) -> None:
    """Draw a link to each run that has no confidence, but a judge's labels beside people's."""
    page = PAGES["judge"]
    with st.container(key="judges", gap="xxsmall"):
        for run in runs[:_MAX_JUDGES]:
            label = f"{escape_markdown(run.title)}: {run.report.judge_text}"
            page_link(page.script, label, page.icon, {"run": run.id}, large=True)


def show_next_steps(result: Overview) -> None:
    """Draw the links to the tour and to the first run.

    The links keep a run that is already chosen. The tour is offered only where a run has at least `MIN_ROWS`
    usable rows.
    """
    query = _url_values("run", "method")
    steps = {"reliability": "First run"}
    if result.has_judged_run:
        steps = {"tour": "Tour"} | steps
    with st.container(horizontal=True, key="ways"):
        for page_id, label in steps.items():
            page_link(PAGES[page_id].script, label, PAGES[page_id].icon, query, help_=_STEP_HELP.get(page_id))


def _url_values(*keys: str) -> dict[str, str]:
    """Return those of `keys` that the address holds, with their values."""
    return {key: value for key, value in st.query_params.to_dict().items() if key in keys}


def show_table_controls(
    context: PageContext[None], result: Overview
) -> tuple[tuple[RunSummary, ...], DeltaGenerator]:
    """Draw the verdicts, the search, the switch of methods and what manages runs.

    Returns
    -------
    found : tuple of RunSummary
        The rows that are left.
    place : DeltaGenerator
        For the button that compares ticked runs.
    """
    runs, lists = context.runs, (context.runs, context.hidden_runs)
    verdicts = st.container()
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="table_controls"):
        text = ""
        if len(runs) >= MIN_RUNS_TO_SEARCH or st.query_params.get("find"):
            with st.container(width=300):
                text = url_text_input(
                    "find", "Find runs", f"Find among {len(runs):,} runs: name, data set, verdict …"
                )
        shows_every_method = result.has_several_methods and url_toggle(
            "every", "Every method", "A row for each method of each run."
        )
        place = st.container(width="content")
        show_manage_runs(*lists, "manage_runs_start")
        show_hidden_runs(*lists, "show_hidden_start")
    summaries = result.by_every_method if shows_every_method else result.by_default_method
    with verdicts:
        kinds = pick_verdicts([look.counted_kind for look in summaries])
    real_titles = {run.title: run.real_title for run in runs}
    found = tuple(
        look
        for look in summaries
        if look.counted_kind in kinds
        and has_words(
            f"{look.run} {real_titles[look.run]} {look.dataset} {look.method_title} {look.verdict.words}",
            text,
        )
    )
    if text and len(found) < len(summaries):
        rows = f"{len(found):,} of {plural(len(summaries), 'row')}"
        st.caption(
            f"{rows} match the search." if found else f"None of {plural(len(summaries), 'row')} matches."
        )
    return found, place


def show_compare_button(runs: Sequence[LoadedRun], ticked: Collection[str]) -> None:
    """Draw the button that opens Comparison on the runs of these titles."""
    chosen = [run for run in runs if run.title in ticked]
    if st.button(
        f"Compare {plural(len(chosen), 'run')}" if len(chosen) > 1 else "Compare",
        key="compare_ticked",
        icon=PAGES["comparison"].icon,
        disabled=len(chosen) < 2,
        help="Tick the boxes of two or more runs.",
    ):
        datasets = {dataset_id(run) for run in chosen}
        dataset = datasets.pop() if len(datasets) == 1 else ALL_DATASETS
        query = kept_query({"dataset": dataset, "runs": ",".join(run.id for run in chosen)})
        st.switch_page(PAGES["comparison"].script, query_params=query)


def show_run_tables(context: PageContext[None], result: Overview) -> None:
    """Draw a table for each data set, one row per run, or per run and method.

    A click on a row opens its reliability diagram; ticked rows can be compared.
    """
    runs, (summaries, place) = context.runs, show_table_controls(context, result)
    clicked: RunSummary | None = None
    ticked: list[str] = []
    n_opened: int = st.session_state.get(_N_OPENED, 0)
    has_both = len({run.file.is_uploaded for run in runs}) == 2
    uploaded = {run.title for run in runs if run.file.is_uploaded and has_both}
    verdicts = pl.DataFrame({"verdict": [look.marked_verdict + CHIP_PADDING for look in summaries]})
    all_terms = common_terms(look.terms for look in summaries)
    unnamed = dataset_titles(runs).get(UNNAMED_DATASET, "")
    for number, (heading, group) in enumerate(_tables(summaries, unnamed), 1):
        methods = method_titles([look.method for look in group])
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key=f"heading_{number}"):
            if heading:
                st.header(escape_markdown(heading), anchor=False, width="content")
            if len(methods) == 1:
                st.caption(escape_markdown(methods[0]), width="content")
        key = rows_key(f"overview_{number}", n_opened, *((look.run, look.method) for look in group))
        columns = overview_columns(common_terms(look.terms for look in group))
        columns = fit_column_widths(columns, verdicts, "verdict")
        selection = _show_run_table(heading, group, key, columns, uploaded)
        ticked += [group[row].run for row in selection.rows]
        clicked = group[selection.cells[0][0]] if selection.cells else clicked
    if len(runs) > 1:
        with place:
            show_compare_button(runs, ticked)
    st.caption("Click a row to see its reliability diagram.")
    counted = [Fact("Verdicts", text) for text in text_lines(result.subheadline)]
    show_provenance(overview_caption(result), result.recipe, facts=counted, terms=all_terms)
    table_export_menu(
        Export("runs", result.to_frame, result.recipe, "Table of runs", plural(len(runs), "run")),
        "overview",
        shown=_readable_frame(summaries).drop("method"),
        columns=overview_columns(all_terms),
    )
    if clicked is not None:
        # On the way back the browser would send this click again, so Start then draws new tables.
        st.session_state[_N_OPENED] = n_opened + 1
        run = next(run for run in runs if run.title == clicked.run)
        query = kept_query({"run": run.id, "method": clicked.method})
        st.switch_page(PAGES["reliability"].script, query_params=query)


def _tables(summaries: Sequence[RunSummary], unnamed: str) -> list[tuple[str, tuple[RunSummary, ...]]]:
    """Return heading and summaries of each table; a single table without a data set has no heading.

    Runs whose data set has no name are under `unnamed`.
    """
    groups = group_by_dataset(summaries)
    named = [(dataset or unnamed, group) for dataset, group in groups.items()]
    if list(groups) == [None]:
        return [("", named[0][1])]
    if len(named) <= _MAX_TABLES:
        return named
    others = [replace(look, short_name=look.run) for _, group in named[_MAX_TABLES - 1 :] for look in group]
    n_others = len(named) - _MAX_TABLES + 1
    return [*named[: _MAX_TABLES - 1], (f"{n_others:,} further data sets", tuple(others))]


def _readable_frame(summaries: Sequence[RunSummary]) -> pl.DataFrame:
    """Return the summaries as a table to read, with shares in percent."""
    shares = {name: pl.col(source) * 100 for name, source in _SHARE_COLUMNS.items()}
    return overview_frame(summaries).with_columns(**shares).drop("confidence")


def _show_run_table(
    heading: str,
    summaries: Sequence[RunSummary],
    key: str,
    columns: Mapping[str, Any],
    uploaded: Collection[str],
) -> Any:  # noqa: ANN401 (Streamlit has no type for it)
    """Draw one table and return what is selected in it.

    Parameters
    ----------
    heading : str
        What stands above the table; screen readers hear it as the table's name.
    summaries : sequence of RunSummary
    key : str
    columns : mapping of str to Any
        Configuration of the columns; those of run and method are as wide as this table needs.
    uploaded : collection of str
        Titles of the runs that the person uploaded, which their names say.
    """
    theme, several = page_theme(), len(summaries) > len({summary.run for summary in summaries})
    names = [
        look.short_name
        + (" · uploaded" if look.run in uploaded and not look.short_name.endswith("uploaded") else "")
        + (" · weighted" if look.weighted else "")
        for look in summaries
    ]
    cells, chips = verdict_cells([look.marked_verdict for look in summaries])
    shown = _readable_frame(summaries).select(
        pl.Series("run", names, dtype=pl.String),
        cells.alias("verdict"),  # beside the name, where a phone shows it without scrolling
        "ece",
        pl.Series("curve", [sparkline(summary, theme) for summary in summaries], dtype=pl.String),
        "accuracy",
        "mean_confidence",
        "brier",
        "title",
        "used",
        pl.Series("q", [summary.q_text for summary in summaries], dtype=pl.String),
    )
    fitted = fit_column_widths(columns, shown, "title")
    run_width = fit_column_widths({}, shown, "run", max_width=_MAX_RUN_COLUMN_WIDTH)["run"]["width"]
    fitted["verdict"] = {**chips, **columns["verdict"], "type_config": chips["type_config"]}
    fitted["run"] = {**columns["run"], "width": max(_MIN_RUN_COLUMN_WIDTH, run_width)}
    if shown["title"].n_unique() == 1:
        shown = shown.drop("title")  # the line above the table says it
    event = st.dataframe(
        as_arrow(shown),
        key=key,
        hide_index=True,
        column_config=fit_to_page(fitted, shown, has_boxes=True),
        placeholder="–",
        row_height=SPARKLINE_HEIGHT + _ROW_PADDING,
        height="content" if shown.height <= 12 else 630,
        on_select="rerun",
        selection_mode=("multi-row", "single-cell"),
        alt=f"{f'{heading}: ' if heading else ''}{plural(shown.height, 'row')}, one per "
        f"run{' and method' if several else ''}",
    )
    return event.selection


def page() -> None:
    """Draw the page."""
    context = shell("start")
    open_accepted_diagram(context.all_runs)
    own_files, links = st.columns([2, 1], gap="medium", vertical_alignment="center")
    with own_files:
        show_upload_field("**Drop files here:** CSV, JSON, Parquet, logs of lm-eval, Inspect, HELM …")
    show_dropped_files(context)
    if not context.runs:
        show_judges(context.other_runs)
        if context.hidden_runs:
            show_all_hidden(context.hidden_runs)
        elif not context.other_runs:
            show_no_runs(context.files, PAGES["files"].script)
        return
    # Pinned runs come first, then a person's own files.
    runs = sorted(context.runs, key=lambda run: (not run.is_pinned, not run.file.is_uploaded))
    result = cached_overview(runs)
    with links:
        show_next_steps(result)
    if len({summary.counted_kind for summary in result.by_default_method}) < 2:
        show_headline(result.headline)  # otherwise the buttons above the tables say it
    show_warnings_of_runs(
        (run.title, run.report.survey.usable[default_method(run.report.survey.usable)]) for run in runs
    )
    show_not_loaded(context.files, context.all_runs)
    show_run_tables(context, result)
    show_judges(context.other_runs)


if __name__ == "__main__":  # run as a script at every interaction of a session
    page()
else:  # imported once by the server, which looks for `app`
    disable_external_ip_lookup()
    app = st.App(__file__, middleware=MIDDLEWARE, lifespan=server_lifespan)
