"""What became of each file, why it is not loaded, and what to do where no run is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final

import polars as pl
import streamlit as st

from calib_core.errors import shorten
from calib_core.methods import METHODS
from calib_core.readers import FORMATS
from calib_core.wording import bad_rows_phrase, both_or_all, plural
from pages.state.cache import LoadedFile
from pages.state.markdown import escape_markdown
from pages.state.runs import file_id
from pages.widgets.column_mapping import (
    NEEDS_COLUMN_NAMES,
    NEEDS_CONSENT,
    NEEDS_GOLD,
    NEEDS_NUMBERS,
    decided_keys,
    figures_text,
    is_corrections_table,
    is_gold_table,
    missing_information,
    real_path,
)
from pages.widgets.export import Export
from pages.widgets.page_link import page_link
from pages.widgets.table import COLUMN_CONFIG, show_selectable_table

LOOKS_LIKE_GOLD: Final = (
    "This looks like a table of right answers. Select it as “Right answers from” of the file that needs one."
)
LOOKS_LIKE_CORRECTIONS: Final = (
    "This looks like a table of corrections. Select it as “Corrections from” of the file that it corrects."
)
USED_AS_CORRECTIONS: Final = "Corrections of another file are taken from this table."
_LEADING_COUNTS: Final = re.compile(r"^[\d,]+ rows?\. (?:Accuracy of the [\d,]+ with an outcome: [\d.]+\. )?")
"""Counts with which a message begins, before the reason."""
MAX_REASON: Final = 160
"""Letters of a reason in the table of files."""
MAX_FULL_FILES: Final = 6
"""Up to this many files are shown in full; of more, only those that need attention."""
MAX_OPEN_BLOCKS: Final = 3
"""Up to this many files that need attention are open at once; of more, the first of each kind."""
UNREAD: Final = "not read yet"
REFUSED_FILE: Final = "refused"
LOADED: Final = "loaded"
GOOD_ROWS_ONLY: Final = "loaded, good rows only"
UNDECIDED: Final = "bad rows: decide"
LIKELY_GOLD: Final = "right answers?"
HOLDS_GOLD: Final = "right answers"
LIKELY_CORRECTIONS: Final = "corrections?"
HOLDS_CORRECTIONS: Final = "corrections"
SETTLED_STATES: Final = (LOADED, GOOD_ROWS_ONLY, HOLDS_GOLD, HOLDS_CORRECTIONS)
"""States of files that need no attention."""

STATE_PHRASES: Final = {
    NEEDS_CONSENT: ("needs its columns confirmed", "need their columns confirmed"),
    NEEDS_NUMBERS: ("needs numbers for its words", "need numbers for their words"),
    NEEDS_COLUMN_NAMES: ("needs its columns named", "need their columns named"),
    NEEDS_GOLD: ("needs right answers", "need right answers"),
    UNDECIDED: ("has bad rows that need a decision", "have bad rows that need a decision"),
    LIKELY_GOLD: ("seems to hold right answers", "seem to hold right answers"),
    HOLDS_GOLD: ("holds right answers", "hold right answers"),
    LIKELY_CORRECTIONS: ("seems to hold corrections", "seem to hold corrections"),
    HOLDS_CORRECTIONS: ("holds corrections", "hold corrections"),
    REFUSED_FILE: ("is refused", "are refused"),
}
"""State of a file → verb phrase for one file, and for several."""


# --- Refusals -------------------------------------------------------------------------------------


def show_refusal(file: LoadedFile, files: Sequence[LoadedFile]) -> None:
    """Draw why a file is not loaded; what each method would need is folded, but for the plainest."""
    if looks_like := _looks_like(file, files):
        st.info(looks_like, icon=":material/key:")
        return
    lines = refusal_text(file).splitlines()
    runs = () if file.report is None else file.report.runs
    unavailable = {id_: why for run in runs for id_, why in run.survey.unavailable.items()}
    reasons = [line for line in lines if line.startswith("- ")][1:] if unavailable else []
    text = escape_markdown_lines("\n".join(line for line in lines if line not in reasons))
    if missing_information(file):
        st.warning(text, icon=":material/help:")
    else:
        st.error(text, icon=":material/block:")
    if reasons:
        show_unusable_methods(unavailable)


def _looks_like(file: LoadedFile, files: Sequence[LoadedFile]) -> str:
    """Return what a refused file seems to hold for another one, and where to choose it; "" for neither."""
    if is_gold_table(file, files):
        return LOOKS_LIKE_GOLD
    if not is_corrections_table(file):
        return ""
    is_used = real_path(file) in {other.mapping.corrections for other in files}
    return USED_AS_CORRECTIONS if is_used else LOOKS_LIKE_CORRECTIONS


def refusal_text(file: LoadedFile) -> str:
    """Return the refusal without what stands beside it: the file's name and its format."""
    message = file.refusal or ""
    text = message.removeprefix(f"{file.name}: ")
    has_prefix = text != message
    if file.report is not None:
        text = text.removeprefix(f"read as {file.report.format}, ")
    return text[:1].upper() + text[1:] if has_prefix else text


