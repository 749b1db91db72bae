"""Does the axis of M have a tick at every M that there is room for?"""

from __future__ import annotations

import pytest

from calib_core.figures.palette import LIGHT
from calib_core.figures.robustness import bin_count_axis


def test_the_papers_seven_have_a_tick_each() -> None:
    drawn = bin_count_axis(LIGHT, [5, 10, 20, 50, 100, 200, 500], anchor="y2")
    assert drawn["tickvals"] == [5, 10, 20, 50, 100, 200, 500]
    assert (drawn["type"], drawn["anchor"]) == ("log", "y2")
    assert 10 ** drawn["range"][0] < 5
    assert 10 ** drawn["range"][1] > 500


@pytest.mark.parametrize(
    ("bins", "ticks"), [([10], [10]), ([495, 500, 1000], [500, 1000]), ([998, 999], [999])]
)
def test_crowded_ticks_are_left_out_from_the_left(bins: list[int], ticks: list[int]) -> None:
    drawn = bin_count_axis(LIGHT, bins)
    assert drawn["tickvals"] == ticks
    assert drawn["ticktext"][-1] == f"{bins[-1]:,}"
    assert drawn["range"][0] < drawn["range"][1]
