"""Read the person's choice from the address, and write it back.

The address is written by hand and holds only values that differ from their default. Streamlit's bound widgets
pile up history entries, and an address that is always complete makes the back button land where it left.

A long list of ids is written with short ones: their first letters, by which a person recognises them, and a
checksum, which makes them the same in every folder. Where nearly all ids are chosen, the list names those
that are not. Lists of full ids can always be read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from zlib import crc32

import streamlit as st

MAX_FULL_LIST_LENGTH: Final = 72
"""A longer list is written with short ids."""

MAX_FULL_ID_LENGTH: Final = 16
"""An id of up to this length is never shortened."""

_PREFIX_LENGTH: Final = 10
_BASE36_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_ALL_EXCEPT: Final = "-"
"""Prefix of a list of the ids that are not chosen; no id begins with it."""

MAX_DIGITS: Final = 15
"""A number of more digits is not read."""
URL_KEYS = (
    "run",
    "method",
    "metric",
    "m",
    "binning",
    "labels",
    "renormalise",
    "unparseable",
    "held_out",
    "good",
    "with",
    "bin",
    "log",
    "view",
    "runs",
    "beside_runs",
    "metrics",
    "also",
    "ms",
    "ddof",
    "relative",
    "place",
    "paper",
    "at",
    "dataset",
    "datasets",
    "methods",
    "x",
    "y",
    "sizes",
    "repeats",
    "seed",
    "within",
    "tolerance",
    "threshold",
    "wanted",
    "sure",
    "second",
    "cost",
    "second_cost",
    "wrong",
    "handed_on",
    "by",
    "groups",
    "hidden",
    "lines",
    "form",
    "search",
    "outcome",
    "class",
    "logx",
    "against",
    "common",
    "unanswered",
    "judged",
    "sort",
    "every",
    "alone",
    "step",
    "large",
    "pages",
    "reported",
    "hide",
    "find",
    "verdict",
    "published",
    "map",
    "folds",
    "passes",
    "named",
    "demo",
)

DEMO_KEY: Final = "demo"
"""Key of the address that shows the demo data beside a person's own files."""

RUN_KEYS: Final = (
    "run",
    "dataset",
    "datasets",
    "method",
    "methods",
    "runs",
    "beside_runs",
    "lines",
    "reported",
    "second",
    "at",
    "with",
    "passes",
)
"""Keys whose values are runs, or mean something of the chosen runs only."""

KEPT_KEYS: Final = ("run", "dataset")
"""Keys whose value, once chosen, is kept for other pages, be it the default of this one or not shown here."""

BIN_KEYS: Final = ("bin", "search", "outcome")
"""Keys of the selected bin and of the questions listed of it."""


@dataclass(frozen=True, slots=True)
class _DrawnWidget:
    """How a widget was last drawn; Streamlit makes a new one of it on another page or with other options."""

    page: str
    options: tuple[object, ...]
    value: object


