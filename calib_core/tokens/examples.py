"""How is one position kept, to be looked at?"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calib_core.tokens.stored import as_bits, to_float64
from calib_core.tokens.sums import ExamplePosition

EXAMPLE_ENTRIES: Final = 20
"""Largest probabilities kept of a position."""


def example_from_row(row: int, values: NDArray[Any], target: int, large: NDArray[np.intp]) -> ExamplePosition:
    """One distribution, shape (K,), in short: its largest entries, equal ones in the order of the classes.

    large: classes whose probability no other class exceeds, ascending.
    """
    probs = to_float64(values)
    shown = min(EXAMPLE_ENTRIES, probs.size)
    ids = large
    if ids.size < shown:
        # Sorting whole numbers takes a millisecond; partition, with many equal ones, twenty times as long.
        order = as_bits(values)
        ids = np.flatnonzero(order >= np.sort(order)[-shown])
    ids = ids[np.argsort(-probs[ids], kind="stable")][:shown]
    others = np.ones(probs.size, np.bool_)
    others[ids] = False
    return ExamplePosition(
        row=row,
        target=target,
        ids=tuple(ids.tolist()),
        probs=tuple(probs[ids].tolist()),
        target_prob=float(probs[target]),
        rest=float(probs[others].sum()),
        classes=probs.size,
        width=values.dtype.itemsize,
    )
