"""What of a sample of an Inspect log is needed here?  One answer to one question, without what led to it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from calib_core.files.harness.json_values import as_list, as_object, as_real, as_text, as_whole, is_list
from calib_core.files.harness.letters import Position, positions_of

_ATTACHED: Final = "attachment://"
_PARTIAL: Final = "P"
_VALUES: Final[Mapping[str, bool]] = {"C": True, "I": False, "N": False}
"""Right; wrong; no answer, which the tool counts as wrong."""

ONE_SCORE: Final = "score"
"""What the only scorer is called in logs that do not name it."""


@dataclass(frozen=True, slots=True, eq=False)
class Score:
    """What one scorer said.

    part: whether it gave several values, of which this is one; correct: True or False, None without an
    outcome, anything else where it is none of the tool's values; value: as stored; partial: whether it gave
    a part of the credit; answer: as the scorer read it; explanation: its words; metadata: plain values.
    """

    part: bool
    correct: object
    value: object
    partial: bool
    answer: str | None
    explanation: str
    metadata: Mapping[str, object]


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """One answer to one question.

    id, target: as stored; epoch: 1, 2, …; choices: () where there are none to choose from; scores: scorer (or
    scorer.part, where it gives several values) → what it said; completions: one a generated choice, the
    first as the scorer saw it; places: tokens of the first; metadata: those of its plain values.
    """

    id: object
    epoch: int
    question: str | None
    choices: tuple[str, ...]
    target: object
    scores: Mapping[str, Score]
    completions: tuple[str, ...]
    places: tuple[Position, ...]
    failed: bool
    refused: bool
    limited: bool
    invalid: bool
    metadata: Mapping[str, object]


def sample_of(record: Mapping[str, object]) -> Sample:
    """The sample that a record of the log holds."""
    output = as_object(record.get("output"))
    generated = [as_object(part) for part in as_list(output.get("choices"))]
    first = as_object(generated[0]) if generated else as_object(None)
    scores = as_object(record.get("scores")) or {ONE_SCORE: record.get("score")}
    return Sample(
        id=record.get("id"),
        epoch=as_whole(record.get("epoch")) or 1,
        question=_question(record),
        choices=tuple(text for part in as_list(record.get("choices")) if (text := as_text(part)) is not None),
        target=record.get("target"),
        scores={name: score for key, value in scores.items() for name, score in _scores(key, value)},
        completions=_completions(output, generated),
        places=positions_of(as_object(first.get("logprobs")).get("content")),
        failed=record.get("error") is not None,
        refused=first.get("stop_reason") == "content_filter",
        limited=record.get("limit") is not None,
        invalid=record.get("invalidation") is not None,
        metadata=_plain(record.get("metadata")),
    )


def _scores(key: str, stored: object) -> Iterator[tuple[str, Score]]:
    """The scores of one scorer: its value, or each part of a value that has several."""
    score = as_object(stored)
    value = score.get("value")
    parts = as_object(value) or {str(number): part for number, part in enumerate(as_list(value), 1)}
    named: dict[str, object] = {f"{key}.{part}": each for part, each in parts.items()} or {key: value}
    for name, each in named.items():
        if score:
            correct, partial = _outcome(each)
            said = as_text(score.get("explanation")) or ""
            answer, more = as_text(score.get("answer")), _plain(score.get("metadata"))
            yield name, Score(bool(parts), correct, each, partial, answer, said, more)


def _outcome(value: object) -> tuple[object, bool]:
    """Whether a score says right or wrong, and whether it gives a part of the credit, which is no outcome."""
    if value == _PARTIAL:
        return None, True
    if isinstance(value, str):
        return _VALUES.get(value, value), False
    number = as_real(value)
    if number is None:
        return value, False
    if math.isnan(number):
        return None, False
    if 0 < number < 1:
        return None, True
    return (bool(number), False) if number in (0, 1) else (value, False)


def _question(record: Mapping[str, object]) -> str | None:
    """The question's text: of a chat, what the user said last."""
    asked = record.get("input")
    for part in reversed(as_list(asked)):
        message = as_object(part)
        if message.get("role") == "user":
            asked = _text(message.get("content"))
            break
    text = as_text(asked)
    if text is not None and text.startswith(_ATTACHED):
        return as_text(as_object(record.get("attachments")).get(text.removeprefix(_ATTACHED))) or text
    return text


def _completions(output: Mapping[str, object], generated: list[Mapping[str, object]]) -> tuple[str, ...]:
    texts = [_text(as_object(part.get("message")).get("content")) or "" for part in generated]
    scored = as_text(output.get("completion"))
    return (scored, *texts[1:]) if scored and texts else tuple(texts)


def _text(content: object) -> str | None:
    """The text of a message: without its reasoning, images and calls of tools."""
    if is_list(content):
        parts = map(as_object, as_list(content))
        return "\n".join(as_text(part.get("text")) or "" for part in parts if part.get("type") == "text")
    return as_text(content)


def _plain(stored: object) -> Mapping[str, object]:
    """The values that are one text, number or boolean."""
    return {name: value for name, value in as_object(stored).items() if isinstance(value, str | int | float)}
