"""Which boxes of words lie on one another?  Each (left, top, right, bottom) in pixels, y downward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Box: TypeAlias = tuple[float, float, float, float]


def meet(one: Box, other: Box) -> bool:
    """Whether the two have more than an edge in common."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def meets_any(boxes: Sequence[Box], others: NDArray[np.float64]) -> NDArray[np.bool_]:
    """As `meet`, of each box with any of the others; others: shape (n, 4)."""
    left, top, right, bottom = np.array(boxes).T[:, :, None]
    across = (left < others[:, 2]) & (others[:, 0] < right)
    return (across & (top < others[:, 3]) & (others[:, 1] < bottom)).any(axis=1)


def first_free(boxes: Sequence[Box], taken: Sequence[Box]) -> Box:
    """The first of the boxes that lie on the fewest of those taken."""
    return min(boxes, key=lambda box: sum(meet(box, other) for other in taken))
