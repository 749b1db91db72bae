"""Fields for a number, or a list of whole numbers, that are kept in the address."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from pages.state.markdown import escape_markdown
from pages.state.url import UrlState, parse_whole_number

_DECIMAL: Final = re.compile(r"[0-9]?\.[0-9]{1,6}|[0-9]")


@dataclass(frozen=True, slots=True)
class NumberListSpec:
    """What a number list accepts.

    Attributes
    ----------
    label : str
    noun : str
        What one number is, for the message about invalid ones.
    maximum : int
        Largest number; the smallest is 1.
    max_numbers : int
    help : str
    default : tuple of int
        Taken where no valid number is typed.
    placeholder : str
        Shown while nothing is typed.
    """

    label: str
    noun: str
    maximum: int
    max_numbers: int
    help: str
    default: tuple[int, ...] = ()
    placeholder: str = ""


def number_list_input(url_state: UrlState, key: str, spec: NumberListSpec) -> tuple[int, ...]:
    """Draw the field and return its numbers, ascending; invalid and surplus ones are named and left out."""
    text = url_state.pick(key, None, _joined(spec.default))
    parsed = {word: parse_whole_number(word, 1, spec.maximum) for word in re.findall(r"[^\s,;]+", text)}
    valid = sorted({number for number in parsed.values() if number is not None})
    numbers = tuple(valid[: spec.max_numbers]) or spec.default
    url_state.set_widget(key, _joined(numbers))
    url_state.remember(key, _joined(numbers).replace(" ", ""), _joined(spec.default).replace(" ", ""))
    st.text_input(spec.label, _joined(numbers), key=key, placeholder=spec.placeholder, help=spec.help)
    if invalid := [word for word, number in parsed.items() if number is None]:
        st.caption(f":material/error: Not {spec.noun}: {escape_markdown(', '.join(invalid[:5]))}.")
    if len(valid) > spec.max_numbers:
        st.caption(f":material/error: Only the first {spec.max_numbers} numbers are shown.")
    return numbers


def whole_number_input(
    url_state: UrlState, key: str, label: str, limits: tuple[int, int, int], help_: str
) -> int:
    """Draw a whole-number field and return its number; `limits` holds the default, minimum and maximum."""
    default, minimum, maximum = limits
    text = url_state.pick(key, None, str(default))
    parsed = parse_whole_number(text, minimum, maximum)
    number = default if parsed is None else parsed
    _store_value(url_state, key, str(number), str(default), valid=parsed is not None)
    url_state.set_widget(f"{key}_typed", number)
    st.number_input(
        label,
        minimum,
        maximum,
        number,
        key=f"{key}_typed",
        step=1,
        help=help_,
        on_change=_on_number,
        args=(key,),
    )
    return number


def decimal_input(
    url_state: UrlState, key: str, label: str, limits: tuple[float, float, float], help_: str, *, step: float
) -> float:
    """Draw a field of up to six decimals and return its number; `limits` as for `whole_number_input`."""
    default, minimum, maximum = limits
    text = url_state.pick(key, None, _decimal_text(default))
    valid = _DECIMAL.fullmatch(text) is not None and minimum <= float(text) <= maximum
    number = float(text) if valid else default
    _store_value(url_state, key, _decimal_text(number), _decimal_text(default), valid=valid)
    url_state.set_widget(f"{key}_typed", number)
    st.number_input(
        label,
        minimum,
        maximum,
        number,
        key=f"{key}_typed",
        step=step,
        format="%g",
        help=help_,
        on_change=_on_number,
        args=(key,),
    )
    return number


def _store_value(url_state: UrlState, key: str, value: str, default: str, *, valid: bool) -> None:
    """Remember a control's value; an invalid one from a link is noted as rejected."""
    if not valid and url_state.url_changed and key in url_state.url:
        url_state.rejected[key] = url_state.url[key]
    url_state.set_widget(key, value)
    url_state.remember(key, value, default)


def _on_number(key: str) -> None:
    """Write a typed number as the address has it."""
    st.session_state[key] = _decimal_text(st.session_state[f"{key}_typed"])


def _decimal_text(number: float) -> str:
    return str(number) if isinstance(number, int) else f"{number:.6f}".rstrip("0").rstrip(".")


def _joined(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
