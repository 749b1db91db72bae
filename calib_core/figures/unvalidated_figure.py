"""How does a figure get to the browser as it was drawn, and not taken apart on the way?

Streamlit has a plain figure built again by plotly, to see whether it is valid: half of a page's time. Ours
are valid, which is tested.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plotly.basedatatypes import BaseFigure

from calib_core.figures.layout import without_unset


class UnvalidatedFigure(BaseFigure):
    """A figure that plotly and Streamlit take as it is; parts that are not set (None) are left out."""

    def __init__(self, figure: Mapping[str, Any]) -> None:
        self._drawn = figure  # nothing of the base is used: it would begin to build

    def to_dict(self) -> dict[str, Any]:
        """The figure as it is sent."""
        return without_unset(self._drawn)
