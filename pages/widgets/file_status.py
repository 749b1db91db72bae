"""What does a person see where no run is loaded?  What became of the files, what to do, and the way there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final

import polars as pl
import streamlit as st

from calib_core.methods import METHODS
from calib_core.readers import FORMATS
from calib_core.wording import bad_rows_phrase, both_or_all, plural
from pages.state.cache import LoadedFile
from pages.state.markdown import escape_markdown
from pages.state.runs import file_id
from pages.widgets.column_mapping import (
    NEEDS_COLUMN_NAMES,
    NEEDS_GOLD,
    decided_keys,
    is_gold_table,
    missing_information,
    real_path,
)
from pages.widgets.export import Export
from pages.widgets.page_link import page_link
from pages.widgets.table import show_selectable_table

# MERGED refusals: Why is a file not loaded, and what would make it load?  As a page says it, with its controls below.

MAX_UNFOLDED_LINES: Final = 4
"""Lines of a refusal shown at once; of a longer one, those on methods other than the plainest are folded."""

LOOKS_LIKE_GOLD: Final = "It looks like a table of right answers: choose it at the file that needs them."
_LEADING_COUNTS: Final = re.compile(r"^[\d,]+ rows?\. (?:Accuracy of the [\d,]+ with an outcome: [\d.]+\. )?")
"""What a message says before the reason."""
_COMMAND_LINE_PHRASES: Final = (
    (re.compile(r"^read as \w+, "), ""),
    (re.compile(r"\s*(?:If they mean what they look like, say so|Columns that look like it): --map .*"), ""),
    (re.compile(r"Say what a column means: --map COLUMN=\w+"), "Say below what a column means."),
    (re.compile(r": --gold TABLE \("), ", chosen below ("),
)
"""What a message says for the command line, and what it comes to on a page."""


def show_refusal(file: LoadedFile, files: Sequence[LoadedFile]) -> None:
    """Why it is not loaded; where every method has a reason of its own, all but the first folded below."""
    if is_gold_table(file, files):
        st.info(
            LOOKS_LIKE_GOLD,
            icon=":material/key:",
        )
        return
    lines = refusal_text(file).splitlines()
    reasons = [line for line in lines if line.startswith("- ")][1:] if len(lines) > MAX_UNFOLDED_LINES else []
    text = escape_markdown_lines("\n".join(line for line in lines if line not in reasons))
    if missing_information(file):
        st.warning(text, icon=":material/help:")
    else:
        st.error(text, icon=":material/block:")
    show_requirements([line.removeprefix("- ") for line in reasons])


def refusal_text(file: LoadedFile) -> str:
    """The message without what only the command line can do."""
    whole = file.refusal or ""
    text = whole.removeprefix(f"{file.name}: ")
    begins_anew = text != whole
    for said, here in _COMMAND_LINE_PHRASES:
        text = said.sub(here, text)
    return text[:1].upper() + text[1:] if begins_anew else text


def refusal_reason(file: LoadedFile, files: Sequence[LoadedFile]) -> str:
    """The first of its reasons, read after the file's name, as the file has it; "" where it is loaded."""
    if file.refusal is None:
        asks = file.report if file.report and file.report.status == "asks" else None
        return bad_rows_phrase(asks.bad_rows, asks.rows) if asks else ""
    if is_gold_table(file, files):
        return LOOKS_LIKE_GOLD
    lines = refusal_text(file).splitlines()
    reasons = [line.removeprefix("- ") for line in lines if line.startswith("- ")]
    first = reasons[0] if reasons else _LEADING_COUNTS.sub("", lines[0].removeprefix(f"{file.name} "))
    return first.partition(". ")[0].removesuffix(".")


def show_unusable_methods(reasons: dict[str, str]) -> None:
    """Method id → what it would need of the file, folded."""
    show_requirements([f"{METHODS[id_].title}: {why}" for id_, why in reasons.items()])


def show_requirements(reasons: Sequence[str]) -> None:
    """What methods that a file does not serve would need of it, folded."""
    if reasons:
        with st.expander(f"What the other confidence methods would need ({len(reasons)})"):
            st.caption(escape_markdown_lines("\n".join(reasons)))


