"""How are several things chosen at once, and kept in the address?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from pages.parts.address import Address


def several(
    address: Address,
    key: str,
    allowed: Sequence[str],
    *,
    label: str,
    titled: Callable[[str], str],
    default: Sequence[str] = (),
    help_: str | None = None,
    placeholder: str = "",
) -> list[str]:
    """A list of ids under `key`, with commas in the address; the default where nothing of it is possible."""
    state = st.session_state
    widget, changed = f"{key}_shown", f"_{key}_changed"
    if not address.moved and state.pop(changed, False):
        state[key] = ",".join(state[widget])
    standard = [id_ for id_ in default if id_ in allowed]
    wanted = [id_ for id_ in address.pick(key, None, ",".join(standard)).split(",") if id_]
    kept = [id_ for id_ in dict.fromkeys(wanted) if id_ in allowed]
    if address.moved and len(kept) < len(set(wanted)):
        address.lost[key] = ", ".join(id_ for id_ in wanted if id_ not in allowed)
    kept = kept or standard
    address.put(key, ",".join(kept))
    address.note(key, ",".join(kept), ",".join(standard))
    if not allowed:
        return []
    address.put(widget, kept, allowed)
    return st.multiselect(
        label, allowed, key=widget, format_func=titled, on_change=_note, args=(changed,), help=help_,
        placeholder=placeholder,
    ) or standard


def _note(changed: str) -> None:
    st.session_state[changed] = True
