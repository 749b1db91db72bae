"""A field for a list of whole numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.state.markdown import escape_markdown
from pages.state.url import UrlState, parse_whole_number


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
    st.text_input(spec.label, key=key, placeholder=spec.placeholder, help=spec.help)
    if invalid := [word for word, number in parsed.items() if number is None]:
        st.caption(f":material/error: Not {spec.noun}: {escape_markdown(', '.join(invalid[:5]))}.")
    if len(valid) > spec.max_numbers:
        st.caption(f":material/error: Only the first {spec.max_numbers} numbers are shown.")
    return numbers


def _joined(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
