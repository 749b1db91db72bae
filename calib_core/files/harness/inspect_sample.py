"""What of a sample of an Inspect log is needed here?  One answer to one question, without what led to it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from calib_core.files.harness.json_values import as_list, as_object, as_float, as_text, as_integer, is_list
from calib_core.files.harness.letters import TokenPosition, parse_positions

_ATTACHMENT_PREFIX: Final = "attachment://"
_PARTIAL_GRADE: Final = "P"
_GRADES: Final[Mapping[str, bool]] = {"C": True, "I": False, "N": False}
"""Right; wrong; no answer, which the tool counts as wrong."""

UNNAMED_SCORER: Final = "score"
"""What the only scorer is called in logs that do not name it."""


@dataclass(frozen=True, slots=True, eq=False)
class SampleScore:
    """What one scorer said.

    part: whether it gave several values, of which this is one; correct: True or False, None without an
    outcome, anything else where it is none of the tool's values; value: as stored; partial: whether it gave
    a part of the credit; answer: as the scorer read it; explanation: its words; metadata: plain values.
    """

    is_part: bool
    correct: object
    value: object
    is_partial: bool
    answer: str | None
    explanation: str
    metadata: Mapping[str, object]


@dataclass(frozen=True, slots=True, eq=False)
class InspectSample:
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
    scores: Mapping[str, SampleScore]
    completions: tuple[str, ...]
    positions: tuple[TokenPosition, ...]
    is_failed: bool
    is_refused: bool
    is_limited: bool
    is_invalidated: bool
    metadata: Mapping[str, object]


def parse_sample(record: Mapping[str, object]) -> InspectSample:
    """The sample that a record of the log holds."""
    output = as_object(record.get("output"))
    generated = [as_object(part) for part in as_list(output.get("choices"))]
    first = as_object(generated[0]) if generated else as_object(None)
    scores = as_object(record.get("scores")) or {UNNAMED_SCORER: record.get("score")}
    return InspectSample(
        id=record.get("id"),
        epoch=as_integer(record.get("epoch")) or 1,
        question=_question_text(record),
        choices=tuple(text for part in as_list(record.get("choices")) if (text := as_text(part)) is not None),
        target=record.get("target"),
        scores={name: score for key, value in scores.items() for name, score in _parse_scores(key, value)},
        completions=_completion_texts(output, generated),
        positions=parse_positions(as_object(first.get("logprobs")).get("content")),
        is_failed=record.get("error") is not None,
        is_refused=first.get("stop_reason") == "content_filter",
        is_limited=record.get("limit") is not None,
        is_invalidated=record.get("invalidation") is not None,
        metadata=_scalar_values(record.get("metadata")),
    )


def _parse_scores(key: str, stored: object) -> Iterator[tuple[str, SampleScore]]:
    """The scores of one scorer: its value, or each part of a value that has several."""
    score = as_object(stored)
    value = score.get("value")
    parts = as_object(value) or {str(number): part for number, part in enumerate(as_list(value), 1)}
    named: dict[str, object] = {f"{key}.{part}": each for part, each in parts.items()} or {key: value}
    for name, each in named.items():
        if score:
            correct, partial = _parse_outcome(each)
            said = as_text(score.get("explanation")) or ""
            answer, more = as_text(score.get("answer")), _scalar_values(score.get("metadata"))
            yield name, SampleScore(bool(parts), correct, each, partial, answer, said, more)


def _parse_outcome(value: object) -> tuple[object, bool]:
    """Whether a score says right or wrong, and whether it gives a part of the credit, which is no outcome."""
    if value == _PARTIAL_GRADE:
        return None, True
    if isinstance(value, str):
        return _GRADES.get(value, value), False
    number = as_float(value)
    if number is None:
        return value, False
    if math.isnan(number):
        return None, False
    if 0 < number < 1:
        return None, True
    return (bool(number), False) if number in (0, 1) else (value, False)


def _question_text(record: Mapping[str, object]) -> str | None:
    """The question's text: of a chat, what the user said last."""
    asked = record.get("input")
    for part in reversed(as_list(asked)):
        message = as_object(part)
        if message.get("role") == "user":
            asked = _message_text(message.get("content"))
            break
    text = as_text(asked)
    if text is not None and text.startswith(_ATTACHMENT_PREFIX):
        return as_text(as_object(record.get("attachments")).get(text.removeprefix(_ATTACHMENT_PREFIX))) or text
    return text


def _completion_texts(output: Mapping[str, object], generated: list[Mapping[str, object]]) -> tuple[str, ...]:
    texts = [_message_text(as_object(part.get("message")).get("content")) or "" for part in generated]
    scored = as_text(output.get("completion"))
    return (scored, *texts[1:]) if scored and texts else tuple(texts)


def _message_text(content: object) -> str | None:
    """The text of a message: without its reasoning, images and calls of tools."""
    if is_list(content):
        parts = map(as_object, as_list(content))
        return "\n".join(as_text(part.get("text")) or "" for part in parts if part.get("type") == "text")
    return as_text(content)


def _scalar_values(stored: object) -> Mapping[str, object]:
    """The values that are one text, number or boolean."""
    return {name: value for name, value in as_object(stored).items() if isinstance(value, str | int | float)}
