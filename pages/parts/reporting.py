"""Which pages and runs go into the report, and how is it made at one click?  The parts of the page Report.

The report is made while the browser waits for the file, in a thread that cannot write on the page. So it
notes how far it is, and a part of the page that runs by itself every second shows that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from threading import Lock
from typing import Final, cast

import streamlit as st

from calib_core.analysis.looking import ViewCaption, metric_caption
from calib_core.bins import BINNINGS, MAX_BINS, Binning, Scheme
from calib_core.confidence import METHODS
from calib_core.confidence.method import MethodOptions, UnparseableRule
from calib_core.metrics import DEFAULT_METRIC, METRICS
from calib_core.pairs import Labels
from calib_core.problems import CalibError, shorten
from calib_core.report.again import ReportCommand
from calib_core.report.document import first_sentence
from calib_core.report.made import Provenance
from calib_core.report.reporting import build_report
from calib_core.report.sections import SECTIONS
from calib_core.report.sections.reliability import MAX_QUESTIONS
from calib_core.report.subject import ReportSettings, ReportFile, ReportRun, ReportInput
from calib_core.wording import plural
from pages.parts import reported_files, show
from pages.parts.address import UrlState, parse_whole_number
from pages.parts.cache import LoadedFile
from pages.parts.literal import escape_markdown
from pages.parts.runs import LoadedRun
from pages.parts.several import multiselect
from pages.parts.switches import LABEL_TITLES, UNPARSEABLE_TITLES

REPORT_FILE_STEM: Final = "calibration-report"
_PROGRESS_KEY: Final = "_report_work"


@dataclass(frozen=True, slots=True, eq=False)
class ReportChoice:
    """pages: ids of SECTIONS; runs: ids; asked: what the other pages show, as far as a report has it."""

    pages: tuple[str, ...]
    runs: tuple[str, ...]
    settings: ReportSettings


class ReportProgress:
    """How far the report of one session is. told: what came of the last one, "" while there is none."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.share = 0.0
        self.doing = ""
        self.told = ""
        self.trouble = ""

    def update(self, share: float, activity: str) -> None:
        """Called by the thread that makes it."""
        self.share, self.doing = share, activity


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
        url_state, "pages", list(SECTIONS), label="Pages", title_of=lambda id_: SECTIONS[id_].title,
        default=list(SECTIONS), help_="A page that has nothing to say of these runs is left out, and named.",
    )
    chosen = multiselect(
        url_state, "reported", list(titles), label="Runs", title_of=lambda id_: titles[id_],
        default=list(titles), help_="Those that the report speaks of; none chosen means all.",
    )
    return ReportChoice(
        tuple(id_ for id_ in SECTIONS if id_ in pages), tuple(id_ for id_ in titles if id_ in chosen),
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
            cast("Unparseable", unparseable if unparseable in UNPARSEABLE_TITLES else "own"),
        ),
        parse_whole_number(held.get("bin", ""), 1, MAX_BINS),
    )


def report_order(choice: ReportChoice, files: Sequence[LoadedFile], runs: Sequence[LoadedRun], accepted_file_ids: Sequence[str]) -> ReportOrder:
    """What a click makes."""
    work: ReportProgress = st.session_state.setdefault(_PROGRESS_KEY, ReportProgress())
    here = tuple(ReportRun(run.title, run.report, run.style_index) for run in runs if run.id in choice.runs)
    names = () if len(here) == len(runs) else tuple(reported_files.run_name(run, runs) for run in here)
    pages = () if len(choice.pages) == len(SECTIONS) else choice.pages
    again = reported_files.report_command(files, accepted_file_ids, (choice.settings, pages, names), f"{REPORT_FILE_STEM}.html")
    said = partial(reported_files.report_files, files, accepted_file_ids)
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
        left = "; ".join(f"{SECTIONS[id_].title} ({first_sentence(why)})" for id_, why in result.left_out.items())
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
    show.show_view_caption(f"{of.sentence}{other}")
    st.markdown("\n".join(f"- **{SECTIONS[id_].title}**: {SECTIONS[id_].question}" for id_ in order.pages))


def show_command(order: ReportOrder) -> None:
    """The same from the command line."""
    with st.expander("The same from the command line", key="again"):
        st.code(order.command.command_line, language=None, wrap_lines=True)
        st.caption(escape_markdown(order.command.where_to_run))
