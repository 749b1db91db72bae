"""What does a value out of somebody's JSON hold, if it is of the kind that is expected?

A log may hold anything at any place. What is of another kind is taken for missing, unless somebody judges it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, cast

from calib_core.readers.table.cells import PLAIN_NUMBER, RANGE_TOLERANCE
from calib_core.readers.table.json_reader import RepeatedKeyError, parse_json

LOGPROB_SENTINEL: Final = -1000.0
"""A log-probability this small is no number: it stands for "not among the likeliest, too small to say"."""

_PLAIN_NUMBER: Final = re.compile(PLAIN_NUMBER)
_EMPTY_OBJECT: Final[Mapping[str, object]] = MappingProxyType({})


def is_object(value: object) -> bool:
    """Whether the value is an object."""
    return isinstance(value, dict)


def is_list(value: object) -> bool:
    """Whether the value is a list."""
    return isinstance(value, list)


def is_cell_value(value: object) -> bool:
    """Whether a value could stand in a cell of a table: no object, and no list of objects or lists."""
    if isinstance(value, list):
        return not any(isinstance(part, dict | list) for part in cast("list[object]", value))
    return value is not None and not isinstance(value, dict)


def as_object(value: object) -> Mapping[str, object]:
    """The object; an empty one where the value is none."""
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else _EMPTY_OBJECT


def as_list(value: object) -> Sequence[object]:
    """The list; an empty one where the value is none."""
    return cast("list[object]", value) if isinstance(value, list) else ()


def as_text(value: object) -> str | None:
    """The text; None where the value is none."""
    return value if isinstance(value, str) else None


def as_name(value: object) -> str | None:
    """The value as a name: text that is not empty, or a whole number as it would be written; else None."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if -(2**63) <= value < 2**63 else None
    return value if isinstance(value, str) and value.strip() else None


def as_integer(value: object) -> int | None:
    """The whole number, if it is of ordinary size; None where the value is none."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if abs(value) < 2**31 else None


def as_float(value: object) -> float | None:
    """The number, also NaN and infinity; None where the value is none, or larger than any float."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def as_finite_number(value: object) -> float | None:
    """The value where it is a finite number, also as text, else None."""
    if isinstance(value, str) and _PLAIN_NUMBER.match(value):
        value = float(value)
    found = as_float(value)
    return None if found is None or not math.isfinite(found) else found


def as_logprob(value: object) -> float | None:
    """A log-probability at most 0, which may be minus infinity.

    None where it is not there, stands for "too small to say" (`SENTINEL`), or is wrong (`is_wrong`).
    """
    if type(value) is float and LOGPROB_SENTINEL < value <= 0:  # nearly all are: the rest takes its time
        return value
    if _is_minus_infinity(value):
        return -math.inf
    found = as_finite_number(value)
    return None if found is None or found <= LOGPROB_SENTINEL or found > RANGE_TOLERANCE else min(found, 0.0)


def is_invalid_logprob(value: object) -> bool:
    """Whether a log-probability is there and cannot be one: no number, NaN, above 0."""
    if type(value) is float and LOGPROB_SENTINEL < value <= 0:
        return False
    if value is None or _is_minus_infinity(value):
        return False
    found = as_finite_number(value)
    return found is None or found > RANGE_TOLERANCE


def _is_minus_infinity(value: object) -> bool:
    """Whether it is minus infinity: the log-probability of what cannot be."""
    return value == -math.inf if isinstance(value, float) else value in ("-inf", "-Infinity")


# MERGED answer_field: Which answer does an output give that is a JSON object?  The one value of its field "answer".
#
# A field by another of the same names has to say the same: of two that differ neither is the answer.

_ANSWER_KEYS: Final = ("answer", "final_answer", "correct_answer")
_CODE_FENCE: Final = "```"


def answer_field(text: str | None) -> str | None:
    """What stands under "answer" in a text that is one JSON object, also between ``` fences; else None."""
    before, found = split_last_object(text)
    return None if before else found


def split_last_object(text: str | None) -> tuple[str | None, str | None]:
    """What stands before the JSON object that a text ends with, and the answer in that object.

    The object is the whole text, or the only one between ``` fences at its end. ("", answer) of an object
    alone, (None, None) where there is no such object, or it says no answer, or two.
    """
    before, bare = "", (text or "").strip()
    if bare.count(_CODE_FENCE) == 2 and bare.endswith(_CODE_FENCE):
        before, bare, _ = (part.strip() for part in bare.split(_CODE_FENCE))
        bare = bare[4:].lstrip() if bare[:4].lower() == "json" else bare
    if not bare.startswith("{"):
        return None, None
    try:
        told = as_object(parse_json(bare))
    except (ValueError, RecursionError, RepeatedKeyError):
        return None, None
    values = [
        _value_as_written(told[key]) for key in told if key.strip().lower().replace(" ", "_") in _ANSWER_KEYS
    ]
    found = values[0] if len(set(values)) == 1 else None
    return (None, None) if found is None else (before, found)


def _value_as_written(value: object) -> str | None:
    """A value as it would be written; None of what is no single one."""
    return as_name(value) or (repr(value) if isinstance(value, float) else None)
