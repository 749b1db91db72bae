"""The fast lookup of a bin equals the number of edges below the confidence, for every dtype."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calib_core.edges import TIE_DECIMALS, bin_of, inner_edges, is_each_a_level


def by_definition(confidence: np.ndarray, bins: int) -> list[int]:
    edges = inner_edges(bins, confidence.dtype)
    return [int((edges < value).sum()) for value in confidence]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@given(bins=st.integers(1, 1000) | st.just(3000), data=st.data())
def test_values_around_edges_fall_where_the_edges_say(dtype: str, bins: int, data: st.DataObject) -> None:
    kind = np.dtype(dtype).type
    picked = data.draw(st.lists(st.integers(0, bins), min_size=1, max_size=8))
    near = np.array(picked, np.float64) / bins
    values = np.concatenate(
        [step.astype(kind) for step in (near, near + 1e-12, near - 1e-12, near + 1e-7, near - 1e-7)]
    )
    values = np.concatenate([values, np.nextafter(values, kind(0)), np.nextafter(values, kind(1))])
    values = np.clip(values, kind(0), kind(1))
    # Few values are looked up one by one, many by the product; both are tested.
    many = np.resize(values, max(values.size, bins + 1))
    wanted = by_definition(values, bins)
    assert bin_of(values, bins).tolist() == wanted
    assert bin_of(many, bins)[: values.size].tolist() == wanted[: many.size]


@pytest.mark.parametrize("bins", [3, 10, 999, 3000])
def test_every_float16_falls_where_the_edges_say(bins: int) -> None:
    every = np.arange(0x3C01, dtype=np.uint16).view(np.float16)
    assert every[-1] == 1
    edges = inner_edges(bins, every.dtype)
    assert np.array_equal(bin_of(every, bins), np.searchsorted(edges, every, side="left"))


def test_nothing_falls_into_no_bin() -> None:
    assert bin_of(np.zeros(0), 10).tolist() == []


@pytest.mark.parametrize("at", [1, 2**15 - 1, 2**15, 2**15 + 1, 2**16, 70_000 - 1])
def test_equal_values_are_found_wherever_they_stand(at: int) -> None:
    value = np.linspace(0, 1, 70_000)
    assert is_each_a_level(value, round_ties=True)
    value[at] = value[at - 1] + 0.1 * 10.0**-TIE_DECIMALS
    assert is_each_a_level(value, round_ties=False)
    assert not is_each_a_level(value, round_ties=True)
    value[at] = value[at - 1]
    assert not is_each_a_level(value, round_ties=False)
