"""Which part of a generated text is its answer?  What the scorer read, or what stands at a marker."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from calib_core.files.harness.letters import token_ends, token_at

_ANSWER_MARKERS: Final = (
    re.compile(r"(?i)\banswer(?:\s+is\b\s*:?|\s*:)[\s*_`$\"']*(?P<said>[^\n]*)"),
    re.compile(r"####[^\S\n]*(?P<said>[^\n]*)"),
    re.compile(r"\\boxed\{(?P<said>[^{}\n]*)\}"),
)
_TRAILING_CHARACTERS: Final = " \t\r.*_`$\"'"


def answer_span(tokens: Sequence[str], scored_answer: str | None) -> tuple[int, int] | None:
    """The tokens of the answer, as half-open positions; None where nothing tells which they are.

    said: the answer as the scorer read it. Where that is the whole text it is the whole text only if no
    marker ("the answer is", "####", a box) says more, and it is one line.
    """
    text = "".join(tokens)
    scored_answer = (scored_answer or "").strip()
    at = text.rfind(scored_answer) if scored_answer and scored_answer != text.strip() else -1
    if at >= 0:
        return token_span(tokens, at, at + len(scored_answer))
    marked = [match for marker in _ANSWER_MARKERS for match in marker.finditer(text)]
    if marked:
        last = max(marked, key=lambda match: match.start("said"))
        answer = last["said"].rstrip(_TRAILING_CHARACTERS)
        return token_span(tokens, last.start("said"), last.start("said") + len(answer)) if answer else None
    if scored_answer and "\n" not in scored_answer:
        at = text.index(scored_answer)
        return token_span(tokens, at, at + len(scored_answer))
    return None


def token_span(tokens: Sequence[str], start: int, end: int) -> tuple[int, int]:
    """The tokens that hold the characters start to end of the text they make: half-open positions."""
    ends = token_ends(tokens)
    return token_at(ends, start), token_at(ends, max(start, end - 1)) + 1
