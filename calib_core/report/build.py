"""Building a report: each page's section in turn, then the HTML document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from calib_core.errors import Refused, Unavailable
from calib_core.report.blocks import ProgressCallback, Section
from calib_core.report.document import render_document
from calib_core.report.inputs import ReportInput
from calib_core.report.provenance import Provenance
from calib_core.report.sections import SECTIONS


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

    @property
    def pages(self) -> tuple[str, ...]:
        """The ids of the pages in the report."""
        return tuple(section.id for section in self.sections)


def _ignore_progress(_share: float, _text: str) -> None:
    """Does nothing; the default where progress is not shown."""


def selected_pages(requested: Sequence[str]) -> tuple[str, ...]:
    """Puts the requested pages into the order of SECTIONS, each once; an empty request means all.

    Raises
    ------
    Refused
        If a page is unknown.
    """
    for id_ in requested:
        if id_ not in SECTIONS:
            raise Refused(f"--page: there is no page {id_!r}. Pages: {', '.join(SECTIONS)}.")
    return tuple(id_ for id_ in SECTIONS if not requested or id_ in requested)


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
        Keys of SECTIONS; empty for all.
    provenance : Provenance
        When and by which command the report is made.
    progress : ProgressCallback
        Called before each step.

    Raises
    ------
    Refused
        If a page is unknown, or none of the pages applies to the runs.
    """
    page_ids = selected_pages(pages)
    sections: list[Section] = []
    left_out: dict[str, str] = {}
    for index, id_ in enumerate(page_ids):
        page = SECTIONS[id_]

        def page_progress(share: float, text: str, index: int = index, title: str = page.title) -> None:
            progress((index + share) / (len(page_ids) + 1), f"{title}: {text}" if text else title)

        page_progress(0.0, "")
        try:
            sections.append(page.section(report_input, page_progress))
        except Unavailable as reason:
            left_out[id_] = str(reason)
    if not sections:
        reasons = "; ".join(f"{id_}: {why}" for id_, why in left_out.items())
        raise Refused(f"No page has anything to show for these runs. {reasons}")
    progress(len(page_ids) / (len(page_ids) + 1), "writing")
    return Report(tuple(sections), left_out, render_document(report_input, sections, left_out, provenance))
