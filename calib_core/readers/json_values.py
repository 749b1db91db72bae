"""Type-checked access to values parsed from JSON.

A log may hold anything anywhere. Where a number rests on a value, a wrong type makes the record bad
(`BadValueError`); elsewhere, or where the value is judged later, it counts as missing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, cast

from calib_core.errors import shorten
from calib_core.readers.table.cells import PLAIN_NUMBER, RANGE_TOLERANCE
from calib_core.readers.table.json_reader import RepeatedKeyError, parse_json
from calib_core.readers.table.raw import BrokenRecord, as_json_text

LOGPROB_SENTINEL: Final = -1000.0
"""Log-probabilities this small stand for "not among the most likely tokens", as in -9999."""

_PLAIN_NUMBER: Final = re.compile(PLAIN_NUMBER)
_EMPTY_OBJECT: Final[Mapping[str, object]] = MappingProxyType({})

_ANSWER_KEYS: Final = ("answer", "final_answer", "correct_answer")
_CODE_FENCE: Final = "```"


class BadValueError(Exception):
    """A record has a value that cannot be what its field says; `broken` is the record as a bad row."""

    def __init__(self, path: str, expected: str, value: object, kind: str = "wrong type") -> None:
        super().__init__(path)
        fix = "Write it as the tool does, or leave the record out."
        self.broken = BrokenRecord(0, kind, path, expected, shorten(as_json_text(value) or "null"), fix)


def require_text(value: object, path: str) -> str:
    """Return a text unchanged; raises BadValueError for any other value, null included."""
    if isinstance(value, str):
        return value
    raise BadValueError(path, "a text", value)


def optional_text(value: object, path: str) -> str | None:
    """Return a text unchanged, and None for null; raises BadValueError for any other value."""
    return None if value is None else require_text(value, path)


def optional_name(value: object, path: str) -> str | None:
    """Return a text or whole number as text, and None for null or blank text; raises BadValueError else."""
    name = as_name(value)
    if name is None and value is not None and not isinstance(value, str):
        raise BadValueError(path, "a text or a whole number", value)
    return name


def optional_list(value: object, path: str) -> Sequence[object]:
    """Return a list unchanged, and an empty sequence for null; raises BadValueError for any other value."""
    if value is None or isinstance(value, list):
        return cast("list[object]", value or [])
    raise BadValueError(path, "a list", value)


def require_object(value: object, path: str) -> Mapping[str, object]:
    """Return an object unchanged; raises BadValueError for any other value, null included."""
    if isinstance(value, dict):
        return cast("Mapping[str, object]", value)
    raise BadValueError(path, "an object", value)


def optional_object(value: object, path: str) -> Mapping[str, object]:
    """Return an object unchanged, and an empty one for null; raises BadValueError for any other value."""
    return _EMPTY_OBJECT if value is None else require_object(value, path)


def optional_objects(value: object, path: str) -> list[tuple[Mapping[str, object], str]]:
    """Return the objects of a list, each with its own path; raises BadValueError for any other value."""
    paths = [f"{path}.{at}" for at in range(len(optional_list(value, path)))]
    return [(optional_object(part, own), own) for part, own in zip(as_list(value), paths, strict=True)]


def require_length(values: Sequence[object], others: Sequence[object], path: str) -> None:
    """Raise BadValueError for a list that is neither empty nor as long as another one."""
    if values and len(values) != len(others):
        expected = f"one value for each of the {len(others):,} tokens"
        raise BadValueError(path, expected, f"{len(values):,}", "lists of different lengths")


def is_object(value: object) -> bool:
    """Return whether the value is a JSON object."""
    return isinstance(value, dict)


def is_list(value: object) -> bool:
    """Return whether the value is a list."""
    return isinstance(value, list)


def is_cell_value(value: object) -> bool:
    """Return whether a value fits a table cell: not None, no object, no list of objects or lists."""
    if isinstance(value, list):
        return not any(isinstance(part, dict | list) for part in cast("list[object]", value))
    return value is not None and not isinstance(value, dict)


def as_object(value: object) -> Mapping[str, object]:
    """Return an object unchanged; an empty object for any other value."""
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else _EMPTY_OBJECT


def as_list(value: object) -> Sequence[object]:
    """Return a list unchanged; an empty sequence for any other value."""
    return cast("list[object]", value) if isinstance(value, list) else ()


def as_text(value: object) -> str | None:
    """Return a text unchanged; None for any other value."""
    return value if isinstance(value, str) else None


def as_name(value: object) -> str | None:
    """Return a non-empty text unchanged and an integer as text; None for any other value."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if -(2**63) <= value < 2**63 else None
    return value if isinstance(value, str) and value.strip() else None


