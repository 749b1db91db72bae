"""How are several things chosen at once, and kept in the address?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import streamlit as st

from pages.parts import ids
from pages.parts.address import Address
from pages.parts.literal import literal


@dataclass(frozen=True, slots=True)
class Offer:
    """What may be chosen under one key.

    names: id → what it is called in the address, itself if not said; most: how many there may be, and why no
    more, None if any number.
    """

    key: str
    allowed: Sequence[str]
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    most: tuple[int, str] | None = None

    def written(self, chosen: Sequence[str]) -> str:
        """The list as it stands in the address."""
        return ids.written(chosen, self.allowed, self.names)


def several(
    address: Address,
    key: str,
    allowed: Sequence[str],
    *,
    label: str,
    titled: Callable[[str], str],
    help_: str,
    default: Sequence[str] = (),
    placeholder: str = "",
) -> list[str]:
    """A list of ids under `key`, with commas in the address; the default where nothing of it is possible."""
    return several_of(
        address, Offer(key, allowed), label=label, titled=titled, default=default, help_=help_,
        placeholder=placeholder,
    )


def several_of(
    address: Address,
    offer: Offer,
    *,
    label: str,
    titled: Callable[[str], str],
    help_: str,
    default: Sequence[str] = (),
    placeholder: str = "",
) -> list[str]:
    """As `several`; what is beyond the most there may be is not taken, and that is told."""
    state, key, allowed = st.session_state, offer.key, offer.allowed
    widget, changed = f"{key}_shown", f"_{key}_changed"
    if not address.moved and state.pop(changed, False):
        state[key] = offer.written(state[widget])
    standard = [id_ for id_ in default if id_ in allowed]
    usual = offer.written(standard)
    if not address.moved and state.get(key) == state.get(f"_{key}_usual"):
        state[key] = usual  # what stood at the default follows it
    state[f"_{key}_usual"] = usual
    kept, missing = ids.read(address.pick(key, None, usual), allowed, offer.names)
    if address.moved and missing:
        address.lost[key] = ", ".join(missing)
    kept = _most(kept or standard, offer, titled)
    text = offer.written(kept)
    address.put(key, text)
    address.note(key, text, usual)
    if not allowed:
        return []
    address.put(widget, kept, allowed)
    return st.multiselect(
        label, allowed, key=widget, format_func=titled, on_change=_note, args=(changed,), help=help_,
        placeholder=placeholder,
    ) or standard


def _most(kept: list[str], offer: Offer, titled: Callable[[str], str]) -> list[str]:
    """Not more than there may be; the others are named, with the reason."""
    if offer.most is None or len(kept) <= offer.most[0]:
        return kept
    most, why = offer.most
    st.caption(f":material/block: {literal(', '.join(map(titled, kept[most:])))} not added: {why}")
    return kept[:most]


def _note(changed: str) -> None:
    st.session_state[changed] = True
