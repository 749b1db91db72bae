"""The page Report: what can I send?

The report is built while the browser waits for the download, in a thread that cannot draw on the page. The
thread notes its progress in the session's `ReportProgress`, and a fragment that runs every second shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

import streamlit as st

from calib_core.edges import BINNINGS, MAX_BINS, Binning, Scheme
from calib_core.errors import CalibError, shorten, single_line
from calib_core.methods import METHODS, in_order
from calib_core.methods.answers.unparseable import UnparseableRule
from calib_core.methods.method import MethodOptions
from calib_core.metrics import DEFAULT_METRIC, METRICS
from calib_core.pairs import Labels
from calib_core.readers.format import AS_IT_LIES
from calib_core.reporting.build import Report, build_report
from calib_core.reporting.document import opening_sentence
from calib_core.reporting.provenance import (
    DOCUMENT_TITLE,
    RUN_IN_DATA_FOLDER,
    FrontMatter,
    Provenance,
    ReportCommand,
    file_checksums,
    files_read_with,
)
from calib_core.results.judged_answer import JudgedChoice
from calib_core.results.run_names import real_name
from calib_core.results.view_caption import ViewCaption, metric_caption
from calib_core.views import summary
from calib_core.views.inputs import ReportFile, ReportInput, ReportRun, ReportSettings
from calib_core.views.registry import ALL_PAGES, DEFAULT_PAGES, JUDGE_PAGES, SECTIONS
from calib_core.views.reliability import MAX_QUESTIONS
from calib_core.views.view import View
from calib_core.wording import bad_rows_phrase, plural
from pages.state.cache import MAX_LARGE_RESULTS, LoadedFile, cached_result, data_folder, is_demo_data
from pages.state.costs import costs_in_address
from pages.state.markdown import escape_markdown
from pages.state.report_progress import ReportProgress
from pages.state.runs import LoadedRun, file_id, judged_with
from pages.state.url import UrlState, encode_ids, parse_whole_number
from pages.widgets.copyable_text import show_copyable_text
from pages.widgets.figure import side_by_side
from pages.widgets.multiselect import MultiselectOffer, multiselect
from pages.widgets.pages import has_confidence
from pages.widgets.pickers import LABEL_TITLES, UNPARSEABLE_TITLES
from pages.widgets.run_selection import JUDGED_TITLES, pick_from_runs, runs_to_start_with
from pages.widgets.shell import shell
from pages.widgets.summary import show_view_caption
from pages.widgets.view import show_view_figure, show_view_tiles

DIFFERENT_MAPPINGS_NOTE: Final = (
    "Some files have their own column mapping (page Files), which one command line cannot express."
)

REPORT_FILE_STEM: Final = "calibration-report"
_PROGRESS_KEY: Final = "_report_work"
_FRONT_KEY: Final = "_report_front"

MAX_TITLE: Final = 120
"""Letters of a title, or of an author's name."""

MAX_PREVIEWED_RUNS: Final = 4
"""Runs of the report that the page shows before it is made; it takes about 0.2 s for each."""


@dataclass(frozen=True, slots=True, eq=False)
class ReportChoice:
    """What the person chose for the report.

    Attributes
    ----------
    pages : tuple of str
        Ids of `SECTIONS`, in their order.
    runs : tuple of str
        Ids of the runs.
    settings : ReportSettings
        What is chosen on the other pages, as far as the report uses it.
    """

    pages: tuple[str, ...]
    runs: tuple[str, ...]
    settings: ReportSettings


@dataclass(frozen=True, slots=True, eq=False)
class ReportOrder:
    """One report as it would be built now.

    Attributes
    ----------
    runs : tuple of ReportRun
    files : Callable
        Returns the files with their checksums; called when the report is built, as it reads every file.
    settings : ReportSettings
    pages : tuple of str
    front : FrontMatter
    command : ReportCommand
        Builds the same report from the command line.
    progress : ReportProgress
        Where the building thread notes its progress.
    """

    runs: tuple[ReportRun, ...]
    files: Callable[[], tuple[ReportFile, ...]]
    settings: ReportSettings
    pages: tuple[str, ...]
    front: FrontMatter
    command: ReportCommand
    progress: ReportProgress


