"""Controls of the page Files that read several tables as one run, such as one table per subject."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from os.path import commonprefix
from typing import Final

import streamlit as st

from calib_core.readers.table.run_split import file_stem
from calib_core.wording import plural
from pages.state.cache import LoadedFile, mapping_store
from pages.state.mappings import FileMapping
from pages.state.markdown import escape_markdown
from pages.state.runs import LoadedRun

JOINED_TO_SEVERAL: Final = (
    "They are still {:,} runs: their columns, models or data sets differ, or they share a question."
)

_TROUBLE: Final = "trouble_with_joining"
_MAX_NAMES_SHOWN: Final = 3


def show_joined_tables(files: Sequence[LoadedFile], runs: Sequence[LoadedRun]) -> None:
    """Draw the control that joins tables by a pattern of their names, and the button that parts them again.

    Nothing is drawn below two loaded tables. Which tables belong together is never guessed: the names of two
    models may differ by a number as the parts of one do.
    """
    tables = [file for file in files if is_loaded_table(file)]
    if error := st.session_state.pop(_TROUBLE, None):
        st.error(escape_markdown(error), icon=":material/save:")
    if len(tables) < 2:
        return
    joined: dict[str, list[LoadedFile]] = {}
    for file in tables:
        if file.mapping.run_name:
            joined.setdefault(file.mapping.run_name, []).append(file)
    if not st.toggle(
        "Read several tables as one run",
        value=bool(joined),
        key="join_tables",
        help="For tables that are parts of one evaluation, such as one per subject.",
    ):
        return
    with st.container(border=True, key="joining"):
        pattern = st.text_input(
            "Files of the run",
            key="join_pattern",
            placeholder="mmlu-llama-*.csv",
            help="The star stands for what differs, such as the subject. Tables with the same columns become "
            "one run; where their ids repeat, the name of each file is its subject.",
        )
        matching = [file for file in tables if fnmatchcase(file.name, (pattern or "").strip())]
        if pattern:
            st.caption(escape_markdown(f"{plural(len(matching), 'file')}: {_names_text(matching)}"))
        st.button(
            f"Read these {len(matching):,} files as one run",
            key="join",
            type="primary",
            disabled=len(matching) < 2,
            on_click=_keep,
            args=({file: replace(file.mapping, run_name=joined_run_name(matching)) for file in matching},),
        )
        for name, parts in joined.items():
            with st.container(horizontal=True, vertical_alignment="center"):
                n_runs = sum(not set(parts).isdisjoint(run.part_files) for run in runs)
                apart = f". {JOINED_TO_SEVERAL.format(n_runs)}" if n_runs > 1 else ""
                st.caption(
                    escape_markdown(f"{name}: {plural(len(parts), 'file')}, {_names_text(parts)}{apart}")
                )
                st.button(
                    "Take apart",
                    key=f"part_{name}",
                    on_click=_keep,
                    args=({file: replace(file.mapping, run_name="") for file in parts},),
                )


def is_loaded_table(file: LoadedFile) -> bool:
    """Return whether a file is a plain table that is read."""
    return file.report is not None and file.report.format == "table" and file.report.status != "refused"


def joined_run_name(files: Sequence[LoadedFile]) -> str:
    """Return the common beginning of the files' names; the first name where they have none."""
    stems = [file_stem(file.name) for file in files]
    beginning = commonprefix(stems).strip(" _-.")  # noqa: RUF071  the names' common beginning, not folders
    return beginning or "; ".join(stems[:1])


def _names_text(files: Sequence[LoadedFile]) -> str:
    names = [file.name for file in files[:_MAX_NAMES_SHOWN]]
    return ", ".join(names) + (", …" if len(files) > _MAX_NAMES_SHOWN else "")


def _keep(mappings: Mapping[LoadedFile, FileMapping]) -> None:
    """Keep the mapping of each file; an empty one is deleted. A failure is reported."""
    try:
        for file, mapping in mappings.items():
            store = mapping_store(file)
            if mapping:
                store.save(file.listing.path, mapping)
            else:
                store.delete(file.listing.path)
    except OSError as error:
        st.session_state[_TROUBLE] = f"The choice cannot be saved: {error.strerror}."
