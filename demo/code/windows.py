"""Which positions of the test text are predicted?  The same by every model, each with enough before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demo.code.recipe import CodeRecipe


@dataclass(frozen=True, eq=False)
class Asked:
    """The positions to predict, alike for every model.

    windows: int64 (windows, window + 1), pieces of the test text; the second half of each is predicted,
    so that every prediction has at least window / 2 tokens before it. file, place: per predicted position,
    the number of its file and its place there, int64.
    """

    windows: NDArray[np.int64]
    file: NDArray[np.int64]
    place: NDArray[np.int64]

    @property
    def half(self) -> int:
        """Predicted positions of a window."""
        return (self.windows.shape[1] - 1) // 2

    @property
    def target(self) -> NDArray[np.int64]:
        """The token that really stands at each predicted position, in the order of the windows."""
        return self.windows[:, -self.half :].reshape(-1)


def asked(files: Sequence[NDArray[np.int64]], recipe: CodeRecipe) -> Asked:
    """Windows at equal distances through all test files, joined; none overlaps another.

    Raises ValueError where the test text is too short for so many.
    """
    text = np.concatenate(files)
    apart = (len(text) - 1) // recipe.windows
    if apart < recipe.window:
        raise ValueError(f"{len(text)} test tokens are too few for {recipe.windows} windows.")
    at = np.arange(recipe.windows)[:, None] * apart + np.arange(recipe.window + 1)
    predicted = at[:, -(recipe.window // 2) :].reshape(-1)
    ends = np.cumsum([len(file) for file in files])
    file = np.searchsorted(ends, predicted, side="right")
    return Asked(text[at], file, predicted - np.concatenate(([0], ends))[file])
