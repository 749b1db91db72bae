"""The block of one file: what was read of it, its bad rows, and the controls that change how it is read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import polars as pl
import streamlit as st

from calib_core.errors import Problem, Refused
from calib_core.readers import FORMATS
from calib_core.readers.table.run_split import file_stem
from calib_core.reporting.export.canonical import source_record, to_canonical
from calib_core.results.files import MAX_ADVISED_COLUMNS, FileReport, RunReport
from calib_core.results.reported_metrics import (
    ReportedComparison,
    compare_reported_metrics,
    reported_metrics_frame,
)
from calib_core.runs import TokenRun
from calib_core.views.files import (
    SPIKES_HEADING,
    bad_cell_row,
    corrections_view,
    method_row,
    names_or_more,
    row_facts,
)
from calib_core.wording import bad_rows_phrase, names_sharing, plural
from pages.state.cache import LoadedFile
from pages.state.mappings import FileMapping
from pages.state.markdown import escape_markdown
from pages.state.runs import file_id
from pages.widgets.column_mapping import (
    has_suggested_mapping,
    mark_decided,
    show_mapping_controls,
    show_repeats_button,
)
from pages.widgets.export import Export, make_file_stem
from pages.widgets.file_status import escape_markdown_lines, show_refusal, show_unusable_methods
from pages.widgets.summary import show_remarks, show_warnings
from pages.widgets.table import show_table
from pages.widgets.uploader import show_remove_button
from pages.widgets.view import show_view_table

CONVERT_HELP: Final = (
    "Saves the good rows in Calib's own format, with all that is known about the file. Calib reads the same "
    "numbers back."
)
REDUCE_NOTE: Final = (
    "Token-level files cannot be converted. Save their sums with `python -m calib_core reduce FILE -o "
    "SUMS.parquet`."
)

EXPECTED_COLUMN: Final = "Expected"
FIX_COLUMN: Final = "What to do"
WHY_COLUMN: Final = "Why"


def show_file(
    file: LoadedFile,
    files: Sequence[LoadedFile],
    accepted_file_ids: Sequence[str],
    *,
    expanded: bool,
    is_shown_above: bool = False,
) -> FileMapping | None:
    """Draw the block of one file: format, runs or refusal, mapping controls and removal.

    Parameters
    ----------
    file : LoadedFile
    files : Sequence of LoadedFile
        Every file, since right answers may come from another one.
    accepted_file_ids : Sequence of str
        Ids of the files whose bad rows the person agreed to leave out.
    expanded : bool
        Whether the block starts open.
    is_shown_above : bool
        Whether what its columns were taken for is drawn above all files.

    Returns
    -------
    FileMapping or None
        Its suggested mapping as it is set; None where it has none that can be accepted.
    """
    mark, key = " · uploaded" if file.is_uploaded else "", file_id(file)
    with st.expander(f"{escape_markdown(file.name)}{mark}", expanded=expanded):
        _show_format(file)
        if file.report is not None and file.refusal is None:
            _show_loaded(file, file.report, key, accepted_file_ids)
        elif has_suggested_mapping(file):
            with st.expander("Why it is not loaded as it is", key=f"why_{key}", type="compact"):
                show_refusal(file, files)
        else:
            show_refusal(file, files)
        _show_unused_columns(file)
        suggested = show_mapping_controls(file, files, key, is_shown_above=is_shown_above)
        if file.is_uploaded:
            show_remove_button(file, key)
    return suggested


def _show_format(file: LoadedFile) -> None:
    """Say which format the file was recognised as, and by what."""
    if file.report is None:
        return
    format_ = FORMATS[file.report.format]
    reason = (
        "because you chose so"
        if file.mapping.format
        else f"because it has {escape_markdown(format_.recognised_by)}"
    )
    st.caption(f"Recognised as **{escape_markdown(format_.title)}** {reason}.")


def _show_loaded(file: LoadedFile, report: FileReport, key: str, accepted_file_ids: Sequence[str]) -> None:
    """Draw a readable file's runs, its remarks, and the columns that were not read."""
    if report.status == "asks":
        _show_decision(file, report, key, accepted_file_ids)
    for number, run in enumerate(report.runs):
        show_run(
            run, f"{key}_{number}", several=len(report.runs) > 1, notes_elsewhere=report.notes_of_all_runs
        )
    show_warnings(*report.warnings)
    run_notes = {note for run in report.runs for note in run.run.row_counts.notes}
    run_notes.difference_update(report.notes_of_all_runs)
    show_remarks(*(note for note in report.notes if note not in run_notes))
    if report.group_columns:
        st.caption(f"Columns that make groups: {escape_markdown(', '.join(report.group_columns))}.")
    if report.unused_columns:
        st.caption(f"Columns not read: {escape_markdown(names_or_more(report.unused_columns))}.")
    show_convert_button(file, report, key, accepted_file_ids)