def refusal_reason(file: LoadedFile, files: Sequence[LoadedFile]) -> str:
    """Return the first reason of the refusal, unescaped, to follow the file's name; "" if it is loaded."""
    if file.refusal is None:
        undecided = file.report if file.report and file.report.status == "asks" else None
        return bad_rows_phrase(undecided.n_bad_rows, undecided.n_rows) if undecided else ""
    if looks_like := _looks_like(file, files):
        return looks_like
    if missing_information(file) == NEEDS_CONSENT and file.report and file.report.proposal:
        n_readings = len(file.report.proposal.readings)
        if file.report.proposal.unsaid:
            return "say what its columns mean"
        if n_readings > 1:
            return f"{n_readings} column mappings are equally likely"
        figures = figures_text(file.report.proposal.figures, with_rows=False)
        return f"would give {figures.replace('**', '').replace(' · ', ', ')}"
    lines = refusal_text(file).splitlines()
    reasons = [line.removeprefix("- ") for line in lines if line.startswith("- ")]
    first = reasons[0] if reasons else _LEADING_COUNTS.sub("", lines[0].removeprefix(f"{file.name} "))
    return shorten(first.partition(". ")[0].removesuffix("."), MAX_REASON)


def show_unusable_methods(reasons: dict[str, str]) -> None:
    """List what each unusable method would need of the file, folded; nothing where there is none."""
    if reasons:
        with st.expander(f"Unavailable methods ({len(reasons)})"):
            lines = [f"{METHODS[id_].heading}: {reason}" for id_, reason in reasons.items()]
            st.caption(escape_markdown_lines("\n".join(lines)))


def escape_markdown_lines(text: str) -> str:
    """Return Markdown that shows the text as it is, with line breaks; lines after a hyphen become a list."""
    markdown, previous = "", ""
    for line in text.splitlines():
        is_item = line.startswith("- ")
        markdown += "\n- " if is_item else "\n\n" if previous.startswith("- ") else "  \n"
        markdown += escape_markdown(line.removeprefix("- "))
        previous = line
    return markdown.strip()


# --- Table of files -------------------------------------------------------------------------------


