"""Parses values as Python, NumPy and PyTorch print them; nothing in them is run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import EllipsisType, MappingProxyType
from typing import Final, TypeAlias

PrintedScalar: TypeAlias = str | float | bool | EllipsisType | None

MAX_DEPTH: Final = 50
"""Limit on the levels of lists and dicts in one another."""

_SCALAR: Final = re.compile(
    r"""(?P<wrapped>np\.\w+\()?  # NumPy 2 writes np.float64(0.5) in a list
    (?: (?P<quote>['"]) (?P<text>(?:(?!(?P=quote))[^\\] | \\.)*+) (?P=quote) | (?P<word>[^\s,'"()\[\]{}]++) )
    (?(wrapped)\))""",
    re.VERBOSE | re.DOTALL,
)
_KEY: Final = re.compile(
    r"""(?: (?P<quote>['"]) (?P<text>(?:(?!(?P=quote))[^\\] | \\.)*+) (?P=quote)
    | (?P<word>[^\s,:'"()\[\]{}]++) ) \s*:\s*""",
    re.VERBOSE | re.DOTALL,
)
_SPACE: Final = re.compile(r"\s*")
_ARRAY_START: Final = re.compile(r"(?:array|tensor)\(\s*(?=\[)")
_ARRAY_END: Final = re.compile(r"\s*(?:,\s*\w+=(?:[^\[\]()]|\([^()]*\))*)?\)")
_SCALARS: Final[Mapping[str, PrintedScalar]] = MappingProxyType(
    {
        "...": ...,
        "None": None,
        "nan": None,
        "<NA>": None,
        "inf": float("inf"),
        "-inf": float("-inf"),
        "True": True,
        "False": False,
        "np.True_": True,
        "np.False_": False,
    }
)
_INTEGER: Final = re.compile(r"[+-]?(?:0|[1-9][0-9]*)")
_FLOAT: Final = re.compile(r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_ESCAPE: Final = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([abfnrtv\\'\"]))", re.DOTALL
)
_ESCAPED: Final = MappingProxyType(dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True)))


def parse_printed(text: str) -> object:
    """Parse a list, tuple, dict or array as it is printed, as lists and dicts with texts as keys.

    The elements of a list stand between commas, or all between white space, as NumPy prints them: Python
    would join two texts without a comma, so a mixture is not a list. An unknown element (nan, None) is None,
    and one that NumPy left out is Ellipsis.

    Raises
    ------
    ValueError
        The text is something else.

    Examples
    --------
    >>> parse_printed("{'p': array([0.1, 0.9], dtype=float32), 'ok': True}")
    {'p': [0.1, 0.9], 'ok': True}
    >>> parse_printed("['0' '4' '2']")
    ['0', '4', '2']
    """
    value, end = _parse_value(text, _skip_space(text, 0), 0)
    if _skip_space(text, end) < len(text):
        raise ValueError(f"something follows the value, at character {end + 1}")
    return value


def _parse_value(text: str, at: int, depth: int) -> tuple[object, int]:
    """Return the value that begins at a character, and where it ends."""
    if depth > MAX_DEPTH:
        raise ValueError("nested too deeply")
    match text[at : at + 1]:
        case "[":
            return _parse_sequence(text, at + 1, "]", depth)
        case "(":
            return _parse_sequence(text, at + 1, ")", depth)
        case "{":
            return _parse_dict(text, at + 1, depth)
        case _:
            pass
    if array := _ARRAY_START.match(text, at):
        elements, end = _parse_value(text, array.end(), depth + 1)
        if closing := _ARRAY_END.match(text, end):
            return elements, closing.end()
    if scalar := _SCALAR.match(text, at):
        return _scalar_value(scalar), scalar.end()
    raise ValueError(f"no value at character {at + 1}")


def _parse_sequence(text: str, at: int, closing: str, depth: int) -> tuple[list[object], int]:
    """Return the elements of a list or tuple, and where it ends."""
    elements: list[object] = []
    has_comma: list[bool] = []
    at = _skip_space(text, at)
    while text[at : at + 1] != closing:
        if has_comma and not has_comma[-1] and text[at - 1] not in " \t\r\n\f\v":
            raise ValueError(f"nothing separates two elements at character {at + 1}")
        element, at = _parse_value(text, at, depth + 1)
        elements.append(element)
        at = _skip_space(text, at)
        has_comma.append(text[at : at + 1] == ",")
        if has_comma[-1]:
            at = _skip_space(text, at + 1)
    is_separated = all(has_comma[:-1]) if any(has_comma) else closing == "]" or not elements
    if not is_separated:
        raise ValueError("a mixture of commas and white space")
    return elements, at + 1


def _parse_dict(text: str, at: int, depth: int) -> tuple[dict[str, object], int]:
    """Return what a dict holds, and where it ends."""
    record: dict[str, object] = {}
    at = _skip_space(text, at)
    while text[at : at + 1] != "}":
        key = _KEY.match(text, at)
        if key is None:
            raise ValueError(f"no key at character {at + 1}")
        name = key["word"] or _unescaped(key["text"] or "")
        record[name], at = _parse_value(text, key.end(), depth + 1)
        at = _skip_space(text, at)
        if text[at : at + 1] == ",":
            at = _skip_space(text, at + 1)
        elif text[at : at + 1] != "}":
            raise ValueError(f"no comma at character {at + 1}")
    return record, at + 1


def _skip_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _scalar_value(found: re.Match[str]) -> PrintedScalar:
    """Return the value of an element; raises ValueError if it is neither a quoted text nor a value."""
    if (word := found["word"]) is None:
        return _unescaped(found["text"])
    if word in _SCALARS:
        return _SCALARS[word]
    if _INTEGER.fullmatch(word):
        return int(word)
    if _FLOAT.fullmatch(word):
        return float(word)
    raise ValueError(word)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_unescape, text)


def _unescape(escape: re.Match[str]) -> str:
    """Return the character that an escape stands for; raises ValueError beyond the last one of Unicode."""
    if character := escape[4]:
        return _ESCAPED.get(character, character)
    return chr(int(escape[1] or escape[2] or escape[3], 16))
