"""What can I send?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final, cast

import streamlit as st

from calib_core.edges import BINNINGS, MAX_BINS, Binning, Scheme
from calib_core.errors import CalibError, shorten
from calib_core.methods import METHODS
from calib_core.methods.answers.unparseable import UnparseableRule
from calib_core.methods.method import MethodOptions
from calib_core.metrics import DEFAULT_METRIC, METRICS
from calib_core.pairs import Labels
from calib_core.report.build import build_report
from calib_core.report.document import first_sentence
from calib_core.report.inputs import ReportFile, ReportInput, ReportRun, ReportSettings
from calib_core.report.provenance import (
    RUN_IN_DATA_FOLDER,
    Provenance,
    ReportCommand,
    file_checksums,
    files_read_with,
)
from calib_core.report.sections import SECTIONS
from calib_core.report.sections.reliability import MAX_QUESTIONS
from calib_core.results.view_caption import ViewCaption, metric_caption
from calib_core.wording import bad_rows_phrase, plural
from pages.state.cache import LoadedFile, data_folder
from pages.state.markdown import escape_markdown
from pages.state.report_progress import ReportProgress
from pages.state.runs import LoadedRun, file_id
from pages.state.url import UrlState, parse_whole_number
from pages.widgets.multiselect import multiselect
from pages.widgets.pickers import LABEL_TITLES, UNPARSEABLE_TITLES
from pages.widgets.shell import shell
from pages.widgets.summary import show_view_caption

# MERGED reported_files: What does a report say of the files, and which command line reads them alike?

DIFFERENT_MAPPINGS_NOTE: Final = (
    "Some files were read as a person said of them on the page Files, each in its own way, which one line "
    "cannot say."
)


def report_files(files: Sequence[LoadedFile], accepted_file_ids: Sequence[str]) -> tuple[ReportFile, ...]:
    """Every file, with its checksum; of one that waits for a decision, that it does."""
    return tuple(
        ReportFile(
            file.name,
            file.report,
            _refusal(file, accepted_file_ids),
            file_checksums(files_read_with(file.listing.path, file.name, file.listing.gold)),
        )
        for file in files
    )


def _refusal(file: LoadedFile, accepted_file_ids: Sequence[str]) -> str | None:
    report = file.report
    if report is not None and report.status == "asks" and file_id(file) not in accepted_file_ids:
        return f"{bad_rows_phrase(report.bad_rows, report.rows)}, and nobody has decided to leave them out."
    return file.refusal


def run_name(run: ReportRun, runs: Sequence[LoadedRun]) -> str:
    """What the command line calls a run: its label, and where two have it, its title."""
    label = run.report.run.label
    return label if sum(other.report.run.label == label for other in runs) == 1 else run.title


def report_command(
    files: Sequence[LoadedFile],
    accepted_file_ids: Sequence[str],
    request: tuple[ReportSettings, tuple[str, ...], tuple[str, ...]],
    output: str,
) -> ReportCommand:
    """The line that makes the same report; asked: numbers, pages, runs (() = all)."""
    numbers, pages, runs = request
    loaded = [file for file in files if _refusal(file, accepted_file_ids) is None]
    bad = [file for file in files if file.report is not None and file.report.status == "asks"]
    skipped = [file for file in bad if file in loaded]
    whole = not any(file.is_uploaded for file in files) and len(skipped) in (0, len(bad))
    wishes = {file.mapping for file in loaded}
    wish = next(iter(wishes)) if len(wishes) == 1 else None
    return ReportCommand(
        (".",) if whole else tuple(_command_path(file) for file in loaded),
        output,
        numbers,
        pages,
        runs,
        bool(skipped),
        wish.format if wish else None,
        dict(wish.columns) if wish else {},
        _relative_path(Path(wish.gold)) if wish and wish.gold else None,
        RUN_IN_DATA_FOLDER
        if wish is not None or not loaded
        else f"{RUN_IN_DATA_FOLDER} {DIFFERENT_MAPPINGS_NOTE}",
    )


def _command_path(file: LoadedFile) -> str:
    return file.name if file.is_uploaded else _relative_path(file.listing.path)


def _relative_path(path: Path) -> str:
    """The path below the data folder; the machine's own folders are nobody's business."""
    folder = data_folder().resolve()
    real = path if path.is_absolute() else path.absolute()
    return real.relative_to(folder).as_posix() if real.is_relative_to(folder) else path.name


# MERGED reporting: Which pages and runs go into the report, and how is it made at one click?  The parts of the page Report.
#
# The report is made while the browser waits for the file, in a thread that cannot write on the page. So it
# notes how far it is, and a part of the page that runs by itself every second shows that.

REPORT_FILE_STEM: Final = "calibration-report"
_PROGRESS_KEY: Final = "_report_work"


@dataclass(frozen=True, slots=True, eq=False)
class ReportChoice:
    """pages: ids of SECTIONS; runs: ids; asked: what the other pages show, as far as a report has it."""

    pages: tuple[str, ...]
    runs: tuple[str, ...]
    settings: ReportSettings


@dataclass(frozen=True, slots=True, eq=False)
class ReportOrder:
    """One report as it would be made now. files: read for their checksums when it is made."""

    runs: tuple[ReportRun, ...]
    files: Callable[[], tuple[ReportFile, ...]]
    settings: ReportSettings
    pages: tuple[str, ...]
    command: ReportCommand
    progress: ReportProgress


def choose_report(url_state: UrlState, runs: Sequence[LoadedRun]) -> ReportChoice:
    """The controls of pages and runs; the rest is as the other pages have it."""
    titles = {run.id: run.title for run in runs}
    pages = multiselect(
        url_state,
        "pages",
        list(SECTIONS),
        label="Pages",
        title_of=lambda id_: SECTIONS[id_].title,
        default=list(SECTIONS),
        help_="A page that has nothing to say of these runs is left out, and named.",
    )
    chosen = multiselect(
        url_state,
        "reported",
        list(titles),
        label="Runs",
        title_of=lambda id_: titles[id_],
        default=list(titles),
        help_="Those that the report speaks of; none chosen means all.",
    )
    return ReportChoice(
        tuple(id_ for id_ in SECTIONS if id_ in pages),
        tuple(id_ for id_ in titles if id_ in chosen),
        settings_from_url(url_state),
    )


def settings_from_url(url_state: UrlState) -> ReportSettings:
    """What a person chose on another page, the clicked bin too; a choice that is none is passed over."""
    held = url_state.held
    method, metric, bins = held.get("method", ""), held.get("metric", ""), held.get("m", "")
    binning = held.get("binning", "")
    labels, unparseable = held.get("labels", "top"), held.get("unparseable", "own")
    return ReportSettings(
        (method,) if method in METHODS else (),
        (metric,) if metric in METRICS else (),
        Scheme(
            cast("Binning", binning if binning in BINNINGS else "width"),
            parse_whole_number(bins, 1, MAX_BINS) or Scheme().bins,
        ),
        MethodOptions(
            {"yes": True, "no": False}.get(held.get("renormalise", "")),
            cast("Labels", labels if labels in LABEL_TITLES else "top"),
            cast("UnparseableRule", unparseable if unparseable in UNPARSEABLE_TITLES else "own"),
        ),
        parse_whole_number(held.get("bin", ""), 1, MAX_BINS),
    )


def report_order(
    choice: ReportChoice,
    files: Sequence[LoadedFile],
    runs: Sequence[LoadedRun],
    accepted_file_ids: Sequence[str],
) -> ReportOrder:
    """What a click makes."""
    work: ReportProgress = st.session_state.setdefault(_PROGRESS_KEY, ReportProgress())
    here = tuple(ReportRun(run.title, run.report, run.style_index) for run in runs if run.id in choice.runs)
    names = () if len(here) == len(runs) else tuple(run_name(run, runs) for run in here)
    pages = () if len(choice.pages) == len(SECTIONS) else choice.pages
    again = report_command(
        files, accepted_file_ids, (choice.settings, pages, names), f"{REPORT_FILE_STEM}.html"
    )
    said = partial(report_files, files, accepted_file_ids)
    return ReportOrder(here, said, choice.settings, choice.pages, again, work)


def show_make_button(order: ReportOrder) -> None:
    """One click makes the report and downloads it."""
    st.download_button(
        "Make and download the report",
        data=lambda: make_report(order),
        file_name=f"{REPORT_FILE_STEM}-{datetime.now().astimezone():%Y-%m-%d}.html",
        mime="text/html",
        key="make_report",
        icon=":material/summarize:",
        on_click="ignore",
        type="primary",
    )


def make_report(order: ReportOrder) -> bytes:
    """The report's bytes; how far it is, and what stopped it, is noted in the order's work."""
    work = order.progress
    with work.lock:  # a second click waits for the first: it would only slow it down
        work.told = work.trouble = ""
        began = datetime.now().astimezone()
        try:
            work.update(0.0, "checksums of the files")
            subject = ReportInput(order.runs, order.files(), order.settings)
            again = Provenance(began, order.command.command_line, order.command.where_to_run)
            result = build_report(subject, order.pages, again, work.update)
        except CalibError as reason:
            work.trouble = str(reason)
            raise
        finally:
            work.update(0.0, "")
        seconds = (datetime.now().astimezone() - began).total_seconds()
        data = result.html.encode("utf-8")
        left = "; ".join(
            f"{SECTIONS[id_].title} ({first_sentence(why)})" for id_, why in result.left_out.items()
        )
        work.told = (
            f"Made in {seconds:.0f} s: {plural(len(result.pages), 'page')} of "
            f"{plural(len(order.runs), 'run')}, {len(data) / 1e6:.1f} MB."
            + (f" Left out, as these runs have nothing to say to it: {left}." if left else "")
        )
        return data


@st.fragment(run_every=1.0)
def show_progress(progress: ReportProgress) -> None:
    """How far the report is, or what came of it."""
    if progress.doing:
        st.progress(min(progress.share, 1.0), escape_markdown(shorten(progress.doing, 90)))
    elif progress.trouble:
        st.error(escape_markdown(progress.trouble), icon=":material/block:")
    elif progress.told:
        st.success(escape_markdown(progress.told), icon=":material/check:")
    else:
        st.caption("Making it takes about a second a run. Progress is shown here.")


def show_contents(order: ReportOrder) -> None:
    """Which pages, runs and numbers are in it."""
    st.header("What it will hold", anchor=False)
    asked = order.settings
    method = METHODS[asked.methods[0]].title if asked.methods else "each run's first confidence method"
    number = metric_caption(asked.metrics[0] if asked.metrics else DEFAULT_METRIC, asked.scheme)
    of = ViewCaption(plural(len(order.pages), "page"), [run.title for run in order.runs], [method], number)
    other = " A run that does not give that method is shown by its first." if asked.methods else ""
    if asked.bin_number is not None:
        other += f" With the first {MAX_QUESTIONS} questions of each run's bin {asked.bin_number}."
    show_view_caption(f"{of.sentence}{other}")
    st.markdown("\n".join(f"- **{SECTIONS[id_].title}**: {SECTIONS[id_].question}" for id_ in order.pages))


def show_command(order: ReportOrder) -> None:
    """The same from the command line."""
    with st.expander("The same from the command line", key="again"):
        st.code(order.command.command_line, language=None, wrap_lines=True)
        st.caption(escape_markdown(order.command.where_to_run))


def page() -> None:
    """Draws the page."""
    here = shell("report", choose_report)
    st.markdown(
        "**One file to send.** It holds the chosen pages' figures, tables and recipes, what was loaded and what "
        "was left out, the files' checksums, and the command line that makes it again. It opens in any browser "
        "without a network, in light and dark, and prints to PDF."
    )
    order = report_order(here.choice, here.files, here.runs, here.accepted_file_ids)
    show_make_button(order)
    show_progress(order.progress)
    show_contents(order)
    show_command(order)


if __name__ == "__main__":
    page()
