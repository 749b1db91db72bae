"""What is wrong with an argument or option, in one form: the option, what was expected, and what was found.

The library that parses command lines words this in its own ways, which differ between its versions.
"""

from __future__ import annotations

import re
from typing import Any, Final, cast

from typer.exceptions import TyperException

from calib_core.errors import shorten

_NOT_IN_RANGE: Final = re.compile(r"(?P<found>.*) is not in the range .*", re.DOTALL)
_NOT_A_NUMBER: Final = re.compile(r"'(?P<found>.*)' is not a valid (?:int|float).*", re.DOTALL)
_NOT_A_CHOICE: Final = re.compile(r"'(?P<found>.*)' is not one of (?P<choices>'.*')\.", re.DOTALL)
_NO_VALUE: Final = re.compile(r"Option '(?P<option>.*)' requires an argument\.")
_VALUE_OF_FLAG: Final = re.compile(r"Option '(?P<option>.*)' does not take a value\.")


def option_error_text(error: TyperException) -> str:
    """Return the message for an error in the command line.

    Examples
    --------
    >>> import typer
    >>> option_error_text(typer.BadParameter("expected COLUMN=NAME, found 'a'", param_hint="--map"))
    "--map: expected COLUMN=NAME, found 'a'."
    """
    name, parameter = _name_of(error), getattr(error, "param", None)
    if no_value := _NO_VALUE.fullmatch(error.message):
        return f"{no_value['option']}: expected a value, found nothing."
    if flag := _VALUE_OF_FLAG.fullmatch(error.message):
        return f"{flag['option']}: expected no value, found one."
    if not name:
        return error.format_message()
    if type(error).__name__ == "MissingParameter":
        expected = getattr(parameter, "metavar", None) or "a value"
        return f"{name}: expected {'at least one' if expected == name else expected}, found nothing."
    expected_and_found = _expected_and_found(error)
    if expected_and_found is None:
        return f"{name}: {error.message.rstrip('.')}."
    return f"{name}: expected {expected_and_found[0]}, found {shorten(expected_and_found[1])!r}."


def _name_of(error: TyperException) -> str:
    """The option or argument as it is typed or shown in the help; "" for an error that is not about one."""
    hint, parameter = getattr(error, "param_hint", None), getattr(error, "param", None)
    if isinstance(hint, str):
        return hint.strip("'")
    names = cast("list[str]", getattr(parameter, "opts", []))
    if names and not names[0].startswith("-"):
        return str(getattr(parameter, "metavar", None) or names[0].upper())
    return names[0] if names else ""


def _expected_and_found(error: TyperException) -> tuple[str, str] | None:
    """What was expected and found, from the message or from the error of pydantic that is its cause."""
    cause = _cause_of(error)
    message = error.message.removeprefix("Value error, ")
    if choice := _NOT_A_CHOICE.fullmatch(message):
        return f"one of {choice['choices'].replace(chr(39), '')}", choice["found"]
    number = _NOT_IN_RANGE.fullmatch(message) or _NOT_A_NUMBER.fullmatch(message)
    kind = str(cause.get("type", ""))
    if number is None and not kind.startswith(("int", "float", "greater", "less", "finite")):
        return None
    return _number_text(error, cause), str(cause["input"]) if number is None else number["found"]


def _cause_of(error: TyperException) -> dict[str, Any]:
    """What pydantic says of the value; empty where it was not pydantic that judged it."""
    errors = getattr(error.__cause__, "errors", None)
    return cast("list[dict[str, Any]]", errors())[0] if callable(errors) else {}


def _number_text(error: TyperException, cause: dict[str, Any]) -> str:
    """Which numbers an option takes: "a whole number from 1 to 1000"."""
    parameter = getattr(error, "param", None)
    type_of_old = getattr(parameter, "type", None)
    low, high = (getattr(parameter, end, getattr(type_of_old, end, None)) for end in ("min", "max"))
    bound: object = next(iter(cause.get("ctx", {}).values()), None)
    is_float = (
        isinstance(bound, float) or "float" in cause.get("type", "") or "Float" in type(type_of_old).__name__
    )
    span = "" if low is None else f" of {low:g} or more" if high is None else f" from {low:g} to {high:g}"
    return f"a {'' if is_float else 'whole '}number{span}"
