"""What of a figure is sent, to a browser or into a file?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast


def without_unset(figure: Mapping[str, Any]) -> dict[str, Any]:
    """The figure without the parts that are not set (None)."""
    return cast("dict[str, Any]", _without_unset_parts(figure))


def _without_unset_parts(part: object) -> object:
    if isinstance(part, Mapping):
        named = cast("Mapping[str, object]", part)
        return {name: _without_unset_parts(value) for name, value in named.items() if value is not None}
    if isinstance(part, list):
        parts = cast("list[object]", part)
        return [_without_unset_parts(value) for value in parts] if any(isinstance(one, Mapping) for one in parts) else parts
    return part