def choose_report(url_state: UrlState, runs: Sequence[LoadedRun]) -> ReportChoice:
    """Draw the sidebar controls of pages and runs; the other settings come from the other pages."""
    titles = {run.id: run.title for run in runs}
    pages = multiselect(
        url_state,
        "pages",
        list(SECTIONS),
        label="Sections",
        title_of=lambda id_: SECTIONS[id_].title,
        default=DEFAULT_PAGES if any(map(has_confidence, runs)) else JUDGE_PAGES,
        help_="The summary leads with the diagram, the verdict and three numbers of each run. Sections with "
        "nothing to show for these runs are left out and listed.",
        placeholder="Choose a section",
    )
    offer = MultiselectOffer("reported", list(titles))
    default = [run.id for run in runs_to_report(url_state, runs)]
    selected = pick_from_runs(
        url_state, offer, runs, titles, default=default, help_="The runs in the report."
    )
    return ReportChoice(
        tuple(id_ for id_ in SECTIONS if id_ in pages),
        tuple(id_ for id_ in titles if id_ in selected),
        settings_from_url(url_state, judged_with(runs)),
    )


def runs_to_report(url_state: UrlState, runs: Sequence[LoadedRun]) -> Sequence[LoadedRun]:
    """Return the runs that are reported by default: all of one's own, or one data set of the demo data."""
    own = [run for run in runs if run.file.is_uploaded]
    return own or (runs_to_start_with(url_state, runs) if is_demo_data() else runs)


def settings_from_url(url_state: UrlState, tolerance: float | None) -> ReportSettings:
    """Return the settings of the other pages, with the selected bin; invalid values count as not chosen."""
    held = url_state.initial
    method, metric, bins = held.get("method", ""), held.get("metric", ""), held.get("m", "")
    binning = held.get("binning", "")
    labels, unparseable = held.get("labels", "top"), held.get("unparseable", "own")
    judged = held.get("judged", "own")
    return ReportSettings(
        tuple(in_order([method])),
        (metric,) if metric in METRICS else (),
        Scheme(
            cast("Binning", binning if binning in BINNINGS else "width"),
            parse_whole_number(bins, 1, MAX_BINS) or Scheme().bins,
        ),
        MethodOptions(
            {"yes": True, "no": False}.get(held.get("renormalise", "")),
            cast("Labels", labels if labels in LABEL_TITLES else "top"),
            cast("UnparseableRule", unparseable if unparseable in UNPARSEABLE_TITLES else "own"),
            tolerance,
            held_out=held.get("held_out") == "yes",
        ),
        parse_whole_number(held.get("bin", ""), 1, MAX_BINS),
        cast("JudgedChoice", judged if judged in JUDGED_TITLES else "own"),
        costs_in_address(held),
    )


def report_order(
    choice: ReportChoice,
    files: Sequence[LoadedFile],
    runs: Sequence[LoadedRun],
    accepted_file_ids: Sequence[str],
    front: FrontMatter,
) -> ReportOrder:
    """Return the report that a click would build."""
    progress: ReportProgress = st.session_state.setdefault(_PROGRESS_KEY, ReportProgress())
    report_runs = tuple(
        ReportRun(run.title, run.report, run.style_index) for run in runs if run.id in choice.runs
    )
    names = () if len(report_runs) == len(runs) else tuple(run_name(run, runs) for run in report_runs)
    pages = choice.pages
    if pages == DEFAULT_PAGES:
        pages = ()
    elif len(pages) == len(SECTIONS):
        pages = (ALL_PAGES,)
    command = replace(
        report_command(files, accepted_file_ids, (choice.settings, pages, names), f"{REPORT_FILE_STEM}.html"),
        front=replace(front, date=None if front.date == today() else front.date),
    )
    files_with_checksums = partial(report_files, files, accepted_file_ids)
    return ReportOrder(
        report_runs, files_with_checksums, choice.settings, choice.pages, front, command, progress
    )


