"""Are the pooled sums those of the top labels and of all pairs?"""

from __future__ import annotations

import numpy as np
import pytest

from calib_core.tokens.dense import DenseReducer


def test_by_hand() -> None:
    reducer = DenseReducer(3, draws=False)
    reducer.add(np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]]), np.array([1, 2]))
    sums = reducer.result()
    assert sums.top_label.cell.tolist() == [1499, 2999]
    assert sums.top_label.correct.tolist() == [0, 0]
    assert sums.all_labels.cell.tolist() == [0, 749, 1499, 2999]
    assert sums.all_labels.count.tolist() == [2, 2, 1, 1]
    assert sums.all_labels.correct.tolist() == [1, 1, 0, 0]
    assert sums.all_labels.confidence.tolist() == [0, 0.5, 0.5, 1]
    assert sums.all_labels.squared.tolist() == [0, 0.125, 0.25, 1]
    assert sums.all_labels.confident_correct.tolist() == [0, 0.25, 0, 0]
    assert (sums.all_labels.log_loss, sums.all_labels.impossible) == (pytest.approx(np.log(4)), 1)
    assert (sums.top_label.log_loss, sums.occurrences.tolist(), sums.sum_deviation) == (0, [0, 1, 1], 0)
