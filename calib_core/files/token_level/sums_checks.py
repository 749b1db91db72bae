"""Can these numbers be the sums of one run?  What a damaged or altered file says is not taken for sums."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.files.token_level.arrays import MAX_CLASSES
from calib_core.files.token_level.sums_table import SUMS_SCHEMA, RunMetadata
from calib_core.tokens.grid import GRID_CELLS, GridSums
from calib_core.tokens.sums import NullDraws, ExamplePosition, TokenSums, UnstoredBounds

MAX_DRAWS: Final = 10_000
_CELL_SLACK: Final = 1e-3
"""Share of the pairs of a cell by which its sums may leave it: a stored float16 is put into the cell
whose edge is nearest in float16, which is up to 2.4e-4 beside the edge."""


class InvalidSumsError(Exception):
    """The message says what cannot be."""


def check_run_metadata(metadata: RunMetadata) -> None:
    """Raises WrongError where a size is none, before room is made for it; KeyError, TypeError as is."""
    _require(0 <= metadata["rows"] < 2**53, "its number of positions is none")
    _require(1 <= metadata["classes"] <= MAX_CLASSES, "its number of classes is none")
    _require(metadata["draws"] is None or 1 <= metadata["draws"]["number"] <= MAX_DRAWS, "its number of draws is none")
    _require((metadata["by_class"] is None) != (metadata["no_classes"] is None), "its classes are there and not there")


def check_table(metadata: RunMetadata, table: pl.DataFrame) -> None:
    """Raises WrongError where a cell, class or count of one run is outside what it can be."""
    _require(dict(table.schema) == dict(SUMS_SCHEMA), "its columns are others")
    _require(not any(table.null_count().row(0)), "values are missing")
    number = max(GRID_CELLS, MAX_DRAWS, len(metadata["examples"]))
    for name, most in (
        ("draw", number),
        ("group", metadata["classes"]),
        ("cell", GRID_CELLS),
        ("count", 2**53),
        ("correct", 2**53),
    ):
        _require(table[name].is_between(0, most, closed="left").all(), f"a {name} is out of range")


def check_sums(sums: TokenSums) -> None:
    """Raises WrongError where the parts of a run do not agree with one another."""
    _check_grid("top label", sums.top_label, sums.rows, sums.rows)
    _check_grid("all labels", sums.all_labels, sums.rows, sums.rows * sums.classes)
    _check_cells("top label", sums.top_label)
    # What a top-k file does not store is put into the first cell, wherever it belongs.
    _check_cells("all labels", sums.all_labels, first_cell=int(sums.unstored is not None))
    _require(int(sums.all_labels.correct.sum()) == sums.rows, "each position has not one right class")
    _require(int(sums.occurrences.sum()) == sums.rows, "the right classes are not one a position")
    _require(math.isfinite(sums.sum_deviation) and sums.sum_deviation >= 0, "the sums of the rows are none")
    if sums.by_class is not None:
        _check_classes(sums.by_class, sums)
    if sums.draws is not None:
        _check_draws(sums.draws, sums.rows)
    if sums.unstored is not None:
        _check_unseen(sums.unstored, sums.rows)
    _require(all(_is_valid_example(example, sums) for example in sums.examples),
          "a position kept is none")  # fmt: skip


def _check_grid(grid_name: str, grid: GridSums, rows: int, pairs: int) -> None:
    """The counts of one grid: sorted, possible, complete."""
    _require(grid.rows == rows, f"the number of positions differs ({grid_name})")
    _require(int(grid.count.sum()) == pairs, f"the pairs do not add up ({grid_name})")
    key = grid.group.astype(np.int64) * GRID_CELLS + grid.cell
    _require((np.diff(key) > 0).all(), f"the cells are not in order ({grid_name})")
    possible = (grid.count > 0).all() and (grid.correct <= grid.count).all()
    _require(possible, f"more are right than there are ({grid_name})")
    _require(0 <= grid.impossible <= rows, f"more are impossible than there are ({grid_name})")
    _require(math.isfinite(grid.log_loss) and grid.log_loss >= 0, f"the log loss is none ({grid_name})")


def _check_cells(grid_name: str, grid: GridSums, *, first_cell: int = 0, check_squares: bool = True) -> None:
    """The sums of each cell from `first` on: such as confidences of that cell come to."""
    seen = grid.cell >= first_cell
    cell, count, said = grid.cell[seen], grid.count[seen], grid.confidence[seen]
    right, slack = grid.confident_correct[seen], _CELL_SLACK * count
    low, high = cell / GRID_CELLS * count - slack, (cell + 1) / GRID_CELLS * count + slack
    _require(((low <= said) & (said <= high)).all(), f"a confidence is outside its cell ({grid_name})")
    inside = (-slack <= right) & (right <= said + slack)
    _require(inside.all(), f"a right confidence is outside its cell ({grid_name})")
    if check_squares:
        gap = np.abs(grid.squared[seen] - said * (said / count))
        _require((gap <= slack).all(), f"the squares are others than the cell's ({grid_name})")


def _check_classes(grid: GridSums, sums: TokenSums) -> None:
    _check_grid("by class", grid, sums.rows, sums.rows * sums.classes)
    _check_cells("by class", grid, check_squares=False)  # by class none are kept
    _require(grid.groups == sums.classes, "the classes are not all there")
    right = np.bincount(grid.group, grid.correct, sums.classes)
    _require((right == sums.occurrences).all(), "the right classes differ")


def _check_draws(draws: NullDraws, rows: int) -> None:
    _require((draws.top_label.sum(axis=1, dtype=np.int64) <= rows).all(), "more are drawn than there are")
    _require((draws.all_labels.sum(axis=1, dtype=np.int64) == rows).all(), "the draws do not add up")
    if draws.by_class is not None:
        draw, group, cell, count = draws.by_class.T.astype(np.int64)
        key = (draw * (int(group.max(initial=0)) + 1) + group) * GRID_CELLS + cell
        _require((np.diff(key) > 0).all() and (count > 0).all(), "the draws by class are not in order")
        drawn = np.bincount(draw, count)
        _require((drawn == rows).all() and drawn.size <= len(draws.all_labels), "the draws by class do not add up")


def _check_unseen(unseen: UnstoredBounds, rows: int) -> None:
    _require(unseen.min_stored >= 0, "the entries stored are less than none")
    _require(all(0 <= number <= rows for number in unseen.n_ambiguous.values()), "too many are ambiguous")
    for bins, mass in unseen.mass_bounds.items():
        _require(_is_valid_mass(mass, bins, rows) and bins in unseen.n_ambiguous, "what is not stored is none")


def _is_valid_mass(mass: NDArray[np.float64], bins: int, rows: int) -> bool:
    return mass.shape == (bins,) and bool(((mass >= 0) & (mass <= rows * (1 + _CELL_SLACK))).all())


def _is_valid_example(example: ExamplePosition, sums: TokenSums) -> bool:
    inside = all(0 <= prob <= 1 + _CELL_SLACK for prob in example.probs)
    known = 0 <= example.target < sums.classes and example.width in (2, 4, 8)
    return example.row >= 0 and known and inside


def _require(holds: object, message: str) -> None:
    if not holds:
        raise InvalidSumsError(message)
