"""What do tests of top lists share: lists cut from whole distributions, and how the core takes them?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from calib_core.tokens.topk import TopKEntries
from core.completions import Stored, cut
from core.oracle import Row


def block(positions: Sequence[Stored], dtype: Any = np.float64, *, row: int = 0) -> TopKEntries:
    """Positions of one K as flat arrays; the first has this row."""
    return TopKEntries(
        probs=np.array([p / at.lattice for at in positions for p in at.top.values()], dtype),
        ids=np.array([label for at in positions for label in at.top], np.int64),
        sizes=np.array([len(at.top) for at in positions], np.int64),
        target=np.array([at.target for at in positions], np.int64),
        target_prob=np.array([at.target_steps / at.lattice for at in positions], dtype),
        row=np.arange(row, row + len(positions)),
        classes=positions[0].classes,
    )


def some_steps(chance: np.random.Generator, classes: int, lattice: int) -> list[int]:
    """A distribution over `classes` in whole steps of 1/lattice."""
    cuts = np.sort(chance.integers(0, lattice + 1, classes - 1)).tolist()
    return [high - low for low, high in zip([0, *cuts], [*cuts, lattice], strict=True)]


def some_positions(chance: np.random.Generator, classes: int, lattice: int, number: int) -> list[Stored]:
    """Positions with lists of any length and any target."""
    return [
        cut(
            classes,
            lattice,
            some_steps(chance, classes, lattice),
            k=int(chance.integers(1, classes)),
            target=int(chance.integers(classes)),
        )
        for _ in range(number)
    ]


def some_whole(
    chance: np.random.Generator, classes: int, lattice: int, number: int, k: int
) -> tuple[list[Row], list[Stored]]:
    """Whole distributions, as the oracle takes them, and what is kept of them where k entries are."""
    steps = [some_steps(chance, classes, lattice) for _ in range(number)]
    targets = chance.integers(0, classes, number).tolist()
    rows = [
        Row(tuple(part / lattice for part in way), 8, target)
        for way, target in zip(steps, targets, strict=True)
    ]
    return rows, [cut(classes, lattice, way, k, target) for way, target in zip(steps, targets, strict=True)]