def show_file_table(
    files: Sequence[LoadedFile],
    loaded: Collection[LoadedFile],
    unread: Sequence[LoadedFile],
    *,
    shown_above: Collection[LoadedFile],
) -> list[LoadedFile]:
    """Draw one row per file, those that need attention first; by name until all have been read.

    Parameters
    ----------
    files, unread : Sequence of LoadedFile
        The files that are read, and those that are not yet.
    loaded : Collection of LoadedFile
        The files that runs come from.
    shown_above : Collection of LoadedFile
        Files that are drawn in full above the table.

    Returns
    -------
    list of LoadedFile
        The files to be shown in full. An unread file is among them only where it was selected.
    """
    if unread:
        order = sorted((*files, *unread), key=lambda file: (not file.is_uploaded, file.name))
    else:
        order = sorted(files, key=lambda file: attention_rank(file_state(file, loaded, files)))
    frame = pl.DataFrame([_file_row(file, loaded, files) for file in order], infer_schema_length=None)
    usual_values = {"Why": None, "From": "folder", "Bad rows": 0, "Runs": 1}
    frame = frame.drop(name for name, value in usual_values.items() if not _differs(frame[name], value))
    if "Why" in frame.columns:  # which needs its room; the block of each file begins with the format
        frame = frame.drop("Recognised as")
    recipe = f"{plural(len(order), 'file')}, {len(loaded)} loaded"
    export = Export("files", lambda: frame, recipe, "Table of files")
    selected = show_selectable_table(
        frame,
        key="files",
        alt=plural(len(order), "file"),
        export=export,
        columns=COLUMN_CONFIG,
        rows=map(file_id, order),
    )
    if selected is not None:
        return [order[selected]]
    below = [file for file in order if file not in unread and file not in shown_above]
    if len(order) <= MAX_FULL_FILES:
        return below
    needing_attention = open_files(below, loaded, files)
    hint = " Below: the first file of each state that is not loaded." if needing_attention else ""
    st.caption(f"Click a row to see the whole file.{hint}")
    return [file for file in below if file in needing_attention]


def _file_row(
    file: LoadedFile, loaded: Collection[LoadedFile], files: Sequence[LoadedFile]
) -> dict[str, str | int | None]:
    report = file.report
    return {
        "State": file_state(file, loaded, files),  # before the name, which may fill a phone's screen
        "File": file.name,
        "Why": None if file in loaded else refusal_reason(file, files) or None,
        "From": "uploaded" if file.is_uploaded else "folder",
        "Rows": report.n_rows or None if report else None,
        "Bad rows": report.n_bad_rows if report and file.refusal is None else None,
        "Runs": len(report.runs) if report and file in loaded else None,
        "Recognised as": _short_format_title(FORMATS[report.format].title) if report else "–",
    }


def _differs(column: pl.Series, value: str | int | None) -> bool:
    """Return whether the column holds anything but this value."""
    if value is None:
        return column.null_count() < len(column)
    return not (column.fill_null(value) == value).all()


def attention_rank(state: str) -> int:
    """Return the sort rank of a state: what one click settles, then other open, refused, settled files."""
    if state == NEEDS_CONSENT:
        return 0
    return 3 if state in SETTLED_STATES else 2 if state == REFUSED_FILE else 1


def open_files(
    shown: Sequence[LoadedFile], loaded: Collection[LoadedFile], files: Sequence[LoadedFile]
) -> frozenset[LoadedFile]:
    """Return the files whose blocks start open.

    These are files that need attention, files just decided on, and a file that stands alone. Where many need
    attention, only the first of each format and state is open, as they often need the same.
    """
    if len(shown) == 1:
        return frozenset(shown)
    needing_attention = [file for file in shown if file not in loaded and not _holds_gold(file, files)]
    if len(needing_attention) > MAX_OPEN_BLOCKS:
        first_of_kind = {_format_and_state(file, loaded, files): file for file in reversed(needing_attention)}
        needing_attention = list(first_of_kind.values())
    return frozenset({*needing_attention, *(file for file in shown if file_id(file) in decided_keys())})


def _format_and_state(
    file: LoadedFile, loaded: Collection[LoadedFile], files: Sequence[LoadedFile]
) -> tuple[str, str]:
    """Return format and state; the format is "" for a file that could not be recognised."""
    return file.report.format if file.report else "", file_state(file, loaded, files)


def _holds_gold(file: LoadedFile, files: Sequence[LoadedFile]) -> bool:
    """Return whether the file holds, or seems to hold, right answers or corrections of another file."""
    tables = {path for other in files for path in (other.mapping.gold, other.mapping.corrections)}
    return real_path(file) in tables or bool(_looks_like(file, files))


