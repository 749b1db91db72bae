"""Which boxes of words lie on one another?  Each (left, top, right, bottom) in pixels, y downward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Box: TypeAlias = tuple[float, float, float, float]

Boxes: TypeAlias = NDArray[np.float64]
"""Shape (n, 4)."""


def array(boxes: Sequence[Box]) -> Boxes:
    """The boxes as one array, also where there is none."""
    return np.array(boxes, np.float64).reshape(-1, 4)


def overlap(boxes: Boxes, others: Boxes, apart: float = 0.0) -> NDArray[np.bool_]:
    """Whether each box and each of the others have more than an edge in common; shape (boxes, others).

    apart: pixels that they have to keep between them.
    """
    a, b = boxes[:, None], others[None]
    return (
        (a[..., 0] < b[..., 2] + apart)
        & (b[..., 0] < a[..., 2] + apart)
        & (a[..., 1] < b[..., 3] + apart)
        & (b[..., 1] < a[..., 3] + apart)
    )


def freest(boxes: Sequence[Box], taken: Sequence[Box], lines: Sequence[Box] = ()) -> Box:
    """The first of the boxes (one or more) that lie on the fewest of those taken, which may not be none.

    lines: thin boxes, of which the fewest are crossed where that is equal.
    """
    own = array(boxes)
    met, crossed = (overlap(own, array(others)).sum(axis=1) for others in (taken, lines))
    return boxes[int(np.lexsort((crossed, met))[0])]