def today() -> date:
    """Return today's date on the server."""
    return datetime.now().astimezone().date()


def show_front_matter() -> FrontMatter:
    """Draw the fields of title, author, date and note, which are kept for the session, and return them."""
    kept: dict[str, Any] = st.session_state.setdefault(
        _FRONT_KEY, {"title": "", "author": "", "date": today(), "note": ""}
    )
    for name, value in kept.items():  # another page has dropped what these fields held
        st.session_state.setdefault(f"front_{name}", value)
    with st.container(horizontal=True, gap="small", key="front_matter"):
        for name, default, help_ in (
            ("title", DOCUMENT_TITLE, "Heading of the report."),
            ("author", "none", "Stands below the title."),
        ):
            kept[name] = st.text_input(
                name.capitalize(),
                key=f"front_{name}",
                placeholder=default,
                max_chars=MAX_TITLE,
                help=help_,
            )
        kept["date"] = st.date_input("Date", key="front_date", width=150, help="Stands below the title.")
    kept["note"] = st.text_area(
        "Note",
        key="front_note",
        placeholder="What readers should know",
        height=68,
        help="Stands above the first diagram.",
    )
    return FrontMatter(
        single_line(kept["title"] or DOCUMENT_TITLE, MAX_TITLE),
        single_line(kept["author"] or "", MAX_TITLE),
        (kept["note"] or "").strip(),
        kept["date"],
    )


def report_files(files: Sequence[LoadedFile], accepted_file_ids: Sequence[str]) -> tuple[ReportFile, ...]:
    """Return every file with its checksum; a file with undecided bad rows counts as refused."""
    return tuple(
        ReportFile(
            file.name,
            file.report,
            _refusal(file, accepted_file_ids),
            file_checksums(files_read_with(file.listing.path, file.name, *file.listing.tables)),
        )
        for file in files
    )


def _refusal(file: LoadedFile, accepted_file_ids: Sequence[str]) -> str | None:
    """Return why the file is not loaded; None where it is."""
    report = file.report
    if report is not None and report.status == "asks" and file_id(file) not in accepted_file_ids:
        return (
            f"{bad_rows_phrase(report.n_bad_rows, report.n_rows)}, and nobody has decided whether to "
            "leave them out."
        )
    return file.refusal


def run_name(run: ReportRun, runs: Sequence[LoadedRun]) -> str:
    """Return the run's name on the command line: its label, or its title where two runs share the label."""
    label = run.report.run.label
    return label if sum(other.report.run.label == label for other in runs) == 1 else real_name(run.title)


def report_command(
    files: Sequence[LoadedFile],
    accepted_file_ids: Sequence[str],
    request: tuple[ReportSettings, tuple[str, ...], tuple[str, ...]],
    output: str,
) -> ReportCommand:
    """Return the command line that builds the same report.

    Parameters
    ----------
    files : Sequence of LoadedFile
    accepted_file_ids : Sequence of str
        Ids of the files whose good rows are loaded without their bad ones.
    request : tuple
        Settings, the pages as `--page` takes them, and names of the runs, empty for all.
    output : str
        Name of the report's file.
    """
    settings, pages, runs = request
    loaded = [file for file in files if _refusal(file, accepted_file_ids) is None]
    with_bad_rows = [file for file in files if file.report is not None and file.report.status == "asks"]
    accepted = [file for file in with_bad_rows if file in loaded]
    covers_folder = not any(file.is_uploaded for file in files) and len(accepted) in (0, len(with_bad_rows))
    mappings = {file.mapping for file in loaded}
    mapping = next(iter(mappings)) if len(mappings) == 1 else None
    return ReportCommand(
        (".",) if covers_folder else tuple(_command_path(file) for file in loaded),
        output,
        settings,
        pages,
        runs,
        bool(accepted),
        mapping.format if mapping else None,
        mapping.options if mapping else AS_IT_LIES,
        _relative_path(Path(mapping.gold)) if mapping and mapping.gold else None,
        RUN_IN_DATA_FOLDER
        if mapping is not None or not loaded
        else f"{RUN_IN_DATA_FOLDER} {DIFFERENT_MAPPINGS_NOTE}",
        together=bool(mapping and mapping.run_name),
        corrections=_relative_path(Path(mapping.corrections)) if mapping and mapping.corrections else None,
    )


