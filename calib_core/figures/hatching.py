"""Hatches that tell over-confident gaps from under-confident ones without colour."""

from __future__ import annotations

from typing import Any, Final

from calib_core.figures.bars import BarDetail
from calib_core.figures.palette import Theme, blend

OVERCONFIDENT_HATCH: Final = "/"
UNDERCONFIDENT_HATCH: Final = "\\"
"""Plotly's pattern shapes of the two kinds of gap."""


def unhatched_gap_colour(theme: Theme, colour: str, hatch: str) -> str:
    """The colour of a gap too narrow for a hatch: full if over-confident, pale if under-confident."""
    return blend(colour, theme.background, 1 if hatch == OVERCONFIDENT_HATCH else 0.45)


def gap_marker(theme: Theme, colour: str, hatch: str, detail: BarDetail) -> dict[str, Any]:
    """The marker of the part of a bar between accuracy and confidence."""
    if not detail.hatched:
        fill = unhatched_gap_colour(theme, colour, hatch)
        return {"color": fill, "line": {"color": fill, "width": 0.5}}
    return {
        "color": colour,
        "line": {"color": colour, "width": detail.outline_width},
        "pattern": {
            "shape": hatch,
            "fillmode": "replace",
            "bgcolor": blend(colour, theme.background, 0.14),
            "size": 7,
            "solidity": 0.3,
        },
    }
