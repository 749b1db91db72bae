"""How do log-probabilities and logits become probabilities?

What is computed here is float64, and so are the bin edges it is compared with.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from calib_core.tokens.float_bits import to_float64
from calib_core.tokens.row_checks import CLIP_TOLERANCE, NOT_FINITE, OUTSIDE_UNIT_INTERVAL, ProblemKind

ProbabilityScale = Literal["probs", "logprobs", "logits"]
"""What an array holds."""

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
    """Probabilities of rows, shape (n, K): as they are stored, or as float64 where they are computed.

    What has no probability comes out as NaN, infinite or above 1.
    """
    if scale == "probs":
        return values
    logs = to_float64(values)
    with np.errstate(invalid="ignore", over="ignore"):
        if scale == "logits":
            logs -= logs.max(axis=1, keepdims=True)
        np.exp(logs, out=logs)
        if scale == "logits":
            logs /= logs.sum(axis=1, keepdims=True)
    return logs


def problem_in_scale(
    kind: ProblemKind, found: str, values: NDArray[Any], scale: ProbabilityScale
) -> tuple[ProblemKind, str]:
    """What was found in a bad row, shape (K,), in the words of what the file holds."""
    if scale == "probs" or kind not in (NOT_FINITE, OUTSIDE_UNIT_INTERVAL):
        return kind, found
    logs = to_float64(values)
    above = np.isposinf(logs) if scale == "logits" else np.exp(np.minimum(logs, 1)) > 1 + CLIP_TOLERANCE
    wrong = np.isnan(logs) | above
    ours = BAD_LOGITS if scale == "logits" else BAD_LOGPROBS
    if not wrong.any():
        return ours, "-inf for every class"
    at = int(np.argmax(wrong))
    return ours, f"class {at}: {values[at]!s}"
