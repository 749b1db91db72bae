"""Are small float16 whole numbers, as large as the sums allow?"""

from __future__ import annotations

import numpy as np

from calib_core.bins import bin_of
from calib_core.tokens.grid import CELLS
from calib_core.tokens.halves import HALF_LIMIT, UNIT, HalfScratch
from calib_core.tokens.positions import group_size


def test_small_halves_are_whole_numbers_in_the_first_cell() -> None:
    small = np.arange(int(HALF_LIMIT) + 1, dtype=np.uint16)
    halves = small.view(np.float16)
    np.testing.assert_array_equal(halves.astype(np.float64), small * UNIT)
    assert (bin_of(halves, CELLS) == 0).all()


def test_the_largest_sums_fit_their_lanes() -> None:
    for classes in (4096 * 33, 50_257):
        row = np.full((1, classes), HALF_LIMIT).view(np.float16)
        found = HalfScratch(classes).find(row)
        size = group_size(classes)
        assert found.groups[0, 0] == size * int(HALF_LIMIT) * UNIT
        assert found.squares[0] == classes * int(HALF_LIMIT) ** 2 * UNIT**2
    assert 2048 // 2 * int(HALF_LIMIT) ** 2 < 1 << 32  # a lane of the largest group


def test_the_bits_of_listed_entries_are_taken_off_again() -> None:
    row = np.zeros((2, 4096), np.float16)
    row[:, ::7] = 0.9  # more than a distribution has
    row[1, 1::7] = 3e-5
    found = HalfScratch(4096).find(row)
    assert found.groups[0].tolist() == [0] * found.groups.shape[1]
    assert found.groups[1].sum() == float(np.float16(3e-5)) * np.count_nonzero(row[1, 1::7])
    assert found.squares[0] == 0