class UrlState:
    """The choice in one run of the script: create it, `pick` each value in turn, then `write_url`.

    Attributes
    ----------
    page : str
    url : dict of str to str
        Values of the address when the run began.
    url_changed : bool
        Whether the address takes precedence over the widgets.
    initial : dict of str to str
        Values that the run begins with: the address's, or those of the run before.
    current : dict of str to str
        Values chosen in this run, where they differ from their default.
    touched : frozenset of str
        Keys of the widgets in which the person has just chosen something.
    rejected : dict of str to str
        Values of a link, or chosen on another page, that are not available here.
    known : dict of str to Collection of str
        Runs and data sets that some page can show.
    run_not_shown : str
        The run that was chosen on a page of one run, where this page of several cannot show it.
    used_keys : set of str
        Keys that the page has a control for.
    awaits_files : bool
        Whether files are still to be read, with which other values may be available.
    """

    def __init__(self, page: str) -> None:
        state = st.session_state
        self.page = page
        self.url = {key: value for key, value in st.query_params.to_dict().items() if key in URL_KEYS}
        # On first load, back, forward or an edited link the address wins. Otherwise it is what this session
        # wrote, or older: of two quick moves, the browser hears of the first only after it sent the second.
        controls: dict[str, _DrawnWidget] = state.get("_controls", {})
        self.touched = frozenset(
            key for key, control in controls.items() if key in state and state[key] != control.value
        )
        reads_again = bool(state.get("_reads_url_again", False))
        self.url_changed = (self.url != state.get("_url") or reads_again) and not self.touched
        self.awaits_files = False
        self.initial: dict[str, str] = self.url if self.url_changed else dict(state["_held"])
        self.current: dict[str, str] = {}
        self.rejected: dict[str, str] = {}
        self.known: dict[str, Collection[str]] = {}
        self.run_not_shown = ""
        self.used_keys: set[str] = set()
        self._defaults: dict[str, str] = {}
        self._chosen: set[str] = state.setdefault(
            "_chosen", set()
        )  # keys with a value that is not the default

    def pick(self, key: str, allowed: Sequence[str] | None, default: str) -> str:
        """Return the value of `key` and set its widget: to its own value, the address's or the default.

        Parameters
        ----------
        key : str
        allowed : Sequence of str or None
            Other values give way to the default, and are reported where a link holds them; None allows any.
        default : str
        """
        self.used_keys.add(key)
        value = self.requested(key, default)
        if allowed is not None and key in KEPT_KEYS:
            value = self._kept_value(key, value, allowed)
        is_available = allowed is None or value in allowed
        if not is_available:
            kept = st.session_state.get("_kept_choices", {})
            if kept.get(key) == value or (self.url_changed and key in self.url):
                self.rejected[key] = value
            value = default
        is_chosen = key in (self.initial if self.url_changed else self._chosen | self.touched)
        self.set_widget(key, value, allowed)
        stays = is_chosen and is_available and key in KEPT_KEYS
        self.remember(key, value, "" if stays else default)
        return value

    def requested(self, key: str, default: str) -> str:
        """Return what the widget or the address holds under `key`, whether it is allowed or not.

        Only what was chosen counts: the default of another page, or of the run before, may be another one.
        """
        state = st.session_state
        drawn: _DrawnWidget | None = state.get("_controls", {}).get(key)
        if self.url_changed or key not in state:
            return self.initial.get(key, default)
        if drawn is not None and state[key] == drawn.value:  # nothing was chosen in it since
            if drawn.page != self.page:
                return self.initial.get(key, default)
            if key not in self._chosen and key not in self.initial:
                return default
        return str(state[key])

    def _kept_value(self, key: str, value: str, allowed: Sequence[str]) -> str:
        """Return what was chosen on another page, until this one has it or something else is chosen."""
        kept: dict[str, str] = st.session_state.setdefault("_kept_choices", {})
        if value not in allowed:
            if value in self.known.get(key, ()) and (self._has_come or self.url_changed):
                kept[key] = value
            return value
        if key not in kept:
            return value
        drawn: _DrawnWidget | None = st.session_state.get("_controls", {}).get(key)
        is_chosen = drawn is not None and st.session_state.get(key, drawn.value) != drawn.value
        is_named = self.url_changed and key in self.url
        if is_chosen or is_named or kept[key] in allowed:
            chosen = kept.pop(key)
            return value if is_chosen or is_named else chosen
        return kept[key]

    @property
    def _has_come(self) -> bool:
        """Whether another page was shown before."""
        return st.session_state.get("_page") not in (None, self.page)

    def note_runs(self, shown: Collection[str]) -> None:
        """Note which runs a page of several can show: it says so where the one chosen before is none."""
        chosen = self.initial.get("run", "")
        self.run_not_shown = chosen if chosen in self.known.get("run", ()) and chosen not in shown else ""

    def pick_list(self, key: str, allowed: Sequence[str]) -> list[str]:
        """Return the allowed values of a comma-separated list; others are reported if a link holds them."""
        requested = list(dict.fromkeys(value for value in self.pick(key, None, "").split(",") if value))
        values = [value for value in requested if value in allowed]
        if self.url_changed and len(values) < len(requested):
            self.rejected[key] = ", ".join(value for value in requested if value not in allowed)
        self.set_widget(key, ",".join(values))
        self.remember(key, ",".join(values), "")
        return values

    def set_widget(self, key: str, value: object, options: Sequence[object] | None = None) -> None:
        """Set the widget of this key and these options, unless it has this value already.

        A value set here is sent to the browser, where it would undo the keys pressed since. It is sent once,
        and is lost where the next run of the script begins before the browser has it: draw the widget with
        this value as its default, or a browser that has yet to draw it begins with the first option and sends
        that back as chosen. One that has drawn it keeps the old value.
        """
        state = st.session_state
        controls: dict[str, _DrawnWidget] = state.get("_controls", {})
        before, now = controls.get(key), _DrawnWidget(self.page, tuple(options or ()), value)
        is_unchanged = before is not None and (before.page, before.options) == (now.page, now.options)
        if self.url_changed or not is_unchanged or key not in state or state[key] != value:
            state[key] = value
        state["_controls"] = {old: control for old, control in controls.items() if old in state} | {key: now}

    def remember(self, key: str, value: str, default: str) -> None:
        """Remember the value for links, for the address, and for the next run of the script."""
        self._defaults[key] = default
        if value == default:
            self.current.pop(key, None)
            self._chosen.discard(key)
        else:
            self.current[key] = value
            self._chosen.add(key)

    def carry_body_value(self, key: str, allowed: Sequence[str]) -> None:
        """Keep a value that the page's body will read; a link's value is kept only if it is allowed."""
        self.used_keys.add(key)
        value = self.initial.get(key, "")
        if self.url_changed and value and value not in allowed:
            self.rejected[key] = value
        else:
            self.remember(key, value, "")

    def carry_unused(self) -> None:
        """Keep the values that this page has no control for."""
        for key in URL_KEYS:
            if key in self.initial and key not in self.used_keys | self.current.keys():
                self.current[key] = self.initial[key]

    def rename_value(self, key: str, old: str, new: str) -> None:
        """Follow a value that has got another name since it was chosen."""
        if self.initial.get(key) == old:
            self.initial = {**self.initial, key: new}
        if st.session_state.get(key) == old:
            st.session_state[key] = new

    def forget(self, *keys: str) -> None:
        """Forget what was chosen under these keys."""
        self.initial = {key: value for key, value in self.initial.items() if key not in keys}
        for key in keys:
            self._chosen.discard(key)
            self.current.pop(key, None)
            st.session_state.pop(key, None)
            st.session_state.get("_kept_choices", {}).pop(key, None)

    def _keep_what_may_come(self) -> None:
        """Keep what may change as more files are read.

        The run stays in the address even where it is the default, which may be another one then. What is
        asked for in vain is kept there too.
        """
        if "run" in self.used_keys:
            self.current.setdefault("run", str(st.session_state["run"]))
        self.current |= {key: self.url[key] for key in self.rejected if key in self.url}

    def write_url(self) -> None:
        """Write the choice into the address, leaving parameters of others alone.

        Where the address asks for what files that are still to be read may have, it is read again in the next
        run of the script.
        """
        if self.awaits_files:
            self._keep_what_may_come()
        st.session_state["_reads_url_again"] = self.awaits_files and bool(self.rejected)
        before, now = (_without_bin({**self._defaults, **choice}) for choice in (self.initial, self.current))
        if not self.url_changed and now != before:
            # With another choice the bins are others, so a selected bin and its questions mean nothing.
            for key in BIN_KEYS:
                self.current.pop(key, None)
        keeps_address = self._came_by_link_to_defaults()
        if self.current != self.url and not keeps_address:
            others = {key: value for key, value in st.query_params.to_dict().items() if key not in URL_KEYS}
            st.query_params.from_dict({**others, **self.current})
        st.session_state["_url"] = dict(self.url if keeps_address else self.current)
        st.session_state["_held"] = dict(self.current)
        st.session_state["_page"] = self.page

    def _came_by_link_to_defaults(self) -> bool:
        """Whether the address, by which another page led here, names only defaults beside the choice.

        Without them it would be one more step of the browser's history, from which Back leads here again.
        """
        has_stayed = not self.url_changed and self.current == self.initial
        left_out = self.url.items() - self.current.items()
        return (
            (self._has_come or has_stayed)
            and self.current.items() <= self.url.items()
            and all(self._defaults.get(key) == value for key, value in left_out)
        )


