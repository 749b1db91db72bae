"""How is text from a file shown as exactly the text it is?

Streamlit reads Markdown in labels, messages and captions, and so would fetch an image or draw a link
that a file's text names. Every such text goes through `literal`; table cells, `st.text`, `st.code` and
the options of a select box show text as it is and need nothing.
"""

from __future__ import annotations

import re

_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
_JOINED = frozenset(":@-<>~=.")
"""Marks that start something even behind a backslash (a bare address, an arrow, an icon's name)."""
_JOINER = "\u2060"
"""Word joiner: invisible, without width; parts what Markdown would read as one token."""


def literal(text: str) -> str:
    """Markdown that shows `text` character for character, white space folded to single spaces."""
    folded = " ".join(text.encode("utf-8", "replace").decode().split())
    return _PUNCTUATION.sub(_escaped, folded)


def _escaped(mark: re.Match[str]) -> str:
    joiner = _JOINER if mark[0] in _JOINED else ""
    return f"{joiner}\\{mark[0]}"
