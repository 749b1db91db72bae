"""How do samples without a readable answer count? (Decision 0005.)"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

UnparseableRule = Literal["own", "one", "drop"]
"""Samples that do not parse are a cluster each, one cluster together, or left out of N."""

UNPARSEABLE_PHRASES: Final[Mapping[UnparseableRule, str]] = MappingProxyType(
    {
        "own": "unparseable samples own clusters",
        "one": "unparseable samples one cluster",
        "drop": "unparseable samples left out",
    }
)
"""The recipe's phrase for each rule."""

UNPARSED_CODE: Final = -1
"""Code of an answer that does not parse."""


def unparsed_clusters(unparsed: NDArray[np.int64], rule: UnparseableRule) -> NDArray[np.int64]:
    """Number of clusters formed by `unparsed` samples that do not parse, for each row."""
    if rule == "own":
        return unparsed
    return np.minimum(unparsed, 1) if rule == "one" else np.zeros_like(unparsed)


def counted_samples(
    sampled: NDArray[np.int64], unparsed: NDArray[np.int64], rule: UnparseableRule
) -> NDArray[np.int64]:
    """N of each row: the number of its samples, minus those that do not parse if the rule is "drop"."""
    return sampled - unparsed if rule == "drop" else sampled
