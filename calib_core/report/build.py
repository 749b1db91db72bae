"""How are pages of a subject made into one report?  Each page in turn, with progress; then the document."""

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
    """A report. sections: in the order of pages; left_out: page id → why it has nothing to say; html: all."""

    sections: tuple[Section, ...]
    left_out: Mapping[str, str]
    html: str

    @property
    def pages(self) -> tuple[str, ...]:
        """The ids of the pages that are in it."""
        return tuple(section.id for section in self.sections)


def _ignore_progress(_share: float, _text: str) -> None:
    """Tells nobody."""


def selected_pages(requested: Sequence[str]) -> tuple[str, ...]:
    """The pages asked for, each once, in their order; all where none is.

    Raises Refused for an unknown one.
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
    """The report of these pages; one that has nothing to say of these runs is left out, with the reason.

    pages: ids of SECTIONS. Raises Refused for an unknown page, or where none has anything to say.
    """
    chosen = selected_pages(pages)
    sections: list[Section] = []
    left_out: dict[str, str] = {}
    for at, id_ in enumerate(chosen):
        page = SECTIONS[id_]

        def page_progress(share: float, text: str, at: int = at, title: str = page.title) -> None:
            progress((at + share) / (len(chosen) + 1), f"{title}: {text}" if text else title)

        page_progress(0.0, "")
        try:
            sections.append(page.section(report_input, page_progress))
        except Unavailable as reason:
            left_out[id_] = str(reason)
    if not sections:
        reasons = "; ".join(f"{id_}: {why}" for id_, why in left_out.items())
        raise Refused(f"No page has anything to say of these runs. {reasons}")
    progress(len(chosen) / (len(chosen) + 1), "writing")
    return Report(tuple(sections), left_out, render_document(report_input, sections, left_out, provenance))