def _command_path(file: LoadedFile) -> str:
    return file.name if file.is_uploaded else _relative_path(file.listing.path)


def _relative_path(path: Path) -> str:
    """Return the path below the data folder, else the name alone, since the report is sent to others."""
    folder = data_folder().resolve()
    absolute = path if path.is_absolute() else path.absolute()
    return absolute.relative_to(folder).as_posix() if absolute.is_relative_to(folder) else path.name


def show_make_button(order: ReportOrder, *, is_complete: bool) -> None:
    """Draw the button that builds the report and downloads it, once every file has been read."""
    st.download_button(
        "Make and download the report",
        data=lambda: make_report(order),
        file_name=f"{REPORT_FILE_STEM}-{datetime.now().astimezone():%Y-%m-%d}.html",
        mime="text/html",
        key="make_report",
        icon=":material/summarize:",
        on_click="ignore",
        type="primary",
        disabled=not is_complete,
        help=None if is_complete else "Available once all files of the folder are read.",
    )


def make_report(order: ReportOrder) -> bytes:
    """Return the report's bytes; progress, outcome and any failure are noted in `order.progress`."""
    progress = order.progress
    with progress.lock:  # a second click waits, since two builds at once only slow each other down
        progress.outcome = progress.error = ""
        started = datetime.now().astimezone()
        try:
            progress.update(0.0, "checksums of the files")
            report_input = ReportInput(order.runs, order.files(), order.settings)
            provenance = Provenance(
                started, order.command.command_line, order.command.where_to_run, order.front
            )
            result = build_report(report_input, order.pages, provenance, progress.update)
            data = result.html.encode("utf-8")
            progress.outcome = _outcome(order, result, started, len(data))
        except CalibError as reason:
            progress.error = str(reason)
            raise
        finally:
            progress.update(progress.share, "")
        return data


def _outcome(order: ReportOrder, result: Report, started: datetime, n_bytes: int) -> str:
    """Return how long the report took, and what it holds."""
    seconds = (datetime.now().astimezone() - started).total_seconds()
    left_out = "; ".join(
        f"{SECTIONS[id_].title} ({opening_sentence(why)})" for id_, why in result.left_out.items()
    )
    return (
        f"Made in {seconds:.0f} s: {plural(len(result.pages), 'section')} of "
        f"{plural(len(order.runs), 'run')}, {n_bytes / 1e6:.1f} MB."
        + (f" Left out (nothing to show for these runs): {left_out}." if left_out else "")
    )


@st.fragment(run_every=1.0)
def show_progress(progress: ReportProgress) -> None:
    """Draw the report's progress, or the outcome of the last one; reruns on its own every second."""
    if progress.step:
        st.progress(min(progress.share, 1.0), escape_markdown(shorten(progress.step, 90)))
    elif progress.error:
        st.error(escape_markdown(progress.error), icon=":material/block:")
    elif progress.outcome:
        st.success(escape_markdown(progress.outcome), icon=":material/check:")
    else:
        st.caption("Opens in any browser without a network, and prints to PDF.")


