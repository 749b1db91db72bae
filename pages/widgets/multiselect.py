"""How are several things chosen at once, and kept in the address?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import streamlit as st

from pages.state.markdown import escape_markdown
from pages.state.url import UrlState, decode_ids, encode_ids


@dataclass(frozen=True, slots=True)
class MultiselectOffer:
    """What may be chosen under one key.

    names: id → what it is called in the address, itself if not said; most: how many there may be, and why no
    more, None if any number.
    """

    key: str
    allowed: Sequence[str]
    url_names: Mapping[str, str] = field(default_factory=dict[str, str])
    limit: tuple[int, str] | None = None

    def encode(self, chosen: Sequence[str]) -> str:
        """The list as it stands in the address."""
        return encode_ids(chosen, self.allowed, self.url_names)


def multiselect(
    url_state: UrlState,
    key: str,
    allowed: Sequence[str],
    *,
    label: str,
    title_of: Callable[[str], str],
    help_: str,
    default: Sequence[str] = (),
    placeholder: str = "",
) -> list[str]:
    """A list of ids under `key`, with commas in the address; the default where nothing of it is possible."""
    return limited_multiselect(
        url_state,
        MultiselectOffer(key, allowed),
        label=label,
        title_of=title_of,
        default=default,
        help_=help_,
        placeholder=placeholder,
    )


def limited_multiselect(
    url_state: UrlState,
    offer: MultiselectOffer,
    *,
    label: str,
    title_of: Callable[[str], str],
    help_: str,
    default: Sequence[str] = (),
    placeholder: str = "",
) -> list[str]:
    """As `several`; what is beyond the most there may be is not taken, and that is told."""
    state, key, allowed = st.session_state, offer.key, offer.allowed
    widget, changed = f"{key}_shown", f"_{key}_changed"
    if not url_state.moved and state.pop(changed, False):
        state[key] = offer.encode(state[widget])
    standard = [id_ for id_ in default if id_ in allowed]
    usual = offer.encode(standard)
    if not url_state.moved and state.get(key) == state.get(f"_{key}_usual"):
        state[key] = usual  # what stood at the default follows it
    state[f"_{key}_usual"] = usual
    kept, missing = decode_ids(url_state.pick(key, None, usual), allowed, offer.url_names)
    if url_state.moved and missing:
        url_state.lost[key] = ", ".join(missing)
    kept = _within_limit(kept or standard, offer, title_of)
    text = offer.encode(kept)
    url_state.set_widget(key, text)
    url_state.remember(key, text, usual)
    if not allowed:
        return []
    url_state.set_widget(widget, kept, allowed)
    return (
        st.multiselect(
            label,
            allowed,
            key=widget,
            format_func=title_of,
            on_change=_mark_changed,
            args=(changed,),
            help=help_,
            placeholder=placeholder,
        )
        or standard
    )


def _within_limit(selected: list[str], offer: MultiselectOffer, title_of: Callable[[str], str]) -> list[str]:
    """Not more than there may be; the others are named, with the reason."""
    if offer.limit is None or len(selected) <= offer.limit[0]:
        return selected
    most, why = offer.limit
    st.caption(
        f":material/block: {escape_markdown(', '.join(map(title_of, selected[most:])))} not added: {why}"
    )
    return selected[:most]


def _mark_changed(changed: str) -> None:
    st.session_state[changed] = True
