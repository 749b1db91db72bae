"""Predict each position of a window: transformer or n-gram counts → distributions."""

# pyright: reportMissingImports=false

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from demo.code.ngram import Counts, distribution
from demo.model import Chains

Model: TypeAlias = Callable[[NDArray[np.int64]], NDArray[np.float64]]
"""One window of tokens → the distribution over all K of them at each of its second half, rows sum to 1."""


def by_counts(counts: Counts, softness: float) -> Model:
    """The n-gram model with this smoothing."""

    def said(window: NDArray[np.int64]) -> NDArray[np.float64]:
        first, order = (len(window) + 1) // 2, len(counts.keys)
        before = [window[at - order + 1 : at] for at in range(first, len(window))]
        return np.stack([distribution(counts, tokens, softness) for tokens in before])

    return said


def by_network(model: Chains, temperature: float) -> Model:
    """The transformer, with logits divided by the temperature and the softmax computed in float64."""

    @torch.no_grad()
    def said(window: NDArray[np.int64]) -> NDArray[np.float64]:
        logits, _cache = model(torch.from_numpy(window[None, :-1]))
        late = logits[0, len(window) // 2 :].double() / temperature
        return functional.softmax(late, -1).numpy()

    return said
