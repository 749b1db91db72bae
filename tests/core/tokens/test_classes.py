"""Do the sums by class and the pooled ones speak of the same pairs?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from calib_core.tokens.grid import GRID_CELLS
from core.tokens.made_rows import LONG, ODD, SHORT, WIDTHS, language, targets
from core.tokens.test_dense import reduced


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("classes", [SHORT, LONG, ODD])
def test_classes_add_up_to_all(classes: int, dtype: Any) -> None:
    random = np.random.default_rng(classes)
    values = language(random, 40, classes, dtype)
    target = targets(random, values)
    sums = reduced(values, target, draws=False)
    assert sums.by_class is not None
    own = sums.by_class
    for name in ("count", "correct", "confidence", "confident_correct"):
        pooled = np.bincount(own.cell, getattr(own, name), GRID_CELLS)[sums.all_labels.cell]
        np.testing.assert_allclose(pooled, getattr(sums.all_labels, name), rtol=1e-12, atol=1e-15)
    assert np.isnan(own.squared).all()
    np.testing.assert_array_equal(np.bincount(own.group, own.count, classes), 40)
    np.testing.assert_array_equal(np.bincount(own.group, own.correct, classes), sums.occurrences)
    np.testing.assert_allclose(
        np.bincount(own.group, own.confidence, classes), values.astype(np.float64).sum(axis=0), rtol=1e-12
    )
    key = own.group * np.int64(GRID_CELLS) + own.cell
    assert (np.diff(key) > 0).all()
