"""Why is a file not loaded, and what would make it load?  As a page says it, with its controls below."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import streamlit as st

from calib_core.confidence import METHODS
from calib_core.wording import bad_rows
from pages.parts import rereading
from pages.parts.cache import File
from pages.parts.literal import literal

FOLDED: Final = 4
"""Lines of a refusal shown at once; of a longer one, those on methods other than the plainest are folded."""

LIKELY: Final = "It looks like a table of right answers: choose it at the file that needs them."
_COUNTS: Final = re.compile(r"^[\d,]+ rows?\. (?:Accuracy of the [\d,]+ with an outcome: [\d.]+\. )?")
"""What a message says before the reason."""
_HERE: Final = (
    (re.compile(r"^read as \w+, "), ""),
    (re.compile(r"\s*(?:If they mean what they look like, say so|Columns that look like it): --map .*"), ""),
    (re.compile(r"Say what a column means: --map COLUMN=\w+"), "Say below what a column means."),
    (re.compile(r": --gold TABLE \("), ", chosen below ("),
)
"""What a message says for the command line, and what it comes to on a page."""


def refused(file: File, files: Sequence[File]) -> None:
    """Why it is not loaded; where every method has a reason of its own, all but the first folded below."""
    if rereading.answers_for(file, files):
        st.info(
            LIKELY,
            icon=":material/key:",
        )
        return
    lines = told(file).splitlines()
    reasons = [line for line in lines if line.startswith("- ")][1:] if len(lines) > FOLDED else []
    text = literal_lines("\n".join(line for line in lines if line not in reasons))
    if rereading.needs(file):
        st.warning(text, icon=":material/help:")
    else:
        st.error(text, icon=":material/block:")
    would_need([line.removeprefix("- ") for line in reasons])


def told(file: File) -> str:
    """The message without what only the command line can do."""
    whole = file.refusal or ""
    text = whole.removeprefix(f"{file.name}: ")
    begins_anew = text != whole
    for said, here in _HERE:
        text = said.sub(here, text)
    return text[:1].upper() + text[1:] if begins_anew else text


def why(file: File, files: Sequence[File]) -> str:
    """The first of its reasons, read after the file's name, as the file has it; "" where it is loaded."""
    if file.refusal is None:
        asks = file.report if file.report and file.report.status == "asks" else None
        return bad_rows(asks.bad_rows, asks.rows) if asks else ""
    if rereading.answers_for(file, files):
        return LIKELY
    lines = told(file).splitlines()
    reasons = [line.removeprefix("- ") for line in lines if line.startswith("- ")]
    first = reasons[0] if reasons else _COUNTS.sub("", lines[0].removeprefix(f"{file.name} "))
    return first.partition(". ")[0].removesuffix(".")


def unusable(reasons: dict[str, str]) -> None:
    """Method id → what it would need of the file, folded."""
    would_need([f"{METHODS[id_].title}: {why}" for id_, why in reasons.items()])


def would_need(reasons: Sequence[str]) -> None:
    """What methods that a file does not serve would need of it, folded."""
    if reasons:
        with st.expander(f"What the other confidence methods would need ({len(reasons)})"):
            st.caption(literal_lines("\n".join(reasons)))


def literal_lines(text: str) -> str:
    """Text shown as it is, its line breaks kept, and lines that begin with a hyphen as a list."""
    shown, before = "", ""
    for line in text.splitlines():
        listed = line.startswith("- ")
        shown += "\n- " if listed else "\n\n" if before.startswith("- ") else "  \n"
        shown += literal(line.removeprefix("- "))
        before = line
    return shown.strip()
