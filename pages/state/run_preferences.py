"""Which runs a person pinned, hid or renamed: kept in the session, and for the folder in the cache folder.

What is hidden is part of the choice, so it is in the address. A link shows the same to another person: ids
stay ids, whatever a run is called for display. The data folder is never written to, and nothing is kept of
uploads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import filterfalse
from pathlib import Path
from typing import Final, cast

import streamlit as st

from calib_core.results.run_names import GivenName
from calib_core.user_cache import user_cache_folder
from pages.state.cache import data_folder
from pages.state.mappings import json_file_name, read_json, write_json
from pages.state.runs import UPLOADED_PREFIX, LoadedRun
from pages.state.url import UrlState, decode_ids, encode_ids

PREFERENCES_VERSION: Final = 1
HIDE_KEY: Final = "hide"
"""Key of the address that names the hidden runs."""

MAX_NAME_LENGTH: Final = 60

_NOTHING_HIDDEN: Final = "~"
"""In the address where the folder's own choice hides runs and this one none; no id has a tilde."""

_SESSION_KEY: Final = "_run_preferences"
_RENAMED_KEY: Final = "_renamed_runs"
_HIDDEN_AT_START: Final = "_hidden_at_start"


@dataclass(frozen=True, slots=True)
class RunPreferences:
    """How a person wants the runs listed.

    Attributes
    ----------
    names : Mapping of str to str
        Run id → its name for display.
    pinned, hidden : frozenset of str
        Run ids.
    """

    names: Mapping[str, str] = field(default_factory=dict[str, str])
    pinned: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()


# --- Kept for the folder --------------------------------------------------------------------------


def preferences_file(folder: Path) -> Path:
    """Return where the preferences for this data folder are kept."""
    return user_cache_folder() / "runs" / json_file_name(folder)


def load_preferences(folder: Path) -> RunPreferences:
    """Return what is kept for the folder; nothing where the file is missing or malformed."""
    stored = read_json(preferences_file(folder))
    record = cast("dict[str, object]", stored) if isinstance(stored, dict) else {}
    if record.get("version") != PREFERENCES_VERSION:
        return RunPreferences()
    names = record.get("names")
    texts = cast("dict[str, object]", names) if isinstance(names, dict) else {}
    return RunPreferences(
        {id_: name for id_, name in texts.items() if isinstance(name, str)},
        _id_set(record.get("pinned")),
        _id_set(record.get("hidden")),
    )


def _id_set(stored: object) -> frozenset[str]:
    values = cast("list[object]", stored) if isinstance(stored, list) else []
    return frozenset(value for value in values if isinstance(value, str))


def save_preferences(folder: Path, preferences: RunPreferences) -> None:
    """Keep the preferences for the folder, without those of uploaded runs; raises OSError where it cannot."""
    record = {
        "version": PREFERENCES_VERSION,
        "names": {id_: name for id_, name in preferences.names.items() if not _is_uploaded(id_)},
        "pinned": sorted(filterfalse(_is_uploaded, preferences.pinned)),
        "hidden": sorted(filterfalse(_is_uploaded, preferences.hidden)),
    }
    write_json(preferences_file(folder), record)


def _is_uploaded(run_id: str) -> bool:
    return run_id.startswith(UPLOADED_PREFIX)


# --- In the session -------------------------------------------------------------------------------


def session_preferences() -> RunPreferences:
    """Return this session's preferences, which begin as those that are kept for the folder."""
    if _SESSION_KEY not in st.session_state:
        st.session_state[_SESSION_KEY] = load_preferences(data_folder())
    return cast("RunPreferences", st.session_state[_SESSION_KEY])


def pick_hidden_ids(url_state: UrlState, ids: Sequence[str]) -> list[str]:
    """Return which of these runs are hidden: those that the address names, or the folder's own choice.

    A run that the session's first address asks for is shown, whatever the folder's own choice is.
    """
    if _HIDDEN_AT_START not in st.session_state:
        keys = ("run", "runs", "beside_runs", "lines", "reported")
        asked_for = ",".join(url_state.url.get(key, "") for key in keys)
        words = {word.partition("~")[0] for word in asked_for.split(",")}
        hidden = sorted(session_preferences().hidden - words)
        st.session_state[_HIDDEN_AT_START] = ",".join(hidden)
    text = url_state.pick(HIDE_KEY, None, str(st.session_state[_HIDDEN_AT_START]))
    return decode_ids(text.removeprefix(_NOTHING_HIDDEN), ids)[0]


def change_preferences(preferences: RunPreferences, runs: Sequence[LoadedRun]) -> str:
    """Use the preferences in this session, keep them for the folder, and return why that is not possible.

    Parameters
    ----------
    preferences : RunPreferences
    runs : Sequence of LoadedRun
        All runs, hidden ones included.
    """
    st.session_state[_SESSION_KEY] = preferences
    at_start = str(st.session_state.get(_HIDDEN_AT_START, ""))
    ids = [run.id for run in runs]
    if preferences.hidden == set(decode_ids(at_start, ids)[0]):
        st.session_state[HIDE_KEY] = at_start
    else:
        hidden = [id_ for id_ in ids if id_ in preferences.hidden]
        st.session_state[HIDE_KEY] = encode_ids(hidden, ids) or _NOTHING_HIDDEN
    try:
        save_preferences(data_folder(), preferences)
    except OSError as error:
        return f"This is kept until you close the page only: {error.strerror}."
    return ""


def renamed_runs() -> Mapping[str, str]:
    """Return the names for display that runs have in this session, each with the run's real name."""
    return cast("Mapping[str, str]", st.session_state.get(_RENAMED_KEY, {}))


def remember_names(runs: Sequence[LoadedRun]) -> None:
    """Remember which of these runs, which are all there are, have another name for display."""
    st.session_state[_RENAMED_KEY] = {
        run.title: run.real_title for run in runs if run.title != run.real_title
    }


def in_preferred_order(runs: Sequence[LoadedRun], preferences: RunPreferences) -> tuple[LoadedRun, ...]:
    """Return the runs under their names for display, pinned ones first.

    A name that another run has, too, is followed by the run's real one.
    """
    uses = Counter([*(run.title for run in runs), *preferences.names.values()])
    named = [
        replace(run, title=_given_name(run, preferences, uses), is_pinned=run.id in preferences.pinned)
        for run in runs
    ]
    return tuple(sorted(named, key=lambda run: not run.is_pinned))


def _given_name(run: LoadedRun, preferences: RunPreferences, uses: Mapping[str, int]) -> str:
    name = preferences.names.get(run.id, "")
    if not name or name == run.title:
        return run.title
    return GivenName(name if uses[name] == 1 else f"{name} ({run.title})", run.title)
