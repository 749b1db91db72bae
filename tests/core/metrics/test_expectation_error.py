"""The error of the expected level equals its definition."""

from __future__ import annotations

from hypothesis import given

from core.metrics.test_rps import agrees, scales
from core.oracle import Row


@given(scales())
def test_it_is_the_mean_distance_in_levels(rows: list[Row]) -> None:
    assert agrees("expectation_error", rows)
