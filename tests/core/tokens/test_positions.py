"""Are the top label, the sum and the groups of a row what they should be?"""

from __future__ import annotations

import numpy as np
import pytest

from calib_core.tokens.row_checks import row_checker
from calib_core.tokens.row_scanner import class_block_size
from core.tokens.made_rows import LONG, ODD, SHORT, WIDTHS, language


@pytest.mark.parametrize("classes", [4096, 4112, 32_000, 50_257, 128_000, 128_256, 151_936, 256_000])
def test_groups_are_whole_words_near_a_thousand(classes: int) -> None:
    size = class_block_size(classes)
    assert size % 16 == 0
    assert 512 <= size <= 2048
    divides = any(classes % other == 0 for other in range(512, 2049, 16))
    assert (classes % size == 0) == divides


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("classes", [SHORT, LONG, ODD])
def test_top_and_total(classes: int, dtype: type[np.floating]) -> None:
    rows = language(np.random.default_rng(9), 20, classes, dtype)
    rows[3, [4, 6]] = rows[3].max()
    rows[5] = dtype(1 / classes)
    rows = np.delete(rows, np.flatnonzero(np.abs(rows.astype(np.float64).sum(axis=1) - 1) > 1e-3), axis=0)
    look = row_checker(classes, np.dtype(dtype)).check(rows, lambda *_: pytest.fail("bad"))
    assert look.class_index[look.top_entry].tolist() == rows.argmax(axis=1).tolist()
    wide = rows.astype(np.float64)
    np.testing.assert_allclose(look.row_sum, wide.sum(axis=1), rtol=1e-13)
    squares = look.unlisted_square_sum + np.bincount(look.entry_row, look.prob**2)
    np.testing.assert_allclose(squares, (wide**2).sum(axis=1), rtol=1e-13)
