"""Where do panels stand that share one horizontal axis, one above the other?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from calib_core.figures.layout import BOTTOM_MARGIN, SMALL_SIZE, TEXT_SIZE, annotation
from calib_core.figures.text import escape_for_plotly
from calib_core.figures.theme import Theme

_HEADING_HEIGHT: Final = 30
_LONG_HEADING: Final = 50
"""Pixels above each panel, for what it shows, and letters from which on that is written smaller."""


@dataclass(frozen=True, slots=True)
class PanelStack:
    """Panels from top to bottom.

    down: (from, to) of each, in parts of the plot; height: pixels of the figure, margins included.
    """

    domains: tuple[tuple[float, float], ...]
    height: int

    def trace_axis(self, index: int) -> str:
        """Name of the vertical axis of the panel at this place (from 0), as traces say it."""
        return "y" if index == 0 else f"y{index + 1}"

    def layout_key(self, index: int) -> str:
        """The same axis as the layout says it."""
        return f"yaxis{self.trace_axis(index)[1:]}"

    @property
    def bottom_axis(self) -> str:
        """The axis that the shared horizontal one stands under."""
        return self.trace_axis(len(self.domains) - 1)


def stack_panels(panels: int, *, top: int, panel_height: int) -> PanelStack:
    """`panels` (1 or more) of `each` pixels below a margin of `top`; each has room for a heading."""
    row = _HEADING_HEIGHT + panel_height
    plot = panels * row
    down = tuple(
        (max(0.0, 1 - (place + 1) * row / plot), 1 - (place * row + _HEADING_HEIGHT) / plot)
        for place in range(panels)
    )
    return PanelStack(down, plot + top + BOTTOM_MARGIN)


def panel_heading(text: str, theme: Theme, stack: PanelStack, index: int = 0) -> dict[str, Any]:
    """Words above the panel at this place, smaller where they would be wider than a telephone."""
    size = TEXT_SIZE if len(text) < _LONG_HEADING else SMALL_SIZE
    return annotation(
        theme, f"<b>{escape_for_plotly(text)}</b>", font={"size": size, "color": theme.text}, xref="paper", yref="paper",
        x=0, xanchor="left", align="left", y=stack.domains[index][1], yanchor="bottom", yshift=3,
    )
