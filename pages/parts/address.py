"""How does the choice get into the address, and back out of it?

The address is written by hand, with values that differ from their default only: bound widgets pile up
history entries, and an address that is always complete makes the back button land where it left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

import streamlit as st

from calib_core.problems import shorten
from pages.parts.literal import literal

DIGITS: Final = 15
"""Of a number that is read at all."""
KEYS = (
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
class _Control:
    """How a control was drawn last; on another page or with other options it is another one to Streamlit."""

    page: str
    options: tuple[object, ...]
    value: object


class Address:
    """The choice of this run of the script: begin, `pick` each value in turn, `write`."""

    def __init__(self, page: str) -> None:
        state = st.session_state
        self.page = page
        self.url = {key: value for key, value in st.query_params.to_dict().items() if key in KEYS}
        # First load, back, forward or an edited link: the address wins. Else it is what this session wrote,
        # or behind it: of two quick moves, the browser hears of the first only after it sent the second.
        controls: dict[str, _Control] = state.get("_controls", {})
        touched = any(key in state and state[key] != control.value for key, control in controls.items())
        self.moved = self.url != state.get("_url") and not touched
        self.held: dict[str, str] = self.url if self.moved else dict(state["_held"])
        self.now: dict[str, str] = {}
        self.lost: dict[str, str] = {}
        self.picked: set[str] = set()

    def pick(self, key: str, allowed: Sequence[str] | None, default: str) -> str:
        """The value of `key`: a widget's own, else the address's, else the default; set for its widget."""
        self.picked.add(key)
        wanted = self.wanted(key, default)
        if allowed is not None and wanted not in allowed:
            if self.moved and key in self.url:
                self.lost[key] = wanted
            wanted = default
        self.put(key, wanted, allowed)
        self.note(key, wanted, default)
        return wanted

    def wanted(self, key: str, default: str) -> str:
        """What a widget or the address says of `key`, be it possible or not."""
        state = st.session_state
        return self.held.get(key, default) if self.moved or key not in state else str(state[key])

    def pick_several(self, key: str, allowed: Sequence[str]) -> list[str]:
        """The values of `key`, a list with commas; the impossible is left out, and told if a link asked."""
        wanted = list(dict.fromkeys(value for value in self.pick(key, None, "").split(",") if value))
        kept = [value for value in wanted if value in allowed]
        if self.moved and len(kept) < len(wanted):
            self.lost[key] = ", ".join(value for value in wanted if value not in allowed)
        self.put(key, ",".join(kept))
        self.note(key, ",".join(kept), "")
        return kept

    def put(self, key: str, value: object, options: Sequence[object] | None = None) -> None:
        """Sets the control of this key and these options, unless it stands so already.

        A value set here goes to the browser, where it would undo the keys pressed since.
        """
        state = st.session_state
        controls: dict[str, _Control] = state.get("_controls", {})
        before, now = controls.get(key), _Control(self.page, tuple(options or ()), value)
        same = before is not None and (before.page, before.options) == (now.page, now.options)
        if self.moved or not same or key not in state or state[key] != value:
            state[key] = value
        state["_controls"] = {old: control for old, control in controls.items() if old in state} | {key: now}

    def note(self, key: str, value: str, default: str) -> None:
        """Remembers the value for links, for the address, and for the next run of the script."""
        if value == default:
            self.now.pop(key, None)
        else:
            self.now[key] = value

    def check(self, key: str, allowed: Sequence[str]) -> None:
        """Carries on what the page's body will read under `key`; of a link, only if it is allowed."""
        self.picked.add(key)
        wanted = self.held.get(key, "")
        if self.moved and wanted and wanted not in allowed:
            self.lost[key] = wanted
        else:
            self.note(key, wanted, "")

    def keep(self) -> None:
        """Carries on what this page has no control for."""
        for key in KEYS:
            if key in self.held and key not in self.picked | self.now.keys():
                self.now[key] = self.held[key]

    def write(self) -> None:
        """Puts the choice into the address, leaving parameters of others alone."""
        if not self.moved and _but_bin(self.now) != _but_bin(self.held):
            self.now.pop("bin", None)  # a bin of other bins, and what is looked for in it
            self.now.pop("search", None)
        if self.now != self.url:
            others = {key: value for key, value in st.query_params.to_dict().items() if key not in KEYS}
            st.query_params.from_dict({**others, **self.now})
        st.session_state["_url"] = dict(self.now)
        st.session_state["_held"] = dict(self.now)


def _but_bin(choice: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in choice.items() if key not in ("bin", "search")}


def whole_number(text: str, least: int, most: int) -> int | None:
    """The whole number that the text is, from `least` to `most`; None where it is none of these.

    Python refuses to read thousands of digits, so that they are counted first.
    """
    if not text.isdecimal() or len(text) > DIGITS:
        return None
    number = int(text)
    return number if least <= number <= most else None


def not_here(key: str, why: str) -> None:
    """Says of a value that only the page's body can judge that it is not to be had, and forgets it."""
    value = st.query_params.get(key, "")
    st.warning(f"The link asks for {key} “{literal(shorten(value, 40))}”, {why}")
    st.query_params.pop(key, None)
    for held in ("_url", "_held"):
        st.session_state.get(held, {}).pop(key, None)


def typed(key: str, label: str, placeholder: str) -> str:
    """A text in the body of a page, kept in the address; the label is for screen readers alone."""
    st.session_state[key] = st.query_params.get(key, "")
    return st.text_input(
        label, key=key, placeholder=placeholder, label_visibility="collapsed", on_change=_typed, args=(key,)
    )


def _typed(key: str) -> None:
    if text := str(st.session_state[key]).strip():
        st.query_params[key] = text
    else:
        st.query_params.pop(key, None)


def flag(key: str, label: str, help_: str, *, default: bool = False) -> bool:
    """A switch in the body of a page, kept in the address as "1" or "0" where it is not as by default."""
    widget = f"_{key}"
    st.session_state[widget] = {"1": True, "0": False}.get(st.query_params.get(key, ""), default)
    return st.toggle(label, key=widget, help=help_, on_change=_flag_changed, args=(key, widget, default))


def _flag_changed(key: str, widget: str, default: bool) -> None:  # noqa: FBT001 (Streamlit passes it so)
    wanted: bool = st.session_state[widget]
    if wanted == default:
        st.query_params.pop(key, None)
    else:
        st.query_params[key] = "1" if wanted else "0"


def pick_here(key: str, label: str, options: Sequence[str], help_: str, default: int = 0) -> int:
    """The place (from 0) of one of `options`, chosen in the body of a page; from 1 in the address."""
    widget = f"_{key}"
    held = st.query_params.get(key, "")
    place = whole_number(held, 1, len(options)) or default + 1
    if held and str(place) != held:
        not_here(key, f"which is not here. Shown: {place}.")
    st.session_state[widget] = place
    st.selectbox(
        label,
        range(1, len(options) + 1),
        key=widget,
        format_func=lambda at: options[cast("int", at) - 1],
        help=help_,
        on_change=_picked,
        args=(key, widget),
    )
    return place - 1


def _picked(key: str, widget: str) -> None:
    st.query_params[key] = str(st.session_state[widget])