def file_state(file: LoadedFile, loaded: Collection[LoadedFile], files: Sequence[LoadedFile]) -> str:
    """Return what became of a file, in a few words."""
    if file.report is None and file.refusal is None:
        return UNREAD
    if file in loaded:
        return GOOD_ROWS_ONLY if file.report and file.report.n_bad_rows else LOADED
    if file.report and file.report.status == "asks":
        return UNDECIDED
    return _table_state(file, files) or missing_information(file) or REFUSED_FILE


def _table_state(file: LoadedFile, files: Sequence[LoadedFile]) -> str:
    """Return what a file is, or seems to be, for another one; "" for nothing."""
    if real_path(file) in {other.mapping.gold for other in files}:
        return HOLDS_GOLD
    if real_path(file) in {other.mapping.corrections for other in files}:
        return HOLDS_CORRECTIONS
    return {LOOKS_LIKE_GOLD: LIKELY_GOLD, LOOKS_LIKE_CORRECTIONS: LIKELY_CORRECTIONS}.get(
        _looks_like(file, files), ""
    )


def _short_format_title(title: str) -> str:
    """Return a format's title without its part in parentheses."""
    return title.partition(" (")[0]


# --- No run loaded --------------------------------------------------------------------------------


def show_no_runs(files: Sequence[LoadedFile], page: str) -> None:
    """Say what to do where no run is loaded, with a link to the page Files.

    Parameters
    ----------
    files : Sequence of LoadedFile
    page : str
        Script of the page Files.
    """
    if files:
        st.info(escape_markdown(_not_loaded_text(files)), icon=":material/folder_open:")
        _next_step_link("Open Files: what each file needs", page)
    else:
        show_empty_folder()
        _next_step_link("Upload files", page)


def show_empty_folder() -> None:
    """Say what to put into an empty data folder."""
    st.info(
        "The data folder has no prediction files. Upload files on the page Files, or put files into the "
        "folder and reload: a CSV, JSONL, Parquet or Arrow file with one row per question (columns such as "
        "`id`, `confidence`, `correct`), or an NPZ with one distribution per text position (`probs` and "
        "`target`). To use another folder, start the app with `streamlit run app.py -- --data FOLDER`. The "
        "README lists all columns."
    )


def _not_loaded_text(files: Sequence[LoadedFile]) -> str:
    """Return why no file is loaded, as in "None of the 48 files in the data folder is loaded: …"."""
    states = Counter(file_state(file, (), files) for file in files).most_common()
    if len(files) == 1:
        summary = f"The only file in the data folder is not loaded: the file {STATE_PHRASES[states[0][0]][0]}"
    else:
        quantity = "Neither" if len(files) == 2 else "None"
        counts = _state_counts_text(states, len(files))
        summary = f"{quantity} of the {len(files):,} files in the data folder is loaded: {counts}"
    subject = "" if len(files) == 1 else "The first of them, "
    reason = next(
        (f" {subject}{file.name}: {reason}" for file in files if (reason := refusal_reason(file, files))), ""
    )
    return f"{summary}.{reason and f'{reason}.'} The page Files lists each file and what to do."


def _state_counts_text(states: Sequence[tuple[str, int]], n_files: int) -> str:
    """Return how many files are in which state, as in "47 need their columns named and 1 is refused"."""
    counts = [
        f"{both_or_all(n_files) if count == n_files else f'{count:,}'} {STATE_PHRASES[state][count > 1]}"
        for state, count in states
    ]
    return f"{', '.join(counts[:-1])} and {counts[-1]}" if len(counts) > 1 else counts[0]


def _next_step_link(label: str, page: str) -> None:
    """Draw a link as large as those on Start."""
    with st.container(horizontal=True, key="ways"):
        page_link(page, label, ":material/folder_open:", large=True)
