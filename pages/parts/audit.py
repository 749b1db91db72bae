"""Do we count what the tool that wrote the file counted?  Its numbers beside ours, and why they differ."""

from __future__ import annotations

import polars as pl
import streamlit as st

from calib_core.analysis.check import RunReport
from calib_core.analysis.reported import Compared, compared, to_frame
from calib_core.wording import count
from pages.parts import tables
from pages.parts.exporting import Export, named
from pages.parts.literal import literal


def reported(report: RunReport, key: str) -> None:
    """A sentence and a table; nothing of a file that says no number of its own."""
    numbers = compared(report.run, report.survey.usable)
    if not numbers:
        return
    st.markdown(f"**The tool's own numbers**: {verdict(numbers)}")
    rows = [_row(one) for one in numbers]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    frame = frame.drop(name for name in ("Subject",) if frame[name].null_count() == frame.height)
    tables.plain(
        frame,
        key=f"reported_{key}",
        alt=f"{count(len(rows), 'number')} of the tool that wrote the file, beside ours",
        export=Export(
            named(report.run.label, "reported"), lambda: to_frame(numbers),
            f"theirs: as {report.run.file} says; ours: from its rows",
            f"Reported numbers of {report.run.label}",
        ),
    )
    for why, names in _whys(numbers).items():
        st.caption(literal(f"{', '.join(names)}: {why}"))


def verdict(numbers: tuple[Compared, ...]) -> str:
    """How many of them are also ours. No text of a file."""
    same, known = sum(one.agrees is True for one in numbers), sum(one.agrees is not None for one in numbers)
    if not known:
        return "none of them has a counterpart here."
    if same == known:
        return "equal to ours." if known == 1 else f"all {known:,} that can be compared are equal to ours."
    return f"{known - same:,} of {known:,} that can be compared differ from ours, for the reason given."


def _row(one: Compared) -> dict[str, str | float | int | None]:
    agrees = {True: "equal", False: "differs", None: "–"}[one.agrees]
    return {
        "Number": one.reported.name,
        "Subject": one.reported.subject,
        "Theirs": round(one.reported.value, 6),
        "Their rows": one.reported.rows,
        "Ours": None if one.ours is None else round(one.ours, 6),
        "Our rows": one.n if one.ours is not None else None,
        "Equal": agrees,
        "Ours is": one.ours_is or None,
    }


def _whys(numbers: tuple[Compared, ...]) -> dict[str, list[str]]:
    """Why a number differs, or has no counterpart → the numbers of which that is so."""
    found: dict[str, list[str]] = {}
    for one in numbers:
        if one.why:
            of = f" ({one.reported.subject})" if one.reported.subject else ""
            found.setdefault(one.why, []).append(f"{one.reported.name}{of}")
    return found