def _without_bin(choice: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in choice.items() if key not in (*BIN_KEYS, "hide")}


def short_id(id_: str) -> str:
    """Return a short id as it is, else its first letters, "_" and a checksum of four letters: 15 at most."""
    if len(id_) <= MAX_FULL_ID_LENGTH:
        return id_
    checksum, letters = crc32(id_.encode()), ""
    for _ in range(4):
        checksum, digit = divmod(checksum, len(_BASE36_DIGITS))
        letters += _BASE36_DIGITS[digit]
    return f"{id_[:_PREFIX_LENGTH].rstrip('-.')}_{letters}"


def encode_ids(
    selected: Sequence[str], allowed: Sequence[str], names: Mapping[str, str] | None = None
) -> str:
    """Return the list as the address has it.

    Parameters
    ----------
    selected : Sequence of str
    allowed : Sequence of str
    names : Mapping of str to str, optional
        Id → its name in the address, where that is not the id.
    """
    url_names = names or {}
    full = {id_: url_names.get(id_, id_) for id_ in allowed}
    full_list = ",".join(full[id_] for id_ in selected)
    if len(full_list) <= MAX_FULL_LIST_LENGTH:
        return full_list
    short_names = _short_names(full)
    candidates = [",".join(short_names[id_] for id_ in selected)]
    left_out = [id_ for id_ in allowed if id_ not in selected]
    if left_out and [id_ for id_ in allowed if id_ in selected] == list(selected):
        candidates.append(_ALL_EXCEPT + ",".join(short_names[id_] for id_ in left_out))
    return min(candidates, key=len)


