"""How many classes of a vocabulary occur often enough for a bin of their own?

Classwise ECE needs every class to occur: in the Full-ECE paper's test set 30 % of the vocabulary never does,
and 41 % one to ten times.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

MAX_RARE_OCCURRENCES: Final = 10


def class_occurrence_table(occurrences: NDArray[np.int64]) -> pl.DataFrame:
    """One row a kind of class: occurs (text), classes, share of the K classes, positions (their sum).

    occurrences: positions at which each class is the right one, shape (K,), K ≥ 1.
    """
    never, often = occurrences == 0, occurrences > MAX_RARE_OCCURRENCES
    kinds = {"never": never, f"1 to {MAX_RARE_OCCURRENCES} times": ~(never | often), f"more than {MAX_RARE_OCCURRENCES} times": often}
    return pl.DataFrame(
        {
            "occurs": list(kinds),
            "classes": [int(kind.sum()) for kind in kinds.values()],
            "share": [float(kind.mean()) for kind in kinds.values()],
            "positions": [int(occurrences[kind].sum()) for kind in kinds.values()],
        },
        schema={"occurs": pl.String, "classes": pl.Int64, "share": pl.Float64, "positions": pl.Int64},
    )
