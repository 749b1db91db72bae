"""What does a dark page draw otherwise than a light one?  Two forms of a figure → where they differ.

Of a figure only colours differ, so a report holds it once, and beside it what a dark page changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, cast

ColourChanges: TypeAlias = "list[Any] | dict[str, Changes]"
"""[what stands there instead], or the changes of the parts that differ, by key or by place in a list."""


def colour_changes(light: object, dark: object) -> ColourChanges:
    """What turns one into the other, as document.js does it; empty where they are the same."""
    own, other = _children(light), _children(dark)
    alike = type(light) is type(dark)
    if own is None or other is None or not alike or own.keys() != other.keys():
        return [] if alike and light == dark else [dark]
    found = {key: colour_changes(part, other[key]) for key, part in own.items()}
    return {key: change for key, change in found.items() if change}


def _children(value: object) -> dict[str, Any] | None:
    """The parts of a mapping or a list by their names; None of anything else."""
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    if isinstance(value, list):
        return {str(at): part for at, part in enumerate(cast("list[Any]", value))}
    return None
