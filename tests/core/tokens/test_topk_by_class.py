"""Top-k lists with the sums of every class give the same results by class as whole distributions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calib_core.edges import Scheme
from calib_core.tokens.bounds import largest_exact_bins
from calib_core.tokens.grid import SERVED_BINS
from calib_core.tokens.topk import CLASS_SUMS_MISMATCH, NO_CLASS_SUMS, TopKReducer
from core.oracle import Bins, Row, cw_ece
from core.topk_builders import topk_entries, whole_and_cut_rows


def columns_of(rows: list[Row]) -> np.ndarray:
    return np.array([row.probs for row in rows]).sum(axis=0)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(3, 12), st.integers(1, 12), st.sampled_from([8, 64, 100, 360]))
def test_classwise_is_exact_wherever_full_ece_is(seed: int, classes: int, k: int, lattice: int) -> None:
    rows, positions = whole_and_cut_rows(np.random.default_rng(seed), classes, lattice, 6, min(k, classes))
    reducer = TopKReducer(classes, 0, columns_of(rows))
    reducer.add(topk_entries(positions))
    sums = reducer.result()
    assert sums.by_class is not None
    assert sums.by_class.n_pairs == 6 * classes
    for bins in SERVED_BINS[: SERVED_BINS.index(largest_exact_bins(sums)) + 1]:
        gap = float(sums.by_class.binned(Scheme("width", bins)).absolute_gap.sum())
        assert abs(gap / (6 * classes) - float(cw_ece(rows, Bins("width", bins)) or 0)) <= 1e-12


def test_without_the_sums_of_every_class_there_is_no_classwise() -> None:
    _, positions = whole_and_cut_rows(np.random.default_rng(1), 5, 64, 6, 2)
    reducer = TopKReducer(5, 0)
    reducer.add(topk_entries(positions))
    assert (reducer.result().by_class, reducer.result().no_class_sums_reason) == (None, NO_CLASS_SUMS)


@pytest.mark.parametrize("spoil", ["fewer", "more", "moved"])
def test_sums_of_other_positions_are_not_believed(spoil: str) -> None:
    rows, positions = whole_and_cut_rows(np.random.default_rng(2), 5, 64, 6, 2)
    columns = columns_of(rows)
    columns += {"fewer": -0.2, "more": 0.2, "moved": np.array([-6.0, 6, 0, 0, 0])}[spoil]
    reducer = TopKReducer(5, 0, columns)
    reducer.add(topk_entries(positions))
    assert (reducer.result().by_class, reducer.result().no_class_sums_reason) == (None, CLASS_SUMS_MISMATCH)


@pytest.mark.parametrize(("off", "believed"), [(0.005, True), (0.007, False)])
def test_sums_may_be_off_by_a_thousandth_a_position(off: float, *, believed: bool) -> None:
    rows, positions = whole_and_cut_rows(np.random.default_rng(2), 5, 64, 6, 2)
    reducer = TopKReducer(5, 0, columns_of(rows) + np.array([off, 0, 0, 0, 0]))
    reducer.add(topk_entries(positions))
    assert (reducer.result().by_class is not None) == believed


def test_as_many_sums_as_classes() -> None:
    with pytest.raises(ValueError, match="one sum per class"):
        TopKReducer(5, 0, np.ones(4))
