"""How does a figure get to the browser as it was drawn, and not taken apart on the way?

Streamlit has a plain figure built again by plotly, to see whether it is valid: half of a page's time. Ours
are valid, which is tested.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from plotly.basedatatypes import BaseFigure


class AsDrawn(BaseFigure):
    """A figure that plotly and Streamlit take as it is; parts that are not set (None) are left out."""

    def __init__(self, drawn: Mapping[str, Any]) -> None:
        self._drawn = drawn  # nothing of the base is used: it would begin to build

    def to_dict(self) -> dict[str, Any]:
        """The figure as it is sent."""
        return cast("dict[str, Any]", _set(self._drawn))


def _set(part: object) -> object:
    if isinstance(part, Mapping):
        named = cast("Mapping[str, object]", part)
        return {name: _set(value) for name, value in named.items() if value is not None}
    if isinstance(part, list):
        parts = cast("list[object]", part)
        return [_set(value) for value in parts] if any(isinstance(one, Mapping) for one in parts) else parts
    return part
