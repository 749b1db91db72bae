"""Show text from a file as exactly the text it is.

Streamlit reads Markdown in labels, messages and captions, and so would fetch an image or draw a link that a
file's text names. Every such text goes through `escape_markdown`; table cells, `st.text` and the
options of a select box show text as it is and need nothing.
"""

from __future__ import annotations

import re

from calib_core.wording import keep_units

_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
_ACTIVE_MARKS = frozenset(":@-<>~=.")
"""Marks that start something even behind a backslash: a bare address, an arrow, an icon's name."""
_WORD_JOINER = "\u2060"
"""Invisible character without width, which separates what Markdown would read as one token."""


def escape_markdown(text: str) -> str:
    """Return Markdown that shows `text` character for character, with white space folded to single spaces.

    No line ends between a number and its unit.
    """
    folded = " ".join(text.encode("utf-8", "replace").decode().split())
    return _PUNCTUATION.sub(_escape_mark, keep_units(folded))


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
