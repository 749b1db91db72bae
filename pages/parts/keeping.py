"""What did a person say of a file, and how is that kept, shown and forgotten?"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from calib_core.files import FORMATS
from calib_core.problems import shorten
from pages.parts import cache
from pages.parts.cache import File
from pages.parts.literal import literal
from pages.parts.wishes import Wish

_DECIDED: Final = "_decided"


def said(file: File, files: Sequence[File], key: str) -> None:
    """The wish as it is kept, with what has become of it."""
    if trouble := st.session_state.pop(f"trouble_{key}", None):
        st.error(literal(trouble), icon=":material/save:")
    if not file.wish:
        return
    where = "for this session" if file.uploaded else "on this machine"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f":material/push_pin: **Your mapping, kept {where}**: {_words(file.wish, files)}.")
        st.button("Forget it", key=f"forget_{key}", on_click=forget, args=(file, key))
    if file.stale:
        st.warning(
            "The file has other columns now than when you said this, so the columns are read as they are. "
            "Look at them below and apply again, or forget it.",
            icon=":material/difference:",
        )
    if file.wish.gold and file.listed.gold is None:
        st.warning("The table of right answers is no longer here, so none are taken from it.")


def _words(wish: Wish, files: Sequence[File]) -> str:
    parts = [f"read as {literal(FORMATS[wish.format].title)}"] if wish.format in FORMATS else []
    if wish.columns:
        parts.append(pairs(dict(wish.columns)))
    if wish.gold:
        name = next((file.name for file in files if real_path(file) == wish.gold), "a table that is gone")
        parts.append(f"right answers from {literal(name)}")
    return "; ".join(parts)


def pairs(columns: Mapping[str, str], most: int = 8) -> str:
    """As "conf as confidence, …" with the columns of one list together."""
    by_name: dict[str, list[str]] = {}
    for column, name in columns.items():
        by_name.setdefault(name, []).append(literal(shorten(column, 40)))
    told: list[str] = []
    for name, own in by_name.items():
        shown = f"{own[0]} … {own[-1]} ({len(own)} columns)" if len(own) > 3 else ", ".join(own)
        told.append(f"{shown} as {literal(name)}" if name else f"{shown} left out")
    more = f" and {len(told) - most} more" if len(told) > most else ""
    return ", ".join(told[:most]) + more


def apply(file: File, wish: Wish, key: str) -> None:
    """Keeps it in place of what was said before; an empty one is forgotten."""
    if not wish:
        forget(file, key)
        return
    try:
        cache.wishes(file).keep(file.listed.path, wish)
    except OSError as error:
        st.session_state[f"trouble_{key}"] = f"It cannot be kept: {error.strerror}."
        return
    _close(key)


def alike(file: File, files: Sequence[File]) -> tuple[File, ...]:
    """The file and others that were refused with the very same columns, and of which nothing was said yet."""
    own = _columns(file)
    return (file, *(
        other for other in files
        if other is not file and other.refusal is not None and not other.wish
        and other.uploaded == file.uploaded and own and _columns(other) == own
    ))


def _columns(file: File) -> Sequence[str]:
    base = file.unwished or file.report
    return base.columns if base else ()


def apply_to_all(alike: Sequence[File], wish: Wish, key: str) -> None:
    """Keeps it for each of these; key: of the one at which it was said."""
    for file in alike:
        apply(file, wish, key)


def forget(file: File, key: str) -> None:
    """The file is read as it says itself."""
    try:
        cache.wishes(file).forget(file.listed.path)
    except OSError as error:
        st.session_state[f"trouble_{key}"] = f"It cannot be forgotten: {error.strerror}."
        return
    _close(key)


def _close(key: str) -> None:
    reset(key)
    decided(key)
    st.session_state[f"reread_{key}"] = False


def decided(key: str) -> None:
    """Marks a file of which something was said in this session: what came of it stays in sight."""
    st.session_state[_DECIDED] = was_decided() | {key}


def was_decided() -> frozenset[str]:
    """The keys of those files."""
    return st.session_state.get(_DECIDED, frozenset())


def reset(key: str) -> None:
    """The controls as they are drawn first."""
    own = {f"{kind}_{key}" for kind in ("format", "gold", "columns", "all")}
    for name in [str(name) for name in st.session_state]:
        if name in own or name.startswith(f"as_{key}_"):
            del st.session_state[name]


def real_path(file: File) -> str:
    """Where the file lies, links followed; never shown."""
    return os.path.realpath(file.listed.path)
