"""Show text from a file as exactly the text it is.

Streamlit reads Markdown in labels, messages and captions, and so would fetch an image or draw a link that a
file's text names. Every such text goes through `escape_markdown`; table cells, `st.text` and the
options of a select box show text as it is and need nothing.
"""

from __future__ import annotations

import re
from typing import Final

from calib_core.readers.option_text import ARGUMENT, split_pair, unquote_argument
from calib_core.wording import keep_units

_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
_ACTIVE_MARKS = frozenset(":@-<>~=.")
"""Marks that start something even behind a backslash: a bare address, an arrow, an icon's name."""
_OPTION_PHRASES: Final = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"^read as \w+, ", ""),
        (r"Say what (a column|an array) means: --map \w+=\w+", r"Say below what \1 means."),
        (r"or say which column it is: --map COLUMN=\w+", "or say below which column it is."),
        (
            r"Have it divided by the top of its scale, such as (\d+): --map (?:{ARGUMENT})",
            r"Say that it is out of \1, if that is the top of its scale.",
        ),
        (rf"Have it divided by 100: --map (?:{ARGUMENT})", "Say that it is in percent."),
        (
            rf"Have it read as natural logarithms: --map (?:{ARGUMENT})",
            "Accept it as natural logarithms where that is suggested.",
        ),
        (
            rf"Have them read as decimal commas: --map (?:{ARGUMENT})",
            "Accept that they are decimal commas where that is suggested.",
        ),
        (r"the question: --map COLUMN=samples, once for each\.", "the question, below."),
        (r"Name them: --map COLUMN=id or --on COLUMN", "Say below which column holds the ids."),
        (r": --gold TABLE \(", ", chosen below ("),
        (r"--map row=id", "switch on “Row number as question id” on the page Files"),
        (r" --skip-bad-rows", ""),
        (r" \(--gold TABLE\)| \(--rows\)| \(--wide\)", ""),
    )
)
"""Phrases of a message that name an option of the command line, and what a page has in its place."""
_ARGUMENT_OF_OPTION: Final = re.compile(rf"--(map|map-gold|rows) ({ARGUMENT})")
_WORD_JOINER = "\u2060"
"""Invisible character without width, which separates what Markdown would read as one token."""


def escape_markdown(text: str) -> str:
    """Return Markdown that shows `text` character for character, with white space folded to single spaces.

    No line ends between a number and its unit.
    """
    folded = " ".join(text.encode("utf-8", "replace").decode().split())
    return _PUNCTUATION.sub(_escape_mark, keep_units(folded))


def without_options(text: str) -> str:
    """Return a message with what a page has in place of the options of the command line that it names.

    Examples
    --------
    >>> without_options("Say which: --map label=target or --map label=gold")
    'Say which: “label” as “target” or “label” as “gold”'
    """
    for pattern, replacement in _OPTION_PHRASES:
        text = pattern.sub(replacement, text)
    return _ARGUMENT_OF_OPTION.sub(_argument_in_words, text)


def message_markdown(text: str) -> str:
    """Return Markdown that shows a message as a page words it, character for character."""
    return escape_markdown(without_options(text))


def _argument_in_words(option: re.Match[str]) -> str:
    """Return the column and what it is read as, or the path of the rows."""
    argument = unquote_argument(option[2])
    if option[1] == "rows":
        return f"“{argument}”"
    column, name = split_pair(argument)
    if not column:
        return option[0]
    return f"“{column}” as “{name}”" if name else f"“{column}”"


def _escape_mark(mark: re.Match[str]) -> str:
    joiner = _WORD_JOINER if mark[0] in _ACTIVE_MARKS and not _is_in_number(mark) else ""
    return f"{joiner}\\{mark[0]}"


def _is_in_number(mark: re.Match[str]) -> bool:
    """Return whether the mark belongs to a number or ends a sentence, so that a copied number has no joiner.

    A dot between digits starts no address, and one before a space ends none; a hyphen after a letter or digit
    and before a digit, as in 4.8e-12, is no arrow.
    """
    before, after = mark.string[: mark.start()][-1:], mark.string[mark.end() :][:1]
    if mark[0] == ".":
        return after in ("", " ") or (before.isdigit() and after.isdigit())
    return mark[0] == "-" and before.isalnum() and after.isdigit()
