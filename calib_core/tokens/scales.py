"""Converts log-probabilities and logits to probabilities.

Converted values are float64, and so are the bin edges they are compared with.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from calib_core.tokens.float_bits import to_float64
from calib_core.tokens.row_checks import CLIP_TOLERANCE, NOT_FINITE, OUTSIDE_UNIT_INTERVAL, ProblemKind

ProbabilityScale = Literal["probs", "logprobs", "logits"]
"""What the values of an array are."""

BAD_LOGPROBS: Final = ProblemKind(
    "not a log-probability",
    "natural logarithms of probabilities, at most 0",
    "Say whether these are probabilities or logits, or leave these rows out.",
)
BAD_LOGITS: Final = ProblemKind(
    "not a logit",
    "finite numbers, or -inf for a class that cannot occur",
    "Write the file again, or leave these rows out.",
)


def to_probabilities(values: NDArray[Any], scale: ProbabilityScale) -> NDArray[Any]:
    """Probabilities of rows, shape (n, K).

    Probabilities are returned as stored; other scales are converted to float64. Invalid values become NaN,
    infinite or greater than 1, and are left to the row checker.
    """
    if scale == "probs":
        return values
    result = to_float64(values)
    with np.errstate(invalid="ignore", over="ignore"):
        if scale == "logits":
            result -= result.max(axis=1, keepdims=True)
        np.exp(result, out=result)
        if scale == "logits":
            result /= result.sum(axis=1, keepdims=True)
    return result


def problem_in_scale(
    kind: ProblemKind, found: str, values: NDArray[Any], scale: ProbabilityScale
) -> tuple[ProblemKind, str]:
    """The problem of a bad row, shape (K,), in terms of the scale that the file holds."""
    if scale == "probs" or kind not in (NOT_FINITE, OUTSIDE_UNIT_INTERVAL):
        return kind, found
    wide = to_float64(values)
    is_too_large = (
        np.isposinf(wide) if scale == "logits" else np.exp(np.minimum(wide, 1)) > 1 + CLIP_TOLERANCE
    )
    is_wrong = np.isnan(wide) | is_too_large
    scale_kind = BAD_LOGITS if scale == "logits" else BAD_LOGPROBS
    if not is_wrong.any():
        return scale_kind, "-inf for every class"
    class_index = int(np.argmax(is_wrong))
    return scale_kind, f"class {class_index}: {values[class_index]!s}"
