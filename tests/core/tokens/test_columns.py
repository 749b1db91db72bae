"""Do the sums by class hold what is not listed, and only that?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from calib_core.tokens.accumulators import Float16UnlistedSums, UnlistedSums, WideFloatUnlistedSums
from calib_core.tokens.row_checks import LongRowChecker
from core.tokens.made_rows import LONG, ODD, WIDTHS
from core.tokens.test_scratch import made, scratch


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("classes", [LONG, ODD])
def test_columns_are_what_is_not_listed(classes: int, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calib_core.tokens.accumulators._MAX_PENDING_ROWS", 3)
    rows = made(classes, dtype)[:6]
    look = LongRowChecker(scratch(classes, dtype), np.dtype(dtype)).check(rows, lambda *_: pytest.fail("bad"))
    sums: UnlistedSums = (
        Float16UnlistedSums(classes) if dtype is np.float16 else WideFloatUnlistedSums(classes)
    )
    sums.add(look)
    sums.add(look)
    others = rows.astype(np.float64)
    others[look.entry_row, look.class_index] = 0
    np.testing.assert_allclose(sums.sums(), 2 * others.sum(axis=0), rtol=1e-13, atol=1e-18)
    np.testing.assert_array_equal(sums.sums(), sums.sums())
