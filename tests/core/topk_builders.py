"""Helpers of the tests of top-k lists: lists cut from whole distributions, and adding them up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from calib_core.tokens.sums import TokenSums
from calib_core.tokens.topk import TopKEntries, TopKReducer
from core.oracle import Row
from core.topk_completions import Stored, cut_list


def topk_entries(positions: Sequence[Stored], dtype: Any = np.float64, *, row: int = 0) -> TopKEntries:
    """Positions of one K as flat arrays; the first has this row."""
    return TopKEntries(
        probs=np.array([p / at.lattice for at in positions for p in at.top.values()], dtype),
        ids=np.array([label for at in positions for label in at.top], np.int64),
        sizes=np.array([len(at.top) for at in positions], np.int64),
        target=np.array([at.target for at in positions], np.int64),
        target_prob=np.array([at.target_steps / at.lattice for at in positions], dtype),
        row=np.arange(row, row + len(positions)),
        n_classes=positions[0].classes,
    )


def reduce_topk(entries: TopKEntries, seed: int) -> TokenSums:
    """The sums of these positions."""
    reducer = TopKReducer(entries.n_classes, seed)
    reducer.add(entries)
    return reducer.result()


def random_steps(chance: np.random.Generator, classes: int, lattice: int) -> list[int]:
    """A distribution over `classes` in whole steps of 1/lattice."""
    cuts = np.sort(chance.integers(0, lattice + 1, classes - 1)).tolist()
    return [high - low for low, high in zip([0, *cuts], [*cuts, lattice], strict=True)]


def random_positions(chance: np.random.Generator, classes: int, lattice: int, number: int) -> list[Stored]:
    """Positions with lists of any length and any target."""
    return [
        cut_list(
            classes,
            lattice,
            random_steps(chance, classes, lattice),
            k=int(chance.integers(1, classes)),
            target=int(chance.integers(classes)),
        )
        for _ in range(number)
    ]


def whole_and_cut_rows(
    chance: np.random.Generator, classes: int, lattice: int, number: int, k: int
) -> tuple[list[Row], list[Stored]]:
    """Whole distributions, as the oracle takes them, and what is kept of them where k entries are."""
    steps = [random_steps(chance, classes, lattice) for _ in range(number)]
    targets = chance.integers(0, classes, number).tolist()
    rows = [
        Row(tuple(part / lattice for part in way), 8, target)
        for way, target in zip(steps, targets, strict=True)
    ]
    return rows, [
        cut_list(classes, lattice, way, k, target) for way, target in zip(steps, targets, strict=True)
    ]
