"""Which choice is the right one?  lm-evaluation-harness writes the target as text, and its meaning is lost.

A reading of the target is held against the tool's own `acc`: the most likely choice is the right one just
where `acc` is 1. The first reading that agrees in every document is taken, and none where none does. One that
is not the plain reading of the target is taken only where `acc` bears it out.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import exp
from typing import Final

from calib_core.files.harness.lm_eval_docs import Doc
from calib_core.files.tables.raw import as_text

Positions = tuple[int, ...]
"""The right choices of a document, from 0; () where the target names none."""

_OF_DOC: Final = "from doc."
_ROUNDING: Final = 1e-4
_WHOLE: Final = re.compile(r"-?[0-9]{1,9}")
_LIST: Final = re.compile(r"\[\s*-?[0-9]{1,9}(\s*,\s*-?[0-9]{1,9})*\s*\]")
_LETTER: Final = re.compile(r"[(\[]?([A-Za-z])[)\].:]?")


@dataclass(frozen=True, slots=True)
class Golds:
    """The right choices of every document, and how they were found.

    right: one a document, () where it names none, None where nothing is said; how: in words, "" for the
    target as it stands; agreed: documents in which the reading could be held against `acc`; against: those in
    which every reading contradicts it (then the right choice is not known).
    """

    right: tuple[Positions | None, ...]
    how: str
    agreed: int
    against: int


def golds_of(docs: Sequence[Doc]) -> Golds:
    """The right choices of documents with choices."""
    first: Golds | None = None
    for how, reading in _readings(docs):
        right = tuple(None if doc.broken else reading(doc) for doc in docs)
        agreed, against = _held_against_acc(docs, right, every=how.startswith(_OF_DOC))
        if how and not agreed and not against:
            continue  # nothing tells that it is meant so
        found = Golds(right, how, agreed, against)
        if not against and any(right):
            return found
        if first is None and any(right):
            first = found
    if first is None:
        right = (None if doc.contexts_differ else _named(doc) for doc in docs)
        return Golds(tuple(right), "", 0, 0)
    return Golds((None,) * len(docs), "", first.agreed, first.against)


def _readings(docs: Sequence[Doc]) -> Iterator[tuple[str, Callable[[Doc], Positions | None]]]:
    if not any(doc.contexts_differ for doc in docs):
        yield "", _named
        yield "as a position, also where it is a choice's text", _by_position
        yield "as a position counted from 1", _from_one
    for key in dict.fromkeys(key for doc in docs for key in doc.answers):
        yield f"{_OF_DOC}{key}", _of_document(key, 0)
        yield f"{_OF_DOC}{key}, counted from 1", _of_document(key, 1)
    for key in dict.fromkeys(key for doc in docs for key in doc.marks):
        yield f"{_OF_DOC}{key}.labels", _of_marks(key)


def _held_against_acc(
    docs: Sequence[Doc], right: Sequence[Positions | None], *, every: bool
) -> tuple[int, int]:
    """In how many documents `acc` agrees with a reading, and in how many it does not.

    every: whether a position outside the choices speaks against the reading, and not against its document.
    """
    agreed = against = 0
    for doc, positions in zip(docs, right, strict=True):
        found = None if positions is None else _agrees(doc, positions, every=every)
        agreed += found is True
        against += found is False
    return agreed, against


def _agrees(doc: Doc, positions: Positions, *, every: bool) -> bool | None:
    """Whether `acc` is what it has to be if these are right; None where that cannot be told.

    It is whether the most likely choice is right, or (TruthfulQA) the right ones' share of the probability.
    """
    acc, best = doc.score("acc"), doc.best
    if acc is None or best is None or not positions:
        return None
    if not 0 <= min(positions) <= max(positions) < len(doc.numbers):
        return False if every else None
    if acc in (0.0, 1.0):
        return (best in positions) == bool(acc)
    weights = [exp(value - doc.numeric[best]) for value in doc.numeric]
    return abs(sum(weights[at] for at in positions) / sum(weights) - acc) <= _ROUNDING


def _named(doc: Doc) -> Positions | None:
    """By text, as a list of positions, as a position, a letter, the document's text; () if it is none."""
    return None if doc.target is None else _of_text(_text(doc.target), doc, 0)


def _by_position(doc: Doc) -> Positions | None:
    return None if doc.target is None else _position(_text(doc.target), 0)


def _from_one(doc: Doc) -> Positions | None:
    return None if doc.target is None else _position(_text(doc.target), 1)


def _of_document(key: str, base: int) -> Callable[[Doc], Positions | None]:
    def reading(doc: Doc) -> Positions | None:
        return None if key not in doc.answers else _of_text(_text(doc.answers[key]), doc, base)

    return reading


def _of_marks(key: str) -> Callable[[Doc], Positions | None]:
    return lambda doc: doc.marks.get(key)


def _of_text(text: str, doc: Doc, base: int) -> Positions | None:
    if not text.strip():
        return None
    plain = [part.strip() for part in doc.choices]
    return (
        _first(doc.choices, text)
        or _first(plain, text.strip())
        or _position(text, base)
        or _letter(text, len(doc.numbers))
        or _first(doc.options, text.strip())
    )


def _first(texts: Sequence[str], text: str) -> Positions:
    """Of equal choices the tool takes the first."""
    return (texts.index(text),) if text in texts else ()


def _position(text: str, base: int) -> Positions:
    bare = text.strip()
    if _LIST.fullmatch(bare):
        return tuple(dict.fromkeys(int(part) - base for part in bare[1:-1].split(",")))
    if _WHOLE.fullmatch(bare) and int(bare) >= base:
        return (int(bare) - base,)
    return ()


def _letter(text: str, count: int) -> Positions:
    found = _LETTER.fullmatch(text.strip())
    at = string.ascii_uppercase.index(found[1].upper()) if found else count
    return (at,) if at < count else ()


def _text(value: object) -> str:
    return as_text(value) or ""
