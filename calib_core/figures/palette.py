"""Colours, dashes and symbols: the light and dark theme, and the style of each run and confidence method.

No colour carries a meaning alone: a hatch, a dash, a marker symbol or a word always repeats it.

References
----------
Okabe M, Ito K (2008). Color Universal Design: How to make figures and presentations that are friendly to
colorblind people. https://jfly.uni-koeln.de/color/

Web Content Accessibility Guidelines 2.2 (2023), success criteria 1.4.3 and 1.4.11.
https://www.w3.org/TR/WCAG22/
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

from calib_core.methods import METHODS, in_order

FONT: Final = '"Source Sans", "Source Sans 3", system-ui, -apple-system, "Segoe UI", Roboto, sans-serif'
"""The page's font where Streamlit serves it, else the system's: no figure fetches a font."""

TRANSPARENT: Final = "rgba(0,0,0,0)"


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of figures on a light or a dark page, each "#RRGGBB".

    Colours of text have a contrast of at least 4.5:1 on `background`, colours of graphics at least 3:1
    (WCAG 2.2). The exceptions are `highlight`, which is always outlined, and `grid_line`, which is meant to
    be faint.

    Attributes
    ----------
    name : {"light", "dark"}
        The theme's name.
    background : str
        The page behind the figure.
    text : str
        Titles, labels and marks that matter most.
    muted_text : str
        Tick labels and side notes.
    axis_line, grid_line : str
        Lines of axes and grids.
    bar : str
        The solid part of a bar.
    overconfident, underconfident : str
        The gap between accuracy and confidence of an over- or under-confident bin.
    count_bar : str
        Bars that show counts.
    highlight, highlight_outline : str
        Fill and outline of whatever is highlighted.
    overconfident_text, underconfident_text, highlight_text : str
        Text about whatever has that colour.
    series_colours : tuple[str, ...]
        Lines and symbols of metrics and runs, in order: Okabe and Ito's hues, made lighter or darker until
        any two can be told apart with every type of colour vision.
    method_colours : tuple[str, ...]
        Lines and symbols of confidence methods; told apart in the same way, from one another and from
        `series_colours`.
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
    """The opaque colour that results from laying `colour` over `background` at this opacity (0 to 1).

    Examples
    --------
    >>> blend("#000000", "#FFFFFF", 0.4)
    '#999999'
    """
    pairs = zip(_rgb(colour), _rgb(background), strict=True)
    return "#" + "".join(f"{round(opacity * over + (1 - opacity) * under):02X}" for over, under in pairs)


def with_opacity(colour: str, opacity: float) -> str:
    """The colour as "rgba(…)" with this opacity (0 to 1), so that what lies under it shows."""
    red, green, blue = _rgb(colour)
    return f"rgba({red},{green},{blue},{opacity:g})"


def readable_text_colour(colour: str, theme: Theme) -> str:
    """The colour, or its nearest blend with the text colour that has a contrast of 4.5:1 on the page."""
    opacities = (twentieths / 20 for twentieths in range(20, -1, -1))
    tones = (blend(colour, theme.text, opacity) for opacity in opacities)
    return next(tone for tone in tones if _contrast_ratio(tone, theme.background) >= 4.5)


def _contrast_ratio(first: str, second: str) -> float:
    """Contrast ratio as WCAG 2.2 defines it, 1 to 21."""
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    """Relative luminance as WCAG 2.2 defines it, 0 to 1."""
    channels = (channel / 255 for channel in _rgb(colour))
    linear = [
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in channels
    ]
    return sum(weight * channel for weight, channel in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


# --- Lines and markers of a series -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SeriesStyle:
    """How the line and the markers of a run or a method are drawn.

    Attributes
    ----------
    colour : str
        "#RRGGBB", one of a theme's colours.
    dash, symbol : str
        As plotly names them.
    """

    colour: str
    dash: str
    symbol: str

    def line(self, width: float = 2.4) -> dict[str, Any]:
        """Plotly's `line`; `width` in pixels."""
        return {"color": self.colour, "width": width, "dash": self.dash}

    def marker(self, theme: Theme, size: float = 9) -> dict[str, Any]:
        """Plotly's `marker`; `size` in pixels."""
        return marker_style(self.colour, self.symbol, theme, size)


def marker_style(colour: str, symbol: str, theme: Theme, size: float = 8) -> dict[str, Any]:
    """Plotly's `marker` with a thin outline in the page's colour, so that close markers stay distinct."""
    return {"size": size, "symbol": symbol, "color": colour, "line": {"color": theme.background, "width": 1}}


# --- Runs --------------------------------------------------------------------------------------------------
#
# A run has one style on every figure, by its index among all loaded runs. Where colour means something else
# (a metric, a method, over- or under-confidence), the symbol alone tells runs apart.

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
"""Five dashes and nine symbols: coprime, so that together they repeat only after 45 runs."""


def run_style(style_index: int, theme: Theme) -> SeriesStyle:
    """The style of a run.

    Parameters
    ----------
    style_index : int
        Index of the run among all loaded runs, from 0.
    theme : Theme
        Colours.

    Notes
    -----
    No two of six consecutive runs share a colour, no two of thirty share colour and dash, and no two of 45
    share dash and symbol, so that runs can be told apart in greyscale.
    """
    return SeriesStyle(
        theme.series_colours[style_index % len(theme.series_colours)],
        RUN_DASHES[style_index % len(RUN_DASHES)],
        RUN_SYMBOLS[style_index % len(RUN_SYMBOLS)],
    )


# --- Confidence methods ------------------------------------------------------------------------------------

_FALLBACK_STYLES: Final = (
    (3, "triangle-left", "9px,2px"),
    (4, "triangle-right", "2px,6px"),
    (2, "hourglass", "6px,2px,2px,2px"),
    (0, "bowtie", "16px,3px,3px,3px"),
    (5, "triangle-ne", "9px,2px,2px,2px,2px,2px"),
    (1, "triangle-sw", "6px,6px"),
)
"""Index of the colour, symbol and dash of methods without a style of their own, in the order shown."""


def method_style(method: str, theme: Theme, shown: Iterable[str] = ()) -> SeriesStyle:
    """The style of a confidence method.

    Parameters
    ----------
    method : str
        Id of the method.
    theme : Theme
        Colours.
    shown : Iterable[str]
        All methods of the figure. Confidences that files name have their styles by their place among these.

    Notes
    -----
    Up to six methods without a style of their own differ in colour, symbol and dash each, up to thirty-six in
    colour or in symbol and dash.
    """
    if style := METHODS[method].style:
        colour_index, symbol, dash = style
    else:
        without_style = [id_ for id_ in in_order([*METHODS, *shown, method]) if METHODS[id_].style is None]
        round_, place = divmod(without_style.index(method), len(_FALLBACK_STYLES))
        colour_index, symbol, dash = _FALLBACK_STYLES[place]
        colour_index = (colour_index + round_) % len(theme.method_colours)
    return SeriesStyle(theme.method_colours[colour_index], dash, symbol)
