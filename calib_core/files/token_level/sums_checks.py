"""Can these numbers be the sums of one run?  What a damaged or altered file says is not taken for sums."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.files.token_level.arrays import MAX_CLASSES
from calib_core.files.token_level.sums_table import SCHEMA, Told
from calib_core.tokens.grid import CELLS, Grid
from calib_core.tokens.sums import Draws, Example, TokenSums, Unseen

MAX_DRAWS: Final = 10_000
_SLACK: Final = 1e-3
"""Share of the pairs of a cell by which its sums may leave it: a stored float16 is put into the cell
whose edge is nearest in float16, which is up to 2.4e-4 beside the edge."""


class WrongError(Exception):
    """The message says what cannot be."""


def check_told(told: Told) -> None:
    """Raises WrongError where a size is none, before room is made for it; KeyError, TypeError as is."""
    _need(0 <= told["rows"] < 2**53, "its number of positions is none")
    _need(1 <= told["classes"] <= MAX_CLASSES, "its number of classes is none")
    _need(told["draws"] is None or 1 <= told["draws"]["number"] <= MAX_DRAWS, "its number of draws is none")
    _need((told["by_class"] is None) != (told["no_classes"] is None), "its classes are there and not there")


def check_table(told: Told, table: pl.DataFrame) -> None:
    """Raises WrongError where a cell, class or count of one run is outside what it can be."""
    _need(dict(table.schema) == dict(SCHEMA), "its columns are others")
    _need(not any(table.null_count().row(0)), "values are missing")
    number = max(CELLS, MAX_DRAWS, len(told["examples"]))
    for name, most in (
        ("draw", number),
        ("group", told["classes"]),
        ("cell", CELLS),
        ("count", 2**53),
        ("correct", 2**53),
    ):
        _need(table[name].is_between(0, most, closed="left").all(), f"a {name} is out of range")


def check_sums(sums: TokenSums) -> None:
    """Raises WrongError where the parts of a run do not agree with one another."""
    _check_grid("top label", sums.top, sums.rows, sums.rows)
    _check_grid("all labels", sums.all, sums.rows, sums.rows * sums.classes)
    _check_cells("top label", sums.top)
    # What a top-k file does not store is put into the first cell, wherever it belongs.
    _check_cells("all labels", sums.all, first=int(sums.unseen is not None))
    _need(int(sums.all.correct.sum()) == sums.rows, "each position has not one right class")
    _need(int(sums.occurrences.sum()) == sums.rows, "the right classes are not one a position")
    _need(math.isfinite(sums.excess) and sums.excess >= 0, "the sums of the rows are none")
    if sums.by_class is not None:
        _check_classes(sums.by_class, sums)
    if sums.draws is not None:
        _check_draws(sums.draws, sums.rows)
    if sums.unseen is not None:
        _check_unseen(sums.unseen, sums.rows)
    _need(all(_is_example(example, sums) for example in sums.examples),
          "a position kept is none")  # fmt: skip


def _check_grid(which: str, grid: Grid, rows: int, pairs: int) -> None:
    """The counts of one grid: sorted, possible, complete."""
    _need(grid.rows == rows, f"the number of positions differs ({which})")
    _need(int(grid.count.sum()) == pairs, f"the pairs do not add up ({which})")
    key = grid.group.astype(np.int64) * CELLS + grid.cell
    _need((np.diff(key) > 0).all(), f"the cells are not in order ({which})")
    possible = (grid.count > 0).all() and (grid.correct <= grid.count).all()
    _need(possible, f"more are right than there are ({which})")
    _need(0 <= grid.impossible <= rows, f"more are impossible than there are ({which})")
    _need(math.isfinite(grid.log_loss) and grid.log_loss >= 0, f"the log loss is none ({which})")


def _check_cells(which: str, grid: Grid, *, first: int = 0, squares: bool = True) -> None:
    """The sums of each cell from `first` on: such as confidences of that cell come to."""
    seen = grid.cell >= first
    cell, count, said = grid.cell[seen], grid.count[seen], grid.confidence[seen]
    right, slack = grid.confident_correct[seen], _SLACK * count
    low, high = cell / CELLS * count - slack, (cell + 1) / CELLS * count + slack
    _need(((low <= said) & (said <= high)).all(), f"a confidence is outside its cell ({which})")
    inside = (-slack <= right) & (right <= said + slack)
    _need(inside.all(), f"a right confidence is outside its cell ({which})")
    if squares:
        gap = np.abs(grid.squared[seen] - said * (said / count))
        _need((gap <= slack).all(), f"the squares are others than the cell's ({which})")


def _check_classes(grid: Grid, sums: TokenSums) -> None:
    _check_grid("by class", grid, sums.rows, sums.rows * sums.classes)
    _check_cells("by class", grid, squares=False)  # by class none are kept
    _need(grid.groups == sums.classes, "the classes are not all there")
    right = np.bincount(grid.group, grid.correct, sums.classes)
    _need((right == sums.occurrences).all(), "the right classes differ")


def _check_draws(draws: Draws, rows: int) -> None:
    _need((draws.top.sum(axis=1, dtype=np.int64) <= rows).all(), "more are drawn than there are")
    _need((draws.all.sum(axis=1, dtype=np.int64) == rows).all(), "the draws do not add up")
    if draws.by_class is not None:
        draw, group, cell, count = draws.by_class.T.astype(np.int64)
        key = (draw * (int(group.max(initial=0)) + 1) + group) * CELLS + cell
        _need((np.diff(key) > 0).all() and (count > 0).all(), "the draws by class are not in order")
        drawn = np.bincount(draw, count)
        _need((drawn == rows).all() and drawn.size <= len(draws.all), "the draws by class do not add up")


def _check_unseen(unseen: Unseen, rows: int) -> None:
    _need(unseen.fewest >= 0, "the entries stored are less than none")
    _need(all(0 <= number <= rows for number in unseen.positions.values()), "too many are ambiguous")
    for bins, mass in unseen.mass.items():
        _need(_is_mass(mass, bins, rows) and bins in unseen.positions, "what is not stored is none")


def _is_mass(mass: NDArray[np.float64], bins: int, rows: int) -> bool:
    return mass.shape == (bins,) and bool(((mass >= 0) & (mass <= rows * (1 + _SLACK))).all())


def _is_example(example: Example, sums: TokenSums) -> bool:
    inside = all(0 <= prob <= 1 + _SLACK for prob in example.probs)
    known = 0 <= example.target < sums.classes and example.width in (2, 4, 8)
    return example.row >= 0 and known and inside


def _need(holds: object, text: str) -> None:
    if not holds:
        raise WrongError(text)
