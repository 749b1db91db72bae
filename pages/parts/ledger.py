"""What is one file, what did it give, and what is wrong with it?  The blocks of the page Files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NoReturn

import polars as pl
import streamlit as st

from calib_core.analysis.check import FileReport, RunReport
from calib_core.files import FORMATS
from calib_core.problems import Problem
from calib_core.report.sections import files as section
from calib_core.wording import bad_rows, count
from pages.parts import audit, converting, empty, keeping, refusals, rereading, show, tables, uploading
from pages.parts.cache import File
from pages.parts.exporting import Export, named
from pages.parts.literal import literal
from pages.parts.runs import Run, file_id

EXPECTED: Final = "Expected"
TO_DO: Final = "What to do"
WHY: Final = "Why"


def nothing_here() -> NoReturn:
    """An empty folder: what to put there."""
    empty.nothing_here()
    st.stop()


def one_file(file: File, key: str, files: Sequence[File], good: Sequence[str], *, open_: bool) -> None:
    """Everything known of one file."""
    mark = " · uploaded" if file.uploaded else ""
    with st.expander(f"{literal(file.name)}{mark}", expanded=open_):
        _recognised(file)
        if file.refusal is not None or file.report is None:
            refusals.refused(file, files)
        else:
            _loaded(file, file.report, key, good)
        rereading.wanted(file, files, key)
        if file.uploaded:
            uploading.remove(file, key)


def _recognised(file: File) -> None:
    """What it was taken for, and by which signs."""
    if file.report is None:
        return
    made = FORMATS[file.report.format]
    why = "because you say so" if file.wish.format else f"because it has {literal(made.marks)}"
    st.caption(f"Recognised as **{literal(made.title)}** {why}.")


def _loaded(file: File, report: FileReport, key: str, good: Sequence[str]) -> None:
    """What a file that can be used gives, and what of it is not."""
    if report.status == "asks":
        _decision(file, report, key, good)
    for number, run in enumerate(report.runs):
        one_run(run, f"{key}_{number}", several=len(report.runs) > 1)
    told = {note for run in report.runs for note in run.run.ledger.notes}
    show.remarks(*(note for note in report.notes if note not in told))
    if report.groups:
        st.caption(f"Columns that make groups: {literal(', '.join(report.groups))}.")
    if report.unused:
        st.caption(f"Columns not read: {literal(section.few(report.unused))}.")
    converting.offer(file, report, key, good)


def _decision(file: File, report: FileReport, key: str, good: Sequence[str]) -> None:
    """The bad rows, and the button that leaves them out."""
    id_ = file_id(file)
    bad = bad_rows(report.bad_rows, report.rows)
    if id_ in good:
        st.info(f"{bad} and left out of every number.", icon=":material/rule:")
        st.button("Do not load this file", key=f"drop_{key}", on_click=choose_good, args=(id_, good, key))
    else:
        st.warning(f"{bad}. Nothing of this file is loaded until you decide.", icon=":material/rule:")
        st.button(
            "Load the good rows only",
            key=f"load_{key}",
            type="primary",
            on_click=choose_good,
            args=(id_, good, key),
        )
    for number, problem in enumerate(report.problems):
        _problem(problem, f"problem_{key}_{number}")


def _problem(problem: Problem, key: str) -> None:
    """One kind of trouble: what all its rows have in common once, above the table of them."""
    rows = count(problem.count, "row")
    first = f", the first {len(problem.first)}" if problem.count > len(problem.first) else ""
    st.markdown(f"**{literal(problem.kind)}**: {rows}{first}")
    frame = pl.DataFrame([section.place(cell) for cell in problem.first], infer_schema_length=None)
    alike = [name for name in (EXPECTED, TO_DO) if frame[name].n_unique() == 1]
    if alike:
        st.caption(refusals.literal_lines("\n".join(f"{name}: {frame[name][0]}" for name in alike)))
    frame = frame.drop(alike, [name for name in ("Line",) if frame[name].null_count() == frame.height])
    told = f"{rows}{first}: {problem.kind}"
    export = Export(named(key), lambda: frame, told, f"Table of bad rows, {problem.kind}")
    tables.plain(frame, key=key, alt=told, export=export)


def choose_good(id_: str, good: Sequence[str], key: str) -> None:
    """Puts the decision, or the other one, into the address, so that a link to a page holds it."""
    keeping.decided(key)
    chosen = sorted({*good} ^ {id_})
    if chosen:
        st.query_params["good"] = ",".join(chosen)
    else:
        st.query_params.pop("good", None)


def wholes(runs: Sequence[Run]) -> None:
    """The runs that several files are parts of."""
    for run in runs:
        if len(run.parts) > 1:
            with st.expander(f"{literal(run.title)}: one run of {len(run.parts):,} files", expanded=True):
                one_run(run.report, f"whole_{run.id}", several=False)


def one_run(report: RunReport, key: str, *, several: bool) -> None:
    """What one run can give, method by method."""
    run = report.run
    if several:
        st.markdown(f"**{literal(run.label)}**")
    st.caption(literal(section.facts(report)))
    _methods(report, key)
    audit.reported(report, key)
    show.remarks(*run.ledger.notes)


def _methods(report: RunReport, key: str) -> None:
    """The methods that serve the run, and below what the others would need."""
    if report.usable:
        rows = [section.method_row(report, id_) for id_ in report.usable]
        frame = pl.DataFrame(rows, infer_schema_length=None)
        frame = frame.drop(name for name in (WHY, section.SPIKES) if not any(frame[name]))
        refused = len(report.survey.refused)
        tables.plain(
            frame,
            key=f"methods_{key}",
            alt=f"Methods of {report.run.label}: {len(report.usable)} usable, {refused} not",
            export=Export(
                named(report.run.label, "methods"), lambda: frame,
                f"{count(report.run.ledger.read, 'row')} read of {report.run.file}",
                f"Methods of {report.run.label}",
            ),
        )
    else:
        st.caption("No confidence method has a usable row.")
    refusals.unusable(dict(report.survey.refused))
