"""moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

from calib_core.methods import METHODS

# MERGED theme: Which colours and which letters do figures have, on a light page and on a dark one?
#
# Okabe-Ito colours (Okabe & Ito 2008), with darker tones for text. No colour stands alone: hatch, dash,
# marker shape or a word says the same again.

FONT: Final = '"Source Sans", "Source Sans 3", system-ui, -apple-system, "Segoe UI", Roboto, sans-serif'
"""The page's own font where Streamlit sends it, else the system's: no figure fetches one."""

TRANSPARENT: Final = "rgba(0,0,0,0)"


@dataclass(frozen=True, slots=True)
class Theme:
    """One set of colours, each "#RRGGBB", made for one page colour.

    Text (4.5:1 or more on `page`): text; muted: ticks and what is said in passing; over_text,
    under_text, highlight_text: words about what has that colour. Graphics (3:1 or more): line: axes;
    bar: solid part of a bar; over, under: the gap of an over- and an under-confident bin; count: bars
    of counts; highlight_line: outline of whatever is highlighted; series: of lines and symbols that are
    metrics or runs, in order: the hues of Okabe and Ito, as light or dark as it takes for any two to be
    apart for every kind of colour vision; methods: of those that are confidence methods, apart in the same
    way, and none taken for a run's. highlight: a fill that always has that outline; grid: meant to be seen
    barely.
    """

    name: Literal["light", "dark"]
    background: str
    text: str
    muted_text: str
    axis_line: str
    grid_line: str
    bar: str
    overconfident: str
    underconfident: str
    count_bar: str
    highlight: str
    highlight_outline: str
    overconfident_text: str
    underconfident_text: str
    highlight_text: str
    series_colours: tuple[str, ...]
    method_colours: tuple[str, ...]


LIGHT: Final = Theme(
    name="light",
    background="#FFFFFF",
    text="#0B0F14",
    muted_text="#4A5462",
    axis_line="#6B7582",
    grid_line="#E6E9EE",
    bar="#0072B2",
    overconfident="#D55E00",
    underconfident="#009E73",
    count_bar="#747F8D",
    highlight="#E69F00",
    highlight_outline="#8A5F00",
    overconfident_text="#B04A00",
    underconfident_text="#00704F",
    highlight_text="#8A5F00",
    series_colours=("#0072B2", "#D55E00", "#009E73", "#7B2A63", "#6C6D72", "#4B3F11"),
    method_colours=("#7C4DFF", "#D10583", "#A67F00", "#15025A", "#8E0F1F", "#00A0D2"),
)

DARK: Final = Theme(
    name="dark",
    background="#11151C",
    text="#F2F5F9",
    muted_text="#AEB8C6",
    axis_line="#8C97A6",
    grid_line="#283039",
    bar="#2E7DB8",
    overconfident="#FF8A47",
    underconfident="#2FC79A",
    count_bar="#8A96A6",
    highlight="#DB9A08",
    highlight_outline="#FFD37A",
    overconfident_text="#FF8A47",
    underconfident_text="#2FC79A",
    highlight_text="#F0B73A",
    series_colours=("#56B4E9", "#FF8A47", "#7CE8A8", "#C94FB0", "#F2F5F9", "#8F7000"),
    method_colours=("#896AFB", "#C07C9C", "#F9CC06", "#BDB9FD", "#F91A31", "#AAFAF0"),
)

THEMES: Final[Mapping[str, Theme]] = MappingProxyType({theme.name: theme for theme in (LIGHT, DARK)})


def blend(colour: str, background: str, opacity: float) -> str:
    """`share` of the colour (0..1) laid over the page, as one opaque "#RRGGBB"."""
    pairs = zip(_rgb(colour), _rgb(background), strict=True)
    return "#" + "".join(f"{round(opacity * over + (1 - opacity) * under):02X}" for over, under in pairs)


def with_opacity(colour: str, opacity: float) -> str:
    """The colour at `share` of its strength (0..1), so that what lies under it shows: "rgba(…)"."""
    red, green, blue = _rgb(colour)
    return f"rgba({red},{green},{blue},{opacity:g})"


def readable_text_colour(colour: str, theme: Theme) -> str:
    """The colour, or the nearest tone towards the text that has 4.5:1 on the page."""
    shares = (share / 20 for share in range(20, -1, -1))
    tones = (blend(colour, theme.text, share) for share in shares)
    return next(tone for tone in tones if _contrast_ratio(tone, theme.background) >= 4.5)


def _contrast_ratio(first: str, second: str) -> float:
    """WCAG 2.2, contrast ratio."""
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = (part / 255 for part in _rgb(colour))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


# MERGED run_look: Which colour, dash and symbol has a run, the same on every figure where a line or a dot is a run?
#
# By its place among all runs at hand (`analysis.run_places`). Where a colour means something else (a metric, a
# method, over- and under-confidence) it stays so; the run's symbol, which nothing else claims there, still
# tells it.

RUN_DASHES: Final = ("solid", "7px,4px", "2px,3px", "10px,3px,2px,3px", "16px,5px")
RUN_SYMBOLS: Final = (
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "x",
    "star",
    "hexagon",
    "triangle-down",
    "cross",
)
"""Five and nine, which have no divisor in common: together they repeat after 45 places."""

SYMBOL_CHARACTERS: Final = {
    "circle": "●",
    "square": "■",
    "diamond": "◆",
    "triangle-up": "▲",
    "x": "✖",
    "star": "★",
    "hexagon": "⬢",
    "triangle-down": "▼",
    "pentagon": "⬟",
    "cross": "✚",
    "star-diamond": "✦",
    "triangle-left": "◀",
    "triangle-right": "▶",
    "hourglass": "⧗",
    "bowtie": "⧓",
}
"""Symbols as letters, for tables: those of methods too."""


def run_style(style_index: int, theme: Theme) -> SeriesStyle:
    """The look of the run at this place (from 0) among all runs at hand.

    Of six neighbours no two have a colour in common, of thirty none colour and dash; of 45 runs none dash
    and symbol, so that they are told apart in grey.
    """
    return SeriesStyle(
        theme.series_colours[style_index % len(theme.series_colours)],
        RUN_DASHES[style_index % len(RUN_DASHES)],
        RUN_SYMBOLS[style_index % len(RUN_SYMBOLS)],
    )


# MERGED method_look: Which colour, symbol and dash has a confidence method, on every figure that tells methods apart?

_SPARE: Final = (
    (3, "triangle-left", "9px,2px"),
    (4, "triangle-right", "2px,6px"),
    (2, "hourglass", "6px,2px,2px,2px"),
    (0, "bowtie", "16px,3px,3px,3px"),
)
"""Colour, symbol and dash of the methods that claim none, in the registry's order."""


def method_style(method: str, theme: Theme) -> SeriesStyle:
    """How the registered method of this id is drawn."""
    without = [id_ for id_, entry in METHODS.items() if entry.style is None]
    place, symbol, dash = METHODS[method].style or _SPARE[without.index(method) % len(_SPARE)]
    return SeriesStyle(theme.method_colours[place], dash, symbol)


@dataclass(frozen=True, slots=True)
class SeriesStyle:
    """Of a run or a method. colour: "#RRGGBB" of a theme; dash, symbol: as plotly names them."""

    colour: str
    dash: str
    symbol: str

    def line(self, width: float = 2.4) -> dict[str, Any]:
        """Colour, width and dash of its line."""
        return {"color": self.colour, "width": width, "dash": self.dash}

    def marker(self, theme: Theme, size: float = 9) -> dict[str, Any]:
        """Its symbol with a hair of page around it."""
        return marker_style(self.colour, self.symbol, theme, size)


def marker_style(colour: str, symbol: str, theme: Theme, size: float = 8) -> dict[str, Any]:
    """Markers with a hair of page around them, so that two near ones are two."""
    return {"size": size, "symbol": symbol, "color": colour, "line": {"color": theme.background, "width": 1}}
