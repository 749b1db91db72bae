"""How does the choice get into the address, and back out of it?

The address is written by hand, with values that differ from their default only: bound widgets pile up
history entries, and an address that is always complete makes the back button land where it left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from zlib import crc32

import streamlit as st

# MERGED ids: How is a list of ids written in the address, so that a link stays short enough for a chat?
#
# A list that would be long has short ids: the first letters, by which a person knows them again, and a
# checksum, which makes them the same in every folder. Where nearly all are chosen, those are named that are
# not. Lists of full ids are read as ever.

MAX_FULL_LIST_LENGTH: Final = 72
"""A list of more letters than this is written with short ids."""

MAX_FULL_ID_LENGTH: Final = 16
"""An id of so many letters is never cut."""

_PREFIX_LENGTH: Final = 10
_BASE36_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_ALL_EXCEPT: Final = "-"
"""In front of a list: all but these. No id begins so."""


def short_id(id_: str) -> str:
    """The id if it is short, else its first letters, "_" and a checksum of four letters: 15 at most."""
    if len(id_) <= MAX_FULL_ID_LENGTH:
        return id_
    rest, letters = crc32(id_.encode()), ""
    for _ in range(4):
        rest, digit = divmod(rest, len(_BASE36_DIGITS))
        letters += _BASE36_DIGITS[digit]
    return f"{id_[:_PREFIX_LENGTH].rstrip('-.')}_{letters}"


def encode_ids(
    selected: Sequence[str], allowed: Sequence[str], names: Mapping[str, str] | None = None
) -> str:
    """The list as it stands in the address.

    names: id → what it is called there, itself if not said.
    """
    called = names or {}
    full = {id_: called.get(id_, id_) for id_ in allowed}
    whole = ",".join(full[id_] for id_ in selected)
    if len(whole) <= MAX_FULL_LIST_LENGTH:
        return whole
    cut = _short_names(full)
    ways = [",".join(cut[id_] for id_ in selected)]
    left_out = [id_ for id_ in allowed if id_ not in selected]
    if left_out and [id_ for id_ in allowed if id_ in selected] == list(selected):
        ways.append(_ALL_EXCEPT + ",".join(cut[id_] for id_ in left_out))
    return min(ways, key=len)


def decode_ids(
    text: str, allowed: Sequence[str], names: Mapping[str, str] | None = None
) -> tuple[list[str], list[str]]:
    """The ids that a list in the address means, each once, and what of it is not among those allowed."""
    called = names or {}
    full = {id_: called.get(id_, id_) for id_ in allowed}
    known = {short_: id_ for id_, short_ in _short_names(full).items()} | {
        own: id_ for id_, own in full.items()
    }
    known |= {id_: id_ for id_ in allowed}
    words = [word for word in text.removeprefix(_ALL_EXCEPT).split(",") if word]
    found = list(dict.fromkeys(known[word] for word in words if word in known))
    if text.startswith(_ALL_EXCEPT):
        return [id_ for id_ in allowed if id_ not in found], []
    return found, list(dict.fromkeys(word for word in words if word not in known))


def _short_names(names: Mapping[str, str]) -> dict[str, str]:
    """Id → its name in the address with each part of it short, but in full where two would be the same."""
    made = {id_: "~".join(map(short_id, name.split("~"))) for id_, name in names.items()}
    times: Collection[str] = {name for name, count in Counter(made.values()).items() if count > 1}
    return {id_: names[id_] if name in times else name for id_, name in made.items()}


MAX_DIGITS: Final = 15
"""Of a number that is read at all."""
URL_KEYS = (
    "run",
    "method",
    "metric",
    "m",
    "binning",
    "labels",
    "renormalise",
    "unparseable",
    "good",
    "with",
    "bin",
    "log",
    "runs",
    "metrics",
    "ms",
    "ddof",
    "place",
    "at",
    "dataset",
    "methods",
    "x",
    "y",
    "sizes",
    "repeats",
    "seed",
    "within",
    "threshold",
    "wanted",
    "by",
    "groups",
    "lines",
    "search",
    "against",
    "common",
    "unanswered",
    "sort",
    "every",
    "alone",
    "step",
    "large",
    "pages",
    "reported",
)


@dataclass(frozen=True, slots=True)
class _DrawnWidget:
    """How a control was drawn last; on another page or with other options it is another one to Streamlit."""

    page: str
    options: tuple[object, ...]
    value: object


class UrlState:
    """The choice of this run of the script: begin, `pick` each value in turn, `write`."""

    def __init__(self, page: str) -> None:
        state = st.session_state
        self.page = page
        self.url = {key: value for key, value in st.query_params.to_dict().items() if key in URL_KEYS}
        # First load, back, forward or an edited link: the address wins. Else it is what this session wrote,
        # or behind it: of two quick moves, the browser hears of the first only after it sent the second.
        controls: dict[str, _DrawnWidget] = state.get("_controls", {})
        touched = any(key in state and state[key] != control.value for key, control in controls.items())
        self.moved = self.url != state.get("_url") and not touched
        self.held: dict[str, str] = self.url if self.moved else dict(state["_held"])
        self.now: dict[str, str] = {}
        self.lost: dict[str, str] = {}
        self.picked: set[str] = set()

    def pick(self, key: str, allowed: Sequence[str] | None, default: str) -> str:
        """The value of `key`: a widget's own, else the address's, else the default; set for its widget."""
        self.picked.add(key)
        wanted = self.requested(key, default)
        if allowed is not None and wanted not in allowed:
            if self.moved and key in self.url:
                self.lost[key] = wanted
            wanted = default
        self.set_widget(key, wanted, allowed)
        self.remember(key, wanted, default)
        return wanted

    def requested(self, key: str, default: str) -> str:
        """What a widget or the address says of `key`, be it possible or not."""
        state = st.session_state
        return self.held.get(key, default) if self.moved or key not in state else str(state[key])

    def pick_list(self, key: str, allowed: Sequence[str]) -> list[str]:
        """The values of `key`, a list with commas; the impossible is left out, and told if a link asked."""
        wanted = list(dict.fromkeys(value for value in self.pick(key, None, "").split(",") if value))
        kept = [value for value in wanted if value in allowed]
        if self.moved and len(kept) < len(wanted):
            self.lost[key] = ", ".join(value for value in wanted if value not in allowed)
        self.set_widget(key, ",".join(kept))
        self.remember(key, ",".join(kept), "")
        return kept

    def set_widget(self, key: str, value: object, options: Sequence[object] | None = None) -> None:
        """Sets the control of this key and these options, unless it stands so already.

        A value set here goes to the browser, where it would undo the keys pressed since.
        """
        state = st.session_state
        controls: dict[str, _DrawnWidget] = state.get("_controls", {})
        before, now = controls.get(key), _DrawnWidget(self.page, tuple(options or ()), value)
        same = before is not None and (before.page, before.options) == (now.page, now.options)
        if self.moved or not same or key not in state or state[key] != value:
            state[key] = value
        state["_controls"] = {old: control for old, control in controls.items() if old in state} | {key: now}

    def remember(self, key: str, value: str, default: str) -> None:
        """Remembers the value for links, for the address, and for the next run of the script."""
        if value == default:
            self.now.pop(key, None)
        else:
            self.now[key] = value

    def carry_body_value(self, key: str, allowed: Sequence[str]) -> None:
        """Carries on what the page's body will read under `key`; of a link, only if it is allowed."""
        self.picked.add(key)
        wanted = self.held.get(key, "")
        if self.moved and wanted and wanted not in allowed:
            self.lost[key] = wanted
        else:
            self.remember(key, wanted, "")

    def carry_unused(self) -> None:
        """Carries on what this page has no control for."""
        for key in URL_KEYS:
            if key in self.held and key not in self.picked | self.now.keys():
                self.now[key] = self.held[key]

    def write_url(self) -> None:
        """Puts the choice into the address, leaving parameters of others alone."""
        if not self.moved and _without_bin(self.now) != _without_bin(self.held):
            self.now.pop("bin", None)  # a bin of other bins, and what is looked for in it
            self.now.pop("search", None)
        if self.now != self.url:
            others = {key: value for key, value in st.query_params.to_dict().items() if key not in URL_KEYS}
            st.query_params.from_dict({**others, **self.now})
        st.session_state["_url"] = dict(self.now)
        st.session_state["_held"] = dict(self.now)


def _without_bin(choice: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in choice.items() if key not in ("bin", "search")}


def parse_whole_number(text: str, minimum: int, maximum: int) -> int | None:
    """The whole number that the text is, from `least` to `most`; None where it is none of these.

    Python refuses to read thousands of digits, so that they are counted first.
    """
    if not text.isdecimal() or len(text) > MAX_DIGITS:
        return None
    number = int(text)
    return number if minimum <= number <= maximum else None
