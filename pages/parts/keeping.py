"""What did a person say of a file, and how is that kept, shown and forgotten?"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from calib_core.files import FORMATS
from calib_core.problems import shorten
from pages.parts import cache
from pages.parts.cache import LoadedFile
from pages.parts.literal import escape_markdown
from pages.parts.wishes import FileMapping

_DECIDED_KEY: Final = "_decided"


def show_kept_mapping(file: LoadedFile, files: Sequence[LoadedFile], key: str) -> None:
    """The wish as it is kept, with what has become of it."""
    if trouble := st.session_state.pop(f"trouble_{key}", None):
        st.error(escape_markdown(trouble), icon=":material/save:")
    if not file.mapping:
        return
    where = "for this session" if file.is_uploaded else "on this machine"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f":material/push_pin: **Your mapping, kept {where}**: {_mapping_text(file.mapping, files)}.")
        st.button("Forget it", key=f"forget_{key}", on_click=delete_mapping, args=(file, key))
    if file.mapping_is_stale:
        st.warning(
            "The file has other columns now than when you said this, so the columns are read as they are. "
            "Look at them below and apply again, or forget it.",
            icon=":material/difference:",
        )
    if file.mapping.gold and file.listing.gold is None:
        st.warning("The table of right answers is no longer here, so none are taken from it.")


def _mapping_text(mapping: FileMapping, files: Sequence[LoadedFile]) -> str:
    parts = [f"read as {escape_markdown(FORMATS[mapping.format].title)}"] if mapping.format in FORMATS else []
    if mapping.columns:
        parts.append(columns_text(dict(mapping.columns)))
    if mapping.gold:
        name = next((file.name for file in files if real_path(file) == mapping.gold), "a table that is gone")
        parts.append(f"right answers from {escape_markdown(name)}")
    return "; ".join(parts)


def columns_text(columns: Mapping[str, str], max_parts: int = 8) -> str:
    """As "conf as confidence, …" with the columns of one list together."""
    by_name: dict[str, list[str]] = {}
    for column, name in columns.items():
        by_name.setdefault(name, []).append(escape_markdown(shorten(column, 40)))
    told: list[str] = []
    for name, own in by_name.items():
        shown = f"{own[0]} … {own[-1]} ({len(own)} columns)" if len(own) > 3 else ", ".join(own)
        told.append(f"{shown} as {escape_markdown(name)}" if name else f"{shown} left out")
    more = f" and {len(told) - max_parts} more" if len(told) > max_parts else ""
    return ", ".join(told[:max_parts]) + more


def save_mapping(file: LoadedFile, mapping: FileMapping, key: str) -> None:
    """Keeps it in place of what was said before; an empty one is forgotten."""
    if not mapping:
        delete_mapping(file, key)
        return
    try:
        cache.mapping_store(file).save(file.listing.path, mapping)
    except OSError as error:
        st.session_state[f"trouble_{key}"] = f"It cannot be kept: {error.strerror}."
        return
    _close_controls(key)


def files_with_same_columns(file: LoadedFile, files: Sequence[LoadedFile]) -> tuple[LoadedFile, ...]:
    """The file and others that were refused with the very same columns, and of which nothing was said yet."""
    own = _file_columns(file)
    return (file, *(
        other for other in files
        if other is not file and other.refusal is not None and not other.mapping
        and other.is_uploaded == file.is_uploaded and own and _file_columns(other) == own
    ))


def _file_columns(file: LoadedFile) -> Sequence[str]:
    base = file.report_without_mapping or file.report
    return base.columns if base else ()


def save_mapping_for_all(files: Sequence[LoadedFile], mapping: FileMapping, key: str) -> None:
    """Keeps it for each of these; key: of the one at which it was said."""
    for file in files:
        save_mapping(file, mapping, key)


def delete_mapping(file: LoadedFile, key: str) -> None:
    """The file is read as it says itself."""
    try:
        cache.mapping_store(file).delete(file.listing.path)
    except OSError as error:
        st.session_state[f"trouble_{key}"] = f"It cannot be forgotten: {error.strerror}."
        return
    _close_controls(key)


def _close_controls(key: str) -> None:
    reset_controls(key)
    mark_decided(key)
    st.session_state[f"reread_{key}"] = False


def mark_decided(key: str) -> None:
    """Marks a file of which something was said in this session: what came of it stays in sight."""
    st.session_state[_DECIDED_KEY] = decided_keys() | {key}


def decided_keys() -> frozenset[str]:
    """The keys of those files."""
    return st.session_state.get(_DECIDED_KEY, frozenset())


def reset_controls(key: str) -> None:
    """The controls as they are drawn first."""
    own = {f"{kind}_{key}" for kind in ("format", "gold", "columns", "all")}
    for name in [str(name) for name in st.session_state]:
        if name in own or name.startswith(f"as_{key}_"):
            del st.session_state[name]


def real_path(file: LoadedFile) -> str:
    """Where the file lies, links followed; never shown."""
    return os.path.realpath(file.listing.path)
