"""Which whole numbers did somebody type, or does a link ask for?  A list with commas → those in range."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.state.markdown import escape_markdown
from pages.state.url import UrlState, parse_whole_number


@dataclass(frozen=True, slots=True)
class NumberListSpec:
    """What may be typed. named: what one of them is; most: the largest, from 1; at_once: how many.

    default: what is taken where nothing of it can be had; placeholder: what is shown while nothing is typed.
    """

    label: str
    noun: str
    maximum: int
    max_numbers: int
    help: str
    default: tuple[int, ...] = ()
    placeholder: str = ""


def number_list_input(url_state: UrlState, key: str, spec: NumberListSpec) -> tuple[int, ...]:
    """The control, and the numbers ascending; what is none of these, or too much, is told and left out."""
    typed = url_state.pick(key, None, _joined(spec.default))
    known = {word: parse_whole_number(word, 1, spec.maximum) for word in re.findall(r"[^\s,;]+", typed)}
    every = sorted({number for number in known.values() if number is not None})
    numbers = tuple(every[: spec.max_numbers]) or spec.default
    url_state.set_widget(key, _joined(numbers))
    url_state.remember(key, _joined(numbers).replace(" ", ""), _joined(spec.default).replace(" ", ""))
    st.text_input(spec.label, key=key, placeholder=spec.placeholder, help=spec.help)
    if wrong := [word for word, number in known.items() if number is None]:
        st.caption(f":material/error: Not {spec.noun}: {escape_markdown(', '.join(wrong[:5]))}.")
    if len(every) > spec.max_numbers:
        st.caption(f":material/error: The first {spec.max_numbers} are shown.")
    return numbers


def _joined(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
