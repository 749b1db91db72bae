"""Which part of a generated text is its answer?  What the scorer read, or what stands at a marker."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from calib_core.files.harness.letters import ends_of, holding

_MARKERS: Final = (
    re.compile(r"(?i)\banswer(?:\s+is\b\s*:?|\s*:)[\s*_`$\"']*(?P<said>[^\n]*)"),
    re.compile(r"####[^\S\n]*(?P<said>[^\n]*)"),
    re.compile(r"\\boxed\{(?P<said>[^{}\n]*)\}"),
)
_AFTER: Final = " \t\r.*_`$\"'"


def answer_span(tokens: Sequence[str], said: str | None) -> tuple[int, int] | None:
    """The tokens of the answer, as half-open positions; None where nothing tells which they are.

    said: the answer as the scorer read it. Where that is the whole text it is the whole text only if no
    marker ("the answer is", "####", a box) says more, and it is one line.
    """
    text = "".join(tokens)
    said = (said or "").strip()
    at = text.rfind(said) if said and said != text.strip() else -1
    if at >= 0:
        return span_of(tokens, at, at + len(said))
    marked = [match for marker in _MARKERS for match in marker.finditer(text)]
    if marked:
        last = max(marked, key=lambda match: match.start("said"))
        answer = last["said"].rstrip(_AFTER)
        return span_of(tokens, last.start("said"), last.start("said") + len(answer)) if answer else None
    if said and "\n" not in said:
        at = text.index(said)
        return span_of(tokens, at, at + len(said))
    return None


def span_of(tokens: Sequence[str], start: int, end: int) -> tuple[int, int]:
    """The tokens that hold the characters start to end of the text they make: half-open positions."""
    ends = ends_of(tokens)
    return holding(ends, start), holding(ends, max(start, end - 1)) + 1
