"""Which whole numbers did somebody type, or does a link ask for?  A list with commas → those in range."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.parts.address import Address, whole_number
from pages.parts.literal import literal


@dataclass(frozen=True, slots=True)
class Numbers:
    """What may be typed. named: what one of them is; most: the largest, from 1; at_once: how many.

    default: what is taken where nothing of it can be had; placeholder: what is shown while nothing is typed.
    """

    label: str
    named: str
    most: int
    at_once: int
    help: str
    default: tuple[int, ...] = ()
    placeholder: str = ""


def whole_numbers(address: Address, key: str, of: Numbers) -> tuple[int, ...]:
    """The control, and the numbers ascending; what is none of these, or too much, is told and left out."""
    typed = address.pick(key, None, _written(of.default))
    known = {word: whole_number(word, 1, of.most) for word in re.findall(r"[^\s,;]+", typed)}
    every = sorted({number for number in known.values() if number is not None})
    numbers = tuple(every[:of.at_once]) or of.default
    address.put(key, _written(numbers))
    address.note(key, _written(numbers).replace(" ", ""), _written(of.default).replace(" ", ""))
    st.text_input(of.label, key=key, placeholder=of.placeholder, help=of.help)
    if wrong := [word for word, number in known.items() if number is None]:
        st.caption(f":material/error: Not {of.named}: {literal(', '.join(wrong[:5]))}.")
    if len(every) > of.at_once:
        st.caption(f":material/error: The first {of.at_once} are shown.")
    return numbers


def _written(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
