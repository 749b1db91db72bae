"""Why is a file not loaded, and what would make it load?  As a page says it, with its controls below."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import streamlit as st

from calib_core.confidence import METHODS
from calib_core.wording import bad_rows_phrase
from pages.parts import rereading
from pages.parts.cache import LoadedFile
from pages.parts.literal import escape_markdown

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
    if rereading.is_gold_table(file, files):
        st.info(
            LOOKS_LIKE_GOLD,
            icon=":material/key:",
        )
        return
    lines = refusal_text(file).splitlines()
    reasons = [line for line in lines if line.startswith("- ")][1:] if len(lines) > MAX_UNFOLDED_LINES else []
    text = escape_markdown_lines("\n".join(line for line in lines if line not in reasons))
    if rereading.missing_information(file):
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
    if rereading.is_gold_table(file, files):
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
