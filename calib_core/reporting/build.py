"""Building a report: each page's section in turn, then the HTML document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from calib_core.errors import Refused, Unavailable
from calib_core.reporting.document import render_document
from calib_core.reporting.progress import WorkProgress
from calib_core.reporting.provenance import Provenance
from calib_core.views.inputs import ReportInput
from calib_core.views.registry import ALL_PAGES, DEFAULT_PAGES, JUDGE_PAGES, SECTIONS
from calib_core.views.view import ProgressCallback, Section

WRITING_SECONDS: Final = 1.5
"""About how long the document takes to write, plotly.js compressed included; see `ReportPage`."""


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """A finished report.

    Attributes
    ----------
    sections : tuple[Section, ...]
        In the order of the pages.
    left_out : Mapping[str, str]
        Page id → why the page has no section.
    html : str
        The whole document.
    """

    sections: tuple[Section, ...]
    left_out: Mapping[str, str]
    html: str

    def __repr__(self) -> str:
        return f"<Report {', '.join(self.pages)}: {len(self.html):,} characters of HTML>"

    @property
    def pages(self) -> tuple[str, ...]:
        """The ids of the pages in the report."""
        return tuple(section.id for section in self.sections)


def _ignore_progress(_share: float, _text: str) -> None:
    """Does nothing; the default where progress is not shown."""


def selected_pages(requested: Sequence[str]) -> tuple[str, ...]:
    """Puts the requested pages into the order of SECTIONS, each once.

    An empty request means DEFAULT_PAGES, and ALL_PAGES among them every page.

    Raises
    ------
    Refused
        If a page is unknown.
    """
    for id_ in requested:
        if id_ not in SECTIONS and id_ != ALL_PAGES:
            raise Refused(f"--page: there is no page {id_!r}. Pages: {', '.join(SECTIONS)}; or {ALL_PAGES}.")
    if ALL_PAGES in requested:
        return tuple(SECTIONS)
    return tuple(id_ for id_ in SECTIONS if id_ in (requested or DEFAULT_PAGES))


def default_pages(report_input: ReportInput) -> tuple[str, ...]:
    """The pages of a report for which none is named."""
    return DEFAULT_PAGES if any(run.usable for run in report_input.runs) else JUDGE_PAGES


def build_report(
    report_input: ReportInput,
    pages: Sequence[str],
    provenance: Provenance,
    progress: ProgressCallback = _ignore_progress,
) -> Report:
    """Builds the report of some pages; a page that does not apply to the runs is left out with the reason.

    Parameters
    ----------
    report_input : ReportInput
        The runs, the files and the settings.
    pages : Sequence[str]
        As `selected_pages` takes them.
    provenance : Provenance
        When and by which command the report is made.
    progress : ProgressCallback
        Called before each step with a share below 1 that never falls, and with 1 when the report is made.

    Raises
    ------
    Refused
        If a page is unknown, or none of the pages applies to the runs.
    """
    page_ids = selected_pages(pages or default_pages(report_input))
    report_input = replace(report_input, pages=page_ids)
    sections: list[Section] = []
    left_out: dict[str, str] = {}
    work = WorkProgress(
        progress, [*(SECTIONS[id_].seconds(report_input) for id_ in page_ids), WRITING_SECONDS]
    )
    for id_ in page_ids:
        page = SECTIONS[id_]
        page_progress = work.start_part(page.title)
        try:
            section = page.build(report_input, page_progress)
        except Unavailable as reason:
            left_out[id_] = str(reason)
        else:
            sections.append(replace(section, question=page.question_about(report_input.terms)))
    if not sections:
        reasons = "; ".join(f"{id_}: {why}" for id_, why in left_out.items())
        raise Refused(f"No page has anything to show for these runs. {reasons}")
    work.start_part("writing")
    report = Report(tuple(sections), left_out, render_document(report_input, sections, left_out, provenance))
    work.finish()
    return report
