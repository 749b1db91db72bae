"""Does a tally count and sum by key, however often it is sorted in between?"""

from __future__ import annotations

import numpy as np
import pytest

from calib_core.tokens.accumulators import KeyedSums


@pytest.mark.parametrize("waiting", [1, 7, 10_000])
def test_counts_and_sums(waiting: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calib_core.tokens.accumulators.MAX_PENDING", waiting)
    random = np.random.default_rng(1)
    key, value = random.integers(0, 40, 500), random.random(500)
    tally = KeyedSums()
    for begin in range(0, 500, 9):
        tally.add(key[begin : begin + 9], value[begin : begin + 9])
    found, count, total = tally.sums()
    assert found.tolist() == np.unique(key).tolist()
    np.testing.assert_array_equal(count, np.bincount(key)[found])
    np.testing.assert_allclose(total, np.bincount(key, value)[found], rtol=1e-13)


def test_nothing() -> None:
    tally = KeyedSums()
    tally.add(np.zeros(0, np.int64), np.zeros(0))
    assert [part.size for part in tally.sums()] == [0, 0, 0]