def _show_unused_columns(file: LoadedFile) -> None:
    """List the columns that could hold a confidence, an answer or an outcome, and why they are not used."""
    unused = file.report.columns_not_used if file.report else ()
    if unused:
        lines = [f"- {one.column}: {one.why}." for one in unused[:MAX_ADVISED_COLUMNS]]
        st.caption(f"Not used, though possible:\n\n{escape_markdown_lines(chr(10).join(lines))}")


def _show_decision(file: LoadedFile, report: FileReport, key: str, accepted_file_ids: Sequence[str]) -> None:
    """Draw the bad rows and the button that leaves them out."""
    id_ = file_id(file)
    phrase = bad_rows_phrase(report.n_bad_rows, report.n_rows)
    if id_ in accepted_file_ids:
        st.info(f"{phrase} and not used in any number.", icon=":material/rule:")
        st.button(
            "Do not load this file",
            key=f"drop_{key}",
            on_click=decide_on_good_rows,
            args=(id_, key, False),
        )
    else:
        st.warning(f"{phrase}. Calib loads the file once you decide.", icon=":material/rule:")
        with st.container(horizontal=True):
            show_repeats_button(file, report, key)
            st.button(
                "Load the good rows only",
                key=f"load_{key}",
                type="secondary" if report.proposal else "primary",
                on_click=decide_on_good_rows,
                args=(id_, key, True),
            )
    for number, problem in enumerate(report.problems):
        _show_problem(problem, f"problem_{key}_{number}")


def _show_problem(problem: Problem, key: str) -> None:
    """Draw one kind of bad cell: what its rows have in common, then a table of them."""
    rows = plural(problem.count, "row")
    first = f", the first {len(problem.first_cells)}" if problem.count > len(problem.first_cells) else ""
    st.markdown(f"**{escape_markdown(problem.kind)}**: {rows}{first}")
    frame = pl.DataFrame([bad_cell_row(cell) for cell in problem.first_cells], infer_schema_length=None)
    constant = [name for name in (EXPECTED_COLUMN, FIX_COLUMN) if frame[name].n_unique() == 1]
    if constant:
        st.caption(escape_markdown_lines("\n".join(f"{name}: {frame[name][0]}" for name in constant)))
    frame = frame.drop(constant, [name for name in ("Line",) if frame[name].null_count() == frame.height])
    description = f"{rows}{first}: {problem.kind}"
    export = Export(make_file_stem(key), lambda: frame, description, f"Table of bad rows, {problem.kind}")
    show_table(frame, key=key, alt=description, export=export)


def decide_on_good_rows(id_: str, key: str, accepts: bool) -> None:  # noqa: FBT001 (Streamlit passes it so)
    """Accept or withdraw the loading of a file's good rows; the address keeps the decisions for links.

    It may have more of them than when the button was drawn.
    """
    mark_decided(key)
    others = set(filter(None, st.query_params.get("good", "").split(","))) - {id_}
    if accepted := sorted(others | {id_} if accepts else others):
        st.query_params["good"] = ",".join(accepted)
    else:
        st.query_params.pop("good", None)


def show_run(report: RunReport, key: str, *, several: bool, notes_elsewhere: Collection[str] = ()) -> None:
    """Draw the rows, methods and reported metrics of one run, and its notes but for those."""
    run = report.run
    if several:
        st.markdown(f"**{escape_markdown(run.label)}**")
    st.caption(escape_markdown(row_facts(report)))
    _show_methods(report, key)
    show_reported_metrics(report, key)
    show_corrections(report, key)
    show_remarks(*(note for note in run.row_counts.notes if note not in notes_elsewhere))


def show_corrections(report: RunReport, key: str) -> None:
    """Draw what a table of corrections changed in a run; nothing where it has none."""
    view = corrections_view(report)
    for table in view.tables:
        st.markdown(f"**{escape_markdown(table.title)}**")
        show_view_table(view, replace(table, title="", id=f"{table.id}_{key}"))