def decode_ids(
    text: str, allowed: Sequence[str], names: Mapping[str, str] | None = None
) -> tuple[list[str], list[str]]:
    """Return the ids that a list in the address means, each once, and its words that are not allowed."""
    url_names = names or {}
    full = {id_: url_names.get(id_, id_) for id_ in allowed}
    known = {short_name: id_ for id_, short_name in _short_names(full).items()} | {
        name: id_ for id_, name in full.items()
    }
    known |= {id_: id_ for id_ in allowed}
    words = [word for word in text.removeprefix(_ALL_EXCEPT).split(",") if word]
    selected = list(dict.fromkeys(known[word] for word in words if word in known))
    if text.startswith(_ALL_EXCEPT):
        return [id_ for id_ in allowed if id_ not in selected], []
    return selected, list(dict.fromkeys(word for word in words if word not in known))


def _short_names(names: Mapping[str, str]) -> dict[str, str]:
    """Return id → short name, part by part at each "~"; full where two short names would be equal."""
    short_names = {id_: "~".join(map(short_id, name.split("~"))) for id_, name in names.items()}
    repeated: Collection[str] = {name for name, count in Counter(short_names.values()).items() if count > 1}
    return {id_: names[id_] if name in repeated else name for id_, name in short_names.items()}


def parse_whole_number(text: str, minimum: int, maximum: int) -> int | None:
    """Return the whole number between `minimum` and `maximum` that the text holds, None where it holds none.

    The digits are counted first, since Python refuses to convert thousands of them.
    """
    if not text.isdecimal() or len(text) > MAX_DIGITS:
        return None
    number = int(text)
    return number if minimum <= number <= maximum else None