def as_integer(value: object) -> int | None:
    """Return an integer below 2³¹ in absolute value; None for any other value."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if abs(value) < 2**31 else None


def as_float(value: object) -> float | None:
    """Return a number as a float, NaN and infinity included; None for any other value or an overflow."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def as_finite_number(value: object) -> float | None:
    """Return a finite number, also from text; None for any other value.

    Examples
    --------
    >>> as_finite_number("0.5"), as_finite_number("50%")
    (0.5, None)
    """
    if isinstance(value, str) and _PLAIN_NUMBER.match(value):
        value = float(value)
    number = as_float(value)
    return None if number is None or not math.isfinite(number) else number


def as_logprob(value: object) -> float | None:
    """Return a log-probability, at most 0 and possibly minus infinity.

    None if the value is missing, invalid (`is_invalid_logprob`), or a sentinel (`LOGPROB_SENTINEL`).
    """
    if type(value) is float and LOGPROB_SENTINEL < value <= 0:  # the fast path: nearly all values
        return value
    if _is_minus_infinity(value):
        return -math.inf
    number = as_finite_number(value)
    if number is None or number <= LOGPROB_SENTINEL or number > RANGE_TOLERANCE:
        return None
    return min(number, 0.0)


def is_invalid_logprob(value: object) -> bool:
    """Return whether a value is present and cannot be a log-probability: not a number, NaN, or above 0."""
    if type(value) is float and LOGPROB_SENTINEL < value <= 0:
        return False
    if value is None or _is_minus_infinity(value):
        return False
    number = as_finite_number(value)
    return number is None or number > RANGE_TOLERANCE


def _is_minus_infinity(value: object) -> bool:
    """Return whether a value is minus infinity, the log-probability of an impossible event."""
    return value == -math.inf if isinstance(value, float) else value in ("-inf", "-Infinity")


def answer_field(text: str | None) -> str | None:
    """Return the field "answer" of a text that is one JSON object, possibly in a code fence; else None.

    Examples
    --------
    >>> answer_field('{"answer": "B"}')
    'B'
    """
    before, answer = split_last_object(text)
    return None if before else answer


def split_last_object(text: str | None) -> tuple[str | None, str | None]:
    """Split a text that ends with a JSON object into the text before it and the answer in the object.

    The object is the whole text, or the content of the only code fence, at the end of the text. Fields of
    several answer-like names ("answer", "final_answer" …) must agree.

    Returns
    -------
    tuple
        (text before, answer), with an empty text if the object is the whole text; (None, None) if there is
        no such object, or it has no answer or contradictory ones.
    """
    before, body = "", (text or "").strip()
    if body.count(_CODE_FENCE) == 2 and body.endswith(_CODE_FENCE):
        before, body, _ = (part.strip() for part in body.split(_CODE_FENCE))
        body = body[4:].lstrip() if body[:4].lower() == "json" else body
    if not body.startswith("{"):
        return None, None
    try:
        fields = as_object(parse_json(body))
    except (ValueError, RecursionError, RepeatedKeyError):
        return None, None
    answers = [
        _scalar_text(value)
        for key, value in fields.items()
        if key.strip().lower().replace(" ", "_") in _ANSWER_KEYS
    ]
    answer = answers[0] if len(set(answers)) == 1 else None
    return (None, None) if answer is None else (before, answer)


def _scalar_text(value: object) -> str | None:
    """Return a text or number as text; None for any other value."""
    return as_name(value) or (repr(value) if isinstance(value, float) else None)
