"""How a result shows itself in a notebook.

Figures and HTML belong to layers above this one, so what a result looks like is registered from there
(`calib_core.notebook`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from calib_core.values import Value

if TYPE_CHECKING:  # imported by whoever draws, because it takes longer than everything else
    from plotly.graph_objects import Figure


class Display(Protocol):
    """What a notebook shows of one result."""

    def figure(self, theme: str, index: int) -> Figure:
        """One of the result's figures."""
        ...

    def html(self) -> str:
        """Headline, numbers, figures, tables and recipe."""
        ...


_DISPLAYS: dict[type, Callable[[Any], Display]] = {}

_ResultT = TypeVar("_ResultT")


def register_display(kind: type[_ResultT], display: Callable[[_ResultT], Display]) -> None:
    """Set what notebooks show of the results of one class."""
    _DISPLAYS[kind] = display


class Displayable(Value):
    """A result that shows itself in a notebook, once `calib_core.load` and its neighbours are imported."""

    __slots__ = ()

    def figure(self, theme: Literal["light", "dark"] = "light", index: int = 0) -> Figure:
        """One of the result's figures, to be changed, combined or saved.

        Parameters
        ----------
        theme : {"light", "dark"}
            For a light or a dark page.
        index : int
            Which of several figures, from 0.

        Returns
        -------
        plotly.graph_objects.Figure

        Raises
        ------
        calib_core.errors.Unavailable
            If the result has no such figure.
        ValueError
            If there is no such theme.
        """
        return _DISPLAYS[type(self)](self).figure(theme, index)

    def _repr_html_(self) -> str | None:
        """The result as HTML, for notebooks."""
        display = _DISPLAYS.get(type(self))
        return None if display is None else display(self).html()
