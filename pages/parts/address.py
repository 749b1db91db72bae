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
from pages.parts.literal import escape_markdown

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


def warn_not_available(key: str, reason: str) -> None:
    """Says of a value that only the page's body can judge that it is not to be had, and forgets it."""
    value = st.query_params.get(key, "")
    st.warning(f"The link asks for {key} “{escape_markdown(shorten(value, 40))}”, {reason}")
    st.query_params.pop(key, None)
    for held in ("_url", "_held"):
        st.session_state.get(held, {}).pop(key, None)


def url_text_input(key: str, label: str, placeholder: str) -> str:
    """A text in the body of a page, kept in the address; the label is for screen readers alone."""
    st.session_state[key] = st.query_params.get(key, "")
    return st.text_input(
        label, key=key, placeholder=placeholder, label_visibility="collapsed", on_change=_on_text, args=(key,)
    )


def _on_text(key: str) -> None:
    if text := str(st.session_state[key]).strip():
        st.query_params[key] = text
    else:
        st.query_params.pop(key, None)


def url_toggle(key: str, label: str, help_: str, *, default: bool = False) -> bool:
    """A switch in the body of a page, kept in the address as "1" or "0" where it is not as by default."""
    widget = f"_{key}"
    st.session_state[widget] = {"1": True, "0": False}.get(st.query_params.get(key, ""), default)
    return st.toggle(label, key=widget, help=help_, on_change=_on_toggle, args=(key, widget, default))


def _on_toggle(key: str, widget: str, default: bool) -> None:  # noqa: FBT001 (Streamlit passes it so)
    wanted: bool = st.session_state[widget]
    if wanted == default:
        st.query_params.pop(key, None)
    else:
        st.query_params[key] = "1" if wanted else "0"


def url_selectbox(key: str, label: str, options: Sequence[str], help_: str, default: int = 0) -> int:
    """The place (from 0) of one of `options`, chosen in the body of a page; from 1 in the address."""
    widget = f"_{key}"
    held = st.query_params.get(key, "")
    place = parse_whole_number(held, 1, len(options)) or default + 1
    if held and str(place) != held:
        warn_not_available(key, f"which is not here. Shown: {place}.")
    st.session_state[widget] = place
    st.selectbox(
        label,
        range(1, len(options) + 1),
        key=widget,
        format_func=lambda at: options[cast("int", at) - 1],
        help=help_,
        on_change=_on_select,
        args=(key, widget),
    )
    return place - 1


def _on_select(key: str, widget: str) -> None:
    st.query_params[key] = str(st.session_state[widget])
