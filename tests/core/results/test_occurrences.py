"""Are classes that never, seldom and often occur told apart where the paper does?"""

from __future__ import annotations

import numpy as np

from calib_core.results.pooling import class_occurrence_table


def test_never_one_to_ten_and_more() -> None:
    table = class_occurrence_table(np.array([0, 0, 1, 10, 11], np.int64))
    assert table.rows() == [
        ("never", 2, 0.4, 0),
        ("1 to 10 times", 2, 0.4, 11),
        ("more than 10 times", 1, 0.2, 11),
    ]