def escape_markdown_lines(text: str) -> str:
    """Text shown as it is, its line breaks kept, and lines that begin with a hyphen as a list."""
    shown, before = "", ""
    for line in text.splitlines():
        listed = line.startswith("- ")
        shown += "\n- " if listed else "\n\n" if before.startswith("- ") else "  \n"
        shown += escape_markdown(line.removeprefix("- "))
        before = line
    return shown.strip()


# MERGED inventory: Which files are here, in a line each, and which of them are shown in full?

MAX_FULL_FILES: Final = 6
"""Files shown in full below each other; of more, those that ask for something."""
REFUSED: Final = "refused"
LOADED: Final = "loaded"
GOOD_ROWS_ONLY: Final = "loaded, good rows only"
UNDECIDED: Final = "bad rows: your decision"
LIKELY_GOLD: Final = "right answers?"
HOLDS_GOLD: Final = "right answers"
SETTLED_STATES: Final = (LOADED, GOOD_ROWS_ONLY, HOLDS_GOLD)
"""States of files that are of use as they are."""
MAX_OPEN_FILES: Final = 3
"""So many that ask for something are open at once; of more, the first of each kind."""


def show_file_table(files: Sequence[LoadedFile], loaded: Collection[LoadedFile]) -> dict[LoadedFile, str]:
    """One line a file, those that ask for something first; a key for each that is shown in full below."""
    order = sorted(files, key=lambda file: _attention_rank(file_state(file, loaded, files)))
    frame = pl.DataFrame([_file_row(file, loaded, files) for file in order], infer_schema_length=None)
    alike = {"Why": None, "From": "folder", "Bad rows": 0, "Runs": 1}
    frame = frame.drop(name for name, value in alike.items() if not _differs(frame[name], value))
    told = f"{plural(len(files), 'file')}, {len(loaded)} loaded"
    export = Export("files", lambda: frame, told, "Table of files")
    chosen = show_selectable_table(frame, key="files", alt=plural(len(files), "file"), export=export)
    keys = _widget_keys(files)
    if chosen is not None and chosen < len(order):
        return {order[chosen]: keys[order[chosen]]}
    every = {file: keys[file] for file in order}
    if len(files) <= MAX_FULL_FILES:
        return every
    asking = open_files(every, loaded, files)
    below = " Below: the first of each kind that is not loaded." if asking else ""
    st.caption(f"Click a line to see that file in full.{below}")
    return {file: key for file, key in every.items() if file in asking}


def _file_row(
    file: LoadedFile, loaded: Collection[LoadedFile], files: Sequence[LoadedFile]
) -> dict[str, str | int | None]:
    report = file.report
    return {
        "State": file_state(file, loaded, files),  # first: of a long name only a part is seen on a phone
        "File": file.name,
        "Why": None if file in loaded else refusal_reason(file, files) or None,
        "From": "uploaded" if file.is_uploaded else "folder",
        "Rows": report.rows or None if report else None,
        "Bad rows": report.bad_rows if report else None,
        "Runs": len(report.runs) if report and file in loaded else None,
        "Recognised as": _short_format_title(FORMATS[report.format].title) if report else "–",
    }


def _differs(column: pl.Series, value: str | int | None) -> bool:
    """Whether a column says something else than that."""
    if value is None:
        return column.null_count() < len(column)
    return not (column.fill_null(value) == value).all()


def _attention_rank(state: str) -> int:
    """What asks for something, then what is refused, then what is of use as it is."""
    return 2 if state in SETTLED_STATES else 1 if state == REFUSED else 0


def open_files(
    shown: Mapping[LoadedFile, str], loaded: Collection[LoadedFile], files: Sequence[LoadedFile]
) -> frozenset[LoadedFile]:
    """The blocks that are open: those that ask for something, of one just decided on, one that stands alone.

    Many that ask often ask the same: of those the first of each format and state is open.
    """
    if len(shown) == 1:
        return frozenset(shown)
    asking = [file for file in shown if file not in loaded and not _holds_gold(file, files)]
    if len(asking) > MAX_OPEN_FILES:
        kinds = {_format_and_state(file, loaded, files): file for file in reversed(asking)}
        asking = list(kinds.values())
    return frozenset({*asking, *(file for file, key in shown.items() if key in decided_keys())})


def _format_and_state(
    file: LoadedFile, loaded: Collection[LoadedFile], files: Sequence[LoadedFile]
) -> tuple[str, str]:
    """Format and state; "" for a file that is of no format."""
    return file.report.format if file.report else "", file_state(file, loaded, files)


