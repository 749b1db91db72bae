"""Which pages has a report?  One module a page: a subject in, what its page shows out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from calib_core.report.blocks import ProgressCallback, Section
from calib_core.report.inputs import ReportInput
from calib_core.report.sections import (
    abstention,
    comparison,
    concentration,
    files,
    groups,
    methods,
    overview,
    reliability,
    robustness,
    sampling,
    training,
)

__all__ = ["SECTIONS", "ReportPage"]


@dataclass(frozen=True, slots=True)
class ReportPage:
    """One page of a report.

    section: raises Unavailable, saying why, where the runs have nothing to say to the question.
    """

    title: str
    question: str
    section: Callable[[ReportInput, ProgressCallback], Section]


SECTIONS: Final[dict[str, ReportPage]] = {
    module.ID: ReportPage(module.TITLE, module.QUESTION, module.section)
    for module in (
        overview,
        reliability,
        concentration,
        robustness,
        comparison,
        abstention,
        sampling,
        methods,
        groups,
        training,
        files,
    )
}
"""Page id → page, in the order in which they stand."""
