"""The pages of a report, one module each: a module turns the input into the section of its page."""

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

    Attributes
    ----------
    title, question : str
        The page's title and the question it answers.
    section : Callable[[ReportInput, ProgressCallback], Section]
        Builds the section; raises Unavailable, with the reason, if the page does not apply to the runs.
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
"""Page id → page, in the order of the report."""
