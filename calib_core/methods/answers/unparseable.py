"""How do samples without a readable answer count? (Decision 0005.)"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

UnparseableRule = Literal["own", "one", "drop"]
"""A sample that does not parse is a cluster of its own, joins all others in one cluster, or is left out of N."""

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
    """Number of clusters formed by the samples of each row that do not parse, of which there are `unparsed`."""
    if rule == "own":
        return unparsed
    return np.minimum(unparsed, 1) if rule == "one" else np.zeros_like(unparsed)


def counted_samples(
    sampled: NDArray[np.int64], unparsed: NDArray[np.int64], rule: UnparseableRule
) -> NDArray[np.int64]:
    """N of each row: the number of its samples, minus those that do not parse if the rule is "drop"."""
    return sampled - unparsed if rule == "drop" else sampled