def _holds_gold(file: LoadedFile, files: Sequence[LoadedFile]) -> bool:
    """Whether it holds the right answers of another file, or seems to."""
    golds = {other.mapping.gold for other in files}
    return real_path(file) in golds or is_gold_table(file, files)


def file_state(file: LoadedFile, loaded: Collection[LoadedFile], files: Sequence[LoadedFile]) -> str:
    """What has become of a file, in a word or three."""
    if file in loaded:
        return GOOD_ROWS_ONLY if file.report and file.report.bad_rows else LOADED
    if file.report and file.report.status == "asks":
        return UNDECIDED
    if real_path(file) in {other.mapping.gold for other in files}:
        return HOLDS_GOLD
    return LIKELY_GOLD if is_gold_table(file, files) else missing_information(file) or REFUSED


def _short_format_title(title: str) -> str:
    """A format's title without what stands in parentheses."""
    return title.partition(" (")[0]


def _widget_keys(files: Sequence[LoadedFile]) -> dict[LoadedFile, str]:
    """A key of its own for the controls of each file."""
    times = Counter(map(file_id, files))
    return {
        file: id_ if times[id_ := file_id(file)] == 1 else f"{id_}-{number}"
        for number, file in enumerate(files)
    }


STATE_PHRASES: Final = {
    NEEDS_COLUMN_NAMES: ("needs its columns named", "need their columns named"),
    NEEDS_GOLD: ("needs right answers", "need right answers"),
    UNDECIDED: ("has bad rows to decide on", "have bad rows to decide on"),
    LIKELY_GOLD: ("seems to hold right answers", "seem to hold right answers"),
    HOLDS_GOLD: ("holds right answers", "hold right answers"),
    REFUSED: ("is refused", "are refused"),
}
"""State of a file → what is said of one, and of several."""


def show_no_runs(files: Sequence[LoadedFile], page: str) -> None:
    """What to do where nothing can be shown. page: the script of the page Files."""
    if files:
        st.info(escape_markdown(_not_loaded_text(files)), icon=":material/folder_open:")
        _next_step_link("See each file and what would load it", page)
    else:
        show_empty_folder()
        _next_step_link("Upload files", page)


def show_empty_folder() -> None:
    """An empty folder: what to put there."""
    st.info(
        "There is no prediction file in the data folder. Put a CSV, JSONL or Parquet file with one row a "
        "question into it (columns such as `id`, `confidence`, `correct`), or an NPZ with a distribution a "
        "position of a text (`probs` and `target`), and reload; or upload files on the page Files; "
        "or start the app on another folder: `streamlit run app.py -- --data FOLDER`. The README lists "
        "the columns that are read."
    )


def _not_loaded_text(files: Sequence[LoadedFile]) -> str:
    """ "None of the 48 files in the data folder is loaded: all 48 need their columns named. …"."""
    states = Counter(file_state(file, (), files) for file in files).most_common()
    if len(files) == 1:
        told = f"The one file in the data folder is not loaded: it {STATE_PHRASES[states[0][0]][0]}"
    else:
        which = "Neither" if len(files) == 2 else "None"
        lack = _state_counts_text(states, len(files))
        told = f"{which} of the {len(files):,} files in the data folder is loaded: {lack}"
    of = "" if len(files) == 1 else "The first of them, "
    why = next((f" {of}{file.name}: {why}" for file in files if (why := refusal_reason(file, files))), "")
    return f"{told}.{why and f'{why}.'} The page Files says what each one is and what to do."


def _state_counts_text(states: Sequence[tuple[str, int]], n_files: int) -> str:
    """ "47 need their columns named and 1 is refused", "all 48 need their columns named"."""
    counts = [
        f"{both_or_all(n_files) if times == n_files else f'{times:,}'} {STATE_PHRASES[state][times > 1]}"
        for state, times in states
    ]
    return f"{', '.join(counts[:-1])} and {counts[-1]}" if len(counts) > 1 else counts[0]


def _next_step_link(label: str, page: str) -> None:
    """A link as large as the ways on from Start."""
    with st.container(horizontal=True, key="ways"):
        page_link(page, label, ":material/folder_open:", large=True)
