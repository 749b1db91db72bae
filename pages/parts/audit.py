"""Do we count what the tool that wrote the file counted?  Its numbers beside ours, and why they differ."""

from __future__ import annotations

import polars as pl
import streamlit as st

from calib_core.analysis.check import RunReport
from calib_core.analysis.reported import ReportedComparison, compare_reported_metrics, reported_metrics_frame
from calib_core.wording import plural
from pages.parts import tables
from pages.parts.exporting import Export, make_file_stem
from pages.parts.literal import escape_markdown


def show_reported_metrics(report: RunReport, key: str) -> None:
    """A sentence and a table; nothing of a file that says no number of its own."""
    numbers = compare_reported_metrics(report.run, report.survey.usable)
    if not numbers:
        return
    st.markdown(f"**The tool's own numbers**: {agreement_sentence(numbers)}")
    rows = [_reported_row(one) for one in numbers]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    frame = frame.drop(name for name in ("Subject",) if frame[name].null_count() == frame.height)
    tables.show_table(
        frame,
        key=f"reported_{key}",
        alt=f"{plural(len(rows), 'number')} of the tool that wrote the file, beside ours",
        export=Export(
            make_file_stem(report.run.label, "reported"), lambda: reported_metrics_frame(numbers),
            f"theirs: as {report.run.file} says; ours: from its rows",
            f"Reported numbers of {report.run.label}",
        ),
    )
    for why, names in _reasons(numbers).items():
        st.caption(escape_markdown(f"{', '.join(names)}: {why}"))


def agreement_sentence(numbers: tuple[ReportedComparison, ...]) -> str:
    """How many of them are also ours. No text of a file."""
    same, known = sum(one.agrees is True for one in numbers), sum(one.agrees is not None for one in numbers)
    if not known:
        return "none of them has a counterpart here."
    if same == known:
        return "equal to ours." if known == 1 else f"all {known:,} that can be compared are equal to ours."
    return f"{known - same:,} of {known:,} that can be compared differ from ours, for the reason given."


def _reported_row(number: ReportedComparison) -> dict[str, str | float | int | None]:
    agrees = {True: "equal", False: "differs", None: "–"}[number.agrees]
    return {
        "Number": number.reported.name,
        "Subject": number.reported.subject,
        "Theirs": round(number.reported.value, 6),
        "Their rows": number.reported.rows,
        "Ours": None if number.ours is None else round(number.ours, 6),
        "Our rows": number.n_rows if number.ours is not None else None,
        "Equal": agrees,
        "Ours is": number.ours_description or None,
    }


def _reasons(numbers: tuple[ReportedComparison, ...]) -> dict[str, list[str]]:
    """Why a number differs, or has no counterpart → the numbers of which that is so."""
    found: dict[str, list[str]] = {}
    for one in numbers:
        if one.reason:
            of = f" ({one.reported.subject})" if one.reported.subject else ""
            found.setdefault(one.reason, []).append(f"{one.reported.name}{of}")
    return found
