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

from calib_core.readers.lm_eval.documents import Document
from calib_core.readers.table.raw import as_json_text

ChoicePositions = tuple[int, ...]
"""The right choices of a document, from 0; () where the target names none."""

_FROM_DOCUMENT: Final = "from doc."
_ACC_TOLERANCE: Final = 1e-4
_INTEGER_PATTERN: Final = re.compile(r"-?[0-9]{1,9}")
_INTEGER_LIST_PATTERN: Final = re.compile(r"\[\s*-?[0-9]{1,9}(\s*,\s*-?[0-9]{1,9})*\s*\]")
_LETTER_PATTERN: Final = re.compile(r"[(\[]?([A-Za-z])[)\].:]?")


@dataclass(frozen=True, slots=True)
class GoldChoices:
    """The right choices of every document, and how they were found.

    right: one a document, () where it names none, None where nothing is said; how: in words, "" for the
    target as it stands; agreed: documents in which the reading could be held against `acc`; against: those in
    which every reading contradicts it (then the right choice is not known).
    """

    positions: tuple[ChoicePositions | None, ...]
    reading: str
    n_agreeing: int
    n_contradicting: int


def match_gold_choices(docs: Sequence[Document]) -> GoldChoices:
    """The right choices of documents with choices."""
    first: GoldChoices | None = None
    for how, reading in _gold_readings(docs):
        right = tuple(None if doc.broken else reading(doc) for doc in docs)
        agreed, against = _compare_with_acc(docs, right, strict=how.startswith(_FROM_DOCUMENT))
        if how and not agreed and not against:
            continue  # nothing tells that it is meant so
        found = GoldChoices(right, how, agreed, against)
        if not against and any(right):
            return found
        if first is None and any(right):
            first = found
    if first is None:
        right = (None if doc.contexts_differ else _gold_by_target(doc) for doc in docs)
        return GoldChoices(tuple(right), "", 0, 0)
    return GoldChoices((None,) * len(docs), "", first.n_agreeing, first.n_contradicting)


def _gold_readings(
    docs: Sequence[Document],
) -> Iterator[tuple[str, Callable[[Document], ChoicePositions | None]]]:
    if not any(doc.contexts_differ for doc in docs):
        yield "", _gold_by_target
        yield "as a position, also where it is a choice's text", _gold_by_position
        yield "as a position counted from 1", _gold_by_one_based_position
    for key in dict.fromkeys(key for doc in docs for key in doc.answer_fields):
        yield f"{_FROM_DOCUMENT}{key}", _gold_by_field(key, 0)
        yield f"{_FROM_DOCUMENT}{key}, counted from 1", _gold_by_field(key, 1)
    for key in dict.fromkeys(key for doc in docs for key in doc.marked_choices):
        yield f"{_FROM_DOCUMENT}{key}.labels", _gold_by_marks(key)


def _compare_with_acc(
    docs: Sequence[Document], gold_positions: Sequence[ChoicePositions | None], *, strict: bool
) -> tuple[int, int]:
    """In how many documents `acc` agrees with a reading, and in how many it does not.

    every: whether a position outside the choices speaks against the reading, and not against its document.
    """
    agreed = against = 0
    for doc, positions in zip(docs, gold_positions, strict=True):
        found = None if positions is None else _agrees_with_acc(doc, positions, strict=strict)
        agreed += found is True
        against += found is False
    return agreed, against


def _agrees_with_acc(doc: Document, positions: ChoicePositions, *, strict: bool) -> bool | None:
    """Whether `acc` is what it has to be if these are right; None where that cannot be told.

    It is whether the most likely choice is right, or (TruthfulQA) the right ones' share of the probability.
    """
    acc, best = doc.score("acc"), doc.best_choice
    if acc is None or best is None or not positions:
        return None
    if not 0 <= min(positions) <= max(positions) < len(doc.loglikelihoods):
        return False if strict else None
    if acc in (0.0, 1.0):
        return (best in positions) == bool(acc)
    weights = [exp(value - doc.valid_loglikelihoods[best]) for value in doc.valid_loglikelihoods]
    return abs(sum(weights[at] for at in positions) / sum(weights) - acc) <= _ACC_TOLERANCE


def _gold_by_target(doc: Document) -> ChoicePositions | None:
    """By text, as a list of positions, as a position, a letter, the document's text; () if it is none."""
    return None if doc.target is None else _match_text(_text_or_empty(doc.target), doc, 0)


def _gold_by_position(doc: Document) -> ChoicePositions | None:
    return None if doc.target is None else _match_position(_text_or_empty(doc.target), 0)


def _gold_by_one_based_position(doc: Document) -> ChoicePositions | None:
    return None if doc.target is None else _match_position(_text_or_empty(doc.target), 1)


def _gold_by_field(key: str, base: int) -> Callable[[Document], ChoicePositions | None]:
    def reading(doc: Document) -> ChoicePositions | None:
        return (
            None
            if key not in doc.answer_fields
            else _match_text(_text_or_empty(doc.answer_fields[key]), doc, base)
        )

    return reading


def _gold_by_marks(key: str) -> Callable[[Document], ChoicePositions | None]:
    return lambda doc: doc.marked_choices.get(key)


def _match_text(text: str, doc: Document, base: int) -> ChoicePositions | None:
    if not text.strip():
        return None
    plain = [part.strip() for part in doc.choices]
    return (
        _match_first(doc.choices, text)
        or _match_first(plain, text.strip())
        or _match_position(text, base)
        or _match_letter(text, len(doc.loglikelihoods))
        or _match_first(doc.options, text.strip())
    )


def _match_first(texts: Sequence[str], text: str) -> ChoicePositions:
    """Of equal choices the tool takes the first."""
    return (texts.index(text),) if text in texts else ()


def _match_position(text: str, base: int) -> ChoicePositions:
    bare = text.strip()
    if _INTEGER_LIST_PATTERN.fullmatch(bare):
        return tuple(dict.fromkeys(int(part) - base for part in bare[1:-1].split(",")))
    if _INTEGER_PATTERN.fullmatch(bare) and int(bare) >= base:
        return (int(bare) - base,)
    return ()


def _match_letter(text: str, count: int) -> ChoicePositions:
    found = _LETTER_PATTERN.fullmatch(text.strip())
    at = string.ascii_uppercase.index(found[1].upper()) if found else count
    return (at,) if at < count else ()


def _text_or_empty(value: object) -> str:
    return as_json_text(value) or ""
