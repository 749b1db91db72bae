"""moved."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

# MERGED method__to__unparseable: moved.

UnparseableRule = Literal["own", "one", "drop"]
"""A sample that does not parse: a cluster by itself, one cluster with the others, or left out of N."""


# MERGED self_consistency__to__unparseable: moved.

UNPARSEABLE_PHRASES: Final[Mapping[UnparseableRule, str]] = MappingProxyType(
    {
        "own": "unparseable samples own clusters",
        "one": "unparseable samples one cluster",
        "drop": "unparseable samples left out",
    }
)


# MERGED answer_codes__to__unparseable: moved.

UNPARSED_CODE: Final = -1


def unparsed_clusters(unparsed: NDArray[np.int64], rule: UnparseableRule) -> NDArray[np.int64]:
    """How many clusters the samples that do not parse make; shape of `unparsed`, their number in each row."""
    if rule == "own":
        return unparsed
    return np.minimum(unparsed, 1) if rule == "one" else np.zeros_like(unparsed)


def counted_samples(
    sampled: NDArray[np.int64], unparsed: NDArray[np.int64], rule: UnparseableRule
) -> NDArray[np.int64]:
    """N of each row: all its samples, without those that do not parse where these are left out."""
    return sampled - unparsed if rule == "drop" else sampled
