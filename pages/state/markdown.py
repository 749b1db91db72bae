"""Show text from a file as exactly the text it is.

Streamlit reads Markdown in labels, messages and captions, and so would fetch an image or draw a link that a
file's text names. Every such text goes through `escape_markdown`; table cells, `st.text`, `st.code` and the
options of a select box show text as it is and need nothing.
"""

from __future__ import annotations

import re

_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
_ACTIVE_MARKS = frozenset(":@-<>~=.")
"""Marks that start something even behind a backslash: a bare address, an arrow, an icon's name."""
_WORD_JOINER = "\u2060"
"""Invisible character without width, which separates what Markdown would read as one token."""


def escape_markdown(text: str) -> str:
    """Return Markdown that shows `text` character for character, with white space folded to single spaces."""
    folded = " ".join(text.encode("utf-8", "replace").decode().split())
    return _PUNCTUATION.sub(_escape_mark, folded)


def _escape_mark(mark: re.Match[str]) -> str:
    joiner = _WORD_JOINER if mark[0] in _ACTIVE_MARKS else ""
    return f"{joiner}\\{mark[0]}"
