"""A multiselect whose choice is kept in the address."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import streamlit as st

from calib_core.errors import Unavailable
from pages.state.markdown import escape_markdown
from pages.state.url import UrlState, decode_ids, encode_ids

_EMPTIED: Final = "~"
"""In the address: a list that has a default, and was emptied; no id is this."""


@dataclass(frozen=True, slots=True)
class MultiselectOffer:
    """What may be chosen under one key.

    Attributes
    ----------
    key : str
    allowed : Sequence of str
    url_names : Mapping of str to str
        Id → its name in the address, where that is not the id.
    limit : (int, str) or None
        How many may be chosen and why no more; None for any number.
    """

    key: str
    allowed: Sequence[str]
    url_names: Mapping[str, str] = field(default_factory=dict[str, str])
    limit: tuple[int, str] | None = None

    def encode(self, chosen: Sequence[str]) -> str:
        """Return the chosen ids as the address has them."""
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
    """Draw a multiselect and return the chosen ids; the default where none of them is allowed.

    A list that has a default stays empty once it was emptied. Where it has a placeholder, too, such as
    "Choose a run", the page cannot do without.

    Raises
    ------
    Unavailable
        With the placeholder, where such a list was emptied.
    """
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
    """Draw a multiselect as `multiselect` does; ids beyond the offer's limit are not added, and named."""
    state, key, allowed = st.session_state, offer.key, offer.allowed
    widget, changed = f"{key}_shown", f"_{key}_changed"
    chosen = state.pop(changed, None)
    default_ids = [id_ for id_ in default if id_ in allowed]
    default_value = offer.encode(default_ids)
    if chosen is not None and not url_state.url_changed:
        state[key] = offer.encode(chosen) or (_EMPTIED if default_ids else "")
    text = url_state.pick(key, None, default_value)
    is_emptied = text == _EMPTIED
    selected, missing = decode_ids("" if is_emptied else text, allowed, offer.url_names)
    if missing and (url_state.url_changed or url_state.awaits_files):
        url_state.rejected[key] = ", ".join(missing)
    selected = [] if is_emptied else _within_limit(selected or default_ids, offer, title_of)
    value = offer.encode(selected) or (_EMPTIED if default_ids else "")
    url_state.set_widget(key, value)
    url_state.remember(key, value, default_value)
    if not allowed:
        return []
    url_state.set_widget(widget, selected, allowed)
    shown = st.multiselect(
        label,
        allowed,
        selected,
        key=widget,
        format_func=title_of,
        on_change=note_chosen,
        args=(changed, widget),
        help=help_,
        placeholder=placeholder,
    )
    if placeholder and default_ids and not shown:
        raise Unavailable(f"{placeholder}.")
    return shown


def _within_limit(selected: list[str], offer: MultiselectOffer, title_of: Callable[[str], str]) -> list[str]:
    """Return the ids within the limit; the others are named with the reason."""
    if offer.limit is None or len(selected) <= offer.limit[0]:
        return selected
    maximum, reason = offer.limit
    st.caption(
        f":material/block: {escape_markdown(', '.join(map(title_of, selected[maximum:])))} "
        f"not added: {reason}"
    )
    return selected[:maximum]


def set_chosen(key: str, ids: Sequence[str]) -> None:
    """Have the list of this key show these ids at the next run, as if the person had chosen them in it."""
    st.session_state[f"_{key}_changed"] = list(ids)


def note_chosen(changed: str, widget: str) -> None:
    """Note what the person, not a link, chose; the next run may draw a page without this control."""
    st.session_state[changed] = st.session_state[widget]
