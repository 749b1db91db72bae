"""Sums by text are those of the positions, however they come and are merged."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from calib_core.tokens.grid import GRID_CELLS
from calib_core.tokens.texts import (
    TEXT_CELL_OF,
    TEXT_CELLS,
    TextCellSums,
    TextSums,
    text_logit,
    text_numbers,
)
from core.token_run_builders import dense_sums, random_rows

POSITIONS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, GRID_CELLS - 1), st.booleans()), min_size=1, max_size=40
)


def summed(positions: list[tuple[int, int, bool]]) -> TextSums:
    text, cell, correct = (np.array(values) for values in zip(*positions, strict=True))
    sums = TextCellSums()
    sums.add(text.astype(np.int64), cell.astype(np.intp), centre(cell), correct.astype(np.bool_))
    return sums.sums()


def centre(cell: NDArray[np.integer]) -> NDArray[np.float64]:
    return (cell + 0.5) / GRID_CELLS


def as_rows(sums: TextSums) -> list[tuple[int, int, int, int, float]]:
    columns = (sums.text, sums.cell, sums.count, sums.correct, sums.confidence.round(9))
    return list(zip(*(column.tolist() for column in columns), strict=True))


@given(POSITIONS)
def test_sums_are_those_of_the_positions(positions: list[tuple[int, int, bool]]) -> None:
    expected = defaultdict[tuple[int, int], list[float]](lambda: [0, 0, 0.0])
    for text, cell, right in positions:
        c = (cell + 0.5) / GRID_CELLS
        key = text, math.floor(math.log(c / (1 - c)) / 0.75) + 12
        expected[key] = [a + b for a, b in zip(expected[key], (1, right, c), strict=True)]
    found = as_rows(summed(positions))
    assert found == [(*key, *values[:2], round(values[2], 9)) for key, values in sorted(expected.items())]
    sizes = np.bincount([text for text, _, _ in positions])
    assert summed(positions).sizes.tolist() == sizes[sizes > 0].tolist()


@given(POSITIONS, POSITIONS)
def test_merged_sums_are_those_of_all_positions(
    first: list[tuple[int, int, bool]], second: list[tuple[int, int, bool]]
) -> None:
    assert as_rows(summed(first).merge(summed(second))) == as_rows(summed([*first, *second]))


def test_cells_are_equally_wide_in_logits_and_ends_stand_alone() -> None:
    assert (np.diff(TEXT_CELL_OF) >= 0).all()
    assert np.bincount(TEXT_CELL_OF, minlength=TEXT_CELLS)[[0, -1]].tolist() == [1, 1]
    c = centre(np.arange(GRID_CELLS))
    assert np.abs(text_logit(TEXT_CELL_OF) - np.log(c / (1 - c))).max() <= 0.375


def test_a_name_has_one_number_in_every_file() -> None:
    assert text_numbers(np.array([7, 8, 7])).tolist() == text_numbers(["7", "8", "7"]).tolist()
    numbers = text_numbers(np.arange(2_000))
    assert np.unique(numbers).size == 2_000
    assert numbers.min() >= 0
    assert numbers.max() < 2**31


def test_a_run_knows_its_texts_if_every_block_does() -> None:
    probs, target = random_rows(9, 4)
    text = np.repeat([5, 2, 9], 3)
    whole = dense_sums(probs, target, text=text)
    assert whole.texts is not None
    assert int(whole.texts.count.sum()) == 9
    assert whole.texts.sizes.tolist() == [3, 3, 3]
    parts = [dense_sums(probs[at], target[at], text=text[at]) for at in (slice(0, 4), slice(4, 9))]
    merged = parts[0].merge(parts[1]).texts
    assert merged is not None
    assert as_rows(merged) == as_rows(whole.texts)
    assert whole.merge(dense_sums(probs, target)).texts is None


def test_rows_that_are_no_positions_are_in_no_text() -> None:
    probs, target = random_rows(4, 3)
    probs[1, 0] = 2.0  # no probability
    target[2] = -100  # padding
    texts = dense_sums(probs, target, text=np.array([1, 1, 2, 2])).texts
    assert texts is not None
    assert (texts.text.tolist(), texts.count.tolist()) == ([1, 2], [1, 1])
