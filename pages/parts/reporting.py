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

from calib_core.analysis.looking import Looking, number_of
from calib_core.bins import BINNINGS, MAX_BINS, Binning, Scheme
from calib_core.confidence import METHODS
from calib_core.confidence.method import Options, Unparseable
from calib_core.metrics import DEFAULT, METRICS
from calib_core.pairs import Labels
from calib_core.problems import CalibError, shorten
from calib_core.report.again import Again
from calib_core.report.document import briefly
from calib_core.report.made import Made
from calib_core.report.reporting import report
from calib_core.report.sections import SECTIONS
from calib_core.report.sections.reliability import QUESTIONS
from calib_core.report.subject import Asked, FileHere, RunHere, Subject
from calib_core.wording import count
from pages.parts import reported_files, show
from pages.parts.address import Address, whole_number
from pages.parts.cache import File
from pages.parts.literal import literal
from pages.parts.runs import Run
from pages.parts.several import several
from pages.parts.switches import LABELS, UNPARSEABLE

NAME: Final = "calibration-report"
_WORK: Final = "_report_work"


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """pages: ids of SECTIONS; runs: ids; asked: what the other pages show, as far as a report has it."""

    pages: tuple[str, ...]
    runs: tuple[str, ...]
    asked: Asked


class Work:
    """How far the report of one session is. told: what came of the last one, "" while there is none."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.share = 0.0
        self.doing = ""
        self.told = ""
        self.trouble = ""

    def note(self, share: float, doing: str) -> None:
        """Called by the thread that makes it."""
        self.share, self.doing = share, doing


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """One report as it would be made now. files: read for their checksums when it is made."""

    runs: tuple[RunHere, ...]
    files: Callable[[], tuple[FileHere, ...]]
    asked: Asked
    pages: tuple[str, ...]
    again: Again
    work: Work


def choose_report(address: Address, runs: Sequence[Run]) -> Chosen:
    """The controls of pages and runs; the rest is as the other pages have it."""
    titles = {run.id: run.title for run in runs}
    pages = several(
        address, "pages", list(SECTIONS), label="Pages", titled=lambda id_: SECTIONS[id_].title,
        default=list(SECTIONS), help_="A page that has nothing to say of these runs is left out, and named.",
    )
    chosen = several(
        address, "reported", list(titles), label="Runs", titled=lambda id_: titles[id_],
        default=list(titles), help_="Those that the report speaks of; none chosen means all.",
    )
    return Chosen(
        tuple(id_ for id_ in SECTIONS if id_ in pages), tuple(id_ for id_ in titles if id_ in chosen),
        asked_on(address),
    )


def asked_on(address: Address) -> Asked:
    """What a person chose on another page, the clicked bin too; a choice that is none is passed over."""
    held = address.held
    method, metric, bins = held.get("method", ""), held.get("metric", ""), held.get("m", "")
    binning = held.get("binning", "")
    labels, unparseable = held.get("labels", "top"), held.get("unparseable", "own")
    return Asked(
        (method,) if method in METHODS else (),
        (metric,) if metric in METRICS else (),
        Scheme(
            cast("Binning", binning if binning in BINNINGS else "width"),
            whole_number(bins, 1, MAX_BINS) or Scheme().bins,
        ),
        Options(
            {"yes": True, "no": False}.get(held.get("renormalise", "")),
            cast("Labels", labels if labels in LABELS else "top"),
            cast("Unparseable", unparseable if unparseable in UNPARSEABLE else "own"),
        ),
        whole_number(held.get("bin", ""), 1, MAX_BINS),
    )


def order_of(chosen: Chosen, files: Sequence[File], runs: Sequence[Run], good: Sequence[str]) -> Order:
    """What a click makes."""
    work: Work = st.session_state.setdefault(_WORK, Work())
    here = tuple(RunHere(run.title, run.report, run.place) for run in runs if run.id in chosen.runs)
    names = () if len(here) == len(runs) else tuple(reported_files.name_of(run, runs) for run in here)
    pages = () if len(chosen.pages) == len(SECTIONS) else chosen.pages
    again = reported_files.again(files, good, (chosen.asked, pages, names), f"{NAME}.html")
    said = partial(reported_files.files_here, files, good)
    return Order(here, said, chosen.asked, chosen.pages, again, work)


def button(order: Order) -> None:
    """One click makes the report and downloads it."""
    st.download_button(
        "Make and download the report",
        data=lambda: made(order),
        file_name=f"{NAME}-{datetime.now().astimezone():%Y-%m-%d}.html",
        mime="text/html",
        key="make_report",
        icon=":material/summarize:",
        on_click="ignore",
        type="primary",
    )


def made(order: Order) -> bytes:
    """The report's bytes; how far it is, and what stopped it, is noted in the order's work."""
    work = order.work
    with work.lock:  # a second click waits for the first: it would only slow it down
        work.told = work.trouble = ""
        began = datetime.now().astimezone()
        try:
            work.note(0.0, "checksums of the files")
            subject = Subject(order.runs, order.files(), order.asked)
            again = Made(began, order.again.line, order.again.place)
            result = report(subject, order.pages, again, work.note)
        except CalibError as reason:
            work.trouble = str(reason)
            raise
        finally:
            work.note(0.0, "")
        seconds = (datetime.now().astimezone() - began).total_seconds()
        data = result.html.encode("utf-8")
        left = "; ".join(f"{SECTIONS[id_].title} ({briefly(why)})" for id_, why in result.left_out.items())
        work.told = (
            f"Made in {seconds:.0f} s: {count(len(result.pages), 'page')} of "
            f"{count(len(order.runs), 'run')}, {len(data) / 1e6:.1f} MB."
            + (f" Left out, as these runs have nothing to say to it: {left}." if left else "")
        )
        return data


@st.fragment(run_every=1.0)
def progress(work: Work) -> None:
    """How far the report is, or what came of it."""
    if work.doing:
        st.progress(min(work.share, 1.0), literal(shorten(work.doing, 90)))
    elif work.trouble:
        st.error(literal(work.trouble), icon=":material/block:")
    elif work.told:
        st.success(literal(work.told), icon=":material/check:")
    else:
        st.caption("Making it takes about a second a run. Progress is shown here.")


def holds(order: Order) -> None:
    """Which pages, runs and numbers are in it."""
    st.header("What it will hold", anchor=False)
    asked = order.asked
    method = METHODS[asked.methods[0]].title if asked.methods else "each run's first confidence method"
    number = number_of(asked.metrics[0] if asked.metrics else DEFAULT, asked.scheme)
    of = Looking(count(len(order.pages), "page"), [run.title for run in order.runs], [method], number)
    other = " A run that does not give that method is shown by its first." if asked.methods else ""
    if asked.bin is not None:
        other += f" With the first {QUESTIONS} questions of each run's bin {asked.bin}."
    show.looking(f"{of.words}{other}")
    st.markdown("\n".join(f"- **{SECTIONS[id_].title}**: {SECTIONS[id_].question}" for id_ in order.pages))


def command(order: Order) -> None:
    """The same from the command line."""
    with st.expander("The same from the command line", key="again"):
        st.code(order.again.line, language=None, wrap_lines=True)
        st.caption(literal(order.again.place))
