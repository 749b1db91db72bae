"""Which answer does an output give that is a JSON object?  The one value of its field "answer".

A field by another of the same names has to say the same: of two that differ neither is the answer.
"""

from __future__ import annotations

from typing import Final

from calib_core.files.harness.json_values import as_name, as_object
from calib_core.files.tables.json_lines import RepeatedKeyError, parse_json

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
    values = [_value_as_written(told[key]) for key in told if key.strip().lower().replace(" ", "_") in _ANSWER_KEYS]
    found = values[0] if len(set(values)) == 1 else None
    return (None, None) if found is None else (before, found)


def _value_as_written(value: object) -> str | None:
    """A value as it would be written; None of what is no single one."""
    return as_name(value) or (repr(value) if isinstance(value, float) else None)
