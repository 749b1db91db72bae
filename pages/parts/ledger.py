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
from calib_core.wording import bad_rows_phrase, plural
from pages.parts import audit, converting, empty, keeping, refusals, rereading, show, tables, uploading
from pages.parts.cache import LoadedFile
from pages.parts.exporting import Export, make_file_stem
from pages.parts.literal import escape_markdown
from pages.parts.runs import LoadedRun, file_id

EXPECTED_COLUMN: Final = "Expected"
FIX_COLUMN: Final = "What to do"
WHY_COLUMN: Final = "Why"


def stop_on_empty_folder() -> NoReturn:
    """An empty folder: what to put there."""
    empty.show_empty_folder()
    st.stop()


def show_file(file: LoadedFile, key: str, files: Sequence[LoadedFile], accepted_file_ids: Sequence[str], *, expanded: bool) -> None:
    """Everything known of one file."""
    mark = " · uploaded" if file.is_uploaded else ""
    with st.expander(f"{escape_markdown(file.name)}{mark}", expanded=expanded):
        _show_format(file)
        if file.refusal is not None or file.report is None:
            refusals.show_refusal(file, files)
        else:
            _show_loaded(file, file.report, key, accepted_file_ids)
        rereading.show_mapping_controls(file, files, key)
        if file.is_uploaded:
            uploading.show_remove_button(file, key)


def _show_format(file: LoadedFile) -> None:
    """What it was taken for, and by which signs."""
    if file.report is None:
        return
    made = FORMATS[file.report.format]
    why = "because you say so" if file.mapping.format else f"because it has {escape_markdown(made.recognised_by)}"
    st.caption(f"Recognised as **{escape_markdown(made.title)}** {why}.")


def _show_loaded(file: LoadedFile, report: FileReport, key: str, accepted_file_ids: Sequence[str]) -> None:
    """What a file that can be used gives, and what of it is not."""
    if report.status == "asks":
        _show_decision(file, report, key, accepted_file_ids)
    for number, run in enumerate(report.runs):
        show_run(run, f"{key}_{number}", several=len(report.runs) > 1)
    told = {note for run in report.runs for note in run.run.row_counts.notes}
    show.show_remarks(*(note for note in report.notes if note not in told))
    if report.group_columns:
        st.caption(f"Columns that make groups: {escape_markdown(', '.join(report.group_columns))}.")
    if report.unused_columns:
        st.caption(f"Columns not read: {escape_markdown(section.names_or_more(report.unused_columns))}.")
    converting.show_convert_button(file, report, key, accepted_file_ids)


def _show_decision(file: LoadedFile, report: FileReport, key: str, accepted_file_ids: Sequence[str]) -> None:
    """The bad rows, and the button that leaves them out."""
    id_ = file_id(file)
    bad = bad_rows_phrase(report.bad_rows, report.rows)
    if id_ in accepted_file_ids:
        st.info(f"{bad} and left out of every number.", icon=":material/rule:")
        st.button("Do not load this file", key=f"drop_{key}", on_click=toggle_good_rows, args=(id_, accepted_file_ids, key))
    else:
        st.warning(f"{bad}. Nothing of this file is loaded until you decide.", icon=":material/rule:")
        st.button(
            "Load the good rows only",
            key=f"load_{key}",
            type="primary",
            on_click=toggle_good_rows,
            args=(id_, accepted_file_ids, key),
        )
    for number, problem in enumerate(report.problems):
        _show_problem(problem, f"problem_{key}_{number}")


def _show_problem(problem: Problem, key: str) -> None:
    """One kind of trouble: what all its rows have in common once, above the table of them."""
    rows = plural(problem.count, "row")
    first = f", the first {len(problem.first)}" if problem.count > len(problem.first) else ""
    st.markdown(f"**{escape_markdown(problem.kind)}**: {rows}{first}")
    frame = pl.DataFrame([section.bad_cell_row(cell) for cell in problem.first], infer_schema_length=None)
    alike = [name for name in (EXPECTED_COLUMN, FIX_COLUMN) if frame[name].n_unique() == 1]
    if alike:
        st.caption(refusals.escape_markdown_lines("\n".join(f"{name}: {frame[name][0]}" for name in alike)))
    frame = frame.drop(alike, [name for name in ("Line",) if frame[name].null_count() == frame.height])
    told = f"{rows}{first}: {problem.kind}"
    export = Export(make_file_stem(key), lambda: frame, told, f"Table of bad rows, {problem.kind}")
    tables.show_table(frame, key=key, alt=told, export=export)


def toggle_good_rows(id_: str, accepted_file_ids: Sequence[str], key: str) -> None:
    """Puts the decision, or the other one, into the address, so that a link to a page holds it."""
    keeping.mark_decided(key)
    chosen = sorted({*accepted_file_ids} ^ {id_})
    if chosen:
        st.query_params["good"] = ",".join(chosen)
    else:
        st.query_params.pop("good", None)


def show_merged_runs(runs: Sequence[LoadedRun]) -> None:
    """The runs that several files are parts of."""
    for run in runs:
        if len(run.part_files) > 1:
            with st.expander(f"{escape_markdown(run.title)}: one run of {len(run.part_files):,} files", expanded=True):
                show_run(run.report, f"whole_{run.id}", several=False)


def show_run(report: RunReport, key: str, *, several: bool) -> None:
    """What one run can give, method by method."""
    run = report.run
    if several:
        st.markdown(f"**{escape_markdown(run.label)}**")
    st.caption(escape_markdown(section.row_facts(report)))
    _show_methods(report, key)
    audit.show_reported_metrics(report, key)
    show.show_remarks(*run.row_counts.notes)


def _show_methods(report: RunReport, key: str) -> None:
    """The methods that serve the run, and below what the others would need."""
    if report.usable:
        rows = [section.method_row(report, id_) for id_ in report.usable]
        frame = pl.DataFrame(rows, infer_schema_length=None)
        frame = frame.drop(name for name in (WHY_COLUMN, section.SPIKES_HEADING) if not any(frame[name]))
        refused = len(report.survey.unavailable)
        tables.show_table(
            frame,
            key=f"methods_{key}",
            alt=f"Methods of {report.run.label}: {len(report.usable)} usable, {refused} not",
            export=Export(
                make_file_stem(report.run.label, "methods"), lambda: frame,
                f"{plural(report.run.row_counts.n_rows, 'row')} read of {report.run.file}",
                f"Methods of {report.run.label}",
            ),
        )
    else:
        st.caption("No confidence method has a usable row.")
    refusals.show_unusable_methods(dict(report.survey.unavailable))
