"""Is a row in order told from one that is not, at the limits of what is allowed?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from calib_core.tokens.row_checks import (
    OUTSIDE_UNIT_INTERVAL,
    SUM_NOT_ONE,
    ProblemKind,
    clip_row,
    row_checker,
)
from core.tokens.made_rows import LONG, SHORT


@pytest.mark.parametrize("classes", [SHORT, LONG])
@pytest.mark.parametrize(
    ("total", "fine"), [(1.00099, True), (1.00101, False), (0.99901, True), (0.99899, False)]
)
def test_a_sum_may_be_off_by_a_thousandth(classes: int, total: float, *, fine: bool) -> None:
    rows = np.zeros((3, classes))
    rows[:, 1] = 0.5
    rows[:, 0] = [0.5, total - 0.5, 0.5]
    told: list[tuple[int, ProblemKind]] = []
    look = row_checker(classes, rows.dtype).check(rows, lambda row, kind, _: told.append((row, kind)))
    assert look.usable_rows.tolist() == ([0, 1, 2] if fine else [0, 2])
    assert told == ([] if fine else [(1, SUM_NOT_ONE)])
    assert look.values.shape[0] == look.start.size - 1 == look.unlisted_sum.size == look.usable_rows.size


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_mending(dtype: Any) -> None:
    told: list[ProblemKind] = []

    def bad(_row: int, kind: ProblemKind, _found: str) -> None:
        told.append(kind)

    row = np.array([-0.0, -5e-7, 1, 0.5], dtype)
    assert clip_row(row, 0, bad) == (True, 1)
    assert row.tolist() == [0, 0, 1, 0.5]
    assert not np.signbit(row).any()
    assert clip_row(np.array([0, -2e-6], dtype), 0, bad) == (False, 0)
    assert clip_row(np.array([0, np.nan], dtype), 0, bad) == (False, 0)
    assert [kind.title for kind in told] == [OUTSIDE_UNIT_INTERVAL.title, "not finite"]