def show_preview(order: ReportOrder, chosen: Sequence[LoadedRun]) -> None:
    """Draw the top of the report: its title, and the first of the chosen runs as they will appear in it."""
    front, runs = order.front, chosen[:MAX_PREVIEWED_RUNS]
    with st.container(border=True, key="preview"):
        st.header(escape_markdown(front.title), anchor=False)
        st.caption(escape_markdown(front.byline(today())))
        if front.note:
            for line in front.note.splitlines():
                st.markdown(escape_markdown(line))
        for number, view in enumerate(cached_first_page(order, runs)):
            if view.figures:
                _show_card(view, number)
        if more := len(order.runs) - len(runs):
            st.caption(f"… and {plural(more, 'further run')}, then the table of all.")


def cached_first_page(order: ReportOrder, runs: Sequence[LoadedRun]) -> tuple[View, ...]:
    """Return the views of the summary of these runs, computed once."""
    sources = tuple((*run.source, run.title) for run in runs)
    report_input = ReportInput(order.runs[: len(runs)], (), order.settings)
    return cached_result(
        ("report_preview", order.settings, sources),
        lambda: summary.section(report_input, lambda _share, _text: None).views,
        max_results=MAX_LARGE_RESULTS,
    )


def _show_card(view: View, number: int) -> None:
    """Draw one run: its name, its diagram, and beside it the verdict and three numbers."""
    st.subheader(escape_markdown(view.title), anchor=False)
    st.caption(escape_markdown(view.method_title))
    left, right = side_by_side()
    with left:
        show_view_figure(view, replace(view.figures[0], id=f"card_{number}", title=view.title))
    with right:
        st.markdown(escape_markdown(view.headline))
        if view.caveat:
            st.caption(f":material/warning: {escape_markdown(view.caveat)}")
        show_view_tiles(view)


def show_contents(order: ReportOrder) -> None:
    """Say which sections, runs and numbers the report holds, and offer the summary and everything."""
    settings = order.settings
    method = METHODS[settings.methods[0]].title if settings.methods else "each run's default method"
    number = metric_caption(settings.metrics[0] if settings.metrics else DEFAULT_METRIC, settings.scheme)
    caption = ViewCaption(
        plural(len(order.pages), "section"), [run.title for run in order.runs], [method], number
    )
    more = " Runs without this method use their first method." if settings.methods else ""
    if settings.bin_number is not None:
        more += f" With the first {MAX_QUESTIONS} questions of each run's bin {settings.bin_number}."
    with st.expander(f"Contents: {plural(len(order.pages), 'section')}", key="contents"):
        with st.container(horizontal=True, gap="small"):
            for label, pages in (("Summary alone", DEFAULT_PAGES), ("All sections", tuple(SECTIONS))):
                st.button(
                    label,
                    key=f"hold_{len(pages)}",
                    on_click=_use_pages,
                    args=(pages,),
                    disabled=order.pages == pages,
                )
        show_view_caption(f"{caption.sentence}{more}")
        terms = ReportInput(order.runs, (), settings).terms
        sections = [SECTIONS[id_] for id_ in order.pages]
        st.markdown("\n".join(f"- **{one.title}**: {one.question_about(terms)}" for one in sections))


def _use_pages(pages: Sequence[str]) -> None:
    st.query_params["pages"] = encode_ids(pages, list(SECTIONS), {})


def show_command(order: ReportOrder) -> None:
    """Draw the command line that builds the same report."""
    with st.expander("The same from the command line", key="again"):
        show_copyable_text(order.command.command_line)
        st.caption(escape_markdown(order.command.where_to_run))


def page() -> None:
    """Draw the page."""
    context = shell("report", choose_report)
    front = show_front_matter()
    order = report_order(context.choice, context.files, context.all_runs, context.accepted_file_ids, front)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="make"):
        show_make_button(order, is_complete=not context.unread)
        show_progress(order.progress)
    show_preview(order, [run for run in context.all_runs if run.id in context.choice.runs])
    show_contents(order)
    show_command(order)


if __name__ == "__main__":
    page()
