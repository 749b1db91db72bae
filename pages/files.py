"""What was loaded, what was left out, and why?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final, NoReturn

import polars as pl
import streamlit as st

from calib_core.errors import Problem, Refused
from calib_core.readers import FORMATS
from calib_core.readers.table.run_split import file_stem
from calib_core.report.export.canonical import source_record, to_canonical
from calib_core.report.sections.files import (
    SPIKES_HEADING,
    bad_cell_row,
    method_row,
    names_or_more,
    row_facts,
)
from calib_core.results.files import FileReport, RunReport
from calib_core.results.reported_metrics import (
    ReportedComparison,
    compare_reported_metrics,
    reported_metrics_frame,
)
from calib_core.runs import TokenRun
from calib_core.wording import bad_rows_phrase, plural
from pages.state.cache import LoadedFile
from pages.state.markdown import escape_markdown
from pages.state.runs import LoadedRun, file_id
from pages.widgets.column_mapping import mark_decided, show_mapping_controls
from pages.widgets.export import Export, make_file_stem
from pages.widgets.file_status import (
    escape_markdown_lines,
    open_files,
    show_empty_folder,
    show_file_table,
    show_refusal,
    show_unusable_methods,
)
from pages.widgets.shell import shell
from pages.widgets.summary import show_remarks, show_view_caption
from pages.widgets.table import show_table
from pages.widgets.uploader import show_remove_button, show_uploader

# MERGED audit: Do we count what the tool that wrote the file counted?  Its numbers beside ours, and why they differ.


def show_reported_metrics(report: RunReport, key: str) -> None:
    """A sentence and a table; nothing of a file that says no number of its own."""
    numbers = compare_reported_metrics(report.run, report.survey.usable)
    if not numbers:
        return
    st.markdown(f"**The tool's own numbers**: {agreement_sentence(numbers)}")
    rows = [_reported_row(one) for one in numbers]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    frame = frame.drop(name for name in ("Subject",) if frame[name].null_count() == frame.height)
    show_table(
        frame,
        key=f"reported_{key}",
        alt=f"{plural(len(rows), 'number')} of the tool that wrote the file, beside ours",
        export=Export(
            make_file_stem(report.run.label, "reported"),
            lambda: reported_metrics_frame(numbers),
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


# MERGED converting: How does a loaded file become one in the project's own format?  A download on the page Files.

CONVERT_HELP: Final = (
    "The same rows in Calib's own format, which reads back to the same numbers. Bad rows are left out, and "
    "what is known of the file is written with it."
)
REDUCE_NOTE: Final = (
    "Token-level files are not converted: the sums in them are saved with "
    "`python -m calib_core reduce FILE -o SUMS.parquet`."
)


def show_convert_button(
    file: LoadedFile, report: FileReport, key: str, accepted_file_ids: Sequence[str]
) -> None:
    """The button below a file that is loaded; what to do instead where its runs are sums."""
    if report.status == "asks" and file_id(file) not in accepted_file_ids:
        return
    if any(isinstance(one.run, TokenRun) for one in report.runs):
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
    """The file as it was read, in the canonical format; made when it is asked for, outside the page's run."""
    try:
        sources = [source_record(file.listing.path, file.name, report.rows)]
    except Refused:  # gone since it was read: what was read of it is here all the same
        sources = []
    return to_canonical([one.run for one in report.runs], sources, report.notes).to_parquet()


# MERGED ledger: What is one file, what did it give, and what is wrong with it?  The blocks of the page Files.

EXPECTED_COLUMN: Final = "Expected"
FIX_COLUMN: Final = "What to do"
WHY_COLUMN: Final = "Why"


def stop_on_empty_folder() -> NoReturn:
    """An empty folder: what to put there."""
    show_empty_folder()
    st.stop()


def show_file(
    file: LoadedFile,
    key: str,
    files: Sequence[LoadedFile],
    accepted_file_ids: Sequence[str],
    *,
    expanded: bool,
) -> None:
    """Everything known of one file."""
    mark = " · uploaded" if file.is_uploaded else ""
    with st.expander(f"{escape_markdown(file.name)}{mark}", expanded=expanded):
        _show_format(file)
        if file.refusal is not None or file.report is None:
            show_refusal(file, files)
        else:
            _show_loaded(file, file.report, key, accepted_file_ids)
        show_mapping_controls(file, files, key)
        if file.is_uploaded:
            show_remove_button(file, key)


def _show_format(file: LoadedFile) -> None:
    """What it was taken for, and by which signs."""
    if file.report is None:
        return
    made = FORMATS[file.report.format]
    why = (
        "because you say so"
        if file.mapping.format
        else f"because it has {escape_markdown(made.recognised_by)}"
    )
    st.caption(f"Recognised as **{escape_markdown(made.title)}** {why}.")