def _show_methods(report: RunReport, key: str) -> None:
    """Draw a table of the usable methods, and below it what the others would need."""
    if report.usable:
        rows = [method_row(report, id_) for id_ in report.usable]
        frame = pl.DataFrame(rows, infer_schema_length=None)
        frame = frame.drop(name for name in (WHY_COLUMN, SPIKES_HEADING) if not any(frame[name]))
        n_unusable = len(report.survey.unavailable)
        show_table(
            frame,
            key=f"methods_{key}",
            alt=f"Methods of {report.run.label}: {len(report.usable)} usable, {n_unusable} not",
            export=Export(
                make_file_stem(report.run.label, "methods"),
                lambda: frame,
                f"{plural(report.run.row_counts.n_rows, 'row')} read of {report.run.file}",
                f"Methods of {report.run.label}",
            ),
        )
    elif report.has_judge_and_people:
        st.caption("It needs no confidence: the page Judge compares the two.")
        return
    else:
        st.caption("No method has a usable row.")
    show_unusable_methods(dict(report.survey.unavailable))


def show_reported_metrics(report: RunReport, key: str) -> None:
    """Compare the metrics that the file itself reports with ours: a sentence and a table.

    Nothing is drawn for a file that reports none.
    """
    comparisons = compare_reported_metrics(report.run, report.survey.usable)
    if not comparisons:
        return
    st.markdown(f"**The tool's own numbers**: {agreement_sentence(comparisons)}")
    rows = [_reported_row(comparison) for comparison in comparisons]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    frame = frame.drop(name for name in ("Subject",) if frame[name].null_count() == frame.height)
    show_table(
        frame,
        key=f"reported_{key}",
        alt=f"{plural(len(rows), 'number')} of the tool that wrote the file, compared with Calib's",
        export=Export(
            make_file_stem(report.run.label, "reported"),
            lambda: reported_metrics_frame(comparisons),
            f"Tool: as stored in {report.run.file}. Calib: computed from the rows",
            f"Reported numbers of {report.run.label}",
        ),
    )
    for reason, names in _reasons(comparisons).items():
        st.caption(escape_markdown(f"{', '.join(names)}: {reason}"))


def agreement_sentence(comparisons: tuple[ReportedComparison, ...]) -> str:
    """Return how many reported numbers agree with Calib's; the sentence contains no text from a file."""
    equal, known = (
        sum(comparison.agrees is True for comparison in comparisons),
        sum(comparison.agrees is not None for comparison in comparisons),
    )
    if not known:
        return "none can be compared with a number from Calib."
    if equal == known:
        return "equal to Calib's." if known == 1 else f"all {known:,} comparable numbers equal Calib's."
    return (
        f"{known - equal:,} of {known:,} comparable numbers differ from Calib's; the table gives the reason."
    )


def _reported_row(comparison: ReportedComparison) -> dict[str, str | float | int | None]:
    agrees = {True: "equal", False: "differs", None: "–"}[comparison.agrees]
    return {
        "Number": comparison.reported.name,
        "Subject": comparison.reported.subject,
        "Theirs": round(comparison.reported.value, 6),
        "Their rows": comparison.reported.n_rows,
        "Ours": None if comparison.ours is None else round(comparison.ours, 6),
        "Our rows": comparison.n_rows if comparison.ours is not None else None,
        "Equal": agrees,
        "Ours is": comparison.ours_description or None,
    }


def _reasons(comparisons: tuple[ReportedComparison, ...]) -> dict[str, list[str]]:
    """Return the names of the numbers by the reason why they differ or have no counterpart."""
    return names_sharing(
        (f"{one.reported.name}{f' ({one.reported.subject})' if one.reported.subject else ''}", one.reason)
        for one in comparisons
        if one.reason
    )


def show_convert_button(
    file: LoadedFile, report: FileReport, key: str, accepted_file_ids: Sequence[str]
) -> None:
    """Draw the button that converts a loaded file; for token-level files, say how to save their sums."""
    if report.status == "asks" and file_id(file) not in accepted_file_ids:
        return
    if any(isinstance(run_report.run, TokenRun) for run_report in report.runs):
        if report.format != "sums":
            st.caption(REDUCE_NOTE)
        return
    st.download_button(
        "Convert (download)",
        data=partial(_convert, file, report),
        file_name=f"{file_stem(file.name).removesuffix('.answers')}.answers.parquet",
        mime="application/vnd.apache.parquet",
        key=f"convert_{key}",
        on_click="ignore",
        icon=":material/download:",
        help=CONVERT_HELP,
    )


def _convert(file: LoadedFile, report: FileReport) -> bytes:
    """Return the file in the canonical format; called on the click, outside the script run."""
    try:
        sources = [source_record(file.listing.path, file.name, report.n_rows)]
    except Refused:  # the file is gone since it was read; its rows are still in memory
        sources = []
    return to_canonical([run_report.run for run_report in report.runs], sources, report.notes).to_parquet()
