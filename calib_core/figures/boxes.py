"""Which boxes of words lie on one another?  Each (left, top, right, bottom) in pixels, y downward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Box: TypeAlias = tuple[float, float, float, float]

BoxArray: TypeAlias = NDArray[np.float64]
"""Shape (n, 4)."""


def box_array(boxes: Sequence[Box]) -> BoxArray:
    """The boxes as one array, also where there is none."""
    return np.array(boxes, np.float64).reshape(-1, 4)


def overlaps(boxes: BoxArray, others: BoxArray, gap: float = 0.0) -> NDArray[np.bool_]:
    """Whether each box and each of the others have more than an edge in common; shape (boxes, others).

    apart: pixels that they have to keep between them.
    """
    a, b = boxes[:, None], others[None]
    return (
        (a[..., 0] < b[..., 2] + gap)
        & (b[..., 0] < a[..., 2] + gap)
        & (a[..., 1] < b[..., 3] + gap)
        & (b[..., 1] < a[..., 3] + gap)
    )


def least_crowded(boxes: Sequence[Box], taken: Sequence[Box], lines: Sequence[Box] = ()) -> Box:
    """The first of the boxes (one or more) that lie on the fewest of those taken, which may not be none.

    lines: thin boxes, of which the fewest are crossed where that is equal.
    """
    own = box_array(boxes)
    met, crossed = (overlaps(own, box_array(others)).sum(axis=1) for others in (taken, lines))
    return boxes[int(np.lexsort((crossed, met))[0])]
