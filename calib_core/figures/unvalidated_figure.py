"""A figure that reaches the browser without being validated on the way.

Streamlit passes a plain dict through plotly's figure class to validate it, which takes half of the time of a
page. Our figures are valid; the tests see to that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plotly.basedatatypes import BaseFigure

from calib_core.figures.layout import without_unset


class UnvalidatedFigure(BaseFigure):
    """A figure that plotly and Streamlit take as it is; entries that are None are left out.

    Parameters
    ----------
    figure : Mapping[str, Any]
        A plotly figure as a plain dict.
    """

    def __init__(self, figure: Mapping[str, Any]) -> None:
        self._plain_figure = figure  # super().__init__ is left out: it would build and validate the figure

    def to_dict(self) -> dict[str, Any]:
        """The figure as it is sent to the browser."""
        return without_unset(self._plain_figure)
