"""moved."""

from __future__ import annotations

from typing import Any, Final

from calib_core.figures.bars import BarDetail
from calib_core.figures.palette import Theme, blend

OVERCONFIDENT_HATCH: Final = "/"


UNDERCONFIDENT_HATCH: Final = "\\"
"""The hatch of an over- and of an under-confident gap: told apart without any colour."""


def unhatched_gap_colour(theme: Theme, colour: str, hatch: str) -> str:
    """The colour of a gap where a hatch would not be seen: full for over-, pale for under-confidence."""
    return blend(colour, theme.background, 1 if hatch == OVERCONFIDENT_HATCH else 0.45)


def gap_marker(theme: Theme, colour: str, hatch: str, detail: BarDetail) -> dict[str, Any]:
    """The part of a bar between accuracy and confidence."""
    if not detail.hatched:
        mixed = unhatched_gap_colour(theme, colour, hatch)
        return {"color": mixed, "line": {"color": mixed, "width": 0.5}}
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