def _show_loaded(file: LoadedFile, report: FileReport, key: str, accepted_file_ids: Sequence[str]) -> None:
    """What a file that can be used gives, and what of it is not."""
    if report.status == "asks":
        _show_decision(file, report, key, accepted_file_ids)
    for number, run in enumerate(report.runs):
        show_run(run, f"{key}_{number}", several=len(report.runs) > 1)
    told = {note for run in report.runs for note in run.run.row_counts.notes}
    show_remarks(*(note for note in report.notes if note not in told))
    if report.group_columns:
        st.caption(f"Columns that make groups: {escape_markdown(', '.join(report.group_columns))}.")
    if report.unused_columns:
        st.caption(f"Columns not read: {escape_markdown(names_or_more(report.unused_columns))}.")
    show_convert_button(file, report, key, accepted_file_ids)


def _show_decision(file: LoadedFile, report: FileReport, key: str, accepted_file_ids: Sequence[str]) -> None:
    """The bad rows, and the button that leaves them out."""
    id_ = file_id(file)
    bad = bad_rows_phrase(report.bad_rows, report.rows)
    if id_ in accepted_file_ids:
        st.info(f"{bad} and left out of every number.", icon=":material/rule:")
        st.button(
            "Do not load this file",
            key=f"drop_{key}",
            on_click=toggle_good_rows,
            args=(id_, accepted_file_ids, key),
        )
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
    frame = pl.DataFrame([bad_cell_row(cell) for cell in problem.first], infer_schema_length=None)
    alike = [name for name in (EXPECTED_COLUMN, FIX_COLUMN) if frame[name].n_unique() == 1]
    if alike:
        st.caption(escape_markdown_lines("\n".join(f"{name}: {frame[name][0]}" for name in alike)))
    frame = frame.drop(alike, [name for name in ("Line",) if frame[name].null_count() == frame.height])
    told = f"{rows}{first}: {problem.kind}"
    export = Export(make_file_stem(key), lambda: frame, told, f"Table of bad rows, {problem.kind}")
    show_table(frame, key=key, alt=told, export=export)


def toggle_good_rows(id_: str, accepted_file_ids: Sequence[str], key: str) -> None:
    """Puts the decision, or the other one, into the address, so that a link to a page holds it."""
    mark_decided(key)
    chosen = sorted({*accepted_file_ids} ^ {id_})
    if chosen:
        st.query_params["good"] = ",".join(chosen)
    else:
        st.query_params.pop("good", None)


def show_merged_runs(runs: Sequence[LoadedRun]) -> None:
    """The runs that several files are parts of."""
    for run in runs:
        if len(run.part_files) > 1:
            with st.expander(
                f"{escape_markdown(run.title)}: one run of {len(run.part_files):,} files", expanded=True
            ):
                show_run(run.report, f"whole_{run.id}", several=False)


def show_run(report: RunReport, key: str, *, several: bool) -> None:
    """What one run can give, method by method."""
    run = report.run
    if several:
        st.markdown(f"**{escape_markdown(run.label)}**")
    st.caption(escape_markdown(row_facts(report)))
    _show_methods(report, key)
    show_reported_metrics(report, key)
    show_remarks(*run.row_counts.notes)


def _show_methods(report: RunReport, key: str) -> None:
    """The methods that serve the run, and below what the others would need."""
    if report.usable:
        rows = [method_row(report, id_) for id_ in report.usable]
        frame = pl.DataFrame(rows, infer_schema_length=None)
        frame = frame.drop(name for name in (WHY_COLUMN, SPIKES_HEADING) if not any(frame[name]))
        refused = len(report.survey.unavailable)
        show_table(
            frame,
            key=f"methods_{key}",
            alt=f"Methods of {report.run.label}: {len(report.usable)} usable, {refused} not",
            export=Export(
                make_file_stem(report.run.label, "methods"),
                lambda: frame,
                f"{plural(report.run.row_counts.n_rows, 'row')} read of {report.run.file}",
                f"Methods of {report.run.label}",
            ),
        )
    else:
        st.caption("No confidence method has a usable row.")
    show_unusable_methods(dict(report.survey.unavailable))


def page() -> None:
    """Draws the page."""
    here = shell("files")
    show_uploader(here.files)
    if not here.files:
        stop_on_empty_folder()
    loaded = {file for run in here.runs for file in run.part_files}
    show_view_caption(
        f"{plural(len(here.files), 'file')}, {len(loaded)} loaded, {plural(len(here.runs), 'run')}. "
        "The folder is only read, never written to."
    )
    shown = show_file_table(here.files, loaded)
    if len(shown) == len(here.files):
        show_merged_runs(here.runs)
    opened = open_files(shown, loaded, here.files)
    for file, key in shown.items():
        show_file(file, key, here.files, here.accepted_file_ids, expanded=file in opened)


if __name__ == "__main__":
    page()
