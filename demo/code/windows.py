"""The positions of the test text to predict, the same for every model, each with enough context."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demo.code.recipe import CodeRecipe


@dataclass(frozen=True, eq=False)
class Asked:
    """The positions to predict, the same for every model.

    windows: int64 (windows, window + 1), pieces of the test text. predicted: tokens at the end of each that
    are predicted, at most half of a window, so that every prediction has at least window / 2 tokens of
    context. file, place: per predicted position, the index of its file and its position there, int64.
    """

    windows: NDArray[np.int64]
    predicted: int
    file: NDArray[np.int64]
    place: NDArray[np.int64]

    @property
    def target(self) -> NDArray[np.int64]:
        """The actual token at each predicted position, in the order of the windows."""
        return self.windows[:, -self.predicted :].reshape(-1)


def asked(files: Sequence[NDArray[np.int64]], recipe: CodeRecipe) -> Asked:
    """Equally spaced windows, without overlap, of each of the first `recipe.texts` files that hold them.

    Raises ValueError if too few files are long enough.
    """
    needed = recipe.windows_per_text * recipe.window + 1
    long_enough = [number for number, file in enumerate(files) if len(file) >= needed]
    if len(long_enough) < recipe.texts:
        raise ValueError(f"{len(long_enough)} files have {needed} tokens, {recipe.texts} are asked for.")
    windows: list[NDArray[np.int64]] = []
    predicted: list[NDArray[np.int64]] = []
    for number in long_enough[: recipe.texts]:
        apart = (len(files[number]) - 1) // recipe.windows_per_text
        at = np.arange(recipe.windows_per_text)[:, None] * apart + np.arange(recipe.window + 1)
        windows.append(files[number][at])
        predicted.append(at[:, -recipe.predicted :].reshape(-1))
    file = np.repeat(long_enough[: recipe.texts], predicted[0].size)
    return Asked(np.concatenate(windows), recipe.predicted, file, np.concatenate(predicted))


def said(
    model: Callable[[NDArray[np.int64]], NDArray[np.float64]], asked: Asked, every: int = 1
) -> Iterator[tuple[NDArray[np.float32], NDArray[np.int64]]]:
    """The distributions and targets at every n-th predicted position, window by window.

    model: as `demo.code.predict.Model`.
    """
    targets = asked.target.reshape(len(asked.windows), -1)
    for window, target in zip(asked.windows, targets, strict=True):
        yield model(window)[-asked.predicted :: every].astype(np.float32), target[::every]
